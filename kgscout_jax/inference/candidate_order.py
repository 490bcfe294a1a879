"""The order of a question's candidates, from which triplets are selected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float32, Int

from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import Path
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.inference.selection import RetrieverChoice
from kgscout_jax.retrieve.protocol import top_k


def other_order(
    retriever: RetrieverChoice, candidates: Candidates, scores: Scores, depth: int
) -> tuple[Int[np.ndarray, "k"], Float[np.ndarray, "k"]]:
    """(positions of at most ``depth`` candidates, their scores) by another retriever.

    Raises:
        UserError: ``prize_subgraph`` without the package ``pcst_fast``.
    """
    from kgscout_jax.retrieve.prizes.retrievers import logit_relevance, prize_order

    if retriever in ("scout", "cosine"):
        order = np.arange(min(depth, len(candidates.ids)))  # candidates are by cosine
        return order, candidates.cosine[order]
    n_nodes = len(candidates.entities)
    relevance = logit_relevance(scores.logits, scores.nodes, candidates.nodes, n_nodes)
    return prize_order(retriever, candidates.nodes, candidates.ids, relevance, depth)


def order_of(
    candidates: Candidates,
    logits: Float32[np.ndarray, "n"],
    depth: int,
    paths: Sequence[Path],
) -> tuple[Int[np.ndarray, "k"], list[list[int]]]:
    """(positions of the ``depth`` best and of the paths, best first, ranks of paths).

    Args:
        candidates: of the question.
        logits: of the candidates.
        depth: how many of the best.
        paths: positions of candidates on each path.
    """
    n = len(candidates.ids)
    extra = sorted({position for path in paths for position in path})
    mask = np.ones((1, n), bool)
    limit = n if extra else min(depth, max(n, 1))  # an array of depth may be too large
    best, lengths = top_k(logits[None], mask, candidates.ids[None], limit)
    order = best[0, : lengths[0]]
    if extra:
        wanted = np.isin(order, extra)
        wanted[:depth] = True
        order = order[wanted]
    rank_of = {position: rank for rank, position in enumerate(order.tolist())}
    return order, [[rank_of[position] for position in path] for path in paths]
