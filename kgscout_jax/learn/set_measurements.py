"""The row of an epoch: measures of each training set, and their means."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from kgscout_jax.data.tables import Tables
from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.dev_measurement import measurements
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.sharded_reader import share_widths
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.utils.weighted_means import means

logger = logging.getLogger("kgscout")


class SetMeasurements:
    """Measures a sample of training questions and the dev questions of every set."""

    def __init__(
        self,
        sets: Sequence[TrainingSet],
        tables: Sequence[Tables],
        names: Sequence[str],
        config: TrainConfig,
        devices: Devices,
    ) -> None:
        """``names``: of the sets, for the keys of the row."""
        self.tables, self.names = tables, names
        self.weights = dict(zip(names, config.weights, strict=True))
        self.measures = [measurements(each, config, devices) for each in sets]
        of_dev = [each["dev"].reader for each in self.measures if "dev" in each]
        share_widths(of_dev)
        lacking = [
            name
            for name, measures in zip(names, self.measures, strict=True)
            if "dev" not in measures
        ]
        if len(lacking) == len(names) and config.patience is not None:
            raise UserError(
                "--patience: found no dev split in the shards, expected one to measure"
            )
        if len(lacking) == len(names):
            logger.info("no dev split: the latest checkpoint stands for the best")
        elif lacking:
            logger.info("no dev split in %s: not in the dev reward", ", ".join(lacking))

    def row(self, steps: Steps, params: Any) -> dict[str, float]:
        """SPLIT_MEASURE -> value; of several sets, their mean and SPLIT_MEASURE/SET."""
        rows: dict[str, dict[str, float]] = {}
        for name, tables, measures in zip(
            self.names, self.tables, self.measures, strict=True
        ):
            rows[name] = {
                f"{split}_{key}": value
                for split, measure in measures.items()
                for key, value in measure(steps, params, tables).items()
            }
        if len(rows) == 1:
            return rows[self.names[0]]
        return means(rows, self.weights) | {
            f"{key}/{name}": value
            for name, row in rows.items()
            for key, value in row.items()
        }
