"""The policy network in the ways that ours avoids, each a ``Policy``.

Same parameters and logits, more work: what folding saves is measured between them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from unittest import mock

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from kgscout_jax.policy.dual_tower import AttentionWeights, MlpWeights
from kgscout_jax.policy.inputs import PPR_FLOOR, PolicyInputs
from kgscout_jax.policy.layers import add_bias
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.parameters import DenseWeights


class PlainPolicy(Policy):
    """Section 3.3.4 as written: n query rows, [x_A; x_B] of 3d + 2 columns each."""

    def __call__(
        self,
        inputs: PolicyInputs,
        key: Key[Array, ""] | None = None,
        dropout: float = 0.0,
    ) -> Float[Array, "b n"]:
        """Final logits, -inf where the mask is False."""
        inputs = per_candidate(jax.lax.stop_gradient(inputs))
        weights, config = self.weights, self.config
        triplets = inputs.triplets.astype(jnp.float32) * config.scale
        relations = inputs.relations.astype(jnp.float32) * config.scale
        question = inputs.question.astype(jnp.float32) * config.scale
        queries = jnp.broadcast_to(question[:, None], triplets.shape)
        ppr = jnp.log(inputs.ppr.astype(jnp.float32) + PPR_FLOOR)
        mean, std = jnp.array(config.ppr_mean), jnp.array(config.ppr_std)
        ppr = (ppr - mean[None, None]) / std[None, None]

        def attended(block: AttentionWeights, memory: Array) -> Array:
            return attention(block, config.heads, queries, memory, inputs.mask)

        q_trip = attended(weights.triplet_attention, triplets)
        q_rel = attended(weights.relation_attention, relations)
        x_a = jnp.concatenate([triplets, q_trip, queries, ppr], axis=-1)
        x_b = jnp.concatenate([relations, q_rel, queries, ppr], axis=-1)
        x_g = jnp.concatenate([triplets, relations, queries], axis=-1)
        gate = jax.nn.sigmoid(mlp(weights.gate, x_g))
        scores = [mlp(weights.tower_a, x_a), mlp(weights.tower_b, x_b), gate]
        combined = mlp(weights.combiner, jnp.concatenate(scores, axis=-1))[..., 0]
        logits = combined * jnp.exp(-weights.log_temperature)
        return jnp.where(inputs.mask, logits, -jnp.inf)


class PerCandidatePolicy(Policy):
    """The folded network with a relation embedding per candidate, not per relation."""

    def __call__(
        self,
        inputs: PolicyInputs,
        key: Key[Array, ""] | None = None,
        dropout: float = 0.0,
    ) -> Float[Array, "b n"]:
        """Final logits, -inf where the mask is False."""
        return super().__call__(per_candidate(inputs))


def per_candidate(inputs: PolicyInputs) -> PolicyInputs:
    """The same inputs in which every candidate brings its own relation embedding."""
    if inputs.relation_index is None:
        return inputs
    rows = jax.vmap(lambda table, index: table[index])
    relations = rows(inputs.relations, inputs.relation_index)
    return inputs._replace(relations=relations, relation_index=None)


def dense(weights: DenseWeights, x: Array) -> Array:
    """One affine layer."""
    return add_bias(x @ weights.kernel, weights.bias)


def mlp(weights: MlpWeights, x: Float[Array, "b n i"]) -> Float[Array, "b n 1"]:
    """Hidden layers with GELU and the last layer."""
    for layer in weights.hidden:
        x = jax.nn.gelu(dense(layer, x))
    return dense(weights.output, x)


def attention(
    weights: AttentionWeights,
    heads: int,
    queries: Float[Array, "b n d"],
    memory: Float[Array, "b n d"],
    mask: Bool[Array, "b n"],
) -> Float[Array, "b n d"]:
    """Multi-head attention of n query rows over n candidates."""
    b, n, d = queries.shape

    def split(x: Array) -> Float[Array, "b n h e"]:
        return x.reshape(b, n, heads, d // heads)

    query = split(dense(weights.query, queries))
    key, value = split(memory @ weights.key_kernel), split(dense(weights.value, memory))
    scores = jnp.einsum("bnhe,bmhe->bhnm", query, key) / math.sqrt(d // heads)
    scores = jnp.where(mask[:, None, None], scores, -1e30)
    pooled = jnp.einsum("bhnm,bmhe->bnhe", jax.nn.softmax(scores, axis=-1), value)
    return dense(weights.output, pooled.reshape(b, n, d))


@contextlib.contextmanager
def trained_inputs() -> Iterator[None]:
    """While this is open, what is traced sends gradients on to its inputs."""
    with mock.patch.object(jax.lax, "stop_gradient", lambda x: x):
        yield
