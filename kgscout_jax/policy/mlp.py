"""The baseline of the literature: an MLP over texts and directional distances.

SubgraphRAG's design (Li et al. 2025): every triplet by itself, from the embeddings of
question, triplet and relation, and the directional distance encoding of the topics. The
embedding of the linearised triplet stands for those of head and tail, which shards
don't hold. Trained with binary cross-entropy on the shortest paths (``--estimator
bce``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from kgscout_jax.policy.config import COMPUTE_DTYPES, FirstKernels, NetworkConfig
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.layers import add_bias, matmul, product
from kgscout_jax.policy.parameters import (
    DenseWeights,
    Initializer,
    weights_dataclass,
)
from kgscout_jax.policy.topology import DISTANCE_WIDTH, topic_distances


@dataclass(frozen=True, kw_only=True)
class MlpConfig(NetworkConfig):
    """Sizes of the network."""

    architecture: ClassVar[str] = "mlp"
    sizes: ClassVar[tuple[str, ...]] = ("width",)

    width: int = 384
    """Of the hidden layer."""


@weights_dataclass
class TripletMlpWeights:
    """Every parameter; the rows of the first layer come in four blocks."""

    question: Float[Array, "d w"]
    triplet: Float[Array, "d w"]
    relation: Float[Array, "d w"]
    distances: DenseWeights
    """[f, w], and the first layer's bias."""
    output: DenseWeights
    log_temperature: Float[Array, ""]
    """Logits are scores / exp(log_temperature)."""


def init(key: Key[Array, ""] | None, config: MlpConfig) -> TripletMlpWeights:
    """Initial parameters."""
    d, w, draws = config.dimension, config.width, Initializer(key)
    return TripletMlpWeights(
        question=draws.kernel(d, w),
        triplet=draws.kernel(d, w),
        relation=draws.kernel(d, w),
        distances=draws.dense(DISTANCE_WIDTH, w),
        output=draws.dense(w, 1),
        log_temperature=jnp.zeros((), jnp.float32),
    )


def first_kernels(weights: TripletMlpWeights, config: MlpConfig) -> FirstKernels:
    """What triplets and relations meet."""
    scale = math.sqrt(config.dimension)
    return FirstKernels(scale * weights.triplet, scale * weights.relation)


def scores(
    weights: TripletMlpWeights, config: MlpConfig, inputs: PolicyInputs
) -> Float[Array, "b n"]:
    """Scores of all candidates, float32; see ``registry.policy_outputs``.

    Shapes as in ``walk.outputs``; PageRank is not read.
    """
    assert inputs.nodes is not None and inputs.topics is not None
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    scale = math.sqrt(config.dimension)
    question = inputs.question.astype(jnp.float32) * scale
    if inputs.products is None:
        kernels = first_kernels(weights, config)
        terms = matmul(inputs.triplets, kernels.triplets, dtype)
        by_relation = matmul(inputs.relations, kernels.relations, dtype)
    else:
        terms, by_relation = inputs.products
    by_relation = inputs.by_candidate(by_relation)
    distances = topic_distances(inputs.nodes, inputs.topics, inputs.mask)
    row = add_bias(question @ weights.question, weights.distances.bias)
    terms = terms + by_relation + matmul(distances, weights.distances.kernel, dtype)
    hidden = jax.nn.relu(terms + row[:, None])
    return product(hidden, weights.output.kernel[:, 0]) + weights.output.bias[0]
