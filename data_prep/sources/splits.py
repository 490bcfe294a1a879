"""Which split a file, or a topic entity, belongs to; and what a folder holds."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.types import entity_key

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


def split_by_topic(topic: str) -> str:
    """The split of a topic where a source has none: by the hash of its identity.

    First byte of the sha1 of the lower-cased name, mod 10: 0 is test, 1 is dev, the
    rest is train. No topic is in two splits.
    """
    first = hashlib.sha1(entity_key(topic).encode()).digest()[0]
    return {0: "test", 1: "dev"}.get(first % 10, "train")


def in_order(splits: dict[str, list]) -> dict[str, list]:
    """The splits that hold something, in the order train, dev, test."""
    return {name: splits[name] for name in SPLITS if splits.get(name)}


def listing(folder: Path, limit: int = 8) -> str:
    """What a folder holds, for an error message."""
    names = sorted(
        entry.name + "/" * entry.is_dir()
        for entry in folder.iterdir()
        if not entry.name.startswith(".")
    )
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return "there is: " + (", ".join(names[:limit]) or "nothing") + more


def check_folder(path: Path) -> None:
    """Raise UserError unless ``path`` is a folder."""
    if not path.exists():
        raise UserError(f"{path}: no such folder")
    if not path.is_dir():
        raise UserError(f"{path}: expected a folder, found a file")


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
    found: dict[str, Path] = {}
    for spelling, split in SPLIT_OF.items():
        for suffix in JSON_LINES:
            path = folder / f"{spelling}{suffix}"
            if not path.is_file():
                continue
            if split in found:
                raise UserError(
                    f"{folder}: {found[split].name} and {path.name} both hold the "
                    f"split {split}; expected one"
                )
            found[split] = path
    return {name: found[name] for name in SPLITS if name in found}
