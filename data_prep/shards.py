"""Writing a folder of shards: arrays first, each whole; the manifest last.

The format itself, and its reader, are in ``kgscout_jax.shards``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.files import sha256_file, write_array, write_json, write_lines
from kgscout_jax.shards import (
    FORMAT,
    QUESTIONS,
    VERSION,
    QuestionInfo,
    Split,
    split_arrays,
    split_files,
)


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
    names = ["entities.txt", "relations.txt", "triplets.npy"]
    names += ["triplet_embeddings.npy", "relation_embeddings.npy"]
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
