"""What crosses to and from the device in each mode of training, and the host's time.

Nothing here depends on the network, so that a tiny one stands in: it compiles fast.
"""

from __future__ import annotations

import itertools
import time
from typing import Any, NamedTuple

import jax
import numpy as np

from benchmarks.common import show
from benchmarks.train_ours import Ours
from benchmarks.train_settings import TrainBenchmark
from benchmarks.train_world import World
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimator_updates import Pipeline, update_class
from kgscout_jax.learn.resident_sets import resident_sets
from kgscout_jax.learn.sharded_reader import ShardedReader
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.utils.progress import ProgressBar

STEPS = 20
"""Of each mode that are counted, after as many that are not."""
TINY: dict[str, Any] = {
    "tower_hidden": (8,),
    "gate_hidden": 8,
    "combiner_hidden": 4,
    "save_every": 10 * STEPS,
}
HOST: dict[str, Any] = {"estimator": "reinforce", "reward": "host"}
DEVICE: dict[str, Any] = {"estimator": "reinforce", "reward": "device"}


class Mode(NamedTuple):
    """A way to train."""

    settings: dict[str, Any]
    resident: bool
    steps: int = 1
    """Of a dispatch."""


MODES = {
    "closed form, streamed": Mode({}, resident=False),
    "closed form, resident": Mode({}, resident=True),
    "closed form, resident, 10 steps": Mode({}, resident=True, steps=10),
    "REINFORCE, host, streamed": Mode(HOST, resident=False),
    "REINFORCE, host, resident": Mode(HOST, resident=True),
    "REINFORCE, device, streamed": Mode(DEVICE, resident=False),
    "REINFORCE, device, resident, 10 steps": Mode(DEVICE, resident=True, steps=10),
}


def mode_traffic(
    world: World, config: TrainConfig, mode: Mode, *, count: int = STEPS
) -> dict[str, float]:
    """Dispatches, bytes and the host's microseconds per question in ``count`` steps.

    And ``questions_per_second``, of the wall clock.
    """
    reader = ShardedReader(world.shards, world.split, config.path_direction)
    rows = np.arange(len(world.split))
    one = Ours(world, config, reader=reader)
    timeline, resident = Timeline(), None
    if mode.resident:
        training_set = TrainingSet(world.shards, world.split, rows, reader)
        found = resident_sets(config, [training_set])
        assert found is not None
        (resident,) = found
    update = update_class(config)(
        config, one.steps, one.tables, reader, timeline, resident
    )
    size = config.batch_size
    turns = itertools.cycle(rows[: len(rows) // size * size].reshape(-1, size))
    batches = [(0, next(turns)) for _ in range(count)]
    state, start = one.state, 0.0
    for _ in range(2):  # the first compiles
        timeline.restart()
        start = time.perf_counter()
        pipeline = Pipeline([update], batches, 0, dispatch_steps=mode.steps)
        while pipeline.step < count:
            state, metrics = pipeline(state)
            timeline.count(bytes_out=sum(each.nbytes for each in metrics.values()))
        with timeline.waiting():
            jax.block_until_ready(state)
    seconds = time.perf_counter() - start
    figures = timeline.shares()
    timeline.close()
    return figures | {"questions_per_second": count * size / seconds}


def traffic(settings: TrainBenchmark) -> dict[str, Any]:
    """Figures for the last line: those of each mode."""
    from benchmarks.train_speed import world_of

    world = world_of(settings)
    found: dict[str, dict[str, float]] = {}
    with ProgressBar(len(MODES), "counting", "modes") as bar:
        for name, mode in MODES.items():
            more = {"samples": max(settings.samples, 2)} | TINY | mode.settings
            found[name] = mode_traffic(world, settings.config(**more), mode)
            bar.update(1)
    keys = ("dispatches", "bytes_in", "bytes_out")
    table = [
        [
            name,
            *(f"{figures[f'{key}_per_question']:.4g}" for key in keys),
            f"{figures['host_us_per_question']:.4g}",
            f"{figures['host_processor_us_per_question']:.4g}",
        ]
        for name, figures in found.items()
    ]
    header = ["a question", "dispatches", "bytes in", "bytes out", "host, us"]
    header.append("of processor")
    show("Traffic of a question in training", header, table)
    return {"traffic": found}
