"""KG-Scout: the triplets of a knowledge graph that a language model needs.

from kgscout_jax import KnowledgeGraph, Scout

scout = Scout.from_pretrained()
graph = KnowledgeGraph.open("GRAPH")
graph.embed(scout.encoder)
print(scout.retrieve("Who directed Heat?", graph, k=100).as_text())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.inference.scout import Scout
    from kgscout_jax.verify.verifier import Verifier

__all__ = ["KnowledgeGraph", "RetrievalResult", "Scout", "Verifier", "__version__"]
__version__ = "0.1.0"

_HOMES = {
    "RetrievalResult": "inference.result",
    "KnowledgeGraph": "graph.knowledge_graph",
    "Scout": "inference.scout",
    "Verifier": "verify.verifier",
}


def __getattr__(name: str) -> Any:
    """Import a public class when it is first asked for: commands must start at once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
