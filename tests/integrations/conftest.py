"""The scout and graph of the service's tests serve here too."""

from serve.conftest import export, graph, scout

__all__ = ["export", "graph", "scout"]
