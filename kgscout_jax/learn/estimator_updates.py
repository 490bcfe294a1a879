"""One update by each estimator, in three parts, so that they can overlap.

``read(rows, step)`` is the host's work, ``begin(params, read)`` gives the device what
needs parameters only, ``finish(state, begun)`` does the rest and returns the new state.
What is random is a function of (seed, step). ``updates_of`` picks the class that a
config asks for.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jaxtyping import Float, Int

from kgscout_jax.data.batches import Batch, Tables
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimators import advantages
from kgscout_jax.learn.reward_device import DeviceReward, RewardInputs
from kgscout_jax.learn.reward_host import HostReward
from kgscout_jax.learn.sharded_reader import SpreadReader, SpreadReward
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.update_steps import Proposal, State, Steps

Shown = dict[str, Any]
"""Values to show of a step, scalars on the device or the host."""


class Updates(Protocol):
    """One estimator's updates."""

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> Any:
        """What the update of ``step`` needs whatever the parameters are."""
        ...

    def begin(self, params: Any, read: Any) -> Any:
        """What it needs, with what depends on ``params`` under way."""
        ...

    def finish(self, state: State, begun: Any) -> tuple[State, Shown]:
        """The state after that update, and values to show."""
        ...


def updates_of(
    config: TrainConfig,
    steps: Steps,
    tables: Tables,
    reader: SpreadReader,
    device_reward: DeviceReward,
    timeline: Timeline,
) -> Updates:
    """The updates that ``--estimator`` and ``--reward`` ask for."""
    if config.estimator == "closed_form":
        return ClosedForm(config, steps, tables, reader, timeline)
    if config.estimator == "bce":
        return Supervised(config, steps, tables, reader, timeline)
    if config.reward == "device":
        spread = SpreadReward(device_reward, reader)
        return ReinforceOnDevice(config, steps, tables, reader, timeline, spread)
    reward = HostReward(reader.split, config.reward_direction)
    return Reinforce(config, steps, tables, reader, timeline, reward)


class _Updates:
    """What all three need."""

    def __init__(
        self,
        config: TrainConfig,
        steps: Steps,
        tables: Tables,
        reader: SpreadReader,
        timeline: Timeline,
    ) -> None:
        self.config, self.steps = config, steps
        self.tables, self.reader = tables, reader
        self.timeline = timeline
        self.devices = reader.devices
        self.size = self.devices.padded(config.batch_size)
        self.key = jax.random.key(config.seed)

    def _more_than(
        self, rows: Int[np.ndarray, "k"], k: float
    ) -> Float[np.ndarray, "b"]:
        """1 for questions with more than ``k`` candidates, else 0; padded with 0."""
        weight = np.zeros(self.size, np.float32)
        weight[: len(rows)] = self.reader.split.n_real[rows] > k
        return weight

    def _all_kept(
        self, rows: Int[np.ndarray, "k"], learns: Float[np.ndarray, "b"]
    ) -> Float[np.ndarray, "b"]:
        """1 for the other questions."""
        all_kept = np.zeros_like(learns)
        all_kept[: len(rows)] = 1 - learns[: len(rows)]
        return all_kept

    def _key(self, step: int) -> jax.Array:
        """What is random in a step."""
        return self.devices.key(self.key, step)


class ClosedForm(_Updates):
    """Expectations under a budget drawn log-uniformly from [k_low, k]."""

    class Read(NamedTuple):
        """A batch, and the budget it is to be learned at."""

        batch: Batch
        weight: Float[np.ndarray, "b"]
        k: float

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> Read:
        config = self.config
        low, high = math.log(min(config.k_low, config.k)), math.log(config.k)
        draw = np.random.default_rng([config.seed, step, 2]).random()
        k = math.exp(low + (high - low) * draw)
        batch = self.reader.read(rows, config.batch_size)
        return self.Read(batch, self._more_than(rows, k), k)

    def begin(self, params: Any, read: Read) -> Read:
        return read

    def finish(self, state: State, begun: Read) -> tuple[State, Shown]:
        batch, weight, k = begun
        state, shown = self.steps.update_closed_form(
            state, self.tables, batch, weight, np.float32(k)
        )
        self.timeline.given(shown["loss"])
        return state, {"k": k, **shown}


class Supervised(_Updates):
    """Cross-entropy on the triplets of the shortest paths."""

    class Read(NamedTuple):
        """A batch, and which of its questions have such triplets."""

        batch: Batch
        weight: Float[np.ndarray, "b"]

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> Read:
        batch = self.reader.read(rows, self.config.batch_size)
        weight = np.zeros(self.size, np.float32)
        weight[: len(rows)] = np.diff(self.reader.paths.offsets)[rows] > 0
        return self.Read(batch, weight)

    def begin(self, params: Any, read: Read) -> Read:
        return read

    def finish(self, state: State, begun: Read) -> tuple[State, Shown]:
        state, shown = self.steps.update_bce(state, self.tables, *begun)
        self.timeline.given(shown["loss"])
        return state, shown


