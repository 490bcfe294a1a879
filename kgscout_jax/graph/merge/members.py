"""What a merged graph knows of the graphs that it was made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Int, Int32

from kgscout_jax.types import Triplet, entity_key

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class Members:
    """The graphs of a merged graph, and where its entities and triplets stand in them.

    Shapes: g graphs; e entities, r relations and m triplets of the merged graph.
    """

    names: tuple[str, ...]
    """Of the graphs, as ``sources`` name them."""
    graphs: tuple[KnowledgeGraph, ...]
    entities: tuple[Int32[np.ndarray, "e_i"], ...]
    """Per graph the merged id of each of its entities."""
    triplets: Int32[np.ndarray, "m g"]
    """The row of each triplet in each graph, or -1."""
    relations: Int32[np.ndarray, "r g"]
    """The id of each relation in each graph, or -1."""
    facts: Int32[np.ndarray, "m"]
    """Number of each triplet's fact: the lowest id of the triplets that state it."""
    fact_mask: Bool[np.ndarray, "m g"]
    """Whether a graph states the fact of a triplet, in these words or in others."""

    def sources(self, ids: Int[np.ndarray, "k"]) -> tuple[tuple[str, ...], ...]:
        """The names of the graphs that state each of the triplets ``ids``, sorted."""
        return tuple(
            tuple(sorted(itertools.compress(self.names, row)))
            for row in self.fact_mask[ids].tolist()
        )

    def places(self, triplet: int) -> list[tuple[KnowledgeGraph, Triplet]]:
        """The graphs that hold a triplet, and how they spell it."""
        rows = zip(self.graphs, self.triplets[triplet].tolist(), strict=True)
        return [(graph, graph.triplet(row)) for graph, row in rows if row >= 0]

    def find_every(self, name: str) -> list[int]:
        """Ids of the entities that some graph calls so, each once."""
        found = [
            int(ids[entity])
            for graph, ids in zip(self.graphs, self.entities, strict=True)
            for entity in graph.find_every(name)
        ]
        return list(dict.fromkeys(found))

    def unnamed_mask(self, n: int) -> Bool[np.ndarray, "e"]:
        """True at entities that no graph has a name for; n: their number."""
        out = np.ones(n, bool)
        for graph, ids in zip(self.graphs, self.entities, strict=True):
            out[ids[~np.asarray(graph.unnamed_mask)]] = False
        return out

    def holds(self, n: int) -> Bool[np.ndarray, "e g"]:
        """Whether each graph has each of the n entities."""
        out = np.zeros((n, len(self.graphs)), bool)
        for i, ids in enumerate(self.entities):
            out[ids, i] = True
        return out

    def aliases(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """(spelling, entity) of each spelling of a graph that is not in ``names``."""
        return [
            (str(name), entity)
            for graph, ids in zip(self.graphs, self.entities, strict=True)
            for name, entity in zip(graph.entities, map(int, ids), strict=True)
            if entity_key(str(name)) != entity_key(names[entity])
        ]
