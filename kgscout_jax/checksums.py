"""A checksum that is cheap enough to be compared whenever a folder is opened."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

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
