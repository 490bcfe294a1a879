"""Names to ids for more names than fit in memory, in order of first appearance.

Three passes over chunks of triplets, everything between them on disk:

1. ``add``: the chunk's names are reduced to distinct 128-bit hashes of their identity,
   each with the place of its first mention (2 * row for a head, 2 * row + 1 for a
   tail), and written sorted by hash; its triplets refer to them.
2. ``resolve``: range by range of hashes, all chunks together: the first mention in any
   chunk is what an identity is known by. A bit is set for each first mention, so that
   an id is the number of bits before it.
3. ``pieces``: chunk by chunk, triplets in final ids, and the names that are new in it.

Relations are few: they are interned in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64, UInt64

from kgscout_jax.graph.name_hashes import blank_mask, displayed, entity_hashes
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import display_name
from kgscout_jax.utils.ragged import offsets_of

FINE = 4096
"""Ranges of hashes that a chunk's entries are counted by."""

Known = Callable[[UInt64[np.ndarray, "k 2"]], Int32[np.ndarray, "k"]]
"""Hashes -> ids of entities that have one already, -1 for the others."""


class BlankName(Exception):
    """A name is blank: the reader can say in which line."""


@dataclass(frozen=True)
class Piece:
    """A chunk of triplets in final ids, and the entities that first appear in it."""

    rows: Int32[np.ndarray, "n 3"]
    new_names: Strings
    """Display spellings, in the order of their ids, which follow on one another."""


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
        entries: int,
        relations: Sequence[str] = (),
        n_known: int = 0,
        known: Known | None = None,
    ) -> None:
        """Make an interner that keeps its files in ``folder``.

        Args:
            folder: exists; holds nothing of another interner.
            entries: how many chunk entries to hold in memory at a time.
            relations: those that have ids already.
            n_known: how many entities have ids already.
            known: finds the ids of those.
        """
        self._folder, self._entries = folder, entries
        self._relations = {name: i for i, name in enumerate(relations)}
        self._spelled: dict[str, int] = {}
        self._known, self.n_known = known, n_known
        self._fine: list[Int64[np.ndarray, "f+1"]] = []
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
        return self.n_known + int(self._before[-1])

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
        order, new = grouped(hashes)
        local = np.empty(len(names), np.int32)
        local[order] = np.cumsum(new) - 1
        starts = np.flatnonzero(new)
        firsts = np.minimum.reduceat(first[order], starts)
        entry = np.empty((len(starts), 3), np.uint64)
        entry[:, :2] = hashes[order[starts]]
        entry[:, 2] = firsts + 2 * self.rows
        rows = np.empty((n, 3), np.int32)
        rows[:, 0], rows[:, 2] = local[codes[:n]], local[codes[n:]]
        rows[:, 1] = self._relation_ids(relations.dictionary_encode())
        shown = displayed(names.take(mentions[firsts]))
        number = len(self._fine)
        rows.tofile(self._file(number, "rows"))
        entry.tofile(self._file(number, "entries"))
        shown.data.tofile(self._file(number, "names"))
        np.diff(shown.offsets).tofile(self._file(number, "lengths"))
        bounds = np.arange(1, FINE, dtype=np.uint64) << np.uint64(64 - 12)
        cuts = np.searchsorted(entry[:, 0], bounds, side="left")
        self._fine.append(np.concatenate([[0], cuts, [len(entry)]]))
        self.rows += n

    def _relation_ids(self, encoded: Any) -> Int32[np.ndarray, "n"]:
        """Ids of a dictionary-encoded column of relations."""
        ids = []
        for spelling in encoded.dictionary.to_pylist():
            number = self._spelled.get(spelling)
            if number is None:
                name = display_name(spelling)
                if not name:
                    raise BlankName
                number = self._relations.setdefault(name, len(self._relations))
                self._spelled[spelling] = number
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
        for begin, end in self._ranges():
            parts = [
                np.fromfile(
                    self._file(i, "entries"),
                    np.uint64,
                    3 * int(fine[end] - fine[begin]),
                    offset=24 * int(fine[begin]),
                ).reshape(-1, 3)
                for i, fine in enumerate(self._fine)
            ]
            entry = np.concatenate(parts)
            if not len(entry):
                continue
            order, new = grouped(entry[:, :2])
            starts = np.flatnonzero(new)
            firsts = np.minimum.reduceat(entry[order, 2], starts).astype(np.int64)
            fresh = np.ones(len(starts), bool)
            places = firsts
            if self._known is not None:
                ids = self._known(entry[order[starts], :2])
                fresh = ids < 0
                places = np.where(fresh, firsts, ~ids.astype(np.int64))
            out = np.empty(len(entry), np.int64)
            out[order] = places[np.cumsum(new) - 1]
            at = 0
            for i, part in enumerate(parts):
                with open(self._file(i, "places"), "ab") as handle:
                    out[at : at + len(part)].tofile(handle)
                at += len(part)
            own = firsts[fresh]
            masks = np.uint64(1) << (own & 63).astype(np.uint64)
            np.bitwise_or.at(self._bits, own >> 6, masks)
            keys = np.empty((len(own), 2), np.uint64)
            keys[:, 0], keys[:, 1] = entry[order[starts], 0][fresh], own
            yield keys
        self._before = offsets_of(np.bitwise_count(self._bits))

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Ranges of fine hash ranges with at most so many entries, if they can."""
        if not self._fine:
            return
        total = np.sum(self._fine, axis=0)
        begin = 0
        while begin < FINE:
            limit = total[begin] + self._entries
            end = int(np.searchsorted(total, limit, side="right")) - 1
            end = min(max(end, begin + 1), FINE)
            yield begin, end
            begin = end

    def ids_of(self, places: Int64[np.ndarray, "k"]) -> Int32[np.ndarray, "k"]:
        """The ids of entities by the places of their first mentions, after resolve."""
        word = places >> 6
        below = (np.uint64(1) << (places & 63).astype(np.uint64)) - np.uint64(1)
        inside = np.bitwise_count(self._bits[word] & below)
        return (self.n_known + self._before[word] + inside).astype(np.int32)

    def pieces(self) -> Iterator[Piece]:
        """The chunks in final ids, in the order they came; their files are deleted."""
        for number in range(len(self._fine)):
            places = np.fromfile(self._file(number, "places"), np.int64)
            entry = np.fromfile(self._file(number, "entries"), np.uint64).reshape(-1, 3)
            rows = np.fromfile(self._file(number, "rows"), np.int32).reshape(-1, 3)
            lengths = np.fromfile(self._file(number, "lengths"), np.int64)
            data = np.fromfile(self._file(number, "names"), np.uint8)
            ids = np.where(
                places < 0, ~places, self.ids_of(np.maximum(places, 0))
            ).astype(np.int32)
            own = np.flatnonzero(places == entry[:, 2].astype(np.int64))
            own = own[np.argsort(places[own])]
            names = Strings(data, offsets_of(lengths)).take(own)
            rows[:, 0], rows[:, 2] = ids[rows[:, 0]], ids[rows[:, 2]]
            for what in ("places", "entries", "rows", "lengths", "names"):
                self._file(number, what).unlink()
            yield Piece(rows, names)


def grouped(
    hashes: UInt64[np.ndarray, "n 2"],
) -> tuple[Int64[np.ndarray, "n"], np.ndarray]:
    """An order that sorts hashes, by the first half, and where equal ones begin."""
    order = np.argsort(hashes[:, 0])
    ranked = hashes[order]
    new = np.ones(len(order), bool)
    new[1:] = ranked[1:, 0] != ranked[:-1, 0]
    if ((ranked[1:, 1] != ranked[:-1, 1]) & ~new[1:]).any():  # half a collision
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        ranked = hashes[order]
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return order, new
