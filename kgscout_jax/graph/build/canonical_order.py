"""External sort of triplets into canonical order, with the indices by head and tail.

A triplet is packed into one unsigned 64-bit key that sorts as (head, relation, tail).
If the ids of a graph need more bits, heads are divided into panels. Each panel is
sorted separately, with its first head subtracted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int32, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.external_sort import Runs
from kgscout_jax.utils.array_writer import ArrayWriter
from kgscout_jax.utils.progress import ProgressBar

KEY_BITS = 64
MAX_TRIPLETS = 2**31 - 1
"""Ids are int32."""


class Packing:
    """The bit layout of keys: head, relation, tail."""

    def __init__(self, n_entities: int, n_relations: int, bits: int = KEY_BITS) -> None:
        self.tail_bits = max(1, (n_entities - 1).bit_length())
        self.relation_bits = max(1, (n_relations - 1).bit_length())
        below = self.tail_bits + self.relation_bits
        self.head_bits = min(max(0, bits - below), self.tail_bits)
        self.panels = max(1, -(-n_entities >> self.head_bits))

    def pack(self, rows: Int32[np.ndarray, "n 3"]) -> UInt64[np.ndarray, "n"]:
        """Keys of triplets, relative to their panels."""
        mask = (1 << self.head_bits) - 1
        keys = (rows[:, 0] & mask).astype(np.uint64) << np.uint64(self.relation_bits)
        keys |= rows[:, 1].astype(np.uint64)
        keys <<= np.uint64(self.tail_bits)
        keys |= rows[:, 2].astype(np.uint64)
        return keys

    def unpack(
        self, keys: UInt64[np.ndarray, "n"], panel: int
    ) -> Int32[np.ndarray, "n 3"]:
        """The triplets of keys of one panel."""
        rows = np.empty((len(keys), 3), np.int32)
        rows[:, 2] = keys & np.uint64((1 << self.tail_bits) - 1)
        rest = keys >> np.uint64(self.tail_bits)
        rows[:, 1] = rest & np.uint64((1 << self.relation_bits) - 1)
        rows[:, 0] = rest >> np.uint64(self.relation_bits)
        rows[:, 0] += panel << self.head_bits
        return rows


class CanonicalSort:
    """Sorts triplets into canonical order on disk; writes them and their indices."""

    def __init__(
        self,
        folder: Path,
        n_entities: int,
        n_relations: int,
        rows: int,
        *,
        key_bits: int = KEY_BITS,
    ) -> None:
        """``rows``: approximate triplets in memory; ``folder``: scratch files."""
        self._packing = Packing(n_entities, n_relations, key_bits)
        self._n_entities, self._rows, self._folder = n_entities, rows, folder
        self._panels = [
            Runs(folder, f"panel{i}", rows) for i in range(self._packing.panels)
        ]

    def add(self, rows: Int32[np.ndarray, "n 3"]) -> None:
        """Add triplets in any order."""
        keys = self._packing.pack(rows)
        if len(self._panels) == 1:
            self._panels[0].add(keys)
            return
        panels = rows[:, 0] >> self._packing.head_bits
        for i in np.unique(panels):
            self._panels[i].add(keys[panels == i])

    def add_canonical(
        self,
        triplets: Int32[np.ndarray, "m 3"],
        removal_mask: Bool[np.ndarray, "m"] | None = None,
    ) -> None:
        """Add triplets in canonical order, except those that the mask removes."""
        heads = triplets[:, 0]
        starts = np.arange(len(self._panels) + 1) << self._packing.head_bits
        cuts = np.searchsorted(heads, starts).tolist()
        for i, runs in enumerate(self._panels):
            runs.add_sorted(self._keys(triplets, removal_mask, cuts[i], cuts[i + 1]))

    def _keys(
        self,
        triplets: Int32[np.ndarray, "m 3"],
        removal_mask: Bool[np.ndarray, "m"] | None,
        start: int,
        stop: int,
    ) -> Iterator[UInt64[np.ndarray, "n"]]:
        for begin in range(start, stop, self._rows):
            block = slice(begin, min(begin + self._rows, stop))
            rows = np.asarray(triplets[block])
            if removal_mask is not None:
                rows = rows[~removal_mask[block]]
            yield self._packing.pack(rows)

    def write(self, out: Path) -> int:
        """Write unique triplets and their indices; returns the number of triplets.

        Raises UserError for more triplets than int32 ids.
        """
        total = sum(map(len, self._panels))
        tails = Runs(self._folder, "tails", self._rows)
        first = 0
        with (
            ProgressBar(total, "sort triplets", "triplets") as bar,
            ArrayWriter(out / "triplets.npy", np.int32, 3) as triplets,
            OffsetWriter(out / "head_offsets.npy", self._n_entities) as offsets,
        ):
            for panel, runs in enumerate(self._panels):
                for keys in runs.merged():
                    new = np.ones(len(keys), bool)
                    new[1:] = keys[1:] != keys[:-1]
                    rows = self._packing.unpack(keys[new], panel)
                    if first + len(rows) > MAX_TRIPLETS:
                        raise UserError(
                            f"{out.parent}: more than {MAX_TRIPLETS:,} triplets, which "
                            "is what a graph can number"
                        )
                    triplets.append(rows)
                    offsets.add(rows[:, 0])
                    ids = np.arange(first, first + len(rows), dtype=np.uint64)
                    tails.add((rows[:, 2].astype(np.uint64) << np.uint64(32)) | ids)
                    first += len(rows)
                    bar.update(len(keys))
        with (
            ProgressBar(first, "index tails", "triplets") as bar,
            ArrayWriter(out / "by_tail.npy", np.int32) as by_tail,
            OffsetWriter(out / "tail_offsets.npy", self._n_entities) as offsets,
        ):
            for keys in tails.merged():
                by_tail.append((keys & np.uint64(0xFFFFFFFF)).astype(np.int32))
                offsets.add((keys >> np.uint64(32)).astype(np.int32))
                bar.update(len(keys))
        return first


class OffsetWriter:
    """Writes the offset of each entity's rows, from an ascending column."""

    def __init__(self, path: Path, n_entities: int) -> None:
        self._writer = ArrayWriter(path, np.int64)
        self._n_entities, self._rows = n_entities, 0

    def __enter__(self) -> OffsetWriter:
        self._writer.__enter__()
        return self

    def add(self, ends: Int32[np.ndarray, "n"]) -> None:
        """Add the next rows, given by their entities."""
        if len(ends):
            self._upto(int(ends[-1]) + 1, ends)
            self._rows += len(ends)

    def _upto(self, entity: int, ends: Int32[np.ndarray, "n"]) -> None:
        """Write the missing offsets of all entities below ``entity``."""
        for start in range(self._writer.rows, entity, 1 << 20):
            block = np.arange(start, min(start + (1 << 20), entity), dtype=np.int32)
            self._writer.append(self._rows + np.searchsorted(ends, block))

    def __exit__(self, *error) -> None:
        if error[0] is None:
            self._upto(self._n_entities + 1, np.empty(0, np.int32))
        self._writer.__exit__(*error)
