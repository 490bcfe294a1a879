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

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_array, read_json, write_array, write_json
from kgscout_jax.utils.manifest import FileEntry, as_record, check_files, file_entry

SPAN = 1 << 14
"""The fewest ids in a range."""
FILES = "ids", "rows"
"""The arrays of a chunk."""
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
        for chunk_ids, _ in self._read(number):
            ids = np.setdiff1d(ids, chunk_ids, assume_unique=True)
        return ids

    def add(self, task: EmbeddingTask, rows: Float16[np.ndarray, "k d"]) -> None:
        """Store a task's embeddings; checksums, written last, complete it."""
        name = f"{task.number:06d}-{task.owner}"
        files = [self.folder / f"{name}.{kind}.npy" for kind in FILES]
        for file, array in zip(files, (task.ids, rows), strict=True):
            write_array(file, array)
        entries = {file.name: file_entry(file) for file in files}
        write_json(self.folder / f"{name}.json", entries)

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
            self._open[number] = self._read(number)
        return self._open[number]

    def _read(self, number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return list(map(_chunk, sorted(self.folder.glob(f"{number:06d}-*.json"))))


def _chunk(
    marker: Path,
) -> tuple[Int32[np.ndarray, "k"], Float16[np.ndarray, "k d"]]:
    """The ids and the rows of a chunk.

    Raises:
        UserError: it is damaged; its marker is deleted, so that the next run makes it.
    """
    ids, rows = (marker.with_name(f"{marker.stem}.{name}.npy") for name in FILES)
    try:
        entries = as_record(read_json(marker), dict[str, FileEntry], str(marker))
        if entries.keys() != {ids.name, rows.name}:
            raise UserError(f"{marker}: damaged: of other files")
        check_files(marker.parent, entries, verify=True)
        return read_array(ids), read_array(rows, mmap=True)
    except UserError as error:
        marker.unlink(missing_ok=True)
        raise UserError(f"{error}; deleted: the same command makes it again") from None
