"""The triplets of files as text, read in both ways."""

from __future__ import annotations

from pathlib import Path

from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def facts(*paths: Path) -> set[str]:
    """The triplets of a graph of these files, in memory and as a folder."""
    graph = KnowledgeGraph.open(list(paths))
    found = {" | ".join(graph.triplet(i)) for i in range(len(graph))}
    folder = build_graph(paths, paths[0].with_suffix(".graph"), overwrite=True)
    stored = KnowledgeGraph.of_folder(folder)
    assert found == {" | ".join(stored.triplet(i)) for i in range(len(stored))}
    return found
