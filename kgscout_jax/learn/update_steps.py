"""The jitted steps: propose subsets, update by either estimator, rank greedily."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.data.batches import Batch, Tables
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimators import (
    advantages,
    closed_form,
    cross_entropy,
    reinforce,
)
from kgscout_jax.learn.reward_device import DeviceReward, RewardInputs
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.sampling import (
    categorical_entropy,
    greedy_top_k,
    gumbel_top_k,
)


class State(NamedTuple):
    """Everything that training changes, and a checkpoint holds."""

    params: Any
    opt_state: Any
    step: Int[Array, ""]
    average: Float[Array, ""]
    """Moving average of the reward, for that baseline."""


class Proposal(NamedTuple):
    """Subsets of b questions, g sampled ones and the greedy one, and their logits."""

    indices: Int[Array, "b g k"]
    selected_mask: Bool[Array, "b g k"]
    greedy: Int[Array, "b k"]
    """The k best candidates, -1 beyond n_real."""
    logits: Float[Array, "b n"]
    pullback: Callable[[Float[Array, "b n"]], tuple[Any]]
    """From a gradient of the logits to one of the parameters: the forward pass is not
    done again once the host has scored the subsets."""


def optimizer(config: TrainConfig, total_steps: int) -> optax.GradientTransformation:
    """AdamW with clipping, warm-up and a cosine down to a tenth."""
    assert config.learning_rate is not None  # TrainConfig fills it in
    schedule = optax.warmup_cosine_decay_schedule(
        init_value=0.0,
        peak_value=config.learning_rate,
        warmup_steps=min(config.warmup_steps, total_steps // 10),
        decay_steps=max(total_steps, 1),
        end_value=config.learning_rate / 10,
    )
    return optax.chain(
        optax.clip_by_global_norm(config.clip_norm),
        optax.adamw(schedule, weight_decay=config.weight_decay, mask=decayed),
    )


def decayed(params: Any) -> Any:
    """Which parameters decay: the matrices."""
    return jax.tree.map(lambda x: x.ndim >= 2, params)


Objective = tuple[Array, dict[str, Array]]
"""A loss, and values to show."""


class Steps:
    """Jitted functions over (params or state, tables, batch); shapes are static."""

    def __init__(
        self,
        policy: Policy,
        config: TrainConfig,
        transform: optax.GradientTransformation,
        n_nodes: int,
        reward: DeviceReward | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        """The functions, not compiled yet.

        Args:
            policy: its structure; parameters come with each call.
            config: of the run.
            transform: the optimiser.
            n_nodes: static bound on local node ids.
            reward: needed by ``reinforce_on_device`` only.
            mesh: devices over whose one axis the batch is split.
        """
        self.mesh = mesh
        self.config = config
        self.reward = reward
        self.transform = transform
        self.n_nodes = n_nodes
        self.graphdef, _ = nnx.split(policy, nnx.Param)
        self.propose: Callable[..., Proposal] = jax.jit(self._propose)
        self.rank = jax.jit(self._rank, static_argnames="k")
        donated = partial(jax.jit, donate_argnums=0)
        self.update_closed_form = donated(self._update_closed_form)
        self.update_bce = donated(self._update_bce)
        self.update_reinforce = donated(self._update_reinforce)
        self.update_scored = donated(self._update_scored)
        self.reinforce_on_device = donated(self._reinforce_on_device)

    def _logits(self, params: Any, tables: Tables, batch: Batch) -> Float[Array, "b n"]:
        return nnx.merge(self.graphdef, params)(batch.inputs(tables))

    def _rank(
        self, params: Any, tables: Tables, batch: Batch, k: int
    ) -> Int[Array, "b k"]:
        """Positions of the k best candidates, best first; -1 beyond n_real."""
        logits = self._logits(params, tables, batch)
        best_k = partial(best, k=min(k, logits.shape[1]))
        return self._of_each(best_k)(logits, batch.mask)

    def _propose(
        self, params: Any, tables: Tables, batch: Batch, key: Array
    ) -> Proposal:
        logits, pullback = jax.vjp(lambda p: self._logits(p, tables, batch), params)
        b, n = logits.shape
        k, g = min(self.config.k, n), self.config.samples
        keys = jax.random.split(key, (b, g))

        def choose(
            keys: Array, logits: Float[Array, "b n"], mask: Bool[Array, "b n"]
        ) -> tuple[Array, Array, Array]:
            sample = jax.vmap(gumbel_top_k, in_axes=(0, None, None, None))
            sample = jax.vmap(sample, in_axes=(0, 0, 0, None))
            return *sample(keys, logits, mask, k), best(logits, mask, k)

        drawn, selected, greedy = self._of_each(choose)(keys, logits, batch.mask)
        if self.mesh is not None:
            pullback = jax.tree.map(partial(self._split_wide, batch.mask), pullback)
        return Proposal(drawn, selected, greedy, logits, pullback)

    def _update_closed_form(
        self,
        state: State,
        tables: Tables,
        batch: Batch,
        weight: Float[Array, "b"],
        k: Float[Array, ""],
    ) -> tuple[State, dict[str, Array]]:
        config = self.config

        def objective(logits: Float[Array, "b n"]) -> Objective:
            parts = jax.vmap(closed_form, in_axes=(0, 0, 0, 0, 0, None, None))(
                logits, batch.mask, batch.nodes, batch.answers, batch.on_path, k,
                self.n_nodes,
            )  # fmt: skip
            value = config.presence_weight * parts.presence
            value = value + config.hit_weight * parts.hit
            value = value + config.path_weight * parts.path
            if config.bce_weight:
                apart = jax.vmap(cross_entropy)(logits, batch.mask, batch.on_path)
                value = value - config.bce_weight * apart
            shown = {
                "presence": weighted_mean(parts.presence, weight),
                "hit": weighted_mean(parts.hit, weight),
                "path": weighted_mean(parts.path, weight),
            }
            return self._loss(logits, batch, weight, value, shown)

        def loss(params: Any) -> Objective:
            return objective(self._logits(params, tables, batch))

        (_, shown), gradient = jax.value_and_grad(loss, has_aux=True)(state.params)
        return self._apply(state, gradient, shown)

    def _update_bce(
        self, state: State, tables: Tables, batch: Batch, weight: Float[Array, "b"]
    ) -> tuple[State, dict[str, Array]]:
        """Cross-entropy of each candidate with being on a shortest path."""

        def loss(params: Any) -> Objective:
            logits = self._logits(params, tables, batch)
            value = jax.vmap(cross_entropy)(logits, batch.mask, batch.on_path)
            return self._loss(logits, batch, weight, -value, {})

        (_, shown), gradient = jax.value_and_grad(loss, has_aux=True)(state.params)
        return self._apply(state, gradient, shown)

    def _update_reinforce(
        self,
        state: State,
        batch: Batch,
        weight: Float[Array, "b"],
        proposal: Proposal,
        advantage: Float[Array, "b g"],
        average: Float[Array, ""],
    ) -> tuple[State, dict[str, Array]]:
        def loss(logits: Float[Array, "b n"]) -> Objective:
            value = jax.vmap(reinforce)(
                logits, batch.mask, proposal.indices, proposal.selected_mask, advantage
            )
            return self._loss(logits, batch, weight, value, {})

        of_logits = jax.value_and_grad(loss, has_aux=True)
        (_, shown), gradient = of_logits(proposal.logits)
        (gradient,) = proposal.pullback(gradient)
        return self._apply(state._replace(average=average), gradient, shown)

    def _reinforce_on_device(
        self,
        state: State,
        tables: Tables,
        batch: Batch,
        inputs: RewardInputs,
        learns: Float[Array, "b"],
        all_kept: Float[Array, "b"],
        key: Array,
    ) -> tuple[State, dict[str, Array]]:
        """Propose, score and update without leaving the device."""
        assert self.reward is not None
        proposal = self._propose(state.params, tables, batch, key)
        indices, selected = proposal.indices, proposal.selected_mask
        if self.config.baseline == "greedy":
            greedy = proposal.greedy[:, None]
            indices = jnp.concatenate([indices, greedy], axis=1)
            selected = jnp.concatenate([selected, greedy >= 0], axis=1)
        score = self._of_each(self.reward.total)
        total = score(inputs, batch.nodes, batch.answers, indices, selected)
        return self._update_scored(state, batch, learns, all_kept, proposal, total)

    def _update_scored(
        self,
        state: State,
        batch: Batch,
        learns: Float[Array, "b"],
        all_kept: Float[Array, "b"],
        proposal: Proposal,
        total: Float[Array, "b s"],
    ) -> tuple[State, dict[str, Array]]:
        """Update from the rewards of the samples, then of the greedy subset if any."""
        config, average = self.config, state.average
        rewards = total[:, : config.samples]
        advantage = advantages(
            rewards,
            learns,
            baseline=config.baseline,
            greedy=total[:, -1],
            average=average,
            normalise=config.normalise_advantage,
        )
        of_question = rewards.mean(axis=1)
        mean = jnp.where(learns.any(), weighted_mean(of_question, learns), average)
        moved = 0.95 * average + 0.05 * mean
        average = jnp.where(state.step == 0, mean, moved)
        state, shown = self._update_reinforce(
            state, batch, learns, proposal, advantage, average
        )
        reward_all_kept = weighted_mean(of_question, all_kept)
        return state, {"reward": mean, **shown, "reward_all_kept": reward_all_kept}

    def _loss(
        self,
        logits: Float[Array, "b n"],
        batch: Batch,
        weight: Float[Array, "b"],
        value: Float[Array, "b"],
        shown: dict[str, Array],
    ) -> Objective:
        """The loss: minus the mean objective and entropy of questions with weight."""
        entropy = jax.vmap(categorical_entropy)(logits, batch.mask)
        value = value + (self.config.entropy_weight or 0.0) * entropy
        loss = -weighted_mean(value, weight)
        return loss, {**shown, "loss": loss, "entropy": weighted_mean(entropy, weight)}

    def _apply(
        self, state: State, gradient: Any, shown: dict[str, Array]
    ) -> tuple[State, dict[str, Array]]:
        """One descent step."""
        params: Any
        updates, opt_state = self.transform.update(
            gradient, state.opt_state, state.params
        )
        params = optax.apply_updates(state.params, updates)
        shown |= {
            "grad_norm": optax.tree.norm(gradient),
            "temperature": jnp.exp(nnx.to_pure_dict(params)["log_temperature"]),
        }
        after = State(params, opt_state, state.step + 1, state.average)
        if self.mesh is not None:
            copied = NamedSharding(self.mesh, PartitionSpec())
            after, shown = jax.lax.with_sharding_constraint((after, shown), copied)
        return after, shown

    def _of_each(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function`` of batches, done by each device for its questions.

        The compiler would split the rest as well, but gathers whole batches for top-k,
        and has all devices agree on each turn of a loop.
        """
        if self.mesh is None:
            return function
        spec = PartitionSpec(*self.mesh.axis_names)
        return jax.shard_map(
            function, mesh=self.mesh, in_specs=spec, out_specs=spec, check_vma=False
        )

    def _split_wide(self, mask: Bool[Array, "b n"], saved: Array) -> Array:
        """What the pullback saved per candidate, split: a constant may be anywhere."""
        assert self.mesh is not None
        if saved.shape[:2] != mask.shape:
            return saved
        split = NamedSharding(self.mesh, PartitionSpec(*self.mesh.axis_names))
        return jax.lax.with_sharding_constraint(saved, split)


def best(
    logits: Float[Array, "b n"], mask: Bool[Array, "b n"], k: int
) -> Int[Array, "b k"]:
    """Positions of the k best candidates of each question, -1 beyond n_real."""
    top = jax.vmap(greedy_top_k, in_axes=(0, 0, None))
    indices, selected = top(logits, mask, k)
    return jnp.where(selected, indices, -1)


def weighted_mean(
    values: Float[Array, "b"], weight: Float[Array, "b"]
) -> Float[Array, ""]:
    """Mean over questions with weight; 0 if none has any."""
    # Double where: a question without candidates may hold a NaN, and no gradient.
    values = jnp.where(weight > 0, values, 0.0)
    return (values * weight).sum() / jnp.maximum(weight.sum(), 1.0)
