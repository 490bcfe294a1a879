"""The walk policy: learned walks from the topics, and the agreement of texts.

A second network beside the thesis's (``forward``), smaller and better
(recipes/evidence.md has the ablation). Two ideas carry it:

- *Learned walks.* From the topics, c walkers take r steps over the candidate graph.
  Which relations a walker follows at a step, along the edge or against it, is read off
  question and relation: a weight in (0, 1) for each walker, step and direction. What a
  candidate carries at each step, and what its ends hold after the last, are features.
  Fixed weights would give reachability (directional distance encoding), fixed
  likenesses a guided walk; these learn that "who directed" goes on over one relation
  and not over another. Weights are per unique relation: cheap.
- *Agreement.* The first layer sees the elementwise products of the question with
  triplet and relation beside each alone, folded into one matmul per question,
  ``T (A + diag(q) B)``; and the cosines go past all layers to the logit.

Nothing of shape [b, n, d] but the triplets themselves is ever held. It needs jax alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.policy.config import (
    COMPUTE_DTYPES,
    check_dtype,
    check_positive_int,
    check_ppr,
    from_fields,
    to_fields,
)
from kgscout_jax.policy.dual_tower import (
    PPR_FLOOR,
    DenseWeights,
    PolicyInputs,
    check_shapes,
)
from kgscout_jax.policy.layers import contract, gather_rows, matmul
from kgscout_jax.policy.topology import (
    DISTANCE_WIDTH,
    at_ends,
    sum_at,
    topic_distances,
)

FLOW_FLOOR = 1e-4
"""Added to what walkers carry before the logarithm."""
FLOW_NONE = 1e-6
"""Added to the largest, for a walker that is stuck."""
RARE = -1.0
"""A walker's weight before training is about sigmoid(RARE)."""
PRODUCT_SCALE = 1 / 1.5
"""Products of two normal numbers have heavier tails: a smaller scale to start with."""
COSINE_SCALE = 5.0
"""Cosines vary by about a fifth."""


@dataclass(frozen=True, kw_only=True)
class WalkConfig:
    """Sizes and constants of the network; JSON by ``to_dict`` and ``from_dict``."""

    kind: ClassVar[str] = "walk"

    dimension: int = 384
    """Of the sentence embeddings: d."""
    width: int = 128
    """Of the first layer over candidates."""
    hidden: int = 64
    """Of the second."""
    walkers: int = 8
    """Walks that start at the topics, each with weights of its own."""
    steps: int = 3
    """Of each walk."""
    condition: int = 64
    """Width of the layer that reads weights off question and relation."""
    ppr_mean: tuple[float, float] = (0.0, 0.0)
    """Mean of log(ppr + 1e-8) of heads and of tails over the training candidates."""
    ppr_std: tuple[float, float] = (1.0, 1.0)
    """Standard deviation of the same."""
    compute_dtype: str = "float32"
    """Operands of matmuls over candidates: float32 or bfloat16. Sums are float32."""

    def __post_init__(self) -> None:
        names = ("dimension", "width", "hidden", "walkers", "steps", "condition")
        for name in names:
            check_positive_int(name, getattr(self, name))
        check_ppr(self)
        check_dtype(self.compute_dtype)

    @property
    def features(self) -> int:
        """Columns beside the embeddings: distances, PPR, cosines, walks."""
        return DISTANCE_WIDTH + 2 + 2 + 2 * self.walkers * (self.steps + 1)

    def to_dict(self) -> dict[str, Any]:
        """Every field, and the kind, as JSON knows them."""
        return to_fields(self)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> WalkConfig:
        """The config that ``to_dict`` wrote; UserError names a bad field."""
        return from_fields(WalkConfig, fields)


class WalkerWeights(NamedTuple):
    """What turns question and relation into weights of walkers: g = condition."""

    question: Float[Array, "d g"]
    relation: Float[Array, "d g"]
    product: Float[Array, "d g"]
    bias: Float[Array, "g"]
    output: DenseWeights
    """[g, steps * 2 * walkers]; along edges first, then against them."""


class WalkWeights(NamedTuple):
    """Every parameter."""

    walkers: WalkerWeights
    question: Float[Array, "d w"]
    triplet: Float[Array, "d w"]
    triplet_product: Float[Array, "d w"]
    relation: Float[Array, "d w"]
    relation_product: Float[Array, "d w"]
    features: DenseWeights
    """[features, w], and the first layer's bias."""
    second: DenseWeights
    output: DenseWeights
    cosines: Float[Array, "2"]
    """What the cosines of triplet and of relation add to the score."""
    log_temperature: Float[Array, ""]
    """Logits are scores / exp(log_temperature)."""


