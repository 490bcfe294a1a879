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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from kgscout_jax.errors import UserError
from kgscout_jax.policy.answer_head import (
    AnswerWeights,
    NodeFeatures,
    answer_logits,
    init_answers,
)
from kgscout_jax.policy.config import COMPUTE_DTYPES, PprNetworkConfig, check_int
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs, ppr_features
from kgscout_jax.policy.layers import add_bias, contract, gather_rows, matmul
from kgscout_jax.policy.parameters import (
    DenseWeights,
    Initializer,
    weights_dataclass,
)
from kgscout_jax.policy.topology import (
    DISTANCE_WIDTH,
    at_both_ends,
    node_distances,
    sum_at,
)
from kgscout_jax.policy.word_cover import (
    CoverWeights,
    cover_width,
    covers,
    init_cover,
    likeness,
    place_features,
    readiness,
    word_importance,
    word_matches,
)

FLOW_FLOOR = 1e-4
"""Added to what walkers carry before the logarithm."""
FLOW_NONE = 1e-6
"""Added to the largest, for a walker that is stuck."""
RARE = -1.0
"""A walker's weight before training is about sigmoid(RARE)."""
RETURN_GATE = 4.0
"""Before training every other walker passes topics freely, and the others do not."""
PRODUCT_SCALE = 1 / 1.5
"""Products of two normal numbers have heavier tails: a smaller scale to start with."""
COSINE_SCALE = 5.0
"""Cosines vary by about a fifth."""
PARTS = ("absolute", "walks", "distances", "products", "residual")
"""What a network can be without. absolute: question, relation and triplet each by
itself, so that only likenesses are left; residual: the cosines past all layers."""


@dataclass(frozen=True, kw_only=True)
class WalkConfig(PprNetworkConfig):
    """Sizes and constants of the network."""

    architecture: ClassVar[str] = "walk"
    sizes: ClassVar[tuple[str, ...]] = (
        "width",
        "hidden",
        "walkers",
        "steps",
        "condition",
    )
    absent: ClassVar[Mapping[str, Any]] = {
        "answers": 0,
        "question_hidden": 0,
        "return_gates": False,
        "word_rank": 0,
        "without": (),
    }

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
    question_hidden: int = 64
    """Width of a hidden layer over the question before that one; 0 for none."""
    answers: int = 64
    """Width of the answer head; 0 for a policy that only ranks triplets."""
    return_gates: bool = True
    """Whether each walker learns how much of it goes on after it has come back to a
    topic. The actors of *other* films of a director are not reached through the film
    that the question names; the father of somebody's son is."""

    word_rank: int = 16
    """Rank of the learned likeness of words and relations; 0 for a policy that does not
    read the words of the question."""

    without: tuple[str, ...] = ()
    """Of ``PARTS``: what is left out, to measure what it is worth."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "without", tuple(self.without))
        if not set(self.without) <= set(PARTS):
            raise UserError(
                f"policy.without: {list(self.without)}, expected some of {PARTS}"
            )
        for name in ("question_hidden", "answers", "word_rank"):
            check_int(name, getattr(self, name), least=0)
        if not isinstance(self.return_gates, bool):
            raise UserError(
                f"policy.return_gates: {self.return_gates!r}, expected true or false"
            )

    def to_dict(self) -> dict[str, Any]:
        """Every field; ``without`` only where it says something."""
        fields = super().to_dict()
        if not self.without:
            del fields["without"]
        return fields

    @property
    def features(self) -> int:
        """Columns beside the embeddings: distances, PPR, cosines, walks."""
        words = 2 * cover_width(self.steps) if self.word_rank else 0
        return DISTANCE_WIDTH + 2 + 2 + 2 * self.walkers * (self.steps + 1) + words


@weights_dataclass
class WalkerWeights:
    """What turns question and relation into weights of walkers: g = condition."""

    question: Float[Array, "d g"] | None
    """None, as ``relation``, for a policy without "absolute"."""
    relation: Float[Array, "d g"] | None
    product: Float[Array, "d g"]
    bias: Float[Array, "g"]
    output: DenseWeights
    """[g, steps * 2 * walkers]; along edges first, then against them."""
    hidden: DenseWeights | None = None
    """[d, question_hidden]"""
    hidden_output: Float[Array, "h g"] | None = None
    returns: Float[Array, "c"] | None = None
    """Logits of the walkers' gates at the topics, see ``WalkConfig.return_gates``."""


