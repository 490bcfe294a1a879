"""Parameters of the walk policy, see ``walk``."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from kgscout_jax.policy.answer_head import AnswerWeights, init_answers
from kgscout_jax.policy.parameters import (
    DenseWeights,
    Initializer,
    weights_dataclass,
)
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.policy.word_cover import CoverWeights, cover_width, init_cover

RETURN_GATE = 4.0
"""Before training every other walker passes topics freely, and the others do not."""


@weights_dataclass
class WalkerWeights:
    """What turns question and relation into weights of walkers: g = condition."""

    question: Float[Array, "d g"] | None
    """None, as ``relation``, for a policy without "absolute"."""
    relation: Float[Array, "d g"] | None
    product: Float[Array, "d g"]
    bias: Float[Array, "g"]
    output: DenseWeights
    """[g, steps * 2 * walkers]; along edges first, then against them."""
    hidden: DenseWeights | None = None
    """[d, question_hidden]"""
    hidden_output: Float[Array, "h g"] | None = None
    returns: Float[Array, "c"] | None = None
    """Logits of the walkers' gates at the topics, see ``WalkConfig.return_gates``."""


@weights_dataclass
class WalkWeights:
    """Every parameter."""

    walkers: WalkerWeights
    question: Float[Array, "d w"] | None
    """None, as ``triplet`` and ``relation``, for a policy without "absolute"."""
    triplet: Float[Array, "d w"] | None
    triplet_product: Float[Array, "d w"]
    relation: Float[Array, "d w"] | None
    relation_product: Float[Array, "d w"]
    features: DenseWeights
    """[features, w], and the first layer's bias."""
    second: DenseWeights
    output: DenseWeights
    cosines: Float[Array, "2"]
    """What the cosines of triplet and of relation add to the score."""
    log_temperature: Float[Array, ""]
    """Logits are scores / exp(log_temperature)."""
    answers: AnswerWeights | None = None
    cover: CoverWeights | None = None


def init_walk(key: Key[Array, ""] | None, config: WalkConfig) -> WalkWeights:
    """Initial parameters."""
    d, w, g = config.dimension, config.width, config.condition
    draws = Initializer(key)
    absolute = "absolute" not in config.without

    def alone(width: int) -> Float[Array, "d w"] | None:
        return draws.kernel(d, width) if absolute else None

    weights = WalkWeights(
        walkers=WalkerWeights(
            question=alone(g),
            relation=alone(g),
            product=draws.kernel(d, g),
            bias=jnp.zeros(g, jnp.float32),
            output=draws.dense(g, config.steps * 2 * config.walkers, gain=0.5),
        ),
        question=alone(w),
        triplet=alone(w),
        triplet_product=draws.kernel(d, w),
        relation=alone(w),
        relation_product=draws.kernel(d, w),
        features=draws.dense(config.features, w),
        second=draws.dense(w, config.hidden, gain=2.0),
        output=draws.dense(config.hidden, 1),
        cosines=jnp.zeros(2, jnp.float32),
        log_temperature=jnp.zeros((), jnp.float32),
    )
    if config.question_hidden and absolute:
        hidden = draws.dense(d, config.question_hidden, gain=2.0)
        output = draws.kernel(config.question_hidden, g)
        walkers = replace(weights.walkers, hidden=hidden, hidden_output=output)
        weights = replace(weights, walkers=walkers)
    if config.return_gates:
        signs = jnp.where(
            jnp.arange(config.walkers) % 2 == 0, RETURN_GATE, -RETURN_GATE
        )
        walkers = replace(weights.walkers, returns=signs.astype(jnp.float32))
        weights = replace(weights, walkers=walkers)
    if config.answers:
        flows = config.steps * config.walkers
        if config.word_rank:
            flows += cover_width(config.steps)
        sizes = d, config.hidden, flows, config.answers
        answers = init_answers(draws, *sizes, absolute=absolute)
        weights = replace(weights, answers=answers)
    if config.word_rank:
        cover = init_cover(draws, d, config.word_rank, config.steps, config.walkers)
        weights = replace(weights, cover=cover)
    return weights
