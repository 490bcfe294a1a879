"""The trainable flax module of any policy network."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax
from flax import nnx
from jaxtyping import Array, Float

from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.registry import (
    PolicyOutputs,
    PolicyWeights,
    init_weights,
    policy_logits,
    policy_outputs,
)


class Policy(nnx.Module):
    """A network and its parameters, an ``nnx.Param`` at each path of the weights."""

    def __init__(self, config: NetworkConfig, weights: PolicyWeights) -> None:
        self.config = config
        self.weights_type: type[Any] = type(weights)
        for name in self._names:
            params = jax.tree.map(nnx.Param, getattr(weights, name))
            is_plain = params is None or isinstance(params, nnx.Param)
            setattr(self, name, params if is_plain else nnx.data(params))

    @classmethod
    def initial(cls, config: NetworkConfig, seed: int) -> Self:
        """The network as training with ``seed`` starts it."""
        return cls(config, init_weights(jax.random.key(seed), config))

    @property
    def _names(self) -> list[str]:
        return [field.name for field in dataclasses.fields(self.weights_type)]

    @property
    def weights(self) -> PolicyWeights:
        """Every parameter, as plain arrays."""
        params = {name: getattr(self, name) for name in self._names}
        arrays = jax.tree.map(
            lambda param: param[...],
            params,
            is_leaf=lambda node: isinstance(node, nnx.Param),
        )
        return self.weights_type(**arrays)

    def __call__(self, inputs: PolicyInputs) -> Float[Array, "b n"]:
        """Final logits; see ``registry.policy_logits``."""
        return policy_logits(self.weights, self.config, inputs)

    def outputs(self, inputs: PolicyInputs) -> PolicyOutputs:
        """Logits of candidates and of nodes; see ``registry.policy_outputs``."""
        return policy_outputs(self.weights, self.config, inputs)