@weights_dataclass
class WalkWeights:
    """Every parameter."""

    walkers: WalkerWeights
    question: Float[Array, "d w"] | None
    """None, as ``triplet`` and ``relation``, for a policy without "absolute"."""
    triplet: Float[Array, "d w"] | None
    triplet_product: Float[Array, "d w"]
    relation: Float[Array, "d w"] | None
    relation_product: Float[Array, "d w"]
    features: DenseWeights
    """[features, w], and the first layer's bias."""
    second: DenseWeights
    output: DenseWeights
    cosines: Float[Array, "2"]
    """What the cosines of triplet and of relation add to the score."""
    log_temperature: Float[Array, ""]
    """Logits are scores / exp(log_temperature)."""
    answers: AnswerWeights | None = None
    cover: CoverWeights | None = None


def init(key: Key[Array, ""] | None, config: WalkConfig) -> WalkWeights:
    """Initial parameters."""
    d, w, g = config.dimension, config.width, config.condition
    draws = Initializer(key)
    absolute = "absolute" not in config.without

    def alone(width: int) -> Float[Array, "d w"] | None:
        return draws.kernel(d, width) if absolute else None

    weights = WalkWeights(
        walkers=WalkerWeights(
            question=alone(g),
            relation=alone(g),
            product=draws.kernel(d, g),
            bias=jnp.zeros(g, jnp.float32),
            output=draws.dense(g, config.steps * 2 * config.walkers, gain=0.5),
        ),
        question=alone(w),
        triplet=alone(w),
        triplet_product=draws.kernel(d, w),
        relation=alone(w),
        relation_product=draws.kernel(d, w),
        features=draws.dense(config.features, w),
        second=draws.dense(w, config.hidden, gain=2.0),
        output=draws.dense(config.hidden, 1),
        cosines=jnp.zeros(2, jnp.float32),
        log_temperature=jnp.zeros((), jnp.float32),
    )
    if config.question_hidden and absolute:
        hidden = draws.dense(d, config.question_hidden, gain=2.0)
        output = draws.kernel(config.question_hidden, g)
        walkers = replace(weights.walkers, hidden=hidden, hidden_output=output)
        weights = replace(weights, walkers=walkers)
    if config.return_gates:
        signs = jnp.where(
            jnp.arange(config.walkers) % 2 == 0, RETURN_GATE, -RETURN_GATE
        )
        walkers = replace(weights.walkers, returns=signs.astype(jnp.float32))
        weights = replace(weights, walkers=walkers)
    if config.answers:
        flows = config.steps * config.walkers
        if config.word_rank:
            flows += cover_width(config.steps)
        sizes = d, config.hidden, flows, config.answers
        answers = init_answers(draws, *sizes, absolute=absolute)
        weights = replace(weights, answers=answers)
    if config.word_rank:
        cover = init_cover(draws, d, config.word_rank, config.steps, config.walkers)
        weights = replace(weights, cover=cover)
    return weights


class WalkOutputs(NamedTuple):
    """What the network says of b questions."""

    scores: Float[Array, "b n"]
    """Of the candidates, before temperature and mask."""
    answers: Float[Array, "b v"] | None
    """Logits of the nodes, see ``answer_logits``; None without the head."""
    follow: Float[Array, "b u f"]
    """How readily each walker follows each unique relation, see ``walker_weights``."""


