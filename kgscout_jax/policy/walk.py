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

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from kgscout_jax.policy.answer_head import NodeFeatures, answer_logits
from kgscout_jax.policy.config import COMPUTE_DTYPES
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs, ppr_features
from kgscout_jax.policy.layers import add_bias, contract, matmul, product
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
    alike: Float[Array, "b n l"]
    """How alike each candidate's relation and each word are; l = 0 without words."""


class QuestionWords(NamedTuple):
    """The words of b questions."""

    places: Float[Array, "b l p"]
    """See ``place_features``."""
    known: Bool[Array, "b l"]
    """True at words."""
    alike: Float[Array, "b u l"]
    """See ``likeness``."""


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
    words = None if weights.cover is None else read_words(weights.cover, inputs)
    relations = relation_terms(weights, config, inputs, question, words)
    cosines = jnp.concatenate([triplet_cosine, relations.cosine], axis=-1)
    returns = weights.walkers.returns
    flows, held = walk(relations.by_candidate, nodes, topics, mask, config, returns)
    flows, held = (present(config, "walks", each) for each in (flows, held))
    ppr = ppr_features(inputs.ppr, config)
    distances = present(config, "distances", node_distances(nodes, topics, mask))
    of_nodes = [distances]
    if weights.cover is not None and words is not None:
        explained = explained_words(weights.cover, config, inputs, words, relations)
        of_nodes.append(explained)
        held = jnp.concatenate([held, explained], axis=-1)
    at_ends = at_both_ends(jnp.concatenate(of_nodes, axis=-1), nodes)
    near, *more = of_both_ends(at_ends, [each.shape[-1] for each in of_nodes])
    features = [near, flows, ppr, COSINE_SCALE * cosines, *more]
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
    score = product(hidden, weights.output.kernel[:, 0]) + weights.output.bias[0]
    residual = product(COSINE_SCALE * cosines, weights.cosines)
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
    words: QuestionWords | None,
) -> RelationTerms:
    """What scores and walkers read off the relations: one matmul and one gather.

    Args:
        weights: of the network.
        config: its sizes.
        inputs: of the questions.
        question: embeddings of the questions, scaled.
        words: of the questions; None for a policy that reads none.
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
    by_words, alike = None, cosine[..., :0]
    if words is not None and weights.cover is not None and inputs.words is not None:
        places, known, alike = words
        by_words = readiness(
            weights.cover, alike, inputs.words, places, known, config.walkers
        )
    follow = walker_weights(walkers, conditions, question, by_words)
    rows = jnp.concatenate([by_relation, follow, cosine, alike], axis=-1)
    rows, f = inputs.by_candidate(rows), follow.shape[-1]
    hidden, by_candidate, cosine, alike = jnp.split(
        rows, [w, w + f, w + f + 1], axis=-1
    )
    return RelationTerms(hidden, follow, by_candidate, cosine, alike)


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


def of_both_ends(
    at_ends: Float[Array, "b n f"], widths: Sequence[int]
) -> list[Float[Array, "b n g"]]:
    """``at_both_ends`` of several arrays, from that of all side by side."""
    b, n, _ = at_ends.shape
    stops = list(itertools.accumulate(widths))[:-1]
    parts = jnp.split(at_ends.reshape(b, n, 2, -1), stops, axis=-1)
    return [part.reshape(b, n, -1) for part in parts]


def read_words(weights: CoverWeights, inputs: PolicyInputs) -> QuestionWords:
    """The words of the questions."""
    assert inputs.words is not None and inputs.word_places is not None
    known = inputs.word_places != NO_WORD
    places = place_features(inputs.word_places, known)
    return QuestionWords(
        places, known, likeness(weights, inputs.words, inputs.relations)
    )


def explained_words(
    weights: CoverWeights,
    config: WalkConfig,
    inputs: PolicyInputs,
    words: QuestionWords,
    relations: RelationTerms,
) -> Float[Array, "b v w"]:
    """What paths to each node explain of the questions' words, see ``covers``."""
    nodes, topics, mask = inputs.nodes, inputs.topics, inputs.mask
    assert inputs.words is not None and nodes is not None and topics is not None
    places, known, _ = words
    matches, any_match = word_matches(weights, relations.alike, mask, known)
    importance = word_importance(weights, inputs.words, places, any_match, known)
    return covers(weights, matches, importance, nodes, topics, mask, config.steps)
