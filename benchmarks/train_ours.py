"""This implementation as a contender: real ``Steps`` on batches read from shards."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Int

from benchmarks.common import Clock, race
from benchmarks.roofline import Cost, cost_of
from benchmarks.train_world import World
from kgscout_jax.data.batches import Batch
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimator_updates import update_class
from kgscout_jax.learn.resident_sets import step_numbers
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.reward_host import HostReward
from kgscout_jax.learn.run_config import network_config
from kgscout_jax.learn.sharded_reader import ShardedReader
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train_state import initial_state, optimizer
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import needs_words

Mode = Literal["host", "device", "closed_form", "bce"]
"""REINFORCE rewarded on the host or the device, the closed form, or cross-entropy."""
BUDGET = 14.0
"""Of the closed form: no cost depends on it."""


def policy_config(world: World, config: TrainConfig) -> NetworkConfig:
    """The network that training would build for these shards."""
    reader = ShardedReader(world.shards, world.split, config.path_direction)
    rows = np.arange(len(world.split))
    training_set = TrainingSet(world.shards, world.split, rows, reader)
    return network_config(config, [training_set])


class Ours:
    """A policy in training; ``train`` is a step as ``kgscout train`` takes it."""

    def __init__(
        self,
        world: World,
        config: TrainConfig,
        *,
        kind: type[Policy] = Policy,
        reader: ShardedReader | None = None,
        tables: Tables | None = None,
    ) -> None:
        """``tables``: those of the shards, to share them between contenders."""
        self.world, self.config = world, config
        self.policy = kind.initial(policy_config(world, config), 0)
        self.reader = reader or ShardedReader(
            world.shards, world.split, config.path_direction
        )
        self.reader.reads_words = needs_words(self.policy.config)  # as in training
        self.tables = tables or Tables.of(world.shards)
        self.host = HostReward(world.split, config.reward_direction)
        self.device = DeviceReward(world.split, config.reward_direction)
        transform = optimizer(config, 1000)
        self.steps = Steps(self.policy, config, transform, self.device)
        self.updates = update_class(config)(
            config, self.steps, self.tables, self.reader, Timeline()
        )
        self.state = jax.tree.map(jnp.copy, initial_state(self.policy, transform))
        self.step = 0
        self.numbers = jnp.asarray(step_numbers(0, BUDGET))

    def read(self, rows: Int[np.ndarray, "k"]) -> Batch:
        """A batch, as every step reads one."""
        return self.reader.read(rows, max(self.config.batch_size, len(rows)))

    def train(self, rows: Int[np.ndarray, "k"]) -> None:
        """One step as training takes it, reading included; waits for its end."""
        inputs = self.updates.read(rows, self.step)
        proposed = self.updates.propose(self.state.params, inputs)
        self.state, metrics = self.updates.update(self.state, proposed)
        self.step += 1
        jax.block_until_ready((self.state, metrics))

    @property
    def mode(self) -> Mode:
        """Which of the steps the config asks for."""
        estimator, reward = self.config.estimator, self.config.reward
        if estimator != "reinforce":
            return estimator
        return "device" if reward == "device" else "host"

    def run_network(self, batch: Batch) -> None:
        """The network both ways, to its end."""
        jax.block_until_ready(self.network(self.state.params, self.tables, batch))

    @cached_property
    def network(self) -> Callable[..., Any]:
        """Jitted: gradient of the logits' weighted sum, the network both ways alone."""

        def total(params: Any, tables: Tables, batch: Batch) -> Any:
            logits = nnx.merge(self.steps.graphdef, params)(batch.inputs(tables))
            weights = jnp.arange(logits.shape[1], dtype=jnp.float32)
            return jnp.where(batch.mask, logits * weights[None], 0.0).sum()

        return jax.jit(jax.grad(total))

    def shares(
        self,
        rows: Int[np.ndarray, "k"],
        clock: Clock,
        repeats: int,
        network: Callable[[Batch], Any],
    ) -> dict[str, float]:
        """What part of a step is network (forward and backward) and reward.

        A compiled step has no inside to time: its parts are timed on their own, against
        a whole step, and the rest is what remains. ``network`` runs the network alone,
        which is the same for all that share its sizes.
        """
        batch = self.read(rows)
        works: dict[str, Callable[[], Any]] = {
            "step": lambda: self.train(rows),
            "network": lambda: network(batch),
        }
        if self.mode in ("host", "device"):
            proposal = self.steps.propose(
                self.state.params, self.tables, batch, self.numbers
            )
            if self.mode == "host":
                positions = np.asarray(proposal.positions)[: len(rows)]
                works["reward"] = lambda: self.host.total(rows, positions)
            else:
                score = jax.jit(self.device.total)
                positions = proposal.positions.astype(jnp.int32)
                subsets = jnp.maximum(positions, 0), positions >= 0

                def reward() -> Any:
                    inputs = self.device.read(
                        rows, len(batch.mask), batch.mask.shape[1]
                    )
                    return jax.block_until_ready(
                        score(inputs, batch.nodes, batch.answers, *subsets)
                    )

                works["reward"] = reward
        laps = race(works, repeats=repeats, clock=clock)
        whole = float(np.median(laps["step"].laps))
        parts = {
            name: float(np.median(lap.laps)) / whole
            for name, lap in laps.items()
            if name != "step"
        }
        return parts | {"rest": 1.0 - math.fsum(parts.values())}

    def compiled(self, rows: Int[np.ndarray, "k"]) -> tuple[Cost, Callable[[], Any]]:
        """What the jitted part of a step costs, and a call that runs it, both whole."""
        batch = self.read(rows)
        size = batch.mask.shape[0]
        # The state is donated to each step.
        steps, tables, numbers = self.steps, self.tables, self.numbers
        if self.mode == "closed_form":
            jitted, more = steps.update_closed_form, (tables, batch, numbers)
        elif self.mode == "bce":
            jitted, more = steps.update_bce, (tables, batch, numbers)
        elif self.mode == "device":
            inputs = self.device.read(rows, size, batch.mask.shape[1])
            jitted = steps.reinforce_on_device
            more = (tables, batch, inputs, numbers)
        else:
            jitted = steps.update_scored
            first = self.state.params, tables, batch, numbers
            proposal = steps.propose(*first)
            total = np.ones(proposal.positions.shape[:2], np.float32)
            more = (batch, proposal, total)
            cost = cost_of(steps.propose, *first) + cost_of(jitted, self.state, *more)

            def both() -> None:
                drawn = steps.propose(self.state.params, tables, batch, numbers)
                self.state, _ = steps.update_scored(self.state, batch, drawn, total)
                jax.block_until_ready(self.state)

            return cost, both

        def one() -> None:
            self.state, _ = jitted(self.state, *more)
            jax.block_until_ready(self.state)

        return cost_of(jitted, self.state, *more), one