def outputs(
    weights: WalkWeights, config: WalkConfig, inputs: PolicyInputs
) -> WalkOutputs:
    """What the network says of b questions, float32; see ``registry.policy_outputs``.

    Shapes:
        inputs: b questions, n candidates, u unique relations, d = dimension, v nodes.
    """
    nodes, topics = inputs.nodes, inputs.topics
    assert nodes is not None and topics is not None
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    d, mask = config.dimension, inputs.mask
    scale = math.sqrt(d)
    question = inputs.question.astype(jnp.float32) * scale
    triplets = inputs.triplets.astype(dtype)
    relations = inputs.relations.astype(dtype)

    def present(part: str, values: Array) -> Array:
        """The values, or zeros where the network is without that part."""
        return jnp.zeros_like(values) if part in config.without else values

    def kernel_of(alone: list[Any], product: list[Array]) -> Float[Array, "b d c"]:
        """What embeddings meet: alone, times the question; last column: the cosine."""
        products = PRODUCT_SCALE * question[..., None] * side_by_side(product)
        kernel = present("products", products)
        if alone[0] is not None:
            kernel = side_by_side(alone) + kernel
        return jnp.concatenate([scale * kernel, question[..., None] / scale], axis=-1)

    kernel = kernel_of([weights.triplet], [weights.triplet_product])
    terms = contract("bnd,bdw->bnw", triplets, kernel, dtype)
    terms, triplet_cosine = jnp.split(terms, [config.width], axis=-1)

    # Relations: once per unique one, for scores and walkers together, then gathered.
    walkers = weights.walkers
    kernel = kernel_of(
        [weights.relation, walkers.relation],
        [weights.relation_product, walkers.product],
    )
    by_relation = contract("bud,bdw->buw", relations, kernel, dtype)
    w, g = config.width, config.condition
    by_relation, conditions, cosine = jnp.split(by_relation, [w, w + g], axis=-1)
    by_words = explained = None
    if weights.cover is not None:
        by_words, explained = word_terms(weights.cover, config, inputs)
    follow = walker_weights(walkers, conditions, question, by_words)
    rows = jnp.concatenate([by_relation, follow, cosine], axis=-1)
    rows = inputs.by_candidate(rows)
    splits = [w, w + follow.shape[-1]]
    relation_terms, by_triplet, relation_cosine = jnp.split(rows, splits, axis=-1)

    cosines = jnp.concatenate([triplet_cosine, relation_cosine], axis=-1)
    flows, held = walk(by_triplet, nodes, topics, mask, config, weights.walkers.returns)
    flows, held = present("walks", flows), present("walks", held)
    ppr = ppr_features(inputs.ppr, config)
    distances = present("distances", node_distances(nodes, topics, mask))
    at_ends = at_both_ends(distances, nodes)
    features = [at_ends, flows, ppr, COSINE_SCALE * cosines]
    if explained is not None:
        features.append(at_both_ends(explained, nodes))
        held = jnp.concatenate([held, explained], axis=-1)
    columns = jnp.concatenate(features, axis=-1)
    row = weights.features.bias[None]
    if weights.question is not None:
        row = row + question @ weights.question
    hidden = jax.nn.gelu(
        terms
        + relation_terms
        + matmul(columns, weights.features.kernel, jnp.float32)
        + row[:, None]
    )
    hidden = add_bias(matmul(hidden, weights.second.kernel, dtype), weights.second.bias)
    hidden = jax.nn.gelu(hidden)
    score = hidden @ weights.output.kernel[:, 0] + weights.output.bias[0]
    score = score + present("residual", COSINE_SCALE * cosines @ weights.cosines)
    answers = None
    if weights.answers is not None:
        features_of_nodes = NodeFeatures(held, distances, ppr)
        answers = answer_logits(
            weights.answers,
            question,
            features_of_nodes,
            nodes,
            score,
            hidden,
            mask,
        )
    return WalkOutputs(score, answers, follow)


