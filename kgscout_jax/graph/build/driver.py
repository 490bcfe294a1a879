"""Builds a GRAPH folder from triplet files, and updates one.

Both are streaming: memory does not grow with the files, except for one bit per entity
mention, the names of relations, and one byte per triplet if triplets are removed. Ids
are those of ``GraphBuilder``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.interning import BlankName
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.build.stages import Build
from kgscout_jax.graph.build.versions import delete_unlisted, exclusive_writer
from kgscout_jax.graph.folder import GraphFolder, read_manifest
from kgscout_jax.graph.read.folder_files import graph_files
from kgscout_jax.graph.read.formats import file_format
from kgscout_jax.graph.read.triplets import TripletFiles


def build_graph(
    files: Sequence[Path],
    out: Path,
    settings: BuildSettings | None = None,
    *,
    overwrite: bool = False,
) -> GraphFolder:
    """Build the GRAPH folder ``out`` from all triplet files together.

    Raises:
        UserError: a file is missing or malformed (nothing is written then), the graph
            is empty, or ``out`` holds something else.
    """
    if not files:
        raise UserError("--kg: expected triplet files, found none")
    with exclusive_writer(out):
        if (out / "manifest.json").exists() and not overwrite:
            raise UserError(
                f"{out}: holds a graph already; choose another folder, change it with "
                "--add or --remove, or give --overwrite"
            )
        return _write(out, None, files, (), settings or BuildSettings())


def update_graph(
    out: Path,
    settings: BuildSettings | None = None,
    *,
    add: Sequence[Path] = (),
    remove: Sequence[Path] = (),
) -> GraphFolder:
    """Remove the triplets of some files from a GRAPH folder, then add those of others.

    Ids of entities and relations do not change, even without a remaining triplet; new
    ones are appended. The new graph replaces the old one atomically.

    Raises:
        UserError: a file is missing or malformed, or ``out`` is no GRAPH folder; the
            graph stays as it was.
    """
    read_manifest(out)
    with exclusive_writer(out):
        # Damage would be copied, and sealed with new checksums.
        old = GraphFolder.open(out, verify=True)
        return _write(out, old, add, remove, settings or BuildSettings())


def _write(
    out: Path,
    old: GraphFolder | None,
    files: Sequence[Path],
    remove: Sequence[Path],
    settings: BuildSettings,
) -> GraphFolder:
    """Write the next version of the folder."""
    files, remove = graph_files(files), graph_files(remove)
    for path in (*files, *remove):
        file_format(path)
    reader = TripletFiles(settings.read_options, files=[*files, *remove])
    parts = out, old, files, remove, settings
    try:
        return Build(*parts, reader=reader, exact=False).run()
    except BlankName:
        for path in (*files, *remove):  # the exact reader names the line
            for _ in reader.rows(path):
                pass
    # Every line is valid: arrow decoded some blank lines as blank names.
    delete_unlisted(out)
    return Build(*parts, reader=reader, exact=True).run()
