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

Nothing of shape [b, n, d] but the triplets themselves is ever held in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kgscout_jax.policy.answer_head import NodeFeatures, answer_logits
from kgscout_jax.policy.config import COMPUTE_DTYPES
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs, ppr_features
from kgscout_jax.policy.layers import add_bias, contract, matmul
from kgscout_jax.policy.topology import at_both_ends, node_distances
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.policy.walk_weights import WalkWeights
from kgscout_jax.policy.walkers import walk, walker_weights
from kgscout_jax.policy.word_cover import (
    CoverWeights,
    covers,
    likeness,
    place_features,
    readiness,
    word_importance,
    word_matches,
)

PRODUCT_SCALE = 1 / 1.5
"""Products of two normal numbers have heavier tails: a smaller scale to start with."""
COSINE_SCALE = 5.0
"""Cosines vary by about a fifth."""


class WalkOutputs(NamedTuple):
    """What the network says of b questions."""

    scores: Float[Array, "b n"]
    """Of the candidates, before temperature and mask."""
    answers: Float[Array, "b v"] | None
    """Logits of the nodes, see ``answer_logits``; None without the head."""
    follow: Float[Array, "b u f"]
    """How readily each walker follows each unique relation, see ``walker_weights``."""


class RelationTerms(NamedTuple):
    """What is read off the relations, once per unique one, then gathered."""

    hidden: Float[Array, "b n w"]
    """Of the first layer, for each candidate."""
    follow: Float[Array, "b u f"]
    """See ``walker_weights``."""
    by_candidate: Float[Array, "b n f"]
    """``follow`` of each candidate's relation."""
    cosine: Float[Array, "b n 1"]
    """Of the question and each candidate's relation."""


def outputs(
    weights: WalkWeights, config: WalkConfig, inputs: PolicyInputs
) -> WalkOutputs:
    """What the network says of b questions, float32; see ``registry.policy_outputs``.

    Shapes:
        inputs: b questions, n candidates, u unique relations, d = dimension, v nodes.
    """
    nodes, topics, mask = inputs.nodes, inputs.topics, inputs.mask
    assert nodes is not None and topics is not None
    question = inputs.question.astype(jnp.float32) * math.sqrt(config.dimension)
    terms, triplet_cosine = triplet_terms(weights, config, inputs.triplets, question)
    by_words = explained = None
    if weights.cover is not None:
        by_words, explained = word_terms(weights.cover, config, inputs)
    relations = relation_terms(weights, config, inputs, question, by_words)
    cosines = jnp.concatenate([triplet_cosine, relations.cosine], axis=-1)
    returns = weights.walkers.returns
    flows, held = walk(relations.by_candidate, nodes, topics, mask, config, returns)
    flows, held = (present(config, "walks", each) for each in (flows, held))
    ppr = ppr_features(inputs.ppr, config)
    distances = present(config, "distances", node_distances(nodes, topics, mask))
    features = [at_both_ends(distances, nodes), flows, ppr, COSINE_SCALE * cosines]
    if explained is not None:
        features.append(at_both_ends(explained, nodes))
        held = jnp.concatenate([held, explained], axis=-1)
    columns = jnp.concatenate(features, axis=-1)
    row = weights.features.bias[None]
    if weights.question is not None:
        row = row + question @ weights.question
    hidden = jax.nn.gelu(
        terms
        + relations.hidden
        + matmul(columns, weights.features.kernel, jnp.float32)
        + row[:, None]
    )
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    hidden = add_bias(matmul(hidden, weights.second.kernel, dtype), weights.second.bias)
    hidden = jax.nn.gelu(hidden)
    score = hidden @ weights.output.kernel[:, 0] + weights.output.bias[0]
    residual = COSINE_SCALE * cosines @ weights.cosines
    score = score + present(config, "residual", residual)
    answers = None
    if weights.answers is not None:
        of_nodes = NodeFeatures(held, distances, ppr)
        answers = answer_logits(
            weights.answers, question, of_nodes, nodes, score, hidden, mask
        )
    return WalkOutputs(score, answers, relations.follow)


