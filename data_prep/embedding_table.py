"""Embeddings of the triplets that remain after the cuts, in chunks on disk.

A chunk holds some triplets of one range of ids. Each process embeds the triplets of its
questions that are in no complete chunk. Partitions begin at different ranges, so that
they rarely embed the same triplets. Rows are memory-mapped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float16, Int32

from kgscout_jax.utils.io import read_array, write_array

SPAN = 1 << 14
"""The fewest ids in a range."""
RANGES = 1 << 10
"""The most ranges."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingTask:
    """Triplets of one range that one process embeds."""

    number: int
    """Number of the range."""
    owner: str
    """Name of the process, used in file names."""
    ids: Int32[np.ndarray, "k"]


class TripletTable:
    """The complete chunks of the embedding table, under one folder."""

    def __init__(self, folder: Path, n_triplets: int, span: int | None = None) -> None:
        self.folder = folder
        self.span = span or max(SPAN, -(-n_triplets // RANGES))
        """Ids in a range."""
        self._open: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        """Range -> (ids, rows) of each of its chunks."""

    def ranges(
        self, ids: Int32[np.ndarray, "k"]
    ) -> Iterator[tuple[int, Int32[np.ndarray, "j"]]]:
        """(range, its ids) for ascending ``ids``."""
        numbers = ids // self.span
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        for low, high in itertools.pairwise([*starts, len(ids)]):
            yield int(numbers[low]), ids[low:high]

    def missing(self, number: int, ids: Int32[np.ndarray, "k"]) -> np.ndarray:
        """The ``ids`` of a range that are in no complete chunk yet."""
        for file in self.folder.glob(f"{number:06d}-*.rows.npy"):
            ids = np.setdiff1d(ids, _ids_of(file), assume_unique=True)
        return ids

    def add(self, task: EmbeddingTask, rows: Float16[np.ndarray, "k d"]) -> None:
        """Store a task's embeddings; rows are written last and complete the chunk."""
        name = f"{task.number:06d}-{task.owner}"
        write_array(self.folder / f"{name}.ids.npy", task.ids)
        write_array(self.folder / f"{name}.rows.npy", rows)

    def rows(
        self, ids: Int32[np.ndarray, "k"], dimension: int
    ) -> Float16[np.ndarray, "k d"]:
        """Embeddings of ascending ``ids``; each must be in a complete chunk."""
        out = np.empty((len(ids), dimension), np.float16)
        low = 0
        for number, here in self.ranges(ids):
            missing = np.ones(len(here), bool)
            for ids_here, rows in self._chunks(number):
                at = np.minimum(np.searchsorted(ids_here, here), len(ids_here) - 1)
                is_here = missing & (ids_here[at] == here)
                out[low + np.flatnonzero(is_here)] = rows[at[is_here]]
                missing &= ~is_here
            if missing.any():
                raise KeyError(f"no embedding of triplet {here[missing][0]}")
            low += len(here)
        return out

    def _chunks(self, number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        if number not in self._open:
            self._open[number] = [
                (_ids_of(file), read_array(file, mmap=True))
                for file in sorted(self.folder.glob(f"{number:06d}-*.rows.npy"))
            ]
        return self._open[number]


def _ids_of(rows_file: Path) -> Int32[np.ndarray, "k"]:
    name = rows_file.name.removesuffix(".rows.npy")
    return read_array(rows_file.with_name(f"{name}.ids.npy"))
