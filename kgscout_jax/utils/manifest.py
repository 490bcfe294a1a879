"""Whether the files of a folder are those that its manifest lists.

One checksum is cheap enough to be compared whenever a folder is opened.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import sha256_file

ENDS = 1 << 16
"""Bytes at either end of a file that are read."""


def sha256_ends(path: Path) -> str:
    """The hex sha256 of a file's first and last 64 KiB: all of it, where it is small.

    Finds a file that was cut off, swapped or written anew, whatever its size.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        digest.update(handle.read(ENDS))
        handle.seek(max(ENDS, handle.seek(0, os.SEEK_END) - ENDS))
        digest.update(handle.read(ENDS))
    return digest.hexdigest()


def check_listed(
    folder: Path, files: Mapping[str, Mapping[str, Any]], *, verify: bool = False
) -> None:
    """Raise UserError unless every file of ``folder`` is there and as it was written.

    Args:
        folder: where the files lie.
        files: by name, the ``bytes`` and ``sha256`` of each, and its ``sha256_ends``
            where that was recorded.
        verify: compare every byte with ``sha256``, not only the size and the ends.
    """
    for name, entry in files.items():
        file = folder / name
        if not file.is_file():
            raise UserError(f"{file}: missing, though the manifest lists it")
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise UserError(
                f"{file}: {size} bytes, expected {entry['bytes']}: truncated or "
                "changed since it was written"
            )
        ends = entry.get("sha256_ends")
        if (verify and sha256_file(file) != entry["sha256"]) or (
            ends and sha256_ends(file) != ends
        ):
            raise UserError(f"{file}: checksum differs from the manifest")
