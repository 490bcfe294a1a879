"""Subgraphs of many questions at once: k-hop balls, PageRank, the cut.

Questions are the blocks of one disconnected graph: a node is the pair (block, entity)
as one int64 key, block * n_entities + entity, and a block's triplets likewise. Nothing
here loops over questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64, Int, Int32, Int64

from kgscout_jax.graph.pagerank import pagerank
from kgscout_jax.graph.store import Adjacency, KnowledgeGraph

Direction = Literal["both", "directed"]
"""How a walk follows triplets: both ways, or from head to tail only."""

BITMAP_CELLS = 1 << 27
"""Up to this many possible keys, a set of keys is a bitmap (128 MB), else a sort."""


@dataclass(frozen=True, kw_only=True)
class Subgraphs:
    """The subgraphs of b questions; m rows in all, ordered by (block, triplet id)."""

    blocks: Int32[np.ndarray, "m"]
    """Which question a row belongs to, ascending."""
    triplet_ids: Int32[np.ndarray, "m"]
    """Ids in the knowledge graph."""
    ppr: Float64[np.ndarray, "m 2"]
    """PageRank of head and of tail, on the graph before the cut."""
    scores: Float64[np.ndarray, "m"]
    """What the cut ranks by: ppr_head + ppr_tail, or the flow of a guided walk."""
    sizes_before_cut: Int64[np.ndarray, "b"]
    """Triplets of each ball (or given subgraph) before the cut."""
    nodes_before_cut: Int64[np.ndarray, "k"]
    """Keys block * n_entities + entity of the nodes of those triplets, ascending."""

    @property
    def n_blocks(self) -> int:
        return len(self.sizes_before_cut)

    @property
    def offsets(self) -> Int64[np.ndarray, "b+1"]:
        """Rows of block i are ``offsets[i]:offsets[i + 1]``."""
        return np.searchsorted(self.blocks, np.arange(self.n_blocks + 1))

    @staticmethod
    def concatenate(parts: Sequence[Subgraphs], n_entities: int) -> Subgraphs:
        """The subgraphs of several groups of questions, one after the other."""
        before = np.cumsum([0, *(part.n_blocks for part in parts)])
        shifted = list(zip(parts, before[:-1].tolist(), strict=True))
        return Subgraphs(
            blocks=np.concatenate(
                [part.blocks + np.int32(shift) for part, shift in shifted]
            ),
            triplet_ids=np.concatenate([part.triplet_ids for part in parts]),
            ppr=np.concatenate([part.ppr for part in parts]),
            scores=np.concatenate([part.scores for part in parts]),
            sizes_before_cut=np.concatenate([part.sizes_before_cut for part in parts]),
            nodes_before_cut=np.concatenate(
                [part.nodes_before_cut + shift * n_entities for part, shift in shifted]
            ),
        )


def unique_keys(keys: Int64[np.ndarray, "n"], cells: int) -> Int64[np.ndarray, "k"]:
    """The distinct keys, ascending; all keys are below ``cells``."""
    if cells <= BITMAP_CELLS:
        seen = np.zeros(cells, bool)
        seen[keys] = True
        return np.flatnonzero(seen)
    return np.unique(keys)


def expand(
    adjacency: Adjacency, nodes: Int64[np.ndarray, "n"], n_entities: int, m: int
) -> Int64[np.ndarray, "k"]:
    """Keys block * m + triplet id of all triplets that ``adjacency`` has for nodes."""
    blocks, entities = np.divmod(nodes, n_entities)
    lengths = adjacency.offsets[entities + 1] - adjacency.offsets[entities]
    return np.repeat(blocks * m, lengths) + adjacency.of(entities)


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
    n, m = len(graph.entities), len(graph.triplets)
    cells_nodes, cells_triplets = len(topics) * n, len(topics) * m
    frontier = unique_keys(node_keys(topics, n), cells_nodes)
    visited = frontier
    triplets = np.empty(0, np.int64)
    sides = graph.by_head, graph.by_tail
    for hop in range(hops):
        found = np.concatenate([expand(side, frontier, n, m) for side in sides])
        found = unique_keys(found, cells_triplets)
        triplets = unique_keys(np.concatenate([triplets, found]), cells_triplets)
        if hop == hops - 1:
            break
        blocks, ids = np.divmod(found, m)
        ends = graph.triplets[ids][:, [0, 2]] + (blocks * n)[:, None]
        reached = unique_keys(ends.ravel(), cells_nodes)
        frontier = np.setdiff1d(reached, visited, assume_unique=True)
        visited = np.union1d(visited, frontier)
        if hub_degree is not None:
            at = frontier % max(n, 1)
            degree = sum(side.offsets[at + 1] - side.offsets[at] for side in sides)
            frontier = frontier[degree <= hub_degree]
    return triplets


def node_keys(
    nodes: Sequence[Int32[np.ndarray, "t"]], n_entities: int
) -> Int64[np.ndarray, "k"]:
    """Keys block * n_entities + entity of each block's ``nodes``, in their order."""
    blocks = np.repeat(np.arange(len(nodes)), [len(row) for row in nodes])
    flat = np.concatenate([*nodes, np.empty(0, np.int32)]).astype(np.int64)
    return blocks * n_entities + flat


