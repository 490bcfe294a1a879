"""A folder of shards as training reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from kgscout_jax.data.narrow import narrow_split
from kgscout_jax.data.question_sampling import trainable_rows
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.data.tables import FIRST, TableOffsets
from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.config_checks import check_budget
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.sharded_reader import (
    ShardedReader,
    count_candidates,
    set_offsets,
)
from kgscout_jax.learn.trained_policy import compare_encoders


@dataclass(frozen=True)
class TrainingSet:
    """A folder of shards, its train split, and the questions to train on."""

    shards: Shards
    split: Split
    rows: Int[np.ndarray, "k"]
    """The questions that have an answer and a candidate."""
    reader: ShardedReader

    @staticmethod
    def of(
        shards: Shards,
        config: TrainConfig,
        devices: Devices,
        offsets: TableOffsets = FIRST,
    ) -> TrainingSet:
        """The train split of ``shards``, whose rows begin at ``offsets`` in the tables.

        Raises:
            UserError: there is no train split, or no question to train on.
        """
        split = devices.synchronized(lambda: shards.split("train"))
        if config.candidates is not None:
            split = narrow_split(split, config.candidates)
        count_candidates(split, devices)
        rows = trainable_rows(split)
        if not len(rows):
            raise UserError(
                f"{shards.path}: no training question has an answer and a candidate in "
                "its subgraph"
            )
        direction = config.path_direction
        reader = ShardedReader(shards, split, direction, devices, offsets)
        return TrainingSet(shards, split, rows, reader)


def open_sets(config: TrainConfig, devices: Devices) -> list[TrainingSet]:
    """The set in each folder of ``--shards``.

    Raises:
        UserError: as ``TrainingSet.of``; or the sets have different encoders, or
            questions of fewer candidates than ``--k``.
    """

    def open_all() -> list[Shards]:
        first, *others = [Shards.open(folder) for folder in config.shards]
        for other in others:
            compare_encoders(first.encoder, other, str(first.path))
        return [first, *others]

    shards = devices.synchronized(open_all)
    prepared = {
        each.path: each.manifest.get("settings", {}).get("candidates")
        for each in shards
    }
    check_budget(config, prepared)
    offsets = set_offsets(shards, devices)
    return [
        TrainingSet.of(each, config, devices, start)
        for each, start in zip(shards, offsets, strict=True)
    ]
