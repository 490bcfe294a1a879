"""External interning: names to ids in order of first appearance.

Three passes over chunks of triplets, with intermediate files on disk:

1. ``add`` reduces a chunk's names to distinct 128-bit hashes of their identity, each
   with the place of its first mention (2 * row for a head, 2 * row + 1 for a tail),
   sorted by hash. The chunk's triplets refer to them.
2. ``resolve`` gives each identity the place of its first mention in any chunk, range
   by range of hashes. It sets a bit per place; an id is the number of bits before it.
3. ``chunks`` yields, per chunk, triplets in final ids and the names that are new in it.

Relations are few and are interned in memory.
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
"""Ranges of hashes: identities of a chunk are counted per range."""

FindIds = Callable[[UInt64[np.ndarray, "k 2"]], Int32[np.ndarray, "k"]]
"""Hashes -> ids of entities, -1 for unknown ones."""


class BlankName(Exception):
    """A name is blank; the exact reader can name the line."""


def strings_of(array: Any) -> Strings:
    """The strings of an arrow large_string array, without copying them."""
    offsets, data = array.buffers()[1:]
    cuts = np.frombuffer(offsets, np.int64)[
        array.offset : array.offset + len(array) + 1
    ]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return Strings(raw[cuts[0] : cuts[-1]], cuts - cuts[0])


class Interner:
    """Interns chunks of triplets in the three passes of this module."""

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
            folder: an existing folder without files of another interner.
            rows: the most identities in memory.
            relations: relations that have ids already.
            n_old: number of entities that have ids already.
            old_ids: finds the ids of these entities.
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
        """Names of the relations; the position is the id."""
        return list(self._relations)

    @property
    def n_entities(self) -> int:
        """The number of entities; valid after ``resolve``."""
        return self._n_old + int(self._before[-1])

    def add(self, heads: Any, relations: Any, tails: Any) -> None:
        """Add one chunk (arrow large_string arrays of one length).

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
        # numpy assigns the last of several values: the first mention.
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
        """Give every identity the place of its first mention; must be exhausted once.

        Yields (first half of the hash, place) of the new identities, ascending.
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
        """Blocks of ranges of hashes whose identities fit in memory."""
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
        """Entity ids by the places of first mentions; valid after ``resolve``."""
        word = places >> 6
        below = (np.uint64(1) << (places & 63).astype(np.uint64)) - np.uint64(1)
        inside = np.bitwise_count(self._bits[word] & below)
        return (self._n_old + self._before[word] + inside).astype(np.int32)

    def chunks(self) -> Iterator[tuple[Int32[np.ndarray, "n 3"], Strings]]:
        """Per chunk, the triplets in final ids and the names that first appear in it.

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
    """An order that groups equal hashes, and True at the first of each group."""
    order = np.argsort(hashes[:, 0])
    ranked = hashes[order]
    new = np.ones(len(order), bool)
    new[1:] = ranked[1:, 0] != ranked[:-1, 0]
    if ((ranked[1:, 1] != ranked[:-1, 1]) & ~new[1:]).any():  # half a collision
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        ranked = hashes[order]
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return order, new
