"""The trainable module of each kind of policy network: parameters and their start."""

from __future__ import annotations

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float

from kgscout_jax.policy.dual_tower import PolicyConfig, PolicyInputs
from kgscout_jax.policy.dual_tower_module import Dense, ScoutPolicy
from kgscout_jax.policy.mlp import MlpConfig, TripletMlpWeights, mlp_logits
from kgscout_jax.policy.registry import AnyConfig
from kgscout_jax.policy.topology import DISTANCE_WIDTH
from kgscout_jax.policy.walk import (
    WalkConfig,
    WalkerWeights,
    WalkWeights,
    walk_logits,
)

Draw = nnx.initializers.variance_scaling(1.0, "fan_in", "truncated_normal")


def kernel(inputs: int, outputs: int, rngs: nnx.Rngs) -> nnx.Param:
    """A matrix that keeps the variance of unit inputs."""
    return nnx.Param(Draw(rngs.params(), (inputs, outputs), jnp.float32))


def zeros(*shape: int) -> nnx.Param:
    """An array of zeros."""
    return nnx.Param(jnp.zeros(shape, jnp.float32))


class Walkers(nnx.Module):
    """Parameters of ``walk.WalkerWeights``, by the same names."""

    def __init__(self, config: WalkConfig, *, rngs: nnx.Rngs) -> None:
        d, g = config.dimension, config.condition
        self.question = kernel(d, g, rngs)
        self.relation = kernel(d, g, rngs)
        self.product = kernel(d, g, rngs)
        self.bias = zeros(g)
        outputs = config.steps * 2 * config.walkers
        self.output = Dense(g, outputs, rngs=rngs, gain=0.5)

    @property
    def weights(self) -> WalkerWeights:
        return WalkerWeights(
            self.question[...],
            self.relation[...],
            self.product[...],
            self.bias[...],
            self.output.weights,
        )


class WalkPolicy(nnx.Module):
    """Learned walks and products; parameters are those of ``walk.WalkWeights``."""

    def __init__(self, config: WalkConfig, *, rngs: nnx.Rngs) -> None:
        d, w = config.dimension, config.width
        self.config = config
        self.walkers = Walkers(config, rngs=rngs)
        self.question = kernel(d, w, rngs)
        self.triplet = kernel(d, w, rngs)
        self.triplet_product = kernel(d, w, rngs)
        self.relation = kernel(d, w, rngs)
        self.relation_product = kernel(d, w, rngs)
        self.features = Dense(config.features, w, rngs=rngs)
        self.second = Dense(w, config.hidden, rngs=rngs, gain=2.0)
        self.output = Dense(config.hidden, 1, rngs=rngs)
        self.cosines = zeros(2)
        self.log_temperature = zeros()

    @property
    def weights(self) -> WalkWeights:
        """Every parameter, as plain arrays."""
        return WalkWeights(
            walkers=self.walkers.weights,
            question=self.question[...],
            triplet=self.triplet[...],
            triplet_product=self.triplet_product[...],
            relation=self.relation[...],
            relation_product=self.relation_product[...],
            features=self.features.weights,
            second=self.second.weights,
            output=self.output.weights,
            cosines=self.cosines[...],
            log_temperature=self.log_temperature[...],
        )

    def __call__(self, inputs: PolicyInputs) -> Float[Array, "b n"]:
        """Final logits; see ``walk.walk_logits``."""
        return walk_logits(self.weights, self.config, inputs)


class TripletMlp(nnx.Module):
    """The baseline; parameters are those of ``mlp.TripletMlpWeights``."""

    def __init__(self, config: MlpConfig, *, rngs: nnx.Rngs) -> None:
        d, w = config.dimension, config.width
        self.config = config
        self.question = kernel(d, w, rngs)
        self.triplet = kernel(d, w, rngs)
        self.relation = kernel(d, w, rngs)
        self.distances = Dense(DISTANCE_WIDTH, w, rngs=rngs)
        self.output = Dense(w, 1, rngs=rngs)
        self.log_temperature = zeros()

    @property
    def weights(self) -> TripletMlpWeights:
        """Every parameter, as plain arrays."""
        return TripletMlpWeights(
            question=self.question[...],
            triplet=self.triplet[...],
            relation=self.relation[...],
            distances=self.distances.weights,
            output=self.output.weights,
            log_temperature=self.log_temperature[...],
        )

    def __call__(self, inputs: PolicyInputs) -> Float[Array, "b n"]:
        """Final logits; see ``mlp.mlp_logits``."""
        return mlp_logits(self.weights, self.config, inputs)


Policy = ScoutPolicy | WalkPolicy | TripletMlp


def module_of(config: AnyConfig, *, rngs: nnx.Rngs) -> Policy:
    """A fresh module of the configuration's kind."""
    if isinstance(config, PolicyConfig):
        return ScoutPolicy(config, rngs=rngs)
    if isinstance(config, WalkConfig):
        return WalkPolicy(config, rngs=rngs)
    return TripletMlp(config, rngs=rngs)