def cut_subgraphs(
    graph: KnowledgeGraph,
    topics: Sequence[Int32[np.ndarray, "t"]],
    *,
    given: Sequence[Int32[np.ndarray, "m"]] | None = None,
    hops: int = 2,
    max_triplets: int | None = 2000,
    ppr_threshold: float | None = None,
    hub_degree: int | None = None,
    direction: Direction = "both",
) -> Subgraphs:
    """The subgraph of each question: ball or given, with PageRank, cut to a size.

    PageRank is computed once, before the cut. The cut keeps the triplets with the
    largest ppr_head + ppr_tail, ties by triplet id.

    Args:
        graph: the knowledge graph.
        topics: per question, entity ids of its topics.
        given: per question, ids of the triplets of its own subgraph; None to cut
            balls from ``graph``.
        hops: radius of the ball.
        max_triplets: the largest size kept; None keeps all.
        ppr_threshold: keep only triplets whose ends both have this PageRank (OKGQA,
            A.5, prunes entities below 1e-5).
        hub_degree: see ``balls``.
        direction: how PageRank walks, "both" or "directed".
    """
    n, m = len(graph.entities), len(graph.triplets)
    own = given is not None
    keys = (
        np.sort(node_keys(given, m)) if own else balls(graph, topics, hops, hub_degree)
    )
    blocks, ids = np.divmod(keys, max(m, 1))
    rows = graph.triplets[ids]
    head_keys = blocks * n + rows[:, 0]
    tail_keys = blocks * n + rows[:, 2]
    topic_keys = node_keys(topics, n)
    touched = unique_keys(np.concatenate([head_keys, tail_keys]), len(topics) * n)
    nodes = np.union1d(touched, topic_keys)
    heads = np.searchsorted(nodes, head_keys)
    tails = np.searchsorted(nodes, tail_keys)
    rank = pagerank(
        len(nodes),
        heads,
        tails,
        nodes // max(n, 1),
        np.searchsorted(nodes, topic_keys),
        direction=direction,
    )
    ppr = np.stack([rank[heads], rank[tails]], axis=1)
    return cut_rows(
        blocks=blocks,
        ids=ids,
        ppr=ppr,
        scores=ppr.sum(axis=1),
        nodes=touched,
        n_blocks=len(topics),
        max_triplets=max_triplets,
        ppr_threshold=ppr_threshold,
    )


def cut_rows(
    *,
    blocks: Int64[np.ndarray, "m"],
    ids: Int64[np.ndarray, "m"],
    ppr: Float64[np.ndarray, "m 2"],
    scores: Float64[np.ndarray, "m"],
    nodes: Int64[np.ndarray, "k"],
    n_blocks: int,
    max_triplets: int | None,
    ppr_threshold: float | None = None,
) -> Subgraphs:
    """Subgraphs of the rows with the highest scores, ``max_triplets`` of each block.

    Rows are ordered by (block, triplet id); ``nodes`` are the keys of their ends. With
    ``ppr_threshold``, rows with an end below it go first.
    """
    keep = top_of_block(blocks, ids, scores, max_triplets)
    if ppr_threshold is not None:
        keep &= ppr.min(axis=1) >= ppr_threshold
    return Subgraphs(
        blocks=blocks[keep].astype(np.int32),
        triplet_ids=ids[keep].astype(np.int32),
        ppr=ppr[keep],
        scores=scores[keep],
        sizes_before_cut=np.bincount(blocks, minlength=n_blocks),
        nodes_before_cut=nodes,
    )


def top_of_block(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    scores: Float64[np.ndarray, "m"],
    k: int | None,
) -> Bool[np.ndarray, "m"]:
    """Marks the k rows of each block with the highest scores, ties to the lower id.

    ``blocks`` must be ascending.
    """
    keep = np.ones(len(blocks), bool)
    if k is None or not len(blocks):
        return keep
    sizes = np.bincount(blocks)
    large = (sizes > k)[blocks]
    if not large.any():
        return keep
    rows = np.flatnonzero(large)
    order = rows[np.lexsort((ids[rows], -scores[rows], blocks[rows]))]
    starts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(
        starts, np.diff(starts, append=len(order))
    )
    keep[order[place >= k]] = False
    return keep
