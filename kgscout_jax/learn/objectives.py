"""The losses of a batch: estimators, entropy and answers, weighted by the settings."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kgscout_jax.data.batches import Batch
from kgscout_jax.learn.answer_loss import answer_loss
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimators import closed_form, cross_entropy
from kgscout_jax.policy.registry import PolicyOutputs
from kgscout_jax.policy.sampling import categorical_entropy

Metrics = dict[str, Any]
"""Scalars of a step, on the device or the host."""
Objective = tuple[Array, Metrics]
"""A loss, and metrics."""


class Totals(NamedTuple):
    """Sums of weights over a whole batch, of which only some questions are at hand."""

    learning: Float[Array, ""]
    """Of the questions that learn by the estimator."""
    answering: Float[Array, ""]
    """Of those that have candidates."""

    @staticmethod
    def of(batch: Batch, weight: Float[Array, "b"]) -> Totals:
        """Those of ``batch``, whose questions learn with ``weight``."""
        return Totals(weight.sum(), has_candidates(batch).sum())


def closed_form_objective(
    outputs: PolicyOutputs,
    batch: Batch,
    totals: Totals | None = None,
    *,
    config: TrainConfig,
    k: Float[Array, ""],
) -> Objective:
    """The loss of the expectations at a budget, see ``closed_form``.

    Args:
        outputs: of the policy.
        batch: b questions.
        totals: of the batch that these are a part of; None: they are all.
        config: weights of the expectations.
        k: the budget.
    """
    logits = outputs.logits
    weight = learns_at(k, batch)
    n_nodes = batch.topics.shape[1]
    of_question = partial(closed_form, directed=config.reward_direction == "directed")
    expected = jax.vmap(of_question, in_axes=(0, 0, 0, 0, 0, None, None, 0))(
        logits, batch.mask, batch.nodes, batch.answers, batch.on_path, k,
        n_nodes, batch.topics if config.connectivity_weight else None,
    )  # fmt: skip
    value = config.presence_weight * expected.presence
    value = value + config.hit_weight * expected.hit
    value = value + config.path_weight * expected.path
    if expected.connectivity is not None:
        value = value + config.connectivity_weight * expected.connectivity
    if config.bce_weight:
        value = value - config.bce_weight * path_cross_entropy(config, logits, batch)
    metrics = {
        name: weighted_mean(values, weight, totals and totals.learning)
        for name, values in expected._asdict().items()
        if values is not None
    }
    return whole_loss(config, outputs, batch, weight, value, metrics, totals)


def cross_entropy_objective(
    outputs: PolicyOutputs,
    batch: Batch,
    totals: Totals | None = None,
    *,
    config: TrainConfig,
) -> Objective:
    """The loss of each candidate's being on a shortest path; arguments as above."""
    weight = batch.has_path.astype(jnp.float32)
    value = path_cross_entropy(config, outputs.logits, batch)
    return whole_loss(config, outputs, batch, weight, -value, {}, totals)


def path_cross_entropy(
    config: TrainConfig, logits: Float[Array, "b n"], batch: Batch
) -> Float[Array, "b"]:
    """Cross-entropy of the candidates with being on a shortest path."""
    of_question = partial(cross_entropy, positive_weight=config.positive_weight)
    return jax.vmap(of_question)(logits, batch.mask, batch.on_path)


def whole_loss(
    config: TrainConfig,
    outputs: PolicyOutputs,
    batch: Batch,
    weight: Float[Array, "b"],
    value: Float[Array, "b"],
    metrics: Metrics,
    totals: Totals | None = None,
) -> Objective:
    """Minus the mean objective and entropy of questions with weight.

    The loss of the answers is added, over all questions that have candidates.

    Args:
        config: weights of entropy and answers.
        outputs: of the policy.
        batch: b questions.
        weight: of each question.
        value: the estimator's objective of each question.
        metrics: to which those of the loss are added.
        totals: of the batch that these are a part of; None: they are all.
    """
    learning, answering = totals or (None, None)
    entropy = jax.vmap(categorical_entropy)(outputs.logits, batch.mask)
    value = value + (config.entropy_weight or 0.0) * entropy
    loss = -weighted_mean(value, weight, learning)
    entropy = weighted_mean(entropy, weight, learning)
    metrics = {**metrics, "entropy": entropy}
    if outputs.answers is not None and config.answer_weight:
        of_answers = weighted_mean(
            jax.vmap(answer_loss)(outputs.answers, batch.answers),
            has_candidates(batch),
            answering,
        )
        loss = loss + config.answer_weight * of_answers
        metrics["answer_loss"] = of_answers
    return loss, {**metrics, "loss": loss}


def learns_at(k: Float[Array, ""] | float, batch: Batch) -> Float[Array, "b"]:
    """1 for questions with more than ``k`` candidates, else 0: all are selected."""
    return (batch.mask.sum(axis=1) > k).astype(jnp.float32)


def has_candidates(batch: Batch) -> Float[Array, "b"]:
    """1 for questions with candidates, else 0."""
    return batch.mask.any(axis=1).astype(jnp.float32)


def weighted_mean(
    values: Float[Array, "b"],
    weight: Float[Array, "b"],
    total: Float[Array, ""] | None = None,
) -> Float[Array, ""]:
    """Mean over questions with weight; 0 if none has any.

    With ``total``, the weight of a whole batch, the part of its mean that these make.
    """
    total = weight.sum() if total is None else total
    # Double where: a question without candidates may have a NaN, and has no gradient.
    values = jnp.where(weight > 0, values, 0.0)
    return (values * weight).sum() / jnp.maximum(total, 1.0)
