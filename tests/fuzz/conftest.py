"""The scout and the graph of the service's tests serve here too."""

from serve.conftest import export, graph, scout

__all__ = ["export", "graph", "scout"]
