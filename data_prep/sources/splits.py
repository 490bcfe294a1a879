"""The split of a file or of a topic entity; and what a folder holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import open_text

SPLIT_OF = {
    "train": "train",
    "dev": "dev",
    "validation": "dev",
    "valid": "dev",
    "val": "dev",
    "test": "test",
}
"""How sources spell a split -> train, dev or test."""

JSON_LINES = (".jsonl", ".jsonl.gz")
LISTED = 8
"""Names that an error lists of a folder."""


def split_by_topic(topic: str) -> str:
    """The split of a topic where a source has none: by the hash of its identity.

    First byte of the sha1 of the lower-cased name, mod 10: 0 is test, 1 is dev, the
    rest is train. No topic is in two splits.
    """
    first = hashlib.sha1(entity_key(topic).encode()).digest()[0]
    return {0: "test", 1: "dev"}.get(first % 10, "train")


def listing(folder: Path) -> str:
    """What a folder holds, for an error message."""
    names = sorted(
        path.name + "/" * path.is_dir()
        for path in folder.iterdir()
        if not path.name.startswith(".")
    )
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return "there is: " + (", ".join(names[:LISTED]) or "nothing") + more


def check_file(path: Path) -> Path:
    """``path``, if it is a file; else UserError says what its folder holds."""
    if not path.is_file():
        there = f"; {listing(path.parent)}" if path.parent.is_dir() else ""
        raise UserError(f"{path}: no such file{there}")
    return path


def json_lines_files(folder: Path) -> dict[str, Path]:
    """Split -> its {split}.jsonl or {split}.jsonl.gz in a folder; may be empty.

    Raises:
        UserError: two files stand for one split.
    """
    files: dict[str, Path] = {}
    for spelling, split in SPLIT_OF.items():
        for suffix in JSON_LINES:
            path = folder / f"{spelling}{suffix}"
            if not path.is_file():
                continue
            if split in files:
                raise UserError(
                    f"{folder}: {files[split].name} and {path.name} both hold the "
                    f"split {split}; expected one"
                )
            files[split] = path
    return {name: files[name] for name in SPLITS if name in files}


def column_rows(
    path: Path, separator: str, columns: int, expected: str
) -> Iterator[tuple[int, list[str]]]:
    """(line, its columns) of a text file, blank lines left out.

    Raises:
        UserError: a line has another number of columns; says what is ``expected``.
    """
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            cells = line.rstrip("\n").split(separator)
            if len(cells) != columns:
                count = f"{len(cells)} column{'s' * (len(cells) != 1)}"
                raise UserError(f"{path}:{number}: expected {expected}, found {count}")
            yield number, cells
