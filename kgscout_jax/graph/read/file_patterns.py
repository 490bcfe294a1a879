"""The triplet files in a folder, for those who give the folder instead."""

from __future__ import annotations

import contextlib
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.streams import COMPRESSED
from kgscout_jax.graph.read.triplets import file_format


def triplet_file_patterns(folder: Path) -> list[str]:
    """The patterns of a folder's triplet files, such as ``DIR/*.csv``."""
    found = set()
    for file in folder.iterdir():
        if file.is_file() and not file.name.startswith("."):
            with contextlib.suppress(UserError):  # of no format
                file_format(file)
                compressed = file.suffix.lower() in COMPRESSED
                found.add("".join(file.suffixes[-2 if compressed else -1 :]))
    return [f"{folder}/*{suffix}" for suffix in sorted(found)]


def check_no_triplet_files(folder: Path) -> None:
    """Raise UserError if a folder without a manifest holds triplet files."""
    if patterns := triplet_file_patterns(folder):
        raise UserError(
            f"{folder}: no manifest.json, a folder of triplet files; give the files: "
            f"{' '.join(patterns)}"
        )
