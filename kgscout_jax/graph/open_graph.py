"""Opens the knowledge graph of ``--kg``: triplet files or a GRAPH folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.options import ReadOptions


def open_graph(
    paths: Sequence[Path | str],
    notes: dict[str, int] | None = None,
    options: ReadOptions | None = None,
) -> KnowledgeGraph:
    """The graph of exactly one GRAPH folder, or of all triplet files together.

    Args:
        paths: see ``KnowledgeGraph.open``.
        notes: counts of omitted triplets are added here, see ``read_triplets``.
        options: how files are read.

    Raises:
        UserError: nothing given, folders mixed with files, or a file or folder that is
            missing, empty or damaged.
    """
    if not paths:
        raise UserError("--kg: expected triplet files or a GRAPH folder, found nothing")
    return KnowledgeGraph.open(list(paths), options=options, notes=notes)
