"""Names to ids for more names than fit in memory, in order of first appearance.

Three passes over chunks of triplets, everything between them on disk:

1. ``add``: the chunk's names are reduced to distinct 128-bit hashes of their identity,
   each with the place of its first mention (2 * row for a head, 2 * row + 1 for a
   tail), and written sorted by hash; its triplets refer to them.
2. ``resolve``: range by range of hashes, all chunks together: an identity gets the
   place of its first mention in any chunk. A bit is set for each such place, so that an
   id is the number of bits before it.
3. ``chunks``: chunk by chunk, triplets in final ids, and the names that are new in it.

Relations are few: they are interned in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64, UInt64

from kgscout_jax.graph.name_hashes import blank_mask, display_names, entity_hashes
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import display_name
from kgscout_jax.utils.ragged import offsets_of

RANGES = 4096
"""Ranges of hashes that a chunk's identities are counted by."""

FindIds = Callable[[UInt64[np.ndarray, "k 2"]], Int32[np.ndarray, "k"]]
"""Hashes -> ids of entities, -1 for unknown ones."""


class BlankName(Exception):
    """A name is blank: the reader can say in which line."""


def strings_of(array: Any) -> Strings:
    """The strings of an arrow large_string array, without copying them."""
    offsets, data = array.buffers()[1:]
    cuts = np.frombuffer(offsets, np.int64)[
        array.offset : array.offset + len(array) + 1
    ]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return Strings(raw[cuts[0] : cuts[-1]], cuts - cuts[0])


