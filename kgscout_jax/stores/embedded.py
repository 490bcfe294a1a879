"""The default store: a graph in memory or a GRAPH folder, and its nodes' embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Float, Float16

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.graph.provenance import Provenance
from kgscout_jax.stores.protocol import NodeMatch, Step, node_texts
from kgscout_jax.types import Triplet, display_name

Embed = Callable[[list[str]], Float16[np.ndarray, "n d"]]
"""Texts to unit embeddings, such as ``EmbeddingCache.embed``."""


class EmbeddedStore:
    """A ``KnowledgeGraph`` behind the five calls."""

    def __init__(self, graph: KnowledgeGraph, embed: Embed):
        self.graph, self.embed = graph, embed

    @property
    def provenance(self) -> Provenance | None:
        """Where triplets come from; None for a graph that was not ingested."""
        return self.graph.provenance

    @cached_property
    def vectors(self) -> Float16[np.ndarray, "e d"]:
        """The embedding of each node's name."""
        return self.embed(node_texts(self.graph.entities))

    def nodes_by_text(self, text: str, limit: int) -> list[NodeMatch]:
        """Nodes that the text names, likeliest first."""
        if not len(self.graph.entities):
            return []
        linker = linker_of(self.graph)
        return [
            NodeMatch(link.name, link.score) for link in linker.ranking(text, limit)
        ]

    def nodes_by_vector(
        self, vector: Float[np.ndarray, "d"], limit: int
    ) -> list[NodeMatch]:
        """Nodes whose embedding is nearest, best first."""
        scores = self.vectors.astype(np.float32) @ np.asarray(vector, np.float32)
        best = np.lexsort((np.arange(len(scores)), -scores))[:limit]
        return [NodeMatch(str(self.graph.entities[i]), float(scores[i])) for i in best]

    def rows(self, nodes: Sequence[str], *, forward: bool) -> np.ndarray:
        """Ids of the triplets of the nodes in one direction, ascending."""
        side = self.graph.by_head if forward else self.graph.by_tail
        return np.unique(side.rows(self.graph.find_all(nodes))[1])

    def relations(self, nodes: Sequence[str]) -> list[Step]:
        """The relations of the nodes in both directions, by name."""
        steps = []
        for forward in (True, False):
            rows = self.rows(nodes, forward=forward)
            _, first, counts = np.unique(
                np.asarray(self.graph.triplets[rows, 1]),
                return_index=True,
                return_counts=True,
            )
            for row, n in zip(rows[first].tolist(), counts.tolist(), strict=True):
                triplet = self.graph.triplet(row)
                steps.append(Step(triplet[1], forward, n, triplet))
        return sorted(steps, key=lambda step: (step.relation, not step.forward))

    def targets(
        self, nodes: Sequence[str], steps: Sequence[Step], limit: int
    ) -> list[Triplet]:
        """Triplets of the nodes with these relations, in the order of the graph."""
        found: set[int] = set()
        for forward in (True, False):
            names = {step.relation for step in steps if step.forward is forward}
            for row in self.rows(nodes, forward=forward).tolist() if names else ():
                if self.graph.relations[int(self.graph.triplets[row, 1])] in names:
                    found.add(row)
        return [self.graph.triplet(row) for row in sorted(found)[:limit]]

    def write(
        self,
        triplets: Sequence[Triplet],
        vectors: dict[str, Float[np.ndarray, "d"]],
    ) -> None:
        """Add triplets; their nodes are embedded on next use.

        Raises:
            UserError: the graph is a folder, which ``kgscout graph --add`` changes.
        """
        self.graph = self.graph.with_triplets(
            (display_name(h), r, display_name(t)) for h, r, t in triplets
        )
        self.__dict__.pop("vectors", None)