def walk_shapes(config: WalkConfig) -> WalkWeights:
    """The shape and dtype of every parameter, as ``jax.ShapeDtypeStruct``."""

    def array(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    def dense(inputs: int, outputs: int) -> DenseWeights:
        return DenseWeights(array(inputs, outputs), array(outputs))

    d, w, g = config.dimension, config.width, config.condition
    return WalkWeights(
        walkers=WalkerWeights(
            question=array(d, g),
            relation=array(d, g),
            product=array(d, g),
            bias=array(g),
            output=dense(g, config.steps * 2 * config.walkers),
        ),
        question=array(d, w),
        triplet=array(d, w),
        triplet_product=array(d, w),
        relation=array(d, w),
        relation_product=array(d, w),
        features=dense(config.features, w),
        second=dense(w, config.hidden),
        output=dense(config.hidden, 1),
        cosines=array(2),
        log_temperature=array(),
    )


def walk_logits(
    weights: WalkWeights,
    config: WalkConfig,
    inputs: PolicyInputs,
) -> Float[Array, "b n"]:
    """Final logits of all candidates of b questions, float32, -inf outside the mask.

    Embeddings are frozen: no gradient flows to ``inputs``.

    Args:
        weights: of the network.
        config: of the network.
        inputs: with ``nodes`` and ``topics``.

    Shapes:
        inputs: b questions, n candidates, u unique relations, d = dimension, v nodes.
        returns: [b, n].
    """
    inputs = jax.lax.stop_gradient(inputs)
    nodes, topics = inputs.nodes, inputs.topics
    if nodes is None or topics is None:
        raise ValueError("the walk policy needs nodes and topics")
    check_shapes(inputs, config.dimension)
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    d, mask = config.dimension, inputs.mask
    scale = math.sqrt(d)
    question = inputs.question.astype(jnp.float32) * scale
    triplets = inputs.triplets.astype(dtype)
    relations = inputs.relations.astype(dtype)

    def kernel_of(alone: Array, product: Array) -> Float[Array, "b d c"]:
        """What embeddings meet: alone, times the question; last column: the cosine."""
        kernel = alone + PRODUCT_SCALE * question[..., None] * product
        return jnp.concatenate([scale * kernel, question[..., None] / scale], axis=-1)

    kernel = kernel_of(weights.triplet, weights.triplet_product)
    terms = contract("bnd,bdw->bnw", triplets, kernel, dtype)
    terms, triplet_cosine = jnp.split(terms, [config.width], axis=-1)

    # Relations: once per unique one, for scores and walkers together, then gathered.
    walkers = weights.walkers
    kernel = kernel_of(
        jnp.concatenate([weights.relation, walkers.relation], axis=1),
        jnp.concatenate([weights.relation_product, walkers.product], axis=1),
    )
    by_relation = contract("bud,bdw->buw", relations, kernel, dtype)
    w, g = config.width, config.condition
    by_relation, conditions, cosine = jnp.split(by_relation, [w, w + g], axis=-1)
    followed = walker_weights(walkers, conditions, question)
    rows = jnp.concatenate([by_relation, followed, cosine], axis=-1)
    if inputs.relation_index is not None:
        rows = gather_rows(rows, inputs.relation_index)
    splits = [w, w + followed.shape[-1]]
    relation_terms, followed, relation_cosine = jnp.split(rows, splits, axis=-1)

    cosines = jnp.concatenate([triplet_cosine, relation_cosine], axis=-1)
    flows = walk(followed, nodes, topics, mask, config)
    ppr = jnp.log(inputs.ppr.astype(jnp.float32) + PPR_FLOOR)
    ppr = (ppr - jnp.array(config.ppr_mean)) / jnp.array(config.ppr_std)
    distances = topic_distances(nodes, topics, mask)
    features = [distances, flows, ppr, COSINE_SCALE * cosines]
    columns = jnp.concatenate(features, axis=-1)
    row = question @ weights.question + weights.features.bias
    hidden = jax.nn.gelu(
        terms
        + relation_terms
        + matmul(columns, weights.features.kernel, jnp.float32)
        + row[:, None]
    )
    hidden = matmul(hidden, weights.second.kernel, dtype) + weights.second.bias
    score = jax.nn.gelu(hidden) @ weights.output.kernel[:, 0] + weights.output.bias[0]
    score = score + COSINE_SCALE * cosines @ weights.cosines
    logits = score * jnp.exp(-weights.log_temperature)
    return jnp.where(mask, logits, -jnp.inf)


def walker_weights(
    weights: WalkerWeights,
    conditions: Float[Array, "b u g"],
    question: Float[Array, "b d"],
) -> Float[Array, "b u f"]:
    """How readily each walker follows each unique relation, in (0, 1).

    f = steps * 2 * walkers, as in ``WalkerWeights.output``.
    """
    row = question @ weights.question + weights.bias
    hidden = jax.nn.gelu(conditions + row[:, None])
    out = matmul(hidden, weights.output.kernel, jnp.float32) + weights.output.bias
    return jax.nn.sigmoid(out + RARE)


def walk(
    followed: Float[Array, "b n f"],
    nodes: Int[Array, "b n 2"],
    topics: Bool[Array, "b v"],
    mask: Bool[Array, "b n"],
    config: WalkConfig,
) -> Float[Array, "b n o"]:
    """What the walkers carry over each candidate, on a log scale.

    A walker holds 1 at each topic. At a step each candidate takes what its head holds,
    times its weight, to its tail, and what its tail holds, times the other weight, to
    its head; what arrives is summed and divided by the walker's largest, so that hubs
    and long walks stay in range.

    Shapes:
        followed: weights of each candidate, f = steps * 2 * walkers.
        returns: o = 2 * walkers * (steps + 1) columns: for each step what goes along
            the candidate and against it; then what its head and tail hold in the end.
    """
    head, tail = nodes[..., 0], nodes[..., 1]
    (b, n), v, c = mask.shape, topics.shape[1], config.walkers
    followed = followed * mask[..., None]
    followed = followed.reshape(b, n, config.steps, 2, c)
    held = jnp.broadcast_to(topics[..., None].astype(jnp.float32), (b, v, c))
    columns = []
    for step in range(config.steps):
        along = at_ends(held, head) * followed[:, :, step, 0]
        against = at_ends(held, tail) * followed[:, :, step, 1]
        columns += [along, against]
        arrived = sum_at(along, tail, v) + sum_at(against, head, v)
        held = arrived / (arrived.max(axis=1, keepdims=True) + FLOW_NONE)
    columns += [at_ends(held, head), at_ends(held, tail)]
    # From about -1.3 for nothing to 1 for the most.
    return 1.0 + jnp.log(jnp.concatenate(columns, axis=-1) + FLOW_FLOOR) / 4
