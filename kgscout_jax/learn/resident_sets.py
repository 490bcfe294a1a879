"""The training questions of a run as arrays on the device.

A step then takes the numbers of its questions and nothing else. Several steps can run
in one dispatch, whatever the widths of their batches: the compiled program holds every
class of widths, and each step of the plan names its own.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int, Int32

from kgscout_jax.data.batch_widths import Widths
from kgscout_jax.data.batches import Batch
from kgscout_jax.data.resident import (
    ResidentArrays,
    resident_arrays,
    resident_bytes,
)
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.resident_reward import (
    CANDIDATE_BYTES,
    HOP_BYTES,
    RewardArrays,
    reward_arrays,
)
from kgscout_jax.learn.reward_device import DeviceReward, RewardInputs
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.utils.buckets import bucket

logger = logging.getLogger("kgscout")

CPU_LIMIT = 2**30
"""Bytes that arrays may take by default where the device is the host."""
MEMORY_SHARE = 4
"""By default they may take this part of an accelerator's memory."""
NUMBERS = 2
"""Numbers of a step before its questions: see ``step_numbers``."""
STEPS = 10
"""Steps of a dispatch by default on an accelerator."""


class ResidentClass(NamedTuple):
    """Static widths of a step."""

    widths: Widths
    hops: int
    """Of the reward's inputs; 0 without them."""


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["arrays", "reward"],
    meta_fields=["classes"],
)
@dataclass(frozen=True)
class ResidentSets:
    """The arrays of all training sets, one below the other."""

    arrays: ResidentArrays
    reward: RewardArrays | None
    """Only with the reward on the device."""
    classes: tuple[ResidentClass, ...]

    def read(
        self, numbers: Int32[Array, "i"], kind: int
    ) -> tuple[Batch, RewardInputs | None]:
        """The batch of a step, and the inputs of its reward if the device computes it.

        For use under jit; ``kind`` is the number of its class.
        """
        rows, of_kind = numbers[NUMBERS:], self.classes[kind]
        batch = self.arrays.batch(rows, of_kind.widths)
        if self.reward is None:
            return batch, None
        return batch, self.reward.inputs(rows, batch, of_kind.hops)


read_resident = jax.jit(ResidentSets.read, static_argnums=2)
"""The same as a dispatch of its own: the step after it is that of a streamed batch."""


def step_numbers(
    step: int, k: float, questions: Int[np.ndarray, "b"] | tuple[()] = ()
) -> Int32[np.ndarray, "i"]:
    """All that a step needs from the host, packed: step, budget's bits, questions."""
    head = np.array([step, np.float32(k).view(np.int32)], np.int32)
    return np.concatenate([head, np.asarray(questions, np.int32)])


class ResidentSet(NamedTuple):
    """One training set among those on the device."""

    sets: ResidentSets
    first: int
    """Its first row there."""
    total: int
    """Rows of all sets; this one is an empty question."""
    kinds: tuple[int, ...]
    """The number among the classes of all sets of each of its own."""

    def questions(
        self, rows: Int[np.ndarray, "k"], size: int
    ) -> Int32[np.ndarray, "b"]:
        """Rows of the arrays, padded with empty questions to ``size``."""
        out = np.full(size, self.total, np.int32)
        out[: len(rows)] = rows + self.first
        return out


def resident_sets(
    config: TrainConfig, sets: Sequence[TrainingSet]
) -> list[ResidentSet] | None:
    """The sets on the device; None where they do not fit ``--resident-gb``."""
    readers = [each.reader for each in sets]
    rewards = [
        DeviceReward(each.split, config.reward_direction)
        for each in sets
        if config.estimator == "reinforce" and config.reward == "device"
    ]
    needed = resident_bytes(readers)
    for reward in rewards:
        hops = len(reward.split.path_edges[reward.direction].values)
        candidates = int(reward.split.n_real.sum())
        needed += HOP_BYTES * hops + CANDIDATE_BYTES * candidates
    limit = resident_limit(config)
    if needed > limit:
        if limit:
            message = "questions take %.1f GB, the limit is %.1f: they are streamed"
            logger.info(message, needed / 1e9, limit / 1e9)
        return None
    classes: dict[ResidentClass, int] = {}
    kinds = []
    for number, reader in enumerate(readers):
        own = []
        for widths in reader.widths.classes:
            held = np.flatnonzero(reader.split.n_real <= widths.candidates)
            hops = rewards[number].hops(held) if rewards else 0
            kind = ResidentClass(widths, bucket(hops, factor=4) if rewards else 0)
            own.append(classes.setdefault(kind, len(classes)))
        kinds.append(tuple(own))
    reward = None
    if rewards:
        widest = max(kind.widths.candidates for kind in classes)
        hops = max(kind.hops for kind in classes)
        reward = reward_arrays(rewards, widest, hops)
    arrays, reward = jax.device_put((resident_arrays(readers), reward))
    resident = ResidentSets(arrays, reward, tuple(classes))
    sizes = np.array([len(each.split) for each in sets])
    starts, total = np.cumsum(sizes) - sizes, int(sizes.sum())
    return [
        ResidentSet(resident, int(start), total, own)
        for start, own in zip(starts, kinds, strict=True)
    ]


def resident_limit(config: TrainConfig) -> int:
    """Bytes that the arrays may take: ``--resident-gb``, or the device's default."""
    if config.resident_gb is not None:
        return int(config.resident_gb * 1e9)
    device = jax.devices()[0]
    if device.platform == "cpu":
        return CPU_LIMIT
    memory = (device.memory_stats() or {}).get("bytes_limit", MEMORY_SHARE * CPU_LIMIT)
    return int(memory) // MEMORY_SHARE


def dispatch_steps(config: TrainConfig) -> int:
    """Steps of a dispatch: ``--steps-per-dispatch``, or the platform's default."""
    if config.steps_per_dispatch is not None:
        return config.steps_per_dispatch
    return 1 if jax.default_backend() == "cpu" else STEPS
