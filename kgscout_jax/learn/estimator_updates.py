"""One update by each estimator, and the pipeline of an epoch's steps.

An update is bound to one training set: its reader, its tables, its rewards. Successive
steps may be of different sets.

An update has three stages, so that they can overlap: ``read`` runs on the host,
``propose`` starts the device on what needs parameters only, ``update`` does the rest
and returns the new state. Random numbers are a function of (seed, step).

The next batch is always read while the device works on the current one.
``--staleness 1`` also proposes its subsets before the current update: the device
proposes while the host scores. An update then applies the policy gradient at the
parameters its subsets were drawn from, which are one update old (delayed gradient
descent: the estimate is unbiased there, nothing is reweighted).

After each multiple of ``--save-every`` and at the start of an epoch nothing is ahead: a
checkpoint of such a step needs the state only, and whether a step is stale depends on
its number alone. A run that stops at another step also saves the older parameters.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from kgscout_jax.data.batches import Batch, Tables
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimators import advantages_and_average
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.reward_host import HostReward
from kgscout_jax.learn.reward_scipy import ScipyReward
from kgscout_jax.learn.sharded_reader import ShardedReader
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train_state import State
from kgscout_jax.learn.update_steps import Metrics, Proposal, Steps


class Update:
    """The updates of one estimator on one training set, in three stages."""

    def __init__(
        self,
        config: TrainConfig,
        steps: Steps,
        tables: Tables,
        reader: ShardedReader,
        timeline: Timeline,
    ) -> None:
        self.config, self.steps = config, steps
        self.tables, self.reader = tables, reader
        self.timeline = timeline
        self.devices = reader.devices
        self.size = self.devices.padded_size(config.batch_size)
        self.seed_key = jax.random.key(config.seed)

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> Any:
        """The inputs of the update of ``step`` that do not depend on parameters."""
        raise NotImplementedError

    def propose(self, params: Any, inputs: Any) -> Any:
        """The inputs of the update; starts the device on what depends on ``params``."""
        del params
        return inputs

    def update(self, state: State, inputs: Any) -> tuple[State, Metrics]:
        """The state after the update, and the metrics of the step."""
        raise NotImplementedError

    def read_batch(self, rows: Int[np.ndarray, "k"]) -> Batch:
        return self.reader.read(rows, self.config.batch_size)

    def padded(self, values: np.ndarray) -> Float[np.ndarray, "b"]:
        """One value per question of a batch; 0 for the empty questions at its end."""
        out = np.zeros(self.size, np.float32)
        out[: len(values)] = values
        return out

    def learns(self, rows: Int[np.ndarray, "k"], k: float) -> Float[np.ndarray, "b"]:
        """1 for questions with more than ``k`` candidates, else 0."""
        return self.padded(self.reader.split.n_real[rows] > k)


class ClosedForm(Update):
    """Expectations under a budget drawn log-uniformly from [k_low, k]."""

    def read(
        self, rows: Int[np.ndarray, "k"], step: int
    ) -> tuple[Batch, np.ndarray, float]:
        config = self.config
        low, high = math.log(min(config.k_low, config.k)), math.log(config.k)
        draw = np.random.default_rng([config.seed, step, 2]).random()
        k = math.exp(low + (high - low) * draw)
        return self.read_batch(rows), self.learns(rows, k), k

    def update(self, state: State, inputs: Any) -> tuple[State, Metrics]:
        batch, weight, k = inputs
        state, metrics = self.steps.update_closed_form(
            state, self.tables, batch, weight, np.float32(k)
        )
        self.timeline.add(metrics["loss"])
        return state, {"k": k, **metrics}


class Supervised(Update):
    """Cross-entropy on the triplets of the shortest paths."""

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> tuple[Batch, np.ndarray]:
        on_path = np.diff(self.reader.paths.offsets)[rows] > 0
        return self.read_batch(rows), self.padded(on_path)

    def update(self, state: State, inputs: Any) -> tuple[State, Metrics]:
        state, metrics = self.steps.update_bce(state, self.tables, *inputs)
        self.timeline.add(metrics["loss"])
        return state, metrics


class Reinforce(Update):
    """Sampled subsets, scored on the host."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        kind = ScipyReward if self.config.reward == "scipy" else HostReward
        self.reward = kind(self.reader.split, self.config.reward_direction)

    class Proposed(NamedTuple):
        """A batch, and the subsets that the device proposes."""

        rows: Int[np.ndarray, "k"]
        batch: Batch
        proposal: Proposal

    def read(
        self, rows: Int[np.ndarray, "k"], step: int
    ) -> tuple[np.ndarray, Batch, jax.Array]:
        batch = self.read_batch(rows)
        return rows, batch, self.devices.key(self.seed_key, step)

    def propose(self, params: Any, inputs: Any) -> Proposed:
        rows, batch, key = inputs
        proposal = self.steps.propose(params, self.tables, batch, key)
        self.timeline.add(proposal.greedy)
        return self.Proposed(rows, batch, proposal)

    def update(self, state: State, inputs: Proposed) -> tuple[State, Metrics]:
        rows, batch, proposal = inputs
        local = self.reader.local(rows, self.config.batch_size)
        with self.timeline.waiting():
            jax.block_until_ready((proposal.indices, state.average))
        sampled, mask, greedy = map(self.devices.local_rows, proposal[:3])
        positions = np.where(mask, sampled, -1)
        if self.config.baseline == "greedy":
            positions = np.concatenate([positions, greedy[:, None]], axis=1)
        total = self.reward.total(local, positions[: len(local)])
        learns = self.learns(rows, self.config.k)
        if self.devices.mesh is None:
            state, metrics = self._update_here(state, batch, proposal, learns, total)
        else:  # each process has the rewards of its own questions only
            padded = np.zeros(
                (self.size // self.devices.processes, total.shape[1]), np.float32
            )
            padded[: len(total)] = total
            state, metrics = self.steps.update_scored(
                state,
                batch,
                learns,
                self.padded(1 - learns[: len(rows)]),
                proposal,
                self.devices.shard(padded),
            )
        self.timeline.add(metrics["loss"])
        if learns[: len(rows)].all():
            metrics.pop("reward_all_kept", None)
        return state, metrics

    def _update_here(
        self,
        state: State,
        batch: Batch,
        proposal: Proposal,
        weight: Float[np.ndarray, "b"],
        total: Float[np.ndarray, "j s"],
    ) -> tuple[State, Metrics]:
        """The update from rewards in numpy, whose sums differ in order from JAX's."""
        rewards, learns = total[:, : self.config.samples], weight[: len(total)]
        average = float(state.average)
        mean = float(rewards[learns > 0].mean()) if learns.any() else average
        advantage = np.zeros((self.size, self.config.samples), np.float32)
        advantage[: len(total)], average = advantages_and_average(
            self.config, total, learns, mean, average, int(state.step)
        )
        state, metrics = self.steps.update_reinforce(
            state, batch, weight, proposal, advantage, np.float32(average)
        )
        metrics = {"reward": mean, **metrics}
        if not learns.all():
            metrics["reward_all_kept"] = float(rewards[learns == 0].mean())
        return state, metrics


class ReinforceOnDevice(Update):
    """Sampled subsets, scored on the device: the host never waits."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        assert self.steps.reward is not None
        self.reward: DeviceReward = dataclasses.replace(
            self.steps.reward, split=self.reader.split
        )

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> tuple[Any, ...]:
        batch = self.read_batch(rows)
        arrays = self.reward.arrays(
            self.reader.local(rows, self.config.batch_size),
            self.size // self.devices.processes,
            batch.mask.shape[1],
            most_hops=self.reward.hops(rows),
        )
        learns = self.learns(rows, self.config.k)
        all_selected = self.padded(1 - learns[: len(rows)])
        key = self.devices.key(self.seed_key, step)
        return batch, self.devices.shard(arrays), learns, all_selected, key

    def update(self, state: State, inputs: Any) -> tuple[State, Metrics]:
        state, metrics = self.steps.reinforce_on_device(state, self.tables, *inputs)
        self.timeline.add(metrics["loss"])
        _, _, _, all_selected, _ = inputs
        if not all_selected.any():
            del metrics["reward_all_kept"]
        return state, metrics


def update_class(config: TrainConfig) -> type[Update]:
    """The updates for ``--estimator`` and ``--reward``."""
    if config.estimator == "closed_form":
        return ClosedForm
    if config.estimator == "bce":
        return Supervised
    return ReinforceOnDevice if config.reward == "device" else Reinforce


def is_stale(config: TrainConfig, step: int, batch_count: int) -> bool:
    """Whether ``step`` (from 0) proposes before the previous step's update."""
    drained = step % config.save_every == 0 or step % batch_count == 0
    return config.stale and not drained


class Pipeline:
    """The steps of one epoch: each call returns the state after one more step."""

    def __init__(
        self,
        updates: Sequence[Update],
        batches: Sequence[tuple[int, Int[np.ndarray, "k"]]],
        first: int,
        stale_params: Any = None,
    ) -> None:
        """
        Args:
            updates: the updates of the estimator on each training set.
            batches: all batches of the epoch: the set's number, and the questions.
            first: the first step to take, from 0.
            stale_params: the parameters that the first step proposes with, if not those
                of its state.
        """
        self.updates, self.batches, self.step = updates, batches, first
        self.stale_params = stale_params
        """The older parameters that the next step needs; set by a last call too."""
        self._inputs: Any = None
        self._proposed: Any = None

    def __call__(self, state: State, *, last: bool = False) -> tuple[State, Metrics]:
        """The state after a step; ``last``: no other call follows."""
        count = len(self.batches)
        update, rows = self._batch()
        inputs = self._inputs or update.read(rows, self.step)
        params = state.params if self.stale_params is None else self.stale_params
        proposed = self._proposed or update.propose(params, inputs)
        self._inputs = self._proposed = self.stale_params = None
        self.step += 1
        if self.step % count:
            ahead = is_stale(update.config, self.step, count)
            if last:
                # The update writes into these buffers.
                copy = jax.tree.map(jnp.copy, state.params) if ahead else None
                self.stale_params = copy
            else:
                following, rows = self._batch()
                self._inputs = following.read(rows, self.step)
                if ahead:
                    self._proposed = following.propose(state.params, self._inputs)
        return update.update(state, proposed)

    def _batch(self) -> tuple[Update, Int[np.ndarray, "k"]]:
        """The update and the questions of the current step."""
        number, rows = self.batches[self.step % len(self.batches)]
        return self.updates[number], rows
