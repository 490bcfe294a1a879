"""Writing a folder of shards: arrays first, each whole; the manifest last.

The format itself, and its reader, are in ``kgscout_jax.shards``.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.files import (
    read_json,
    sha256_file,
    write_array,
    write_json,
    write_lines,
)
from kgscout_jax.shards import (
    FORMAT,
    QUESTIONS,
    SPLITS,
    VERSION,
    QuestionInfo,
    Split,
    split_arrays,
    split_files,
)

TABLES = (
    "entities.txt",
    "relations.txt",
    "triplets.npy",
    "triplet_embeddings.npy",
    "relation_embeddings.npy",
)
"""The files that all splits share."""


def written_fingerprint(out: Path) -> str | None:
    """What the manifest in ``out`` says was asked for; None if it says nothing."""
    manifest = read_json(out / "manifest.json")
    return manifest.get("fingerprint") if isinstance(manifest, dict) else None


def discard(out: Path) -> None:
    """Delete the shards in ``out``, if any, and nothing else; the manifest first."""
    (out / "manifest.json").unlink(missing_ok=True)
    for name in TABLES:
        (out / name).unlink(missing_ok=True)
    for split in SPLITS:
        for name in (QUESTIONS, *(f"{key}.npy" for key in split_files())):
            (out / split / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not there, or something else is in it
            (out / split).rmdir()


def write_split(out: Path, split: Split) -> None:
    """Write one split's folder."""
    folder = out / split.name
    write_lines(folder / QUESTIONS, map(info_line, split.questions))
    for key, array in split_arrays(split).items():
        write_array(folder / f"{key}.npy", array)


def info_line(info: QuestionInfo) -> str:
    """A question as a line of ``questions.jsonl``."""
    return json.dumps(asdict(info), ensure_ascii=False)


def write_tables(
    out: Path,
    *,
    entities: Sequence[str],
    relations: Sequence[str],
    triplets: np.ndarray,
    triplet_embeddings: np.ndarray,
    relation_embeddings: np.ndarray,
) -> None:
    """Write the names and the two embedding tables that all splits share."""
    write_lines(out / "entities.txt", entities)
    write_lines(out / "relations.txt", relations)
    write_array(out / "triplets.npy", triplets)
    write_array(out / "triplet_embeddings.npy", triplet_embeddings)
    write_array(out / "relation_embeddings.npy", relation_embeddings)


def write_manifest(out: Path, splits: Sequence[str], about: dict[str, Any]) -> None:
    """Write ``manifest.json``, with every file's size and sha256: all is done."""
    names = [*TABLES]
    for split in splits:
        names.append(f"{split}/{QUESTIONS}")
        names += [f"{split}/{key}.npy" for key in split_files()]
    files = {
        name: {
            "bytes": (out / name).stat().st_size,
            "sha256": sha256_file(out / name),
        }
        for name in names
    }
    head = {"format": FORMAT, "version": VERSION}
    write_json(out / "manifest.json", {**head, **about, "files": files})
