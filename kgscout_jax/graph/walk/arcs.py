"""The arcs that walks of many questions take, out of one graph or of their own."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from jaxtyping import Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.subgraph import Direction
from kgscout_jax.utils.ragged import ranges


class Arcs(NamedTuple):
    """Ways out of some nodes; nodes are keys block * n_entities + entity."""

    source: Int64[np.ndarray, "a"]
    """Position among the nodes that were asked for."""
    target: Int64[np.ndarray, "a"]
    """Node keys."""
    triplet: Int64[np.ndarray, "a"]
    """Keys block * m + triplet id."""
    kind: Int64[np.ndarray, "a"]
    """Relation id, plus the number of relations where it is crossed tail to head."""


class ArcSource(Protocol):
    """What a walk asks of a graph."""

    def counts(self, nodes: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        """How many arcs ``of`` would give of each node."""
        ...

    def of(self, nodes: Int64[np.ndarray, "k"]) -> Arcs:
        """All arcs out of ``nodes``."""
        ...


class SharedArcs:
    """The arcs of one graph, the same for every question."""

    def __init__(self, graph: KnowledgeGraph, direction: Direction) -> None:
        self.graph = graph
        self.sides = [(graph.by_head, 2, 0)]
        if direction == "both":
            self.sides.append((graph.by_tail, 0, len(graph.relations)))

    def counts(self, nodes: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        entities = nodes % max(len(self.graph.entities), 1)
        degrees = [side.offsets[entities + 1] - side.offsets[entities]
                   for side, _, _ in self.sides]  # fmt: skip
        return np.sum(degrees, axis=0)

    def of(self, nodes: Int64[np.ndarray, "k"]) -> Arcs:
        n, m = max(len(self.graph.entities), 1), len(self.graph.triplets)
        blocks, entities = np.divmod(nodes, n)
        parts = []
        for side, other, shift in self.sides:
            lengths = side.offsets[entities + 1] - side.offsets[entities]
            source = np.repeat(np.arange(len(nodes)), lengths)
            ids = side.of(entities)
            rows = self.graph.triplets[ids]
            block = blocks[source]
            parts.append(
                Arcs(
                    source,
                    block * n + rows[:, other],
                    block * m + ids,
                    rows[:, 1].astype(np.int64) + shift,
                )
            )
        return Arcs(*map(np.concatenate, zip(*parts, strict=True)))


class GivenArcs:
    """The arcs of the subgraphs that questions bring."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        given: Int64[np.ndarray, "k"],
        direction: Direction,
    ) -> None:
        """``given``: keys block * m + triplet id, ascending."""
        n, m = len(graph.entities), max(len(graph.triplets), 1)
        blocks, ids = np.divmod(given, m)
        rows = graph.triplets[ids].astype(np.int64)
        heads, tails = blocks * n + rows[:, 0], blocks * n + rows[:, 2]
        ends = [(heads, tails, rows[:, 1])]
        if direction == "both":
            ends.append((tails, heads, rows[:, 1] + len(graph.relations)))
        source, target, kind = map(np.concatenate, zip(*ends, strict=True))
        order = np.argsort(source, kind="stable")
        self.source = source[order]
        self.rest = target[order], np.tile(given, len(ends))[order], kind[order]

    def _bounds(self, nodes: Int64[np.ndarray, "k"]):
        return (np.searchsorted(self.source, nodes, side) for side in ("left", "right"))

    def counts(self, nodes: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        begin, end = self._bounds(nodes)
        return end - begin

    def of(self, nodes: Int64[np.ndarray, "k"]) -> Arcs:
        begin, end = self._bounds(nodes)
        lengths = end - begin
        source = np.repeat(np.arange(len(nodes)), lengths)
        at = ranges(begin, lengths)
        return Arcs(source, *(column[at] for column in self.rest))