def triplet_terms(
    weights: WalkWeights,
    config: WalkConfig,
    triplets: Float[Array, "b n d"],
    question: Float[Array, "b d"],
) -> tuple[Float[Array, "b n w"], Float[Array, "b n 1"]]:
    """(the first layer's terms of the triplets, their cosines with the question)."""
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    alone, product = [weights.triplet], [weights.triplet_product]
    kernel = question_kernel(config, question, alone, product)
    terms = contract("bnd,bdw->bnw", triplets.astype(dtype), kernel, dtype)
    terms, cosine = jnp.split(terms, [config.width], axis=-1)
    return terms, cosine


def relation_terms(
    weights: WalkWeights,
    config: WalkConfig,
    inputs: PolicyInputs,
    question: Float[Array, "b d"],
    by_words: Float[Array, "b u f"] | None,
) -> RelationTerms:
    """What scores and walkers read off the relations, in one matmul for both.

    Args:
        weights: of the network.
        config: its sizes.
        inputs: of the questions.
        question: embeddings of the questions, scaled.
        by_words: what the questions' words add to the walkers' logits.
    """
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    walkers = weights.walkers
    alone = [weights.relation, walkers.relation]
    product = [weights.relation_product, walkers.product]
    kernel = question_kernel(config, question, alone, product)
    relations = inputs.relations.astype(dtype)
    by_relation = contract("bud,bdw->buw", relations, kernel, dtype)
    w, g = config.width, config.condition
    by_relation, conditions, cosine = jnp.split(by_relation, [w, w + g], axis=-1)
    follow = walker_weights(walkers, conditions, question, by_words)
    rows = jnp.concatenate([by_relation, follow, cosine], axis=-1)
    rows = inputs.by_candidate(rows)
    hidden, by_candidate, cosine = jnp.split(rows, [w, w + follow.shape[-1]], axis=-1)
    return RelationTerms(hidden, follow, by_candidate, cosine)


def question_kernel(
    config: WalkConfig,
    question: Float[Array, "b d"],
    alone: Sequence[Array | None],
    product: Sequence[Array],
) -> Float[Array, "b d c"]:
    """What embeddings meet: alone, times the question; last column: the cosine."""
    products = PRODUCT_SCALE * question[..., None] * side_by_side(product)
    kernel = present(config, "products", products)
    each = [kernels for kernels in alone if kernels is not None]
    if each:
        kernel = side_by_side(each) + kernel
    scale = math.sqrt(config.dimension)
    return jnp.concatenate([scale * kernel, question[..., None] / scale], axis=-1)


def present(config: WalkConfig, part: str, values: Array) -> Array:
    """The values, or zeros where the network is without that part."""
    return jnp.zeros_like(values) if part in config.without else values


def side_by_side(kernels: Sequence[Array]) -> Float[Array, "1 d c"]:
    """The columns of all kernels, for every question."""
    return jnp.concatenate(list(kernels), axis=1)[None]


def word_terms(
    weights: CoverWeights, config: WalkConfig, inputs: PolicyInputs
) -> tuple[Float[Array, "b u f"], Float[Array, "b v w"]]:
    """What the words of the questions add to the walkers' logits, and ``covers``."""
    words, nodes, topics = inputs.words, inputs.nodes, inputs.topics
    assert words is not None and inputs.word_places is not None
    assert nodes is not None and topics is not None
    known = inputs.word_places != NO_WORD
    places = place_features(inputs.word_places, known)
    alike = likeness(weights, words, inputs.relations)
    by_words = readiness(weights, alike, words, places, known, config.walkers)
    mask, steps = inputs.mask, config.steps
    by_candidate = inputs.by_candidate(alike)
    matches, any_match = word_matches(weights, by_candidate, mask, known)
    importance = word_importance(weights, words, places, any_match, known)
    explained = covers(weights, matches, importance, nodes, topics, mask, steps)
    return by_words, explained
