"""Strings as one UTF-8 blob and offsets, which can be memory-mapped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from jaxtyping import Int, Int64, UInt8

from kgscout_jax.utils.ragged import offsets_of, ranges

BLOCK = 1 << 14
"""Strings that iteration decodes at once."""


@dataclass(frozen=True, eq=False)
class Strings(Sequence[str]):
    """A sequence of strings that are decoded on access.

    String ``i`` is the bytes ``offsets[i]:offsets[i + 1]`` of ``data``.
    """

    data: UInt8[np.ndarray, "total"]
    offsets: Int64[np.ndarray, "n+1"]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._decode(start, max(start, stop))
            return [self[i] for i in range(start, stop, step)]
        place = int(index)
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(f"string {index} of {len(self)}")
        start, stop = self.offsets[place : place + 2]
        return self.data[start:stop].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self._decode(start, min(start + BLOCK, len(self)))

    def _decode(self, start: int, stop: int) -> list[str]:
        """The strings of a range."""
        cuts = self.offsets[start : stop + 1]
        if not len(cuts):
            return []
        raw = self.data[cuts[0] : cuts[-1]].tobytes()
        places = (cuts - cuts[0]).tolist()
        return [raw[a:b].decode("utf-8") for a, b in itertools.pairwise(places)]

    def take(self, ids: Int[np.ndarray, "k"]) -> Strings:
        """The strings with these ids, as a packed copy in memory."""
        starts = np.asarray(self.offsets[ids])
        lengths = self.offsets[np.asarray(ids) + 1] - starts
        return Strings(
            np.asarray(self.data[ranges(starts, lengths)]), offsets_of(lengths)
        )

    def block(self, start: int, stop: int) -> Strings:
        """The strings of a range, copied into memory."""
        cuts = np.array(self.offsets[start : stop + 1])
        return Strings(np.array(self.data[cuts[0] : cuts[-1]]), cuts - cuts[0])

    @staticmethod
    def of(texts: Sequence[str]) -> Strings:
        """These strings, packed."""
        raw = [text.encode("utf-8") for text in texts]
        lengths = np.fromiter(map(len, raw), np.int64, len(raw))
        return Strings(np.frombuffer(b"".join(raw), np.uint8), offsets_of(lengths))


def concatenate(tables: Sequence[Strings]) -> Strings:
    """The strings of all tables, one table after the other."""
    if not tables:
        return Strings(np.empty(0, np.uint8), np.zeros(1, np.int64))
    lengths = np.concatenate([np.diff(table.offsets) for table in tables])
    return Strings(
        np.concatenate([table.data for table in tables]), offsets_of(lengths)
    )
