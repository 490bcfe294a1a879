"""Batches spread over devices: each process reads the rows of its own questions.

Widths are static and the same everywhere, so what decides them must be known of all
questions of a batch: how many candidates, relations and hops each has. The first two
take a look at the candidates; each process looks at its share of the split, once, and
they exchange the counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Int, Int32

from kgscout_jax.data.batches import Batch, BatchReader, Tables, not_empty
from kgscout_jax.data.sharded_table import RowLayout
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.reward_device import DeviceReward, RewardInputs

CHUNK = 1024
"""Questions whose candidates are looked at together."""


class SpreadReader:
    """A ``BatchReader`` whose batches are global arrays, split over their questions."""

    def __init__(self, reader: BatchReader, devices: Devices) -> None:
        self.reader, self.devices = reader, devices
        self.split, self.paths = reader.split, reader.paths
        self.n_nodes = reader.n_nodes
        self.n_relations: Int32[np.ndarray, "q"] | None = None
        """How many unique relations each question has; None: all are read here."""
        if devices.processes > 1:
            self.n_relations = exchanged(devices, len(self.split), self._relations)

    def read(self, rows: Int[np.ndarray, "k"], size: int) -> Batch:
        """The questions ``rows``; empty ones fill up to ``devices.padded(size)``."""
        devices = self.devices
        if self.n_relations is None:
            arrays = self.reader.arrays(rows, devices.padded(size))
        else:
            arrays = self.reader.arrays(
                self.own(rows, size),
                devices.padded(size) // devices.processes,
                n_real=int(self.split.n_real[rows].max(initial=1)),
                n_relations=int(self.n_relations[rows].max(initial=1)),
            )
        return devices.split(arrays)

    def own(self, rows: Int[np.ndarray, "k"], size: int) -> Int[np.ndarray, "j"]:
        """Those of the questions ``rows`` that this process reads and scores."""
        return rows[self.devices.own(self.devices.padded(size))]

    def _relations(self, rows: Int[np.ndarray, "k"]) -> Int[np.ndarray, "k"]:
        """The number of unique relations of each question."""
        candidates = np.asarray(self.split.candidates[rows])
        relations = self.reader.relation_of[np.maximum(candidates, 0)]
        # Padding repeats the first candidate's; a question without any counts one.
        relations = np.where(candidates >= 0, relations, relations[:, :1])
        relations.sort(axis=1)
        return 1 + (np.diff(relations, axis=1) > 0).sum(axis=1)


class SpreadReward:
    """What a ``DeviceReward`` reads, in the same way."""

    def __init__(self, reward: DeviceReward, reader: SpreadReader) -> None:
        self.reward, self.reader = reward, reader

    def read(self, rows: Int[np.ndarray, "k"], size: int, n: int) -> RewardInputs:
        """The inputs of the questions ``rows`` and of the empty ones behind them."""
        devices, reward = self.reader.devices, self.reward
        offsets = reward.split.path_edges[reward.direction].offsets
        arrays = reward.arrays(
            self.reader.own(rows, size),
            devices.padded(size) // devices.processes,
            n,
            most_hops=int((offsets[rows + 1] - offsets[rows]).max(initial=1)),
        )
        return devices.split(arrays)


def count_candidates(split: Split, devices: Devices) -> None:
    """Nothing; ``split.n_real`` is counted by all processes, a share each."""
    if devices.processes > 1:
        # Where cached_property keeps it: each process would look at every question.
        split.__dict__["n_real"] = exchanged(
            devices,
            len(split),
            lambda rows: (split.candidates[rows] >= 0).sum(axis=1),
        )


def exchanged(
    devices: Devices, count: int, look: Callable[[np.ndarray], np.ndarray]
) -> Int32[np.ndarray, "q"]:
    """A number of each of ``count`` questions; ``look`` gives those of some rows."""
    share = -(-count // devices.processes)
    low = min(devices.process * share, count)
    high = min(low + share, count)
    own = np.zeros(share, np.int32)
    for start in range(low, high, CHUNK):
        rows = np.arange(start, min(start + CHUNK, high))
        own[rows - low] = look(rows)
    return devices.gathered(own).reshape(-1)[:count]


def tables_of(shards: Shards, devices: Devices, *, by_rows: bool = False) -> Tables:
    """The embedding tables: a copy on each device, or triplets ``by_rows``.

    The relation table, hundreds of times smaller, is always copied.
    """
    if devices.mesh is None:
        return Tables.of(shards)
    layout = RowLayout(devices.mesh) if by_rows else None
    put = devices.copied if layout is None else layout.put
    scales = shards.triplet_scales
    return Tables(
        triplets=put(not_empty(shards.triplet_embeddings)),
        relations=devices.copied(not_empty(shards.relation_embeddings)),
        triplet_scales=None if scales is None else put(not_empty(scales)),
        layout=layout,
    )
