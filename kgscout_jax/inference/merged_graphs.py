"""The merged graphs of a scout: graphs asked together are merged but once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import cast

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge import Graphs, graph_names, merge_graphs
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.text.encoder import SentenceEncoder

MOST = 4
"""Merged graphs held at a time."""


class MergedGraphs:
    """Merges graphs and holds the last results; safe to use from many threads."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._merged: dict[tuple[tuple[str, int], ...], KnowledgeGraph] = {}
        self._lock = threading.Lock()

    def get(self, graphs: GraphOrStore | Graphs) -> GraphOrStore:
        """Several graphs as one; one graph, or store, as it is.

        Raises:
            UserError: there is no graph, or something else is among them.
        """
        if not isinstance(graphs, Mapping | list | tuple):
            return cast(GraphOrStore, graphs)  # checked where it is used
        key = tuple((name, id(graph)) for name, graph in graph_names(graphs))
        with self._lock:
            if key not in self._merged:
                if len(self._merged) >= MOST:
                    self._merged.pop(next(iter(self._merged)))
                self._merged[key] = merge_graphs(graphs, self._encoder)
            return self._merged[key]
