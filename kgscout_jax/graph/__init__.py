"""The knowledge graph: its storage, its readers, walks over it, linking to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

__all__ = ["KnowledgeGraph"]


def __getattr__(name: str) -> Any:
    """Import the class on first use, so that commands start quickly."""
    if name != "KnowledgeGraph":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

    return KnowledgeGraph
