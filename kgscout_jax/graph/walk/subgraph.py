"""Subgraphs of many questions at once: k-hop balls, PageRank, the cut.

Questions are the blocks of one disconnected graph: a node is the pair (block, entity)
as one int64 key, block * n_entities + entity, and a block's triplets likewise
(``block_keys``). Only the selection of the best triplets loops over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int32, Int64, Num

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.block_keys import (
    blocks_of,
    node_keys,
    positions,
    unique_keys,
)
from kgscout_jax.graph.walk.block_ranking import top_of_block
from kgscout_jax.graph.walk.pagerank import pagerank

Direction = Literal["both", "directed"]
"""How a walk follows triplets: both ways, or from head to tail only."""


@dataclass(frozen=True, kw_only=True)
class CutRule:
    """Which triplets of a ball are its subgraph."""

    max_triplets: int | None
    """The most of a question; None for all."""
    ppr_threshold: float | None = None
    """Triplets with an end of less PageRank are left out."""
    all_nodes: bool = True
    """Whether ``Subgraphs.nodes_before_cut`` is listed; else it is empty."""


@dataclass(frozen=True, kw_only=True)
class Subgraphs:
    """The subgraphs of b questions; m rows in all, ordered by (block, triplet id)."""

    blocks: Int32[np.ndarray, "m"]
    """The question of each row, ascending."""
    triplet_ids: Int32[np.ndarray, "m"]
    """Ids in the knowledge graph."""
    ppr: Float64[np.ndarray, "m 2"]
    """PageRank of head and of tail, on the graph before the cut."""
    scores: Float64[np.ndarray, "m"]
    """Score of the cut: ppr_head + ppr_tail, or the flow of a guided walk."""
    sizes_before_cut: Int64[np.ndarray, "b"]
    """Triplets of each ball (or own subgraph) before the cut."""
    nodes_before_cut: Int64[np.ndarray, "k"]
    """Keys block * n_entities + entity of the nodes of those triplets, ascending."""

    @property
    def n_blocks(self) -> int:
        return len(self.sizes_before_cut)

    @property
    def offsets(self) -> Int64[np.ndarray, "offsets"]:
        """Rows of block i are ``offsets[i]:offsets[i + 1]``."""
        return np.searchsorted(self.blocks, np.arange(self.n_blocks + 1))

    @staticmethod
    def concatenate(groups: Sequence[Subgraphs], n_entities: int) -> Subgraphs:
        """The subgraphs of several groups of questions, in order."""
        first = np.cumsum([0, *(group.n_blocks for group in groups[:-1])]).tolist()
        columns = {
            field.name: [getattr(group, field.name) for group in groups]
            for field in fields(Subgraphs)
        }
        for name, shift in (("blocks", np.int32(1)), ("nodes_before_cut", n_entities)):
            columns[name] = [
                values + block * shift
                for values, block in zip(columns[name], first, strict=True)
            ]
        return Subgraphs(**{name: np.concatenate(a) for name, a in columns.items()})


def balls(
    graph: KnowledgeGraph,
    topics: Sequence[Int32[np.ndarray, "t"]],
    hops: int,
    hub_degree: int | None = None,
) -> Int64[np.ndarray, "k"]:
    """Keys of the triplets within ``hops`` steps of each question's topics, ascending.

    Edges are followed both ways: a triplet is in the ball when one of its ends lies at
    most ``hops`` - 1 steps from a topic. Entities with more than ``hub_degree``
    triplets are reached but not walked through, unless they are topics.
    """
    n, m, b = len(graph.entities), len(graph.triplets), len(topics)
    visited = frontier = unique_keys(node_keys(topics, n), b * n)
    triplets = [np.empty(0, np.int64)]
    sides = (graph.by_head, 2), (graph.by_tail, 0)
    for hop in range(hops):
        blocks = blocks_of(frontier, b, n)
        entities = frontier - blocks * n
        if hub_degree is not None and hop:
            small = sum(side.degrees(entities) for side, _ in sides) <= hub_degree
            blocks, entities = blocks[small], entities[small]
        reached = [visited]
        for side, other_end in sides:
            owner, ids = side.rows(entities)
            triplets.append(blocks[owner] * m + ids)
            if hop < hops - 1:
                reached.append(blocks[owner] * n + graph.triplets[ids, other_end])
        if hop < hops - 1:
            before = visited
            visited = unique_keys(np.concatenate(reached), b * n)
            frontier = np.setdiff1d(visited, before, assume_unique=True)
    return unique_keys(np.concatenate(triplets), b * m)


def cut_subgraphs(
    graph: KnowledgeGraph,
    topics: Sequence[Int32[np.ndarray, "t"]],
    *,
    own_triplets: Sequence[Int32[np.ndarray, "m"]] | None = None,
    hops: int = 2,
    max_triplets: int | None = 2000,
    ppr_threshold: float | None = None,
    hub_degree: int | None = None,
    direction: Direction = "both",
) -> Subgraphs:
    """The subgraph of each question: a ball or its own, with PageRank, cut to a size.

    PageRank is computed once, before the cut. The cut takes the triplets with the
    largest ppr_head + ppr_tail, ties by triplet id.

    Args:
        graph: the knowledge graph.
        topics: per question, entity ids of its topics.
        own_triplets: per question, ids of the triplets of its own subgraph; None to
            cut balls from ``graph``.
        hops: radius of the ball.
        max_triplets: size of the cut; None for all.
        ppr_threshold: leave out triplets with less PageRank at an end (OKGQA, A.5,
            prunes entities below 1e-5).
        hub_degree: see ``balls``.
        direction: how PageRank walks, "both" or "directed".
    """
    n, m, b = len(graph.entities), len(graph.triplets), len(topics)
    keys = (
        balls(graph, topics, hops, hub_degree)
        if own_triplets is None
        else np.sort(node_keys(own_triplets, m))
    )
    blocks = blocks_of(keys, b, m)
    ids = keys - blocks * m
    rows = graph.triplets[ids]
    head_keys = blocks * n + rows[:, 0]
    tail_keys = blocks * n + rows[:, 2]
    topic_keys = np.unique(node_keys(topics, n))
    end_keys = unique_keys(np.concatenate([head_keys, tail_keys]), b * n)
    at = np.searchsorted(end_keys, topic_keys)
    isolated = np.append(end_keys, -1)[at] != topic_keys  # topics without a triplet
    nodes = np.insert(end_keys, at[isolated], topic_keys[isolated])
    heads = positions(nodes, head_keys, b * n)
    tails = positions(nodes, tail_keys, b * n)
    rank = pagerank(
        len(nodes),
        heads,
        tails,
        blocks_of(nodes, b, n),
        np.searchsorted(nodes, topic_keys),
        direction=direction,
    )
    return cut_rows(
        blocks=blocks,
        ids=ids,
        ppr_of=lambda rows: np.stack([rank[heads[rows]], rank[tails[rows]]], axis=1),
        scores=rank[heads] + rank[tails],
        nodes=lambda: end_keys,
        n_blocks=len(topics),
        rule=CutRule(max_triplets=max_triplets, ppr_threshold=ppr_threshold),
    )


def cut_rows(
    *,
    blocks: Int64[np.ndarray, "m"],
    ids: Int64[np.ndarray, "m"],
    ppr_of: Callable[[Int64[np.ndarray, "k"]], Float64[np.ndarray, "k 2"]],
    scores: Num[np.ndarray, "m"],
    nodes: Callable[[], Int64[np.ndarray, "v"]],
    n_blocks: int,
    rule: CutRule,
) -> Subgraphs:
    """The cut subgraphs of b questions.

    Args:
        blocks: the question of each row, ascending.
        ids: the triplet of each row, ascending within a question.
        ppr_of: the PageRank of head and tail of some rows.
        scores: the rows with the highest are the subgraph, ties by triplet id.
        nodes: the keys of the ends of all rows.
        n_blocks: b.
        rule: what is cut.
    """
    selected = np.flatnonzero(top_of_block(blocks, ids, scores, rule.max_triplets))
    ppr = ppr_of(selected)
    if rule.ppr_threshold is not None:
        likely = ppr.min(axis=1) >= rule.ppr_threshold
        selected, ppr = selected[likely], ppr[likely]
    return Subgraphs(
        blocks=blocks[selected].astype(np.int32),
        triplet_ids=ids[selected].astype(np.int32),
        ppr=ppr,
        scores=scores[selected],
        sizes_before_cut=np.bincount(blocks, minlength=n_blocks),
        nodes_before_cut=nodes() if rule.all_nodes else np.empty(0, np.int64),
    )
