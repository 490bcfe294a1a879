"""Triplet files to a GRAPH folder, and the same folder with triplets added or removed.

Streaming: what is held in memory does not grow with the files (but for one bit per
entity mention, the names of relations, and, where triplets are removed, one byte per
triplet). Ids are those that ``GraphBuilder`` would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.interning import BlankName
from kgscout_jax.graph.build.versions import sweep, writing
from kgscout_jax.graph.folder import GraphFolder, read_manifest
from kgscout_jax.graph.read.labels import relation_names
from kgscout_jax.graph.read.triplets import kind_of, read_triplets

GIGABYTE = 1 << 30
BYTES_PER_ROW = 1000
"""Working memory per triplet of a chunk: its names, their hashes, sorting."""
MIN_MEMORY, MAX_MEMORY = 0.25, 512
"""Gigabytes; below, the program itself would be most of it; above, a chunk's mentions
would need more than 32 bits."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a graph is built from, beside the files of triplets."""

    labels: Path | None = None
    """A file that names entities: id, name."""
    label_relation: str | None = None
    """Triplets of this relation name their head, and are left out of the graph."""
    language: str | None = None
    """Keep RDF literals of this language and those without one."""
    memory: float = 2.0
    """Gigabytes to work in, about, beside 0.2 for the program itself."""

    def __post_init__(self) -> None:
        if not MIN_MEMORY <= self.memory <= MAX_MEMORY:
            raise UserError(
                f"--memory: found {self.memory}, expected {MIN_MEMORY} to {MAX_MEMORY} "
                "(GB)"
            )
        if self.label_relation is not None:
            relation_names(self.label_relation)

    @property
    def rows(self) -> int:
        """Triplets of a chunk."""
        return int(self.memory * GIGABYTE / BYTES_PER_ROW)

    def to_manifest(self) -> dict[str, Any]:
        """The settings that decide what is written, as JSON values."""
        return {"label_relation": self.label_relation, "language": self.language}


def build_graph(
    files: Sequence[Path],
    out: Path,
    source: Source | None = None,
    *,
    overwrite: bool = False,
) -> GraphFolder:
    """The GRAPH folder of all triplet files together, written at ``out``.

    Raises:
        UserError: a file is missing or malformed (nothing is written then), the graph
            is empty, or ``out`` holds something else.
    """
    if not files:
        raise UserError("--kg: expected triplet files, found none")
    with writing(out):
        if (out / "manifest.json").exists() and not overwrite:
            raise UserError(
                f"{out}: holds a graph already; choose another folder, change it with "
                "--add or --remove, or give --overwrite"
            )
        return _write(out, None, files, (), source or Source())


def update_graph(
    out: Path,
    source: Source | None = None,
    *,
    add: Sequence[Path] = (),
    remove: Sequence[Path] = (),
) -> GraphFolder:
    """The GRAPH folder with triplets of files removed, then those of others added.

    Entities and relations keep their ids, also those that lose their last triplet; new
    ones are appended. The folder holds the old graph until it holds the new one.

    Raises:
        UserError: a file is missing or malformed, or ``out`` is no GRAPH folder; the
            graph stays as it was.
    """
    read_manifest(out)
    with writing(out):
        return _write(out, GraphFolder.open(out), add, remove, source or Source())


def _write(
    out: Path,
    old: GraphFolder | None,
    files: Sequence[Path],
    remove: Sequence[Path],
    source: Source,
) -> GraphFolder:
    """The next version of the folder."""
    from kgscout_jax.graph.build.stages import Build

    for path in (*files, *remove):
        kind_of(path)
    try:
        return Build(out, old, files, remove, source, exact=False).run()
    except BlankName:
        for path in (*files, *remove):  # the exact reader says which line
            for _ in read_triplets(path, {}, source.language):
                pass
    # No line is wrong: some are blank in a way that arrow takes for blank names.
    sweep(out)
    return Build(out, old, files, remove, source, exact=True).run()
