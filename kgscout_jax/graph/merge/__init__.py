"""Several graphs as one: entities linked by name and neighbourhood, sources named."""

from __future__ import annotations

from kgscout_jax.graph.merge.merge import Graphs, graph_names, merge_graphs

__all__ = ["Graphs", "graph_names", "merge_graphs"]
