"""The jitted steps: propose subsets, update by each estimator, rank greedily."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float, Int, Int32

from kgscout_jax.data.batches import Batch
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn.accumulation import accumulated, turns_of
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimators import advantages_and_average, reinforce
from kgscout_jax.learn.mesh_functions import by_device, sharded_by_question
from kgscout_jax.learn.objectives import (
    Metrics,
    Objective,
    Totals,
    closed_form_objective,
    cross_entropy_objective,
    learns_at,
    weighted_mean,
    whole_loss,
)
from kgscout_jax.learn.resident_sets import ResidentSets
from kgscout_jax.learn.reward_device import DeviceReward, RewardInputs
from kgscout_jax.learn.train_state import State
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.precision import full_precision
from kgscout_jax.policy.registry import PolicyOutputs, has_answers
from kgscout_jax.policy.sampling import greedy_top_k, gumbel_top_k


class Proposal(NamedTuple):
    """Subsets of b questions, g sampled ones and the greedy one, and their logits."""

    indices: Int[Array, "b g k"]
    selected_mask: Bool[Array, "b g k"]
    greedy: Int[Array, "b k"]
    """The k best candidates, -1 beyond n_real."""
    outputs: PolicyOutputs
    positions: Int[Array, "b s k"]
    """What the host scores, -1 where nothing is selected: the samples, then a greedy
    baseline; 16 bits each where they suffice."""
    pullback: Callable[[PolicyOutputs], tuple[Any]]
    """Maps a gradient of the outputs to one of the parameters, so that the forward pass
    is not repeated after the host has scored the subsets."""


class Steps:
    """Jitted functions over (params or state, tables, batch); shapes are static.

    ``numbers`` of a step are those of ``step_numbers``.
    """

    def __init__(
        self,
        policy: Policy,
        config: TrainConfig,
        transform: optax.GradientTransformation,
        reward: DeviceReward | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        """The functions compile on their first call.

        Args:
            policy: gives the structure; each call passes parameters.
            config: the run's settings.
            transform: the optimiser.
            reward: needed by ``reinforce_on_device`` only.
            mesh: devices; the batch is split over its only axis.
        """
        self.mesh = mesh
        self.config = config
        self.reward = reward
        self.transform = transform
        self.has_answers = has_answers(policy.config)
        self.graphdef, _ = nnx.split(policy, nnx.Param)
        # The gradients' matmuls are traced here, not where the network is.
        self.propose: Callable[..., Proposal] = jax.jit(full_precision(self._propose))
        self.rank = jax.jit(self._rank, static_argnames="k")

        def donated(step: Callable[..., Any]) -> Any:
            return jax.jit(full_precision(step), donate_argnums=0)

        self.update_closed_form = donated(self._update_closed_form)
        self.update_bce = donated(self._update_bce)
        self.update_scored = donated(self._update_scored)
        self.reinforce_on_device = donated(self._reinforce_on_device)
        self.dispatch = donated(self._dispatch)

    def _outputs(self, params: Any, tables: Tables, batch: Batch) -> PolicyOutputs:
        def outputs(params: Any, inputs: PolicyInputs) -> PolicyOutputs:
            out = nnx.merge(self.graphdef, params).outputs(inputs)
            return out._replace(follow=None)

        if self.config.remat:
            outputs = jax.checkpoint(outputs)
        return outputs(params, batch.inputs(tables))

    def _rank(
        self, params: Any, tables: Tables, batch: Batch, k: int
    ) -> tuple[Int[Array, "b k"], Bool[Array, "b"]]:
        """Positions of the k best candidates, best first, -1 beyond n_real; and whether
        the best node is an answer."""
        logits, answers, _ = self._outputs(params, tables, batch)
        top_k = partial(best_positions, k=min(k, logits.shape[1]))
        best = by_device(top_k, self.mesh)(logits, batch.mask)
        if answers is None:
            return best, jnp.zeros(len(best), bool)
        first = jnp.argmax(answers, axis=1)
        return best, (batch.answers == first[:, None]).any(axis=1)

    def _propose(
        self, params: Any, tables: Tables, batch: Batch, numbers: Int32[Array, "i"]
    ) -> Proposal:
        key = jax.random.fold_in(jax.random.key(self.config.seed), numbers[0])
        outputs, pullback = jax.vjp(lambda p: self._outputs(p, tables, batch), params)
        logits = outputs.logits
        b, n = logits.shape
        k, g = min(self.config.k, n), self.config.samples
        keys = jax.random.split(key, (b, g))

        def draw(
            keys: Array, logits: Float[Array, "b n"], mask: Bool[Array, "b n"]
        ) -> tuple[Array, Array, Array]:
            sample = jax.vmap(gumbel_top_k, in_axes=(0, None, None, None))
            sample = jax.vmap(sample, in_axes=(0, 0, 0, None))
            return *sample(keys, logits, mask, k), best_positions(logits, mask, k)

        indices, selected, greedy = by_device(draw, self.mesh)(keys, logits, batch.mask)
        if self.mesh is not None:
            shard = partial(sharded_by_question, mesh=self.mesh, mask=batch.mask)
            pullback = jax.tree.map(shard, pullback)
        positions = jnp.where(selected, indices, -1)
        if self.config.baseline == "greedy":
            positions = jnp.concatenate([positions, greedy[:, None]], axis=1)
        positions = positions.astype(jnp.int16 if n < 2**15 else jnp.int32)
        return Proposal(indices, selected, greedy, outputs, positions, pullback)

    def _update_closed_form(
        self,
        state: State,
        tables: Tables,
        batch: Batch,
        numbers: Int32[Array, "i"],
    ) -> tuple[State, Metrics]:
        """Expectations at the budget of the step, see ``closed_form``."""
        k = jax.lax.bitcast_convert_type(numbers[1], jnp.float32)
        objective = partial(closed_form_objective, config=self.config, k=k)
        weight = learns_at(k, batch)
        state, metrics = self._descend(state, tables, batch, objective, weight)
        return state, {**metrics, "k": k}

    def _update_bce(
        self,
        state: State,
        tables: Tables,
        batch: Batch,
        numbers: Int32[Array, "i"],
    ) -> tuple[State, Metrics]:
        """Cross-entropy of each candidate with being on a shortest path."""
        del numbers
        objective = partial(cross_entropy_objective, config=self.config)
        weight = batch.has_path.astype(jnp.float32)
        return self._descend(state, tables, batch, objective, weight)

    def _descend(
        self,
        state: State,
        tables: Tables,
        batch: Batch,
        objective: Callable[[PolicyOutputs, Batch, Totals | None], Objective],
        weight: Float[Array, "b"],
    ) -> tuple[State, Metrics]:
        """One descent step; ``weight``: with which the questions learn."""
        noisy = batch._replace(question=self._noisy(batch.question, state.step))

        def loss(params: Any, parts: tuple[Batch, Batch], totals: Any) -> Objective:
            noisy, batch = parts
            return objective(self._outputs(params, tables, noisy), batch, totals)

        gradient_of = partial(jax.grad(loss, has_aux=True), state.params)
        turns = turns_of(self.config, len(weight), self.mesh)
        if turns == 1:
            gradient, metrics = gradient_of((noisy, batch), None)
        else:
            of_part = partial(gradient_of, totals=Totals.of(batch, weight))
            gradient, metrics = accumulated(of_part, (noisy, batch), turns)
        return self._apply(state, gradient, metrics)

    def _noisy(
        self, question: Float[Array, "b d"], step: Int[Array, ""]
    ) -> Float[Array, "b d"]:
        """Question embeddings of unit length with noise, a function of (seed, step)."""
        if not self.config.question_noise:
            return question
        key = jax.random.fold_in(jax.random.key(self.config.seed), step)
        scale = self.config.question_noise / math.sqrt(question.shape[1])
        noise = scale * jax.random.normal(key, question.shape)
        mixed = question.astype(jnp.float32) + noise
        return mixed / jnp.linalg.norm(mixed, axis=1, keepdims=True)

    def _update_reinforce(
        self,
        state: State,
        batch: Batch,
        weight: Float[Array, "b"],
        proposal: Proposal,
        advantage: Float[Array, "b g"],
        average: Float[Array, ""],
    ) -> tuple[State, Metrics]:
        def loss(outputs: PolicyOutputs) -> Objective:
            logits, mask = outputs.logits, batch.mask
            value = jax.vmap(reinforce)(
                logits, mask, proposal.indices, proposal.selected_mask, advantage
            )
            return whole_loss(self.config, outputs, batch, weight, value, {})

        of_outputs = jax.value_and_grad(loss, has_aux=True)
        (_, metrics), gradient = of_outputs(proposal.outputs)
        (gradient,) = proposal.pullback(gradient)
        return self._apply(state._replace(average=average), gradient, metrics)

    def _reinforce_on_device(
        self,
        state: State,
        tables: Tables,
        batch: Batch,
        inputs: RewardInputs,
        numbers: Int32[Array, "i"],
    ) -> tuple[State, Metrics]:
        """Propose, score and update without leaving the device."""
        assert self.reward is not None
        proposal = self._propose(state.params, tables, batch, numbers)
        score = by_device(self.reward.total, self.mesh)
        positions = proposal.positions.astype(jnp.int32)
        subsets = jnp.maximum(positions, 0), positions >= 0
        total = score(inputs, batch.nodes, batch.answers, *subsets)
        return self._update_scored(state, batch, proposal, total)

    def _dispatch(
        self,
        state: State,
        tables: Tables,
        sets: ResidentSets,
        plan: Int32[Array, "s i"],
    ) -> tuple[State, Metrics]:
        """Several steps; returns the metrics of each, [s].

        A row of the plan is the class of a step, or -1 for none, and its numbers.
        """

        def of_class(kind: int) -> Callable[..., tuple[State, Metrics]]:
            def take(state: State, numbers: Array) -> tuple[State, Metrics]:
                batch, inputs = sets.read(numbers, kind)
                if self.config.estimator == "closed_form":
                    return self._update_closed_form(state, tables, batch, numbers)
                if self.config.estimator == "bce":
                    return self._update_bce(state, tables, batch, numbers)
                assert inputs is not None
                return self._reinforce_on_device(state, tables, batch, inputs, numbers)

            return take

        steps = [of_class(kind) for kind in range(len(sets.classes))]
        _, shapes = jax.eval_shape(steps[0], state, plan[0, 1:])
        zeros = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), shapes)
        none = [lambda state, _: (state, zeros)]

        def one(state: State, row: Array) -> tuple[State, Metrics]:
            return jax.lax.switch(row[0] + 1, [*none, *steps], state, row[1:])

        return jax.lax.scan(one, state, plan)

    def _update_scored(
        self,
        state: State,
        batch: Batch,
        proposal: Proposal,
        total: Float[Array, "b s"],
    ) -> tuple[State, Metrics]:
        """Update from the rewards of the proposed subsets."""
        learns = learns_at(self.config.k, batch)
        all_selected = batch.mask.any(axis=1) * (1.0 - learns)
        of_question = total[:, : self.config.samples].mean(axis=1)
        mean = weighted_mean(of_question, learns)
        mean = jnp.where(learns.any(), mean, state.average)
        advantage, average = advantages_and_average(
            self.config, total, learns, mean, state.average, state.step
        )
        state, metrics = self._update_reinforce(
            state, batch, learns, proposal, advantage, average
        )
        metrics = {"reward": mean, **metrics}
        kept = weighted_mean(of_question, all_selected)
        metrics["reward_all_kept"] = jnp.where(all_selected.any(), kept, jnp.nan)
        return state, metrics

    def _apply(
        self, state: State, gradient: Any, metrics: Metrics
    ) -> tuple[State, Metrics]:
        """One descent step."""
        params: Any
        updates, opt_state = self.transform.update(
            gradient, state.opt_state, state.params
        )
        params = optax.apply_updates(state.params, updates)
        metrics |= {
            "grad_norm": optax.tree.norm(gradient),
            "temperature": jnp.exp(nnx.to_pure_dict(params)["log_temperature"]),
        }
        after = State(params, opt_state, state.step + 1, state.average)
        if self.mesh is not None:
            replicated = NamedSharding(self.mesh, PartitionSpec())
            after, metrics = jax.lax.with_sharding_constraint(
                (after, metrics), replicated
            )
        return after, metrics


def best_positions(
    logits: Float[Array, "b n"], mask: Bool[Array, "b n"], k: int
) -> Int[Array, "b k"]:
    """Positions of the k best candidates of each question, -1 beyond n_real."""
    top = jax.vmap(greedy_top_k, in_axes=(0, 0, None))
    indices, selected_mask = top(logits, mask, k)
    return jnp.where(selected_mask, indices, -1)
