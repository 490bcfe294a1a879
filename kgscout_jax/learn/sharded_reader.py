"""Batches split over devices: each process reads the rows of its own questions.

Array widths are static and equal in all processes, so each process needs the number of
candidates, relations and hops of all questions. The first two need the candidates: each
process counts its share of the split once, and all exchange the counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import jax
import numpy as np
from jaxtyping import Int, Int32

from kgscout_jax.data.batch_widths import WidthClasses
from kgscout_jax.data.batches import Batch, BatchReader
from kgscout_jax.data.sharded_table import RowLayout
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.data.tables import (
    FIRST,
    TableOffsets,
    Tables,
    not_empty,
    table_offsets,
)
from kgscout_jax.learn.devices import Devices

CHUNK = 1024
"""Questions per chunk when candidates are counted."""


class ShardedReader(BatchReader):
    """A ``BatchReader`` whose batches are global arrays, split over their questions."""

    def __init__(
        self,
        shards: Shards,
        split: Split,
        direction: str = "both",
        devices: Devices | None = None,
        offsets: TableOffsets = FIRST,
        *,
        words: bool = True,
    ) -> None:
        super().__init__(shards, split, direction, offsets, words=words)
        self.devices = devices or Devices()

    @cached_property
    def n_relations(self) -> Int[np.ndarray, "q"]:
        if self.devices.processes == 1:
            return super().n_relations
        return gathered_counts(self.devices, len(self.split), self._count_relations)

    def read(self, rows: Int[np.ndarray, "k"], size: int | None = None) -> Batch:
        """The questions ``rows``, padded with empty ones to ``padded_size(size)``."""
        devices, size = self.devices, size or len(rows)
        share = devices.padded_size(size) // devices.processes
        local = self.local(rows, size)
        return devices.shard(self.arrays(local, share, self.widths_of(rows)))

    def local(self, rows: Int[np.ndarray, "k"], size: int) -> Int[np.ndarray, "j"]:
        """The questions of ``rows`` that this process reads and scores."""
        return rows[self.devices.local_slice(self.devices.padded_size(size))]


def share_widths(readers: Sequence[BatchReader]) -> None:
    """On an accelerator, read the batches of all sets at the same widths."""
    if readers and jax.default_backend() != "cpu":
        shared = WidthClasses.shared([each.widths for each in readers])
        for each in readers:
            each.widths = shared  # in the cache of the property


def count_candidates(split: Split, devices: Devices) -> None:
    """Set ``split.n_real``; each process counts its share of the questions."""
    if devices.processes > 1:
        # Fills cached_property's cache: each process would read every question.
        split.__dict__["n_real"] = gathered_counts(
            devices,
            len(split),
            lambda rows: (split.candidates[rows] >= 0).sum(axis=1),
        )


def gathered_counts(
    devices: Devices, questions: int, count: Callable[[np.ndarray], np.ndarray]
) -> Int32[np.ndarray, "q"]:
    """One count per question; ``count`` computes those of some rows."""
    share = -(-questions // devices.processes)
    low = min(devices.process * share, questions)
    high = min(low + share, questions)
    local = np.zeros(share, np.int32)
    for start in range(low, high, CHUNK):
        rows = np.arange(start, min(start + CHUNK, high))
        local[rows - low] = count(rows)
    return devices.all_gather(local).reshape(-1)[:questions]


def tables_are_shared(sets: Sequence[Shards], devices: Devices) -> bool:
    """Whether the tables of all sets lie in one: steps of all are compiled together."""
    dtypes = {each.triplet_embeddings.dtype for each in sets}
    return devices.mesh is None and len(dtypes) == 1


def set_offsets(sets: Sequence[Shards], devices: Devices) -> list[TableOffsets]:
    """Where the rows of each set begin in its tables of ``device_tables``."""
    if tables_are_shared(sets, devices):
        return table_offsets(sets)
    return [FIRST] * len(sets)


def device_tables(
    sets: Sequence[Shards], devices: Devices, *, shard_rows: bool = False
) -> list[Tables]:
    """The embedding tables of each set.

    A copy on each device, or the triplet table's rows split. Those of relations and of
    words, hundreds of times smaller, are always copied.
    """
    if tables_are_shared(sets, devices):
        return [Tables.of(*sets)] * len(sets)
    if devices.mesh is None:
        return [Tables.of(each) for each in sets]
    return [_spread(each, devices, shard_rows) for each in sets]


def _spread(shards: Shards, devices: Devices, shard_rows: bool) -> Tables:
    """The tables of one set on a mesh."""
    assert devices.mesh is not None
    layout = RowLayout(devices.mesh) if shard_rows else None
    put = devices.replicate if layout is None else layout.put
    scales, words = shards.triplet_scales, shards.word_embeddings
    return Tables(
        triplets=put(not_empty(shards.triplet_embeddings)),
        relations=devices.replicate(not_empty(shards.relation_embeddings)),
        triplet_scales=None if scales is None else put(not_empty(scales)),
        words=None if words is None else devices.replicate(not_empty(words)),
        layout=layout,
    )
