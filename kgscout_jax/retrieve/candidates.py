"""Selects a question's candidates from its embedding and topics.

Preparation of shards and inference on a graph share this code, so that training and
inference have the same candidates. Questions are the blocks of one graph, as in
``graph.walk.subgraph``; a question's result does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Float16, Float32, Int, Int32, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.block_ranking import hybrid_scores, ranking, top_of_block
from kgscout_jax.graph.walk.guide import Guide
from kgscout_jax.graph.walk.guided_walk import walk_subgraphs
from kgscout_jax.graph.walk.subgraph import Direction, Subgraphs, cut_subgraphs
from kgscout_jax.utils.arrays import ROWS_PER_BLOCK, to_float32


@dataclass(frozen=True, kw_only=True)
class CutSettings:
    """Options of the cut of a question's subgraph and of its candidates."""

    hops: int = 2
    """Steps of the walk, or radius of the ball."""
    cut: Literal["guided", "ppr"] = "guided"
    """A walk guided by the question, or PageRank on the ball (the thesis)."""
    max_triplets: int | None = 2000
    """Largest size of the subgraph; None for no cut."""
    ppr_threshold: float | None = None
    """Leave out triplets with less PageRank at an end."""
    hub_degree: int | None = None
    """Balls do not walk through entities with more triplets than this (ppr only)."""
    select: Literal["hybrid", "cosine"] = "hybrid"
    """The better of two ranks, by cosine and by the cut, or the cosine alone."""
    candidates: int = 1000
    """Candidates per question."""
    direction: Direction = "both"
    """How walks and PageRank follow edges."""


def cut_questions(
    graph: KnowledgeGraph,
    topics: Sequence[Int32[np.ndarray, "t"]],
    relation_cosines: Float[np.ndarray, "b r"],
    settings: CutSettings,
    *,
    own_triplets: Sequence[Int32[np.ndarray, "m"]] | None = None,
    all_nodes: bool = True,
) -> Subgraphs:
    """The cut subgraph of each question.

    ``scores`` of the result are the second ranking beside the cosine: the flow of the
    guided walk, or PageRank weighted by the relation's similarity to the question.

    Args:
        graph: the knowledge graph.
        topics: per question, entity ids of its topics.
        relation_cosines: of each question with each relation of the graph.
        settings: how to cut.
        own_triplets: per question, ids of the triplets of its own subgraph; None to cut
            it out of ``graph``.
        all_nodes: whether a guided walk lists ``nodes_before_cut``.
    """
    guide = Guide()
    common = {
        "own_triplets": own_triplets,
        "hops": settings.hops,
        "max_triplets": settings.max_triplets,
        "ppr_threshold": settings.ppr_threshold,
        "direction": settings.direction,
    }
    if settings.cut == "guided":
        return walk_subgraphs(
            graph,
            topics,
            relation_cosines,
            guide=guide,
            all_nodes=all_nodes,
            **common,
        )
    cut = cut_subgraphs(graph, topics, hub_degree=settings.hub_degree, **common)
    similarity = relation_cosines[cut.blocks, graph.triplets[cut.triplet_ids, 1]]
    return replace(
        cut, scores=cut.scores * np.exp(similarity / (2 * guide.temperature))
    )


def relation_cosines(
    question_embeddings: Float16[np.ndarray, "b d"],
    table: Float[np.ndarray, "r d"],
) -> Float32[np.ndarray, "b r"]:
    """Cosine of each question with each relation, as stored embeddings."""
    out = np.empty((len(question_embeddings), len(table)), np.float32)
    wide = table.astype(np.float32, copy=False)
    for i, question in enumerate(question_embeddings.astype(np.float32)):
        dot_products(wide, question, out[i])
    return out


def triplet_cosines(
    blocks: Int[np.ndarray, "m"],
    rows: Int[np.ndarray, "m"],
    question_embeddings: Float16[np.ndarray, "b d"],
    table: Float16[np.ndarray, "u d"],
) -> Float32[np.ndarray, "m"]:
    """Cosine of each triplet with its question, as stored embeddings.

    Args:
        blocks: the question of each triplet, ascending.
        rows: the row of its embedding in ``table``.
        question_embeddings: of the questions.
        table: embeddings of triplets.
    """
    out = np.empty(len(blocks), np.float32)
    bounds = np.searchsorted(blocks, np.arange(len(question_embeddings) + 1))
    for i, question in enumerate(question_embeddings.astype(np.float32)):
        for low in range(bounds[i], bounds[i + 1], ROWS_PER_BLOCK):
            here = slice(low, min(low + ROWS_PER_BLOCK, bounds[i + 1]))
            dot_products(to_float32(table[rows[here]]), question, out[here])
    return out


def dot_products(
    rows: Float32[np.ndarray, "n d"],
    vector: Float32[np.ndarray, "d"],
    out: Float32[np.ndarray, "n"],
) -> None:
    """Write the dot product of each row with ``vector``; equal rows tie exactly.

    BLAS is avoided: its order of summation depends on the row's position.
    """
    np.einsum("nd,d->n", rows, vector, out=out)


def select_rows(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    cosine: Float32[np.ndarray, "m"],
    scores: Float[np.ndarray, "m"],
    *,
    candidates: int,
    select: str = "hybrid",
) -> Int64[np.ndarray, "k"]:
    """The rows of the cut that are candidates, by block, then by descending cosine.

    Args:
        blocks: the question of each row, ascending.
        ids: triplet ids; ties go to the lower one.
        cosine: of triplet and question.
        scores: scores of the cut, compared as float32.
        candidates: the number of each block.
        select: "hybrid" for the better of two ranks, by cosine and by ``scores``;
            "cosine" for the first alone.
    """
    order = cosine
    if select == "hybrid":
        order = hybrid_scores(blocks, ids, cosine, scores.astype(np.float32))
    selected = np.flatnonzero(top_of_block(blocks, ids, order, candidates))
    by_cosine = ranking(blocks[selected], ids[selected], cosine[selected])
    return selected[by_cosine]
