"""The policy network as a trainable module: parameters, their start, and the logits.

The maths, with the thesis's section and where it is deviated from, is in ``forward``.
One deviation is here: first layers start with paired weights, see ``pair_question``.
"""

from __future__ import annotations

import itertools

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float

from kgscout_jax.policy.dual_tower import (
    COMPUTE_DTYPES,
    PPR_FLOOR,
    AttentionWeights,
    DenseWeights,
    MlpWeights,
    PolicyConfig,
    PolicyInputs,
    PolicyWeights,
    policy_logits,
    ppr_statistics,
)

__all__ = [
    "COMPUTE_DTYPES",
    "PPR_FLOOR",
    "PolicyConfig",
    "PolicyInputs",
    "ScoutPolicy",
    "ppr_statistics",
]


class Dense(nnx.Module):
    """One affine layer's parameters: ``kernel`` [inputs, outputs] and ``bias``."""

    def __init__(
        self, inputs: int, outputs: int, *, rngs: nnx.Rngs, gain: float = 1.0
    ) -> None:
        init = nnx.initializers.variance_scaling(gain, "fan_in", "truncated_normal")
        self.kernel = nnx.Param(init(rngs.params(), (inputs, outputs), jnp.float32))
        self.bias = nnx.Param(jnp.zeros(outputs, jnp.float32))

    @property
    def weights(self) -> DenseWeights:
        return DenseWeights(self.kernel[...], self.bias[...])


class Mlp(nnx.Module):
    """Parameters of hidden layers with GELU and a last layer with one output."""

    def __init__(self, inputs: int, hidden: tuple[int, ...], *, rngs: nnx.Rngs) -> None:
        widths = (inputs, *hidden)
        # Gain 2 keeps the variance through the halving non-linearity.
        self.hidden = nnx.List(
            Dense(width, after, rngs=rngs, gain=2.0)
            for width, after in itertools.pairwise(widths)
        )
        self.output = Dense(widths[-1], 1, rngs=rngs)

    @property
    def weights(self) -> MlpWeights:
        hidden = tuple(layer.weights for layer in self.hidden)
        return MlpWeights(hidden, self.output.weights)


class QuestionAttention(nnx.Module):
    """Parameters of the attention of one question over its candidates."""

    def __init__(self, d: int, *, rngs: nnx.Rngs) -> None:
        self.query = Dense(d, d, rngs=rngs)
        init = nnx.initializers.lecun_normal()
        self.key_kernel = nnx.Param(init(rngs.params(), (d, d), jnp.float32))
        self.value = Dense(d, d, rngs=rngs)
        self.output = Dense(d, d, rngs=rngs)

    @property
    def weights(self) -> AttentionWeights:
        return AttentionWeights(
            self.query.weights,
            self.key_kernel[...],
            self.value.weights,
            self.output.weights,
        )


def pair_question(layer: Dense, embedding: int, question: int, d: int) -> None:
    """Start the layer so that it sees how question and embedding agree.

    The question's weights become plus (even units) or minus (odd units) those of the
    embedding: units respond to w.(x + q) and w.(x - q), and the difference of their
    curved responses grows with x.q. With independent weights that product, on which
    any ranking by meaning rests, would have to be found from noise.
    """
    kernel = layer.kernel[...]
    sign = 1.0 - 2.0 * (jnp.arange(kernel.shape[1]) % 2)
    paired = kernel[embedding : embedding + d] * sign
    layer.kernel[...] = kernel.at[question : question + d].set(paired)


class ScoutPolicy(nnx.Module):
    """Scores of all candidates of b questions at once (thesis 3.3.4, figure 3.2).

    Parameters are those of ``forward.PolicyWeights``, by the same names.
    """

    def __init__(self, config: PolicyConfig, *, rngs: nnx.Rngs) -> None:
        d = config.dimension
        self.config = config
        self.triplet_attention = QuestionAttention(d, rngs=rngs)
        self.relation_attention = QuestionAttention(d, rngs=rngs)
        self.tower_a = Mlp(3 * d + 2, config.tower_hidden, rngs=rngs)
        self.tower_b = Mlp(3 * d + 2, config.tower_hidden, rngs=rngs)
        self.gate = Mlp(3 * d, (config.gate_hidden,), rngs=rngs)
        self.combiner = Mlp(3, (config.combiner_hidden,), rngs=rngs)
        self.log_temperature = nnx.Param(jnp.zeros((), jnp.float32))
        for mlp, row in ((self.tower_a, 0), (self.tower_b, 0), (self.gate, d)):
            pair_question(mlp.hidden[0], row, 2 * d, d)

    @property
    def weights(self) -> PolicyWeights:
        """Every parameter, as plain arrays."""
        return PolicyWeights(
            triplet_attention=self.triplet_attention.weights,
            relation_attention=self.relation_attention.weights,
            tower_a=self.tower_a.weights,
            tower_b=self.tower_b.weights,
            gate=self.gate.weights,
            combiner=self.combiner.weights,
            log_temperature=self.log_temperature[...],
        )

    def __call__(self, inputs: PolicyInputs) -> Float[Array, "b n"]:
        """Final logits, float32, -inf where the mask is False.

        Embeddings are frozen: no gradient flows to ``inputs``.

        Shapes:
            inputs: b questions, n candidates, u unique relations, d = dimension.
            returns: [b, n].
        """
        return policy_logits(self.weights, self.config, inputs)
