"""The baseline of the literature: an MLP over texts and directional distances.

SubgraphRAG's design (Li et al. 2025): every triplet by itself, from the embeddings of
question, triplet and relation, and the directional distance encoding of the topics. The
embedding of the linearised triplet stands for those of head and tail, which shards
don't hold. Trained with binary cross-entropy on the shortest paths (``--estimator
bce``). It needs jax alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kgscout_jax.policy.config import (
    COMPUTE_DTYPES,
    check_dtype,
    check_positive_int,
    from_fields,
    to_fields,
)
from kgscout_jax.policy.dual_tower import DenseWeights, PolicyInputs, check_shapes
from kgscout_jax.policy.layers import gather_rows, matmul
from kgscout_jax.policy.topology import DISTANCE_WIDTH, topic_distances


@dataclass(frozen=True, kw_only=True)
class MlpConfig:
    """Sizes of the network; JSON by ``to_dict`` and ``from_dict``."""

    kind: ClassVar[str] = "mlp"

    dimension: int = 384
    """Of the sentence embeddings: d."""
    width: int = 384
    """Of the hidden layer."""
    compute_dtype: str = "float32"
    """Operands of matmuls over candidates: float32 or bfloat16. Sums are float32."""

    def __post_init__(self) -> None:
        for name in ("dimension", "width"):
            check_positive_int(name, getattr(self, name))
        check_dtype(self.compute_dtype)

    def to_dict(self) -> dict[str, Any]:
        """Every field as JSON knows it."""
        return to_fields(self)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> MlpConfig:
        """The config that ``to_dict`` wrote; UserError names a bad field."""
        return from_fields(MlpConfig, fields)


class TripletMlpWeights(NamedTuple):
    """Every parameter; the rows of the first layer come in four blocks."""

    question: Float[Array, "d w"]
    triplet: Float[Array, "d w"]
    relation: Float[Array, "d w"]
    distances: DenseWeights
    """[f, w], and the first layer's bias."""
    output: DenseWeights
    log_temperature: Float[Array, ""]
    """Logits are scores / exp(log_temperature)."""


def mlp_shapes(config: MlpConfig) -> TripletMlpWeights:
    """The shape and dtype of every parameter, as ``jax.ShapeDtypeStruct``."""

    def array(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    d, w = config.dimension, config.width
    return TripletMlpWeights(
        question=array(d, w),
        triplet=array(d, w),
        relation=array(d, w),
        distances=DenseWeights(array(DISTANCE_WIDTH, w), array(w)),
        output=DenseWeights(array(w, 1), array(1)),
        log_temperature=array(),
    )


def mlp_logits(
    weights: TripletMlpWeights,
    config: MlpConfig,
    inputs: PolicyInputs,
) -> Float[Array, "b n"]:
    """Final logits of all candidates of b questions, float32, -inf outside the mask.

    Args and shapes: as ``walk.walk_logits``; PageRank is not looked at.
    """
    inputs = jax.lax.stop_gradient(inputs)
    if inputs.nodes is None or inputs.topics is None:
        raise ValueError("the MLP needs nodes and topics")
    check_shapes(inputs, config.dimension)
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    scale = math.sqrt(config.dimension)
    question = inputs.question.astype(jnp.float32) * scale
    triplets = inputs.triplets.astype(dtype)
    relations = inputs.relations.astype(dtype)
    terms = matmul(triplets, scale * weights.triplet, dtype)
    by_relation = matmul(relations, scale * weights.relation, dtype)
    if inputs.relation_index is not None:
        by_relation = gather_rows(by_relation, inputs.relation_index)
    distances = topic_distances(inputs.nodes, inputs.topics, inputs.mask)
    row = question @ weights.question + weights.distances.bias
    terms = terms + by_relation + matmul(distances, weights.distances.kernel, dtype)
    hidden = jax.nn.relu(terms + row[:, None])
    score = hidden @ weights.output.kernel[:, 0] + weights.output.bias[0]
    logits = score * jnp.exp(-weights.log_temperature)
    return jnp.where(inputs.mask, logits, -jnp.inf)
