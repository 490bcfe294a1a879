"""Parameters of the networks: trees of arrays, and the draw of initial values."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def weights_dataclass(cls: type[T]) -> type[T]:
    """A frozen dataclass that is a pytree with its fields in alphabetical order.

    The order is that of checkpoints' leaves, whatever the order of the declaration.
    """
    cls = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    names = sorted(field.name for field in dataclasses.fields(cls))  # type: ignore[arg-type]
    return jax.tree_util.register_dataclass(cls, data_fields=names, meta_fields=[])


@weights_dataclass
class DenseWeights:
    """One affine layer: rows are inputs, columns outputs."""

    kernel: Float[Array, "i o"]
    bias: Float[Array, "o"]


class Initializer:
    """Draws the initial parameters of a network, each with a key of its own.

    Draw i uses ``fold_in(key, i)``: the order of the draws decides the values. Without
    a key all are 0: for shapes alone, which takes less time to trace.
    """

    def __init__(self, key: Key[Array, ""] | None) -> None:
        self.keys = None
        if key is not None:
            self.keys = (jax.random.fold_in(key, i) for i in itertools.count())

    def kernel(
        self, inputs: int, outputs: int, gain: float = 1.0
    ) -> Float[Array, "inputs outputs"]:
        """A matrix whose product with unit-variance inputs has variance ``gain``.

        Gain 2 keeps the variance through a halving non-linearity.
        """
        if self.keys is None:
            return jnp.zeros((inputs, outputs), jnp.float32)
        draw = jax.nn.initializers.variance_scaling(gain, "fan_in", "truncated_normal")
        return draw(next(self.keys), (inputs, outputs), jnp.float32)

    def dense(self, inputs: int, outputs: int, gain: float = 1.0) -> DenseWeights:
        """An affine layer whose bias is 0."""
        return DenseWeights(
            kernel=self.kernel(inputs, outputs, gain),
            bias=jnp.zeros(outputs, jnp.float32),
        )
