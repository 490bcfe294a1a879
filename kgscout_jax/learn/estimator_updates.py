"""One update by each estimator, and the pipeline of an epoch's steps.

An update is bound to one training set: its reader, its tables, its rewards. Successive
steps may be of different sets.

An update has three stages, so that they can overlap: ``read`` runs on the host,
``propose`` starts the device on what needs parameters only, ``update`` does the rest
and returns the new state. Random numbers are a function of (seed, step).

The next batch is always read while the device works on the current one. Questions that
are resident on the device need no reading, and several steps of theirs are one call.
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
from jaxtyping import Array, Int, Int32

from kgscout_jax.data.batches import Batch
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.resident_sets import (
    NUMBERS,
    ResidentSet,
    read_resident,
    step_numbers,
)
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.reward_host import HostReward
from kgscout_jax.learn.reward_scipy import ScipyReward
from kgscout_jax.learn.sharded_reader import ShardedReader
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train_state import State
from kgscout_jax.learn.update_steps import Metrics, Proposal, Steps


class StepInputs(NamedTuple):
    """The inputs of a step that do not depend on parameters."""

    rows: Int[np.ndarray, "k"]
    """The questions."""
    batch: Batch
    numbers: Int32[Array, "i"]
    """See ``step_numbers``."""
    reward: Any
    """Inputs of the reward on the device, else None."""
    proposal: Proposal | None = None
    """Of REINFORCE with the host's reward, once proposed."""


