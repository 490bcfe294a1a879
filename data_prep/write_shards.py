"""Writes a folder of shards: atomic arrays first, the manifest last.

The format itself, and its reader, are in ``kgscout_jax.data.shards``.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16, Int8, Int32

from kgscout_jax.data.shard_manifest import FORMAT, VERSION
from kgscout_jax.data.shards import (
    QUESTIONS,
    SPLITS,
    TABLES,
    Split,
    question_to_json,
    split_arrays,
    split_files,
)
from kgscout_jax.utils.io import (
    read_json,
    write_array,
    write_json,
    write_lines,
)
from kgscout_jax.utils.manifest import file_entry


def stored_manifest(out: Path) -> dict[str, Any]:
    """The manifest of ``out``; {} where it is none."""
    manifest = read_json(out / "manifest.json")
    return manifest if isinstance(manifest, dict) else {}


def discard(out: Path) -> None:
    """Delete the shards in ``out``, manifest first, and no other files."""
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
    records = map(question_to_json, split.questions)
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    write_lines(folder / QUESTIONS, lines)
    for key, array in split_arrays(split).items():
        write_array(folder / f"{key}.npy", array)


def write_tables(
    out: Path,
    *,
    entities: Sequence[str],
    relations: Sequence[str],
    triplets: Int32[np.ndarray, "m 3"],
    triplet_embeddings: Float16[np.ndarray, "c d"],
    relation_embeddings: Float16[np.ndarray, "r d"],
    table: str = "float16",
) -> None:
    """Write the names and the embedding tables that all splits share.

    ``table``: how the triplets' embeddings are stored, float16 or int8.
    """
    write_lines(out / "entities.txt", entities)
    write_lines(out / "relations.txt", relations)
    write_array(out / "triplets.npy", triplets)
    write_array(out / "relation_embeddings.npy", relation_embeddings)
    scales = out / "triplet_scales.npy"
    if table == "int8":
        rows, scale = quantized(triplet_embeddings)
        write_array(out / "triplet_embeddings.npy", rows)
        write_array(scales, scale)
    else:
        write_array(out / "triplet_embeddings.npy", triplet_embeddings)
        scales.unlink(missing_ok=True)


def write_words(
    out: Path, words: Sequence[str], embeddings: Float16[np.ndarray, "w d"]
) -> None:
    """Write the words of all questions, each embedded by itself."""
    write_lines(out / "words.txt", words)
    write_array(out / "word_embeddings.npy", embeddings)


def quantized(
    table: Float16[np.ndarray, "c d"],
) -> tuple[Int8[np.ndarray, "c d"], Float16[np.ndarray, "c"]]:
    """Rows as int8 and a scale per row: row = int8 * scale, within half a step."""
    rows = np.empty(table.shape, np.int8)
    scales = np.empty(len(table), np.float16)
    for low in range(0, len(table), 1 << 16):  # in chunks: memory is bounded
        chunk = np.asarray(table[low : low + (1 << 16)], np.float32)
        scale = (np.abs(chunk).max(axis=1, initial=0) / 127).astype(np.float16)
        step = np.where(scale > 0, scale, 1).astype(np.float32)[:, None]
        scales[low : low + len(chunk)] = scale
        # A scale that was rounded down would let the largest value pass 127.
        rows[low : low + len(chunk)] = np.clip(np.rint(chunk / step), -127, 127)
    return rows, scales


def write_manifest(out: Path, splits: Sequence[str], fields: dict[str, Any]) -> None:
    """Write ``manifest.json``, with every file's size and sha256; the last file."""
    names = [name for name in TABLES if (out / name).exists()]
    for split in splits:
        names.append(f"{split}/{QUESTIONS}")
        names += [f"{split}/{key}.npy" for key in split_files()]
    files = {name: file_entry(out / name, ends=True) for name in names}
    head = {"format": FORMAT, "version": VERSION}
    write_json(out / "manifest.json", {**head, **fields, "files": files})
