"""A knowledge graph from chunks of triplets."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int32

from kgscout_jax.graph.interning import Interner
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


class GraphBuilder(Interner):
    """Builds a graph; ``add`` a chunk at a time."""

    def build(self) -> tuple[KnowledgeGraph, list[Int32[np.ndarray, "k"]]]:
        """The graph, and the triplet ids of each chunk (ascending, each once)."""
        interned = self.interned()
        return KnowledgeGraph.of_interned(interned), interned.chunks