class Update:
    """The updates of one estimator on one training set, in three stages."""

    def __init__(
        self,
        config: TrainConfig,
        steps: Steps,
        tables: Tables,
        reader: ShardedReader,
        timeline: Timeline,
        resident: ResidentSet | None = None,
    ) -> None:
        """``resident``: where the set's arrays lie on the device, if they do."""
        self.config, self.steps = config, steps
        self.tables, self.reader = tables, reader
        self.timeline, self.resident = timeline, resident
        self.devices = reader.devices
        self.size = self.devices.padded_size(config.batch_size)

    def read(self, rows: Int[np.ndarray, "k"], step: int) -> StepInputs:
        """The inputs of the update of ``step`` that do not depend on parameters."""
        with self.timeline.host("read"):
            if self.resident is None:
                numbers = self.devices.put(step_numbers(step, self.budget(step)))
                batch = self.reader.read(rows, self.config.batch_size)
                reward = self.read_reward(rows, batch)
                sent = (numbers, batch, reward)
            else:
                row, kind = self.plan(rows, step)
                numbers = sent = jax.device_put(row)
                batch, reward = read_resident(self.resident.sets, numbers, kind)
                self.timeline.count(dispatches=1)
            inputs = StepInputs(rows, batch, numbers, reward)
        self.timeline.count(questions=len(rows), bytes_in=bytes_of(sent))
        return inputs

    def plan(
        self, rows: Int[np.ndarray, "k"], step: int
    ) -> tuple[Int32[np.ndarray, "i"], int]:
        """The numbers of a step of resident questions, and its class."""
        assert self.resident is not None
        n_real = int(self.reader.split.n_real[rows].max(initial=1))
        kind = self.resident.kinds[self.reader.widths.index(n_real)]
        questions = self.resident.questions(rows, self.size)
        return step_numbers(step, self.budget(step), questions), kind

    def budget(self, step: int) -> float:
        """The budget of a step."""
        del step
        return float(self.config.k)

    def read_reward(self, rows: Int[np.ndarray, "k"], batch: Batch) -> Any:
        """The inputs of the reward on the device, else None."""
        del rows, batch

    def propose(self, params: Any, inputs: StepInputs) -> StepInputs:
        """The inputs of the update; starts the device on what depends on ``params``."""
        del params
        return inputs

    def update(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        """The state after the update, and the metrics of the step."""
        with self.timeline.host("update") as submitted:
            state, metrics = self.run(state, inputs)
        self.timeline.count(dispatches=1)
        self.timeline.add(metrics["loss"], "update", submitted)
        return state, metrics

    def run(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        """The call of the jitted step."""
        raise NotImplementedError


class ClosedForm(Update):
    """Expectations under a budget drawn log-uniformly from [k_low, k]."""

    def budget(self, step: int) -> float:
        config = self.config
        low, high = math.log(min(config.k_low, config.k)), math.log(config.k)
        draw = np.random.default_rng([config.seed, step, 2]).random()
        return math.exp(low + (high - low) * draw)

    def run(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        step = self.steps.update_closed_form
        return step(state, self.tables, inputs.batch, inputs.numbers)


class Supervised(Update):
    """Cross-entropy on the triplets of the shortest paths."""

    def run(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        step = self.steps.update_bce
        return step(state, self.tables, inputs.batch, inputs.numbers)


class Reinforce(Update):
    """Sampled subsets, scored on the host: only their positions and rewards cross."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        kind = ScipyReward if self.config.reward == "scipy" else HostReward
        self.reward = kind(self.reader.split, self.config.reward_direction)

    def propose(self, params: Any, inputs: StepInputs) -> StepInputs:
        with self.timeline.host("propose") as submitted:
            proposal = self.steps.propose(
                params, self.tables, inputs.batch, inputs.numbers
            )
            if self.devices.processes == 1:
                proposal.positions.copy_to_host_async()
        self.timeline.count(dispatches=1)
        self.timeline.add(proposal.greedy, "propose", submitted)
        return inputs._replace(proposal=proposal)

    def update(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        proposal = inputs.proposal
        assert proposal is not None
        local = self.reader.local(inputs.rows, self.config.batch_size)
        with self.timeline.waiting():
            proposal.positions.block_until_ready()
        with self.timeline.host("reward"):
            positions = self.devices.local_rows(proposal.positions)
            rewards = self.reward.total(local, positions[: len(local)])
            padded = np.zeros(positions.shape[:2], np.float32)
            padded[: len(local)] = rewards
            total = self.devices.shard(padded)
        self.timeline.count(bytes_in=padded.nbytes, bytes_out=positions.nbytes)
        return super().update(state, inputs._replace(reward=total))

    def run(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        step = self.steps.update_scored
        return step(state, inputs.batch, inputs.proposal, inputs.reward)


class ReinforceOnDevice(Update):
    """Sampled subsets, scored on the device: the host never waits."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        assert self.steps.reward is not None
        self.reward: DeviceReward = dataclasses.replace(
            self.steps.reward, split=self.reader.split
        )

    def read_reward(self, rows: Int[np.ndarray, "k"], batch: Batch) -> Any:
        arrays = self.reward.arrays(
            self.reader.local(rows, self.config.batch_size),
            self.size // self.devices.processes,
            batch.mask.shape[1],
            most_hops=self.reward.hops(rows),
        )
        return self.devices.shard(arrays)

    def run(self, state: State, inputs: StepInputs) -> tuple[State, Metrics]:
        step = self.steps.reinforce_on_device
        return step(state, self.tables, inputs.batch, inputs.reward, inputs.numbers)


def bytes_of(tree: Any) -> int:
    """Bytes of all arrays of a pytree."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(tree))


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
    """The steps of one epoch: each call returns the state after the next dispatch."""

    def __init__(
        self,
        updates: Sequence[Update],
        batches: Sequence[tuple[int, Int[np.ndarray, "k"]]],
        first: int,
        stale_params: Any = None,
        dispatch_steps: int = 1,
    ) -> None:
        """
        Args:
            updates: the updates of the estimator on each training set.
            batches: all batches of the epoch: the set's number, and the questions.
            first: the first step to take, from 0.
            stale_params: the parameters that the first step proposes with, if not those
                of its state.
            dispatch_steps: the most steps of a call, where questions are resident and
                the host scores nothing. A call takes none beyond one that is saved.
        """
        self.updates, self.batches, self.step = updates, batches, first
        several = updates[0].resident and not updates[0].config.samples_on_host
        self.dispatch_steps = dispatch_steps if several else 1
        self.stale_params = stale_params
        """The older parameters that the next step needs; set by a last call too."""
        self._inputs: Any = None
        self._proposed: Any = None

    def __call__(self, state: State, *, last: bool = False) -> tuple[State, Metrics]:
        """The state and the metrics of a step, or of several, stacked.

        ``last``: no other call follows.
        """
        if self.dispatch_steps > 1:
            return self._dispatch(state, last)
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

    def _dispatch(self, state: State, last: bool) -> tuple[State, Metrics]:
        """Steps up to the next that is saved, in one call of the device."""
        first = self.updates[0]
        assert first.resident is not None
        count, every = len(self.batches), first.config.save_every
        steps = min(self.dispatch_steps, count - self.step % count)
        steps = 1 if last else min(steps, every - self.step % every)
        width = 1 + NUMBERS + first.size
        plan = np.full((self.dispatch_steps, width), -1, np.int32)
        questions = 0
        with first.timeline.host("read"):
            for row in plan[:steps]:
                update, rows = self._batch()
                row[1:], row[0] = update.plan(rows, self.step)
                questions += len(rows)
                self.step += 1
            plan = jax.device_put(plan)
        with first.timeline.host("update") as submitted:
            state, metrics = first.steps.dispatch(
                state, first.tables, first.resident.sets, plan
            )
        first.timeline.count(dispatches=1, questions=questions, bytes_in=plan.nbytes)
        first.timeline.add(metrics["loss"], "update", submitted)
        return state, metrics

    def _batch(self) -> tuple[Update, Int[np.ndarray, "k"]]:
        """The update and the questions of the current step."""
        number, rows = self.batches[self.step % len(self.batches)]
        return self.updates[number], rows