class Interner:
    """Interns chunks of triplets; see the module for the passes."""

    def __init__(
        self,
        folder: Path,
        *,
        rows: int,
        relations: Sequence[str] = (),
        n_old: int = 0,
        old_ids: FindIds | None = None,
    ) -> None:
        """Make an interner with its files in ``folder``.

        Args:
            folder: exists; holds nothing of another interner.
            rows: how many identities of chunks to hold in memory at a time.
            relations: those that have ids already.
            n_old: how many entities have ids already.
            old_ids: finds the ids of those.
        """
        self._folder, self._max_rows = folder, rows
        self._relations = {name: i for i, name in enumerate(relations)}
        self._spellings: dict[str, int] = {}
        self._old_ids, self._n_old = old_ids, n_old
        self._ranges: list[Int64[np.ndarray, "r+1"]] = []
        self._bits = np.empty(0, np.uint64)
        self._before = np.zeros(1, np.int64)
        self.rows = 0

    @property
    def relations(self) -> list[str]:
        """Names of the relations; the place is the id."""
        return list(self._relations)

    @property
    def n_entities(self) -> int:
        """How many entities there are; known after ``resolve``."""
        return self._n_old + int(self._before[-1])

    def add(self, heads: Any, relations: Any, tails: Any) -> None:
        """Take in one chunk (arrow large_string arrays of one length).

        Raises:
            BlankName: a name is blank.
        """
        import pyarrow as pa

        n = len(heads)
        both = pa.concat_arrays([heads, tails]).dictionary_encode()
        codes = both.indices.to_numpy()
        mentions = np.empty(2 * n, np.int32)
        mentions[0::2], mentions[1::2] = codes[:n], codes[n:]
        names = strings_of(both.dictionary)
        if blank_mask(names).any():
            raise BlankName
        hashes = entity_hashes(names)
        first = np.empty(len(names), np.int64)
        # Of several values for one place numpy keeps the last: the first mention.
        first[mentions[::-1]] = np.arange(2 * n - 1, -1, -1)
        order, new = group_hashes(hashes)
        local = np.empty(len(names), np.int32)
        local[order] = np.cumsum(new) - 1
        starts = np.flatnonzero(new)
        firsts = np.minimum.reduceat(first[order], starts)
        identities = np.empty((len(starts), 3), np.uint64)
        identities[:, :2] = hashes[order[starts]]
        identities[:, 2] = firsts + 2 * self.rows
        rows = np.empty((n, 3), np.int32)
        rows[:, 0], rows[:, 2] = local[codes[:n]], local[codes[n:]]
        rows[:, 1] = self._relation_ids(relations.dictionary_encode())
        spellings = display_names(names.take(mentions[firsts]))
        number = len(self._ranges)
        rows.tofile(self._file(number, "rows"))
        identities.tofile(self._file(number, "identities"))
        spellings.data.tofile(self._file(number, "names"))
        np.diff(spellings.offsets).tofile(self._file(number, "lengths"))
        bounds = np.arange(1, RANGES, dtype=np.uint64) << np.uint64(64 - 12)
        cuts = np.searchsorted(identities[:, 0], bounds, side="left")
        self._ranges.append(np.concatenate([[0], cuts, [len(identities)]]))
        self.rows += n

    def _relation_ids(self, encoded: Any) -> Int32[np.ndarray, "n"]:
        """Ids of a dictionary-encoded column of relations."""
        ids = []
        for spelling in encoded.dictionary.to_pylist():
            number = self._spellings.get(spelling)
            if number is None:
                name = display_name(spelling)
                if not name:
                    raise BlankName
                number = self._relations.setdefault(name, len(self._relations))
                self._spellings[spelling] = number
            ids.append(number)
        return np.array(ids, np.int32)[encoded.indices.to_numpy()]

    def _file(self, number: int, what: str) -> Path:
        return self._folder / f"chunk-{number}.{what}"

    def resolve(self) -> Iterator[UInt64[np.ndarray, "k 2"]]:
        """Give every identity the place of its first mention; run to the end once.

        Yields, in ascending order of the first half of the hash, (that half, place)
        of the identities that are new.
        """
        self._bits = np.zeros((2 * self.rows >> 6) + 1, np.uint64)
        for begin, end in self._range_blocks():
            blocks = [
                np.fromfile(
                    self._file(i, "identities"),
                    np.uint64,
                    3 * int(cuts[end] - cuts[begin]),
                    offset=24 * int(cuts[begin]),
                ).reshape(-1, 3)
                for i, cuts in enumerate(self._ranges)
            ]
            identities = np.concatenate(blocks)
            if not len(identities):
                continue
            order, new = group_hashes(identities[:, :2])
            starts = np.flatnonzero(new)
            firsts = np.minimum.reduceat(identities[order, 2], starts).astype(np.int64)
            is_new = np.ones(len(starts), bool)
            places = firsts
            if self._old_ids is not None:
                ids = self._old_ids(identities[order[starts], :2])
                is_new = ids < 0
                places = np.where(is_new, firsts, ~ids.astype(np.int64))
            out = np.empty(len(identities), np.int64)
            out[order] = places[np.cumsum(new) - 1]
            at = 0
            for i, block in enumerate(blocks):
                with open(self._file(i, "places"), "ab") as handle:
                    out[at : at + len(block)].tofile(handle)
                at += len(block)
            new_firsts = firsts[is_new]
            masks = np.uint64(1) << (new_firsts & 63).astype(np.uint64)
            np.bitwise_or.at(self._bits, new_firsts >> 6, masks)
            keys = np.empty((len(new_firsts), 2), np.uint64)
            keys[:, 0], keys[:, 1] = identities[order[starts], 0][is_new], new_firsts
            yield keys
        self._before = offsets_of(np.bitwise_count(self._bits))

    def _range_blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of hashes, joined while their identities fit in memory."""
        if not self._ranges:
            return
        total = np.sum(self._ranges, axis=0)
        begin = 0
        while begin < RANGES:
            limit = total[begin] + self._max_rows
            end = int(np.searchsorted(total, limit, side="right")) - 1
            end = min(max(end, begin + 1), RANGES)
            yield begin, end
            begin = end

    def ids_of(self, places: Int64[np.ndarray, "k"]) -> Int32[np.ndarray, "k"]:
        """The ids of entities by the places of their first mentions, after resolve."""
        word = places >> 6
        below = (np.uint64(1) << (places & 63).astype(np.uint64)) - np.uint64(1)
        inside = np.bitwise_count(self._bits[word] & below)
        return (self._n_old + self._before[word] + inside).astype(np.int32)

    def chunks(self) -> Iterator[tuple[Int32[np.ndarray, "n 3"], Strings]]:
        """Per chunk its triplets in final ids, and the names that first appear in it.

        Names are display spellings in the order of their ids. Files are deleted.
        """
        for number in range(len(self._ranges)):
            places = np.fromfile(self._file(number, "places"), np.int64)
            identities = np.fromfile(self._file(number, "identities"), np.uint64)
            firsts = identities.reshape(-1, 3)[:, 2].astype(np.int64)
            rows = np.fromfile(self._file(number, "rows"), np.int32).reshape(-1, 3)
            lengths = np.fromfile(self._file(number, "lengths"), np.int64)
            data = np.fromfile(self._file(number, "names"), np.uint8)
            ids = np.where(
                places < 0, ~places, self.ids_of(np.maximum(places, 0))
            ).astype(np.int32)
            new = np.flatnonzero(places == firsts)
            new = new[np.argsort(places[new])]
            names = Strings(data, offsets_of(lengths)).take(new)
            rows[:, 0], rows[:, 2] = ids[rows[:, 0]], ids[rows[:, 2]]
            for what in ("places", "identities", "rows", "lengths", "names"):
                self._file(number, what).unlink()
            yield rows, names


def group_hashes(
    hashes: UInt64[np.ndarray, "n 2"],
) -> tuple[Int64[np.ndarray, "n"], np.ndarray]:
    """An order that sorts hashes by the first half, and marks the first of equals."""
    order = np.argsort(hashes[:, 0])
    ranked = hashes[order]
    new = np.ones(len(order), bool)
    new[1:] = ranked[1:, 0] != ranked[:-1, 0]
    if ((ranked[1:, 1] != ranked[:-1, 1]) & ~new[1:]).any():  # half a collision
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        ranked = hashes[order]
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return order, new
