"""A GRAPH folder with the names of another one and other triplets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.canonical_order import CanonicalSort
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.build.versions import exclusive_writer, next_version, publish
from kgscout_jax.graph.folder import BLOCKS, FORMAT, VERSION, GraphFolder
from kgscout_jax.graph.name_hashes import HASH_VERSION
from kgscout_jax.graph.read.folder_files import graph_files
from kgscout_jax.graph.read.options import ReadOptions

REWRITTEN = ("triplets", "head_offsets", "tail_offsets", "by_tail")
"""The arrays of a folder that depend on the triplets; the others hold names."""
ROWS = 1 << 21
"""Triplets that are sorted in memory at once."""


class FolderWriter:
    """Writes the next version of ``out`` with the names of ``source``."""

    def __init__(self, out: Path, source: GraphFolder, version: str) -> None:
        self.out, self.source, self.version = out, source, version

    def write(
        self, triplets: Int32[np.ndarray, "m 3"], settings: dict[str, Any]
    ) -> GraphFolder:
        """Write the folder, atomically; ``settings`` go into its manifest."""
        source, staging = self.source, self.out / f".{self.version}.part"
        manifest = source.manifest
        counts = manifest["counts"]
        data = staging / "data"
        scratch = staging / "scratch"
        for folder in (data, scratch):
            folder.mkdir(parents=True, exist_ok=True)
        for name in manifest["files"]:
            file = source.path / name
            if file.stem not in REWRITTEN and file.name != BLOCKS:
                shutil.copyfile(file, data / file.name)
        sort = CanonicalSort(scratch, counts["entities"], counts["relations"], ROWS)
        sort.add(triplets)
        n_triplets = sort.write(data)
        published = self.out / f".{self.version}0.part"
        data.rename(published)
        publish(
            self.out,
            published,
            self.version,
            {
                "format": FORMAT,
                "version": VERSION,
                "hash_version": HASH_VERSION,
                "counts": {**counts, "triplets": n_triplets},
                "settings": {**manifest["settings"], **settings},
                "sources": manifest["sources"],
                "notes": manifest["notes"],
                "seconds": manifest["seconds"],
            },
        )
        return GraphFolder.open(self.out)


@contextmanager
def folder_writer(
    kg: Sequence[Path],
    out: Path,
    options: ReadOptions,
    *,
    overwrite: bool = False,
) -> Iterator[FolderWriter]:
    """A writer of ``out`` that has the graph of ``kg``; a killed one leaves no graph.

    Args:
        kg: triplet files, or one GRAPH folder.
        out: the folder to write.
        options: how files are read.
        overwrite: replace an existing graph.

    Raises:
        UserError: ``kg`` is missing or malformed, or ``out`` holds a graph already.
    """
    for path in kg:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    kg = graph_files(kg)
    with exclusive_writer(out):
        if (out / "manifest.json").exists() and not overwrite:
            raise UserError(
                f"{out}: holds a graph already; choose another folder, or give "
                "--overwrite"
            )
        version = next_version(out)
        if len(kg) == 1 and kg[0].is_dir():
            source = GraphFolder.open(kg[0])
        else:
            settings = BuildSettings(
                columns=options.columns,
                properties=options.properties,
                language=options.language,
            )
            source = build_graph(kg, out / f".{version}.part" / "source", settings)
        yield FolderWriter(out, source, version)
