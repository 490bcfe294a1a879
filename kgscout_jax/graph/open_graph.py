"""Opens the knowledge graph of ``--kg``: triplet files or a GRAPH folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.triplets import read_triplets
from kgscout_jax.types import Triplet


def open_graph(
    paths: Sequence[Path | str], notes: dict[str, int] | None = None
) -> KnowledgeGraph:
    """The graph of exactly one GRAPH folder, or of all triplet files together.

    A folder is memory-mapped. Files are read into memory; see ``kgscout graph`` for
    large ones.

    Args:
        paths: one folder that ``kgscout graph`` wrote, or triplet files.
        notes: counts of omitted triplets are added here, see ``read_triplets``.

    Raises:
        UserError: nothing given, folders mixed with files, or a file or folder that is
            missing, empty or damaged.
    """
    paths = [Path(path) for path in paths]
    folders = [path for path in paths if path.is_dir()]
    if not paths:
        raise UserError("--kg: expected triplet files or a GRAPH folder, found nothing")
    if folders:
        if len(paths) > 1:
            raise UserError(
                f"--kg: expected triplet files or exactly one GRAPH folder, found "
                f"{len(paths)} paths with the folder {folders[0]} among them"
            )
        return KnowledgeGraph.open(folders[0])
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    graph = KnowledgeGraph.from_triplets(
        _read_all(paths, {} if notes is None else notes)
    )
    if not len(graph.triplets):
        raise UserError(f"{', '.join(map(str, paths))}: no triplets")
    return graph


def _read_all(paths: Sequence[Path], notes: dict[str, int]) -> Iterator[Triplet]:
    """The triplets of several files, one after the other."""
    for path in paths:
        yield from read_triplets(path, notes)