class Reinforce(_Updates):
    """Sampled subsets, scored on the host."""

    class Read(NamedTuple):
        """A batch, and what its subsets are drawn with."""

        rows: Int[np.ndarray, "k"]
        batch: Batch
        key: jax.Array

    class Begun(NamedTuple):
        """A batch, and the subsets that the device proposes."""

        rows: Int[np.ndarray, "k"]
        batch: Batch
        proposal: Proposal

    def __init__(
        self,
        config: TrainConfig,
        steps: Steps,
        tables: Tables,
        reader: SpreadReader,
        timeline: Timeline,
        reward: HostReward,
    ) -> None:
        super().__init__(config, steps, tables, reader, timeline)
        self.reward = reward

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> Read:
        batch = self.reader.read(rows, self.config.batch_size)
        return self.Read(rows, batch, self._key(step))

    def begin(self, params: Any, read: Read) -> Begun:
        rows, batch, key = read
        proposal = self.steps.propose(params, self.tables, batch, key)
        self.timeline.given(proposal.greedy)
        return self.Begun(rows, batch, proposal)

    def finish(self, state: State, begun: Begun) -> tuple[State, Shown]:
        config = self.config
        rows, batch, proposal = begun
        own = self.reader.own(rows, config.batch_size)
        n = len(own)
        with self.timeline.waiting():
            jax.block_until_ready((proposal.indices, state.average))
        part = self.devices.own_part
        sampled = np.where(part(proposal.selected_mask), part(proposal.indices), -1)[:n]
        greedy = part(proposal.greedy)[:n, None]
        positions = sampled
        if config.baseline == "greedy":
            positions = np.concatenate([sampled, greedy], axis=1)
        total = self.reward.total(own, positions)
        if self.devices.mesh is not None:
            return self._finish_spread(state, begun, total)
        rewards = total[:, : config.samples]
        weight = self._more_than(rows, config.k)
        learns = weight[:n]
        average = float(state.average)
        advantage = np.zeros((self.size, config.samples), np.float32)
        advantage[:n] = advantages(
            rewards,
            learns,
            baseline=config.baseline,
            greedy=total[:, -1] if config.baseline == "greedy" else None,
            average=average,
            normalise=config.normalise_advantage,
        )
        mean = float(rewards[learns > 0].mean()) if learns.any() else average
        average = mean if int(state.step) == 0 else 0.95 * average + 0.05 * mean
        state, shown = self.steps.update_reinforce(
            state, batch, weight, proposal, advantage, np.float32(average)
        )
        self.timeline.given(shown["loss"])
        shown = {"reward": mean, **shown}
        if not learns.all():
            shown["reward_all_kept"] = float(rewards[learns == 0].mean())
        return state, shown

    def _finish_spread(
        self, state: State, begun: Begun, total: Float[np.ndarray, "j s"]
    ) -> tuple[State, Shown]:
        """The same, where no process has the rewards of the whole batch."""
        rows, batch, proposal = begun
        padded = np.zeros((self.size // self.devices.processes, total.shape[1]))
        padded[: len(total)] = total
        learns = self._more_than(rows, self.config.k)
        all_kept = self._all_kept(rows, learns)
        scored = self.devices.split(padded.astype(np.float32))
        state, shown = self.steps.update_scored(
            state, batch, learns, all_kept, proposal, scored
        )
        self.timeline.given(shown["loss"])
        if not all_kept.any():
            del shown["reward_all_kept"]
        return state, shown


class ReinforceOnDevice(_Updates):
    """The same, scored on the device: the host reads, and waits for nothing."""

    class Read(NamedTuple):
        """A batch, what its reward needs, and which questions learn."""

        batch: Batch
        inputs: RewardInputs
        learns: Float[np.ndarray, "b"]
        all_kept: Float[np.ndarray, "b"]
        key: jax.Array

    def __init__(
        self,
        config: TrainConfig,
        steps: Steps,
        tables: Tables,
        reader: SpreadReader,
        timeline: Timeline,
        reward: SpreadReward,
    ) -> None:
        super().__init__(config, steps, tables, reader, timeline)
        self.reward = reward

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> Read:
        size = self.config.batch_size
        batch = self.reader.read(rows, size)
        inputs = self.reward.read(rows, size, batch.mask.shape[1])
        learns = self._more_than(rows, self.config.k)
        all_kept = self._all_kept(rows, learns)
        return self.Read(batch, inputs, learns, all_kept, self._key(step))

    def begin(self, params: Any, read: Read) -> Read:
        return read

    def finish(self, state: State, begun: Read) -> tuple[State, Shown]:
        batch, inputs, learns, all_kept, key = begun
        state, shown = self.steps.reinforce_on_device(
            state, self.tables, batch, inputs, learns, all_kept, key
        )
        self.timeline.given(shown["loss"])
        if not all_kept.any():
            del shown["reward_all_kept"]
        return state, shown
