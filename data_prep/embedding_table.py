"""Embeddings of the triplets that survive the cuts, in pieces on disk.

A piece holds some triplets of one range of ids. Whoever prepares embeds, of the ranges
its questions need, what no finished piece holds: parts that begin at different ranges
do each other's work, not the same. Rows are read memory-mapped.
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
"""Ids in a range, at least."""
RANGES = 1 << 10
"""Ranges, at most."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Triplets of one range that are to be embedded, by one process."""

    number: int
    who: str
    ids: Int32[np.ndarray, "k"]


class TablePieces:
    """The finished pieces of the embedding table, under one folder."""

    def __init__(self, folder: Path, n_triplets: int, span: int | None = None) -> None:
        self.folder = folder
        self.span = span or max(SPAN, -(-n_triplets // RANGES))
        """Ids in a range."""
        self._open: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        """Range -> (ids, rows) of each of its pieces."""

    def ranges(
        self, ids: Int32[np.ndarray, "k"]
    ) -> Iterator[tuple[int, Int32[np.ndarray, "j"]]]:
        """(range, its ids) for ascending ``ids``."""
        numbers = ids // self.span
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        for low, high in itertools.pairwise([*starts, len(ids)]):
            yield int(numbers[low]), ids[low:high]

    def missing(self, number: int, ids: Int32[np.ndarray, "k"]) -> np.ndarray:
        """Those of a range's ``ids`` that no finished piece holds, now."""
        for piece in self.folder.glob(f"{number:06d}-*.rows.npy"):
            ids = np.setdiff1d(ids, _ids_of(piece), assume_unique=True)
        return ids

    def add(self, wanted: Wanted, rows: Float16[np.ndarray, "k d"]) -> None:
        """Keep the embeddings of ``wanted``; the rows last, they mark it finished."""
        name = f"{wanted.number:06d}-{wanted.who}"
        write_array(self.folder / f"{name}.ids.npy", wanted.ids)
        write_array(self.folder / f"{name}.rows.npy", rows)

    def rows(
        self, ids: Int32[np.ndarray, "k"], dimension: int
    ) -> Float16[np.ndarray, "k d"]:
        """Embeddings of ascending ``ids``; each must be in a finished piece."""
        out = np.empty((len(ids), dimension), np.float16)
        low = 0
        for number, here in self.ranges(ids):
            left = np.ones(len(here), bool)
            for known, rows in self._pieces(number):
                at = np.minimum(np.searchsorted(known, here), len(known) - 1)
                found = left & (known[at] == here)
                out[low + np.flatnonzero(found)] = rows[at[found]]
                left &= ~found
            if left.any():
                raise KeyError(f"no embedding of triplet {here[left][0]}")
            low += len(here)
        return out

    def _pieces(self, number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        if number not in self._open:
            self._open[number] = [
                (_ids_of(file), read_array(file, mmap=True))
                for file in sorted(self.folder.glob(f"{number:06d}-*.rows.npy"))
            ]
        return self._open[number]


def _ids_of(rows_file: Path) -> Int32[np.ndarray, "k"]:
    name = rows_file.name.removesuffix(".rows.npy")
    return read_array(rows_file.with_name(f"{name}.ids.npy"))
