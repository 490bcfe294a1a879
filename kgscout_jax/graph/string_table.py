"""Strings as one UTF-8 blob and offsets, which can be memory-mapped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from jaxtyping import Int, Int64, UInt8

from kgscout_jax.errors import UserError
from kgscout_jax.utils.block_checksums import BlockChecksums
from kgscout_jax.utils.ragged import offsets_of, ranges

Index = int | np.ndarray
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
        return self._text(place)

    def _text(self, place: int) -> str:
        self._check_offsets(place, place + 2)
        start, stop = self.offsets[place : place + 2].tolist()
        self._check_data(start, stop)
        return self.data[start:stop].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self._decode(start, min(start + BLOCK, len(self)))

    def _decode(self, start: int, stop: int) -> list[str]:
        """The strings of a range."""
        block = self.block(start, stop)
        raw, places = block.data.tobytes(), block.offsets.tolist()
        if raw.isascii():  # a character is a byte
            text = raw.decode("ascii")
            return [text[a:b] for a, b in itertools.pairwise(places)]
        return [raw[a:b].decode("utf-8") for a, b in itertools.pairwise(places)]

    def take(self, ids: Int[np.ndarray, "k"]) -> Strings:
        """The strings with these ids, as a packed copy in memory."""
        ids = np.asarray(ids)
        self._check_offsets(ids, ids + 2)
        starts = np.asarray(self.offsets[ids])
        lengths = self.offsets[ids + 1] - starts
        self._check_data(starts, starts + lengths)
        return Strings(
            np.asarray(self.data[ranges(starts, lengths)]), offsets_of(lengths)
        )

    def texts(self, ids: Int[np.ndarray, "k"]) -> list[str]:
        """The strings with these ids, decoded; faster than one by one."""
        return list(self.take(ids))

    def block(self, start: int, stop: int) -> Strings:
        """The strings of a range, copied into memory."""
        start, stop = int(start), int(stop)
        self._check_offsets(start, stop + 1)
        cuts = np.array(self.offsets[start : stop + 1])
        if not len(cuts):
            return Strings(np.empty(0, np.uint8), np.zeros(1, np.int64))
        self._check_data(int(cuts[0]), int(cuts[-1]))
        return Strings(np.array(self.data[cuts[0] : cuts[-1]]), cuts - cuts[0])

    def _check_offsets(self, starts: Index, stops: Index) -> None:
        """Called before ``offsets`` is read from each start to each stop."""

    def _check_data(self, starts: Index, stops: Index) -> None:
        """Called before ``data`` is read from each start to each stop."""

    @staticmethod
    def of(texts: Sequence[str]) -> Strings:
        """These strings, packed."""
        raw = [text.encode("utf-8") for text in texts]
        lengths = np.fromiter(map(len, raw), np.int64, len(raw))
        return Strings(np.frombuffer(b"".join(raw), np.uint8), offsets_of(lengths))


@dataclass(frozen=True, eq=False)
class StoredStrings(Strings):
    """Strings in two memory-mapped files; damage is an error and never a name."""

    data_file: Path
    offsets_file: Path
    data_blocks: BlockChecksums | None = None
    """Of ``data_file``; None if all of it has been compared with its checksum."""
    offsets_blocks: BlockChecksums | None = None
    """Of ``offsets_file``, an .npy file."""

    def _check_offsets(self, starts: Index, stops: Index) -> None:
        if self.offsets_blocks is not None:
            header = self.offsets_blocks.size - self.offsets.nbytes
            ends = stops
            if not isinstance(stops, int):
                ends = np.minimum(stops, len(self.offsets))
            elif stops > len(self.offsets):
                ends = len(self.offsets)
            self.offsets_blocks.check(header + 8 * starts, header + 8 * ends)

    def _check_data(self, starts: Index, stops: Index) -> None:
        if isinstance(starts, int):
            good = 0 <= starts <= stops <= len(self.data)
        else:
            good = (
                np.min(starts, initial=0) >= 0
                and np.max(stops, initial=0) <= len(self.data)
                and not np.any(np.less(stops, starts))
            )
        if not good:
            raise UserError(
                f"{self.offsets_file}: damaged: it points beyond {self.data_file.name}"
            )
        if self.data_blocks is not None:
            self.data_blocks.check(starts, stops)

    def _text(self, place: int) -> str:
        try:
            return super()._text(place)
        except UnicodeDecodeError:
            raise self._undecodable(place, place + 1) from None

    def _decode(self, start: int, stop: int) -> list[str]:
        try:
            return super()._decode(start, stop)
        except UnicodeDecodeError:
            raise self._undecodable(start, stop) from None

    def texts(self, ids: Int[np.ndarray, "k"]) -> list[str]:
        try:
            return super().texts(ids)
        except UnicodeDecodeError:
            return [self[place] for place in np.asarray(ids).tolist()]

    def _undecodable(self, start: int, stop: int) -> UserError:
        return UserError(
            f"{self.data_file}: damaged: no UTF-8 text in the strings {start} to "
            f"{stop - 1}; kgscout inspect GRAPH --verify checks the whole folder"
        )


def texts_of(names: Sequence[str], ids: Int[np.ndarray, "k"]) -> list[str]:
    """The names with these ids; of stored ones faster than one by one."""
    if isinstance(names, Strings):
        return names.texts(ids)
    return [str(names[i]) for i in np.asarray(ids).tolist()]


def concatenate(tables: Sequence[Strings]) -> Strings:
    """The strings of all tables, one table after the other."""
    if not tables:
        return Strings(np.empty(0, np.uint8), np.zeros(1, np.int64))
    lengths = np.concatenate([np.diff(table.offsets) for table in tables])
    return Strings(
        np.concatenate([table.data for table in tables]), offsets_of(lengths)
    )
