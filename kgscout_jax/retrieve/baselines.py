"""Retrievers without training: cosine, Personalized PageRank, and the ceiling."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.retrieve.candidates import dot_products
from kgscout_jax.retrieve.protocol import Rankings, rank_candidates, rank_positions


@dataclass(frozen=True)
class Cosine:
    """Ranks by the cosine of question and triplet embeddings."""

    name: str = "cosine"

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, most similar first."""
        start = time.perf_counter()
        scores = cosine_scores(shards, split)
        return _with_seconds(
            rank_candidates(self.name, shards, split, scores, k), start
        )


@dataclass(frozen=True)
class PPR:
    """Ranks by the Personalized PageRank of the triplet's head plus that of its tail.

    PageRank is stored in the shards, so ``seconds`` only measures the ranking.
    """

    name: str = "ppr"

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, nearest to the topics first."""
        start = time.perf_counter()
        scores = np.zeros(split.candidates.shape, np.float32)
        for low in range(0, len(split), 1024):
            rows = np.arange(low, min(low + 1024, len(split)))
            ppr = split.ppr_of(rows)
            scores[rows] = ppr[..., 0] + ppr[..., 1]
        return _with_seconds(
            rank_candidates(self.name, shards, split, scores, k), start
        )


@dataclass(frozen=True)
class Ceiling:
    """Returns all candidates regardless of K: the upper bound of any ranking."""

    name: str = "ceiling"

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """All candidates of each question in their stored order; ``k`` is ignored."""
        del k
        start = time.perf_counter()
        ids = np.asarray(split.candidates)
        slots = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int32), ids.shape)
        rankings = rank_positions(
            self.name,
            shards,
            split,
            np.where(ids >= 0, slots, -1),
            split.n_real,
            np.zeros(ids.shape, np.float32),
            keeps_all=True,
        )
        return _with_seconds(rankings, start)


def cosine_scores(shards: Shards, split: Split) -> Float32[np.ndarray, "b n"]:
    """Cosine of each question with each of its candidates; 0 beyond n_real.

    The tables hold unit vectors; products and sums are float32. Questions are scored
    one at a time: their rows fit into the CPU cache, which is several times faster.
    """
    questions = np.asarray(split.question_embeddings, np.float32)
    scores = np.zeros(split.candidates.shape, np.float32)
    for i, (ids, length) in enumerate(zip(split.candidates, split.n_real, strict=True)):
        table = shards.triplet_vectors(ids[:length])
        dot_products(table, questions[i], scores[i, :length])
    return scores


def _with_seconds(rankings: Rankings, start: float) -> Rankings:
    """Divide the time since ``start`` equally among the questions, as ``seconds``."""
    each = (time.perf_counter() - start) / max(1, len(rankings))
    rankings.seconds[:] = each
    return rankings