def side_by_side(kernels: list[Array]) -> Float[Array, "1 d c"]:
    """The columns of all kernels, for every question."""
    return jnp.concatenate(kernels, axis=1)[None]


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


def walker_weights(
    weights: WalkerWeights,
    conditions: Float[Array, "b u g"],
    question: Float[Array, "b d"],
    by_words: Float[Array, "b u f"] | None = None,
) -> Float[Array, "b u f"]:
    """How readily each walker follows each unique relation, in (0, 1).

    f = steps * 2 * walkers, as in ``WalkerWeights.output``.
    """
    row = weights.bias[None]
    if weights.question is not None:
        row = row + question @ weights.question
    if weights.hidden is not None and weights.hidden_output is not None:
        layer = add_bias(question @ weights.hidden.kernel, weights.hidden.bias)
        row = row + jax.nn.gelu(layer) @ weights.hidden_output
    hidden = jax.nn.gelu(conditions + row[:, None])
    out = matmul(hidden, weights.output.kernel, jnp.float32)
    out = add_bias(out, weights.output.bias)
    if by_words is not None:
        out = out + by_words
    return jax.nn.sigmoid(out + RARE)


def walk(
    follow: Float[Array, "b n f"],
    nodes: Int[Array, "b n 2"],
    topics: Bool[Array, "b v"],
    mask: Bool[Array, "b n"],
    config: WalkConfig,
    returns: Float[Array, "c"] | None,
) -> tuple[Float[Array, "b n o"], Float[Array, "b v h"]]:
    """What the walkers carry over each candidate and hold at each node, as logarithms.

    A walker holds 1 at each topic. At a step each candidate takes what its head holds,
    times its weight, to its tail, and what its tail holds, times the other weight, to
    its head; what arrives is summed and divided by the walker's largest, so that hubs
    and long walks stay in range. With gates, what arrives at a topic counts as at most
    the largest elsewhere, and the walker's gate says how much of it goes on.

    Shapes:
        follow: weights of each candidate, f = steps * 2 * walkers.
        returns: logits of the walkers' gates; None for walks without.
        returns: o = 2 * walkers * (steps + 1) columns: for each step what goes along
            the candidate and against it; then what its head and tail hold in the end.
            h = steps * walkers columns: what each node holds after each step.
    """
    head, tail = nodes[..., 0], nodes[..., 1]
    (b, n), v, c = mask.shape, topics.shape[1], config.walkers
    follow = follow * mask[..., None]
    follow = follow.reshape(b, n, config.steps, 2, c)
    mass = jnp.broadcast_to(topics[..., None].astype(jnp.float32), (b, v, c))
    start = topics[..., None]
    columns, held = [], []
    for step in range(config.steps):
        moving = mass
        if returns is not None and step:
            moving = jnp.where(start, mass * jax.nn.sigmoid(returns)[None, None], mass)
        along = gather_rows(moving, head) * follow[:, :, step, 0]
        against = gather_rows(moving, tail) * follow[:, :, step, 1]
        columns += [along, against]
        inflow = sum_at(along, tail, v) + sum_at(against, head, v)
        elsewhere = inflow if returns is None else jnp.where(start, 0.0, inflow)
        mass = inflow / (elsewhere.max(axis=1, keepdims=True) + FLOW_NONE)
        if returns is not None:
            mass = jnp.minimum(mass, 1.0)
        held.append(mass)
    columns += [gather_rows(mass, head), gather_rows(mass, tail)]
    return log_scale(columns), log_scale(held)


def log_scale(columns: list[Float[Array, "b m c"]]) -> Float[Array, "b m w"]:
    """Masses side by side, from about -1.3 for nothing to 1 for the most."""
    return 1.0 + jnp.log(jnp.concatenate(columns, axis=-1) + FLOW_FLOOR) / 4
