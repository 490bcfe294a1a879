"""The guided walks of many questions at once, by look-up of the nodes they reach.

The cost depends on the neighbourhoods of the topics, not on the graph. A node is a key
block * n_entities + entity, see ``block_keys``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int, Int64

from kgscout_jax.graph.arrays import group_sums
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.arcs import Arcs, ArcSource
from kgscout_jax.graph.walk.block_keys import blocks_of, positions, unique_keys
from kgscout_jax.graph.walk.guide import Guide
from kgscout_jax.graph.walk.subgraph import CutRule, Subgraphs, cut_rows

MAX_TABLE_CELLS = 1 << 22
"""Up to this many (entity, arc type) pairs are counted in a table, else by sorting."""


class ArcLimitError(Exception):
    """A walk has more arcs than it may have."""


class WalkResult(NamedTuple):
    """Entities and triplets that a walk reached."""

    nodes: Int64[np.ndarray, "k"]
    """Keys of the entities, ascending."""
    rank: Float64[np.ndarray, "k"]
    """Probability that the walk ends at each entity."""
    triplets: Int64[np.ndarray, "m"]
    """Keys of the triplets, ascending."""
    flow: Float64[np.ndarray, "m"]


def push(
    source: ArcSource,
    topics: Int64[np.ndarray, "t"],
    cosines: Float64[np.ndarray, "b r"],
    guide: Guide,
    hops: int,
    *,
    n_entities: int,
    max_arcs: int | None = None,
    max_question_arcs: float | None = None,
) -> WalkResult:
    """The guided walks of b questions from their ``topics`` (node keys).

    Raises:
        ArcLimitError: a step of all questions has more than ``max_arcs``, or one
            question has more than ``max_question_arcs`` in all.
    """
    n = max(n_entities, 1)
    cells = len(cosines) * n
    # The largest cosine cancels: no temperature overflows.
    top = cosines.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp((cosines - top) / guide.temperature)
    nodes = np.unique(topics)
    per_block = np.bincount(nodes // n, minlength=1)
    mass = 1.0 / per_block[nodes // n]
    rank = np.zeros(len(nodes))
    expanded = np.zeros(len(nodes), bool)
    keys = np.empty(0, np.int64)
    # All arcs so far: source, target and triplet keys, and probability at the source.
    walked = keys, keys, keys, np.empty(0)
    per_question = np.zeros(len(cosines), np.int64)
    for step in range(hops):
        fresh = np.flatnonzero((mass >= guide.threshold) & ~expanded)
        counts = source.counts(nodes[fresh])
        if step:
            narrow = mass[fresh] >= guide.per_triplet * counts
            fresh, counts = fresh[narrow], counts[narrow]
        expanded[fresh] = True
        if max_arcs is not None and counts.sum() > max_arcs:
            raise ArcLimitError
        if max_question_arcs is not None:
            np.add.at(per_question, nodes[fresh] // n, counts)
            if per_question.max(initial=0) > max_question_arcs:
                raise ArcLimitError
        arcs = source.arcs(nodes[fresh])
        share = _probabilities(arcs, nodes[fresh] // n, weights)
        new = nodes[fresh][arcs.source], arcs.target, arcs.triplet, share
        walked = tuple(map(np.concatenate, zip(walked, new, strict=True)))
        reached = unique_keys(np.concatenate([nodes, arcs.target]), cells)
        at = positions(reached, nodes, cells)
        mass, rank, expanded = (
            _scatter(values, at, len(reached)) for values in (mass, rank, expanded)
        )
        nodes = reached
        begin, end = (positions(nodes, ends, cells) for ends in walked[:2])
        moving = np.zeros(len(nodes), bool)
        moving[begin] = True
        moving &= mass >= guide.threshold
        # Entities without arcs, or with too little probability, retain all of it.
        rank += guide.alpha**step * np.where(moving, (1 - guide.alpha) * mass, mass)
        outflow = np.where(moving, mass, 0.0)[begin] * walked[3]
        mass = group_sums(outflow, end, len(nodes))
    rank += guide.alpha**hops * mass
    begins, _, triplet, share = walked
    begin = positions(nodes, begins, cells)
    cells = int(triplet.max(initial=-1)) + 1
    triplets = unique_keys(triplet, cells)
    at = positions(triplets, triplet, cells)
    flow = group_sums(rank[begin] * share, at, len(triplets))
    return WalkResult(nodes, rank, triplets, flow)


def _probabilities(
    arcs: Arcs,
    blocks: Int64[np.ndarray, "k"],
    weights: Float64[np.ndarray, "b r"],
) -> Float64[np.ndarray, "a"]:
    """The probability of each arc: relations by weight, their edges uniformly.

    Args:
        arcs: all arcs out of some nodes.
        blocks: the question of each of these nodes.
        weights: of each relation for each question.
    """
    if not len(arcs.source):
        return np.empty(0)
    n_relations = weights.shape[1]
    n_types = 2 * n_relations
    pair = arcs.source * n_types + arcs.arc_type
    cells = len(blocks) * n_types
    if cells <= MAX_TABLE_CELLS:
        counts = np.bincount(pair, minlength=cells)
        present = np.flatnonzero(counts)
        sizes = counts[present]
        which = np.empty(cells, np.int64)
        which[present] = np.arange(len(present))
        which = which[pair]
    else:
        present, which, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    node, arc_type = np.divmod(present, n_types)
    weight = weights[blocks[node], arc_type % n_relations]
    # A weight far below the largest may round to 0: the relation has no flow.
    total = group_sums(weight, node, len(blocks))
    share = weight / np.where(total > 0, total, 1.0)[node]
    return (share / sizes)[which]


def _scatter(values: np.ndarray, at: Int[np.ndarray, "k"], size: int) -> np.ndarray:
    """``values`` at positions ``at`` of an array of zeros."""
    out = np.zeros(size, values.dtype)
    out[at] = values
    return out


def cut_walks(
    graph: KnowledgeGraph,
    walk: WalkResult,
    own: Int64[np.ndarray, "k"] | None,
    b: int,
    cut: CutRule,
) -> Subgraphs:
    """The cut subgraphs of b questions."""
    n, m = len(graph.entities), max(len(graph.triplets), 1)
    keys, flow = walk.triplets, walk.flow
    if own is not None:
        all_flow = np.zeros(len(own))
        all_flow[np.searchsorted(own, keys)] = flow
        keys, flow = own, all_flow
    blocks = blocks_of(keys, b, m)
    ids = keys - blocks * m
    ends = graph.triplets[ids][:, [0, 2]] + (blocks * n)[:, None]

    def ppr_of(rows: Int64[np.ndarray, "k"]) -> Float64[np.ndarray, "k 2"]:
        at = np.searchsorted(walk.nodes, ends[rows])
        reached = np.append(walk.nodes, -1)[at] == ends[rows]
        return np.where(reached, np.append(walk.rank, 0.0)[at], 0.0)

    return cut_rows(
        blocks=blocks,
        ids=ids,
        ppr_of=ppr_of,
        scores=flow,
        nodes=lambda: unique_keys(ends.ravel(), b * n),
        n_blocks=b,
        rule=cut,
    )
