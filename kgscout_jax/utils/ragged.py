"""Rows of different length as two arrays, without padding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Int32, Int64, Shaped


@dataclass(frozen=True)
class Ragged:
    """Rows of different length: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    Integers may be stored as uint16; they are read as int32.
    """

    values: Shaped[np.ndarray, "total ..."]
    offsets: Int64[np.ndarray, "q+1"]

    def __getitem__(self, i: int) -> Shaped[np.ndarray, "length ..."]:
        return _wide(self.values[self.offsets[i] : self.offsets[i + 1]])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def rows(
        self, rows: Int[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "total"], Shaped[np.ndarray, "total ..."]]:
        """(position in ``rows``, value) of all values of ``rows``, in order.

        One gather, without a Python loop: the position is 0 for values of ``rows[0]``.
        """
        starts = np.asarray(self.offsets[rows])
        lengths = self.offsets[rows + 1] - starts
        owner = np.repeat(np.arange(len(rows)), lengths)
        return owner, _wide(self.values[ranges(starts, lengths)])

    def padded(self, fill: int = -1) -> Int32[np.ndarray, "q width"]:
        """All rows as one array, ``fill`` beyond each row's end, at least one wide."""
        lengths = np.diff(self.offsets)
        width = int(lengths.max(initial=1))
        out = np.full((len(self), width), fill, np.int32)
        out[np.arange(width) < lengths[:, None]] = self.values
        return out

    @staticmethod
    def of_counts(
        values: Shaped[np.ndarray, "total ..."], counts: Int[np.ndarray, "q"]
    ) -> Ragged:
        """Consecutive rows with ``counts`` values each."""
        return Ragged(values, offsets_of(counts))

    @staticmethod
    def of_padded(array: Int[np.ndarray, "q width"]) -> Ragged:
        """The rows of a padded array, without their -1."""
        real = np.asarray(array) >= 0
        return Ragged.of_counts(np.asarray(array)[real], real.sum(axis=1))


def offsets_of(lengths: Int[np.ndarray, "n"]) -> Int64[np.ndarray, "n+1"]:
    """The offsets of consecutive rows of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def ranges(
    starts: Int[np.ndarray, "n"], lengths: Int[np.ndarray, "n"]
) -> Int64[np.ndarray, "total"]:
    """The concatenated ranges start, start + 1, ... of each start and length."""
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)


def _wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int32) if values.dtype == np.uint16 else values
