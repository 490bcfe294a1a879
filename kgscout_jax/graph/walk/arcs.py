"""Look-up of outgoing arcs, for the walks of many questions at once."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from jaxtyping import Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.subgraph import Direction
from kgscout_jax.utils.ragged import ranges


class Arcs(NamedTuple):
    """Arcs out of some nodes; nodes are keys block * n_entities + entity."""

    source: Int64[np.ndarray, "a"]
    """Position of the node at the start of each arc."""
    target: Int64[np.ndarray, "a"]
    """Node keys."""
    triplet: Int64[np.ndarray, "a"]
    """Keys block * m + triplet id."""
    arc_type: Int64[np.ndarray, "a"]
    """Relation id, plus the number of relations if crossed from tail to head."""


class ArcSource(Protocol):
    """Returns the arcs out of nodes."""

    def counts(self, nodes: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        """Number of arcs out of each node."""
        ...

    def arcs(self, nodes: Int64[np.ndarray, "k"]) -> Arcs:
        """All arcs out of ``nodes``."""
        ...


class GraphArcs:
    """The arcs of one graph that all questions share."""

    def __init__(self, graph: KnowledgeGraph, direction: Direction) -> None:
        self.graph = graph
        self.sides = [(graph.by_head, 2, 0)]
        if direction == "both":
            self.sides.append((graph.by_tail, 0, len(graph.relations)))

    def counts(self, nodes: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        entities = nodes % max(len(self.graph.entities), 1)
        return np.sum([side.degrees(entities) for side, _, _ in self.sides], axis=0)

    def arcs(self, nodes: Int64[np.ndarray, "k"]) -> Arcs:
        n, m = max(len(self.graph.entities), 1), len(self.graph.triplets)
        blocks, entities = np.divmod(nodes, n)
        per_side = []
        for side, other_end, shift in self.sides:
            source, ids = side.rows(entities)
            rows, block = self.graph.triplets[ids], blocks[source]
            arc_type = rows[:, 1].astype(np.int64) + shift
            per_side.append(
                Arcs(source, block * n + rows[:, other_end], block * m + ids, arc_type)
            )
        return Arcs(*map(np.concatenate, zip(*per_side, strict=True)))


class SubgraphArcs:
    """The arcs of the questions' own subgraphs."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        triplets: Int64[np.ndarray, "k"],
        direction: Direction,
    ) -> None:
        """``triplets``: keys block * m + triplet id, ascending."""
        n, m = len(graph.entities), max(len(graph.triplets), 1)
        blocks, ids = np.divmod(triplets, m)
        rows = graph.triplets[ids].astype(np.int64)
        heads, tails = blocks * n + rows[:, 0], blocks * n + rows[:, 2]
        ends = [(heads, tails, triplets, rows[:, 1])]
        if direction == "both":
            ends.append((tails, heads, triplets, rows[:, 1] + len(graph.relations)))
        columns = list(map(np.concatenate, zip(*ends, strict=True)))
        order = np.argsort(columns[0], kind="stable")
        self.source, *self.columns = (column[order] for column in columns)

    def _ranges(
        self, nodes: Int64[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
        """Where the arcs of each node begin, and their number."""
        begin = np.searchsorted(self.source, nodes)
        return begin, np.searchsorted(self.source, nodes, "right") - begin

    def counts(self, nodes: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        return self._ranges(nodes)[1]

    def arcs(self, nodes: Int64[np.ndarray, "k"]) -> Arcs:
        begin, lengths = self._ranges(nodes)
        source = np.repeat(np.arange(len(nodes)), lengths)
        at = ranges(begin, lengths)
        return Arcs(source, *(column[at] for column in self.columns))
