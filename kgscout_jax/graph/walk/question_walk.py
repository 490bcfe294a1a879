"""The guided walk of one question, with an array over all entities of the graph.

The arcs of the entities that expand are listed. Once they are many, a step is two
sparse products over all triplets of the graph, which cost less.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy.sparse import csr_array

from kgscout_jax.graph.arc_columns import ArcColumns
from kgscout_jax.graph.arrays import group_sums
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.block_keys import positions, unique_keys
from kgscout_jax.graph.walk.guide import Guide
from kgscout_jax.graph.walk.subgraph import CutRule, Direction, Subgraphs, cut_rows

Entities = Float64[np.ndarray, "e"]
Flow = tuple[Int64[np.ndarray, "k"], Float64[np.ndarray, "k"]]
"""Ids of triplets, ascending, and their flow."""


class ListedArcs:
    """The arcs of the entities that have expanded, with their probabilities."""

    def __init__(
        self, graph: KnowledgeGraph, weights: Float64[np.ndarray, "r"], both: bool
    ) -> None:
        self._columns, self._weights = graph.arc_columns, weights
        columns = self._columns
        self._sides = [(graph.by_head, columns.tails, columns.per_head)]
        if both:
            self._sides.append((graph.by_tail, columns.heads, columns.per_tail))
        none = np.empty(0, np.int64)
        self.source, self.target, self.ids = none, none, none
        self.share = np.empty(0)

    def expand(self, nodes: Int64[np.ndarray, "k"]) -> None:
        """Add all arcs out of ``nodes``."""
        parts = []
        for side, other_end, per_group in self._sides:
            owner, ids = side.rows(nodes)
            value = self._weights[self._columns.relations[ids]] * per_group[ids]
            parts.append((nodes[owner], other_end[ids], ids, value))
        source, target, ids, value = map(np.concatenate, zip(*parts, strict=True))
        total = group_sums(value, source, len(self._columns.head_degrees))
        # A weight far below the largest may round to 0: the relation has no flow.
        value /= np.where(total > 0, total, 1.0)[source]
        self.source = np.concatenate([self.source, source])
        self.target = np.concatenate([self.target, target])
        self.ids = np.concatenate([self.ids, ids])
        self.share = np.concatenate([self.share, value])

    def step(self, mass: Entities) -> Entities:
        """What each entity receives of ``mass``."""
        moved = mass[self.source] * self.share
        return group_sums(moved, self.target, len(mass))

    def flow(self, rank: Entities, expanded: Bool[np.ndarray, "e"]) -> Flow:
        """Of the triplets of entities that are ``expanded``, which all are listed."""
        m = len(self._columns.tails)
        ids = unique_keys(self.ids, m)
        moved = rank[self.source] * self.share
        return ids, group_sums(moved, positions(ids, self.ids, m), len(ids))


class AllArcs:
    """The arcs of all entities of the graph, with their probabilities."""

    def __init__(
        self, columns: ArcColumns, weights: Float64[np.ndarray, "r"], both: bool
    ) -> None:
        n = len(columns.head_degrees)
        self._columns = columns
        weight = weights[columns.relations]
        self._forward = self._matrix(weight * columns.per_head)
        total, self._backward = self._forward @ np.ones(n), None
        if both:
            self._backward = self._matrix(weight * columns.per_tail)
            total += self._backward.T @ np.ones(n)
        # A weight far below the largest may round to 0: the relation has no flow.
        self._per_weight = np.divide(1.0, total, out=np.zeros(n), where=total > 0)

    def _matrix(self, values: Float64[np.ndarray, "m"]) -> csr_array:
        """One value a triplet, by head and tail."""
        columns, n = self._columns, len(self._columns.head_degrees)
        return csr_array((values, columns.tails, columns.offsets), shape=(n, n))

    def step(self, mass: Entities) -> Entities:
        """What each entity receives of ``mass``."""
        sent = mass * self._per_weight
        out = self._forward.T @ sent
        return out if self._backward is None else out + self._backward @ sent

    def flow(self, rank: Entities, expanded: Bool[np.ndarray, "e"]) -> Flow:
        """Of the triplets of entities that are ``expanded``."""
        columns = self._columns
        sent = np.where(expanded, rank * self._per_weight, 0.0)
        flow = np.repeat(sent, columns.head_degrees) * self._forward.data
        crossed = np.repeat(expanded, columns.head_degrees)
        if self._backward is not None:
            flow += sent[columns.tails] * self._backward.data
            crossed |= expanded[columns.tails]
        ids = np.flatnonzero(crossed)
        return ids, flow[ids]


def walk_question(
    graph: KnowledgeGraph,
    topics: Int32[np.ndarray, "t"],
    cosines: Float64[np.ndarray, "r"],
    guide: Guide,
    hops: int,
    *,
    listed: float,
    direction: Direction,
    cut: CutRule,
) -> Subgraphs:
    """The subgraph of one question; arguments as of ``guided_walk.walk_subgraphs``.

    ``listed``: the most arcs that are listed.
    """
    columns, n, both = graph.arc_columns, len(graph.entities), direction == "both"
    # The largest cosine cancels: no temperature overflows.
    weights = np.exp((cosines - cosines.max(initial=-np.inf)) / guide.temperature)
    degrees = columns.head_degrees + (columns.tail_degrees if both else 0)
    arcs: ListedArcs | AllArcs = ListedArcs(graph, weights, both)
    count = 0
    mass, rank, expanded = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    mass[topics] = 1 / max(len(np.unique(topics)), 1)
    for step in range(hops):
        likely = mass >= guide.threshold
        fresh = np.flatnonzero(likely & ~expanded)
        if step:
            fresh = fresh[mass[fresh] >= guide.per_triplet * degrees[fresh]]
        expanded[fresh] = True
        if isinstance(arcs, ListedArcs):
            count += int(degrees[fresh].sum())
            if count > listed:
                arcs = AllArcs(columns, weights, both)
            else:
                arcs.expand(fresh)
        moving = likely & expanded & (degrees > 0)
        # Entities without arcs, or with too little probability, retain all of it.
        rank += guide.alpha**step * np.where(moving, (1 - guide.alpha) * mass, mass)
        mass = arcs.step(np.where(moving, mass, 0.0))
    rank += guide.alpha**hops * mass
    ids, flow = arcs.flow(rank, expanded)

    def ends() -> Int64[np.ndarray, "k"]:
        nodes = np.zeros(n, bool)
        nodes[columns.heads[ids]] = True
        nodes[columns.tails[ids]] = True
        return np.flatnonzero(nodes)

    return cut_rows(
        blocks=np.zeros(len(ids), np.int64),
        ids=ids,
        ppr_of=lambda rows: rank[graph.triplets[ids[rows]][:, [0, 2]]],
        scores=flow,
        nodes=ends,
        n_blocks=1,
        rule=cut,
    )
