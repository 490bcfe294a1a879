"""The walk policy's second output: a logit for every node, "is this an answer".

Three things speak for a node. What the walkers hold there after each step, weighted as
the question asks: one hop for "who directed", two for "who else". What its candidates
say, those that end in it and those that start from it, each by how likely the policy
selects it: their hidden states carry what the relation is about. And where it lies:
degree, PageRank, whether it is a topic. Nodes that no candidate touches have no logit.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.policy.layers import add_bias, gather_rows, product
from kgscout_jax.policy.parameters import DenseWeights, Initializer, weights_dataclass
from kgscout_jax.policy.topology import sum_at

MESSAGE_SHARE = 4
"""The width over this is that of what candidates say, in each direction."""
PLACE_WIDTH = 10
"""Columns of where a node lies: distances (5), degrees, PageRank, best candidates."""
RARE_ANSWER = -4.0
"""The logit of a node before training: answers are few."""
LOGIT_SCALE = 0.25
"""Log-probabilities of candidates vary by about four."""
DEGREE_SCALE = 0.5


@weights_dataclass
class AnswerWeights:
    """Parameters: d = dimension, h = hidden states, f = flows, a = width.

    Messages have m = max(a // MESSAGE_SHARE, 1) columns.
    """

    message: DenseWeights
    """[h, 2 * m], for incoming and for outgoing candidates."""
    features: DenseWeights
    """[f + PLACE_WIDTH + 2 * m, a]"""
    question: Float[Array, "d a"] | None
    """None, as ``gate`` and ``flow``, where the question by itself says nothing."""
    gate: Float[Array, "d a"] | None
    """How much each column of the layer counts for this question."""
    flow: DenseWeights | None
    """[d, f]: how much what each walker holds after each step counts."""
    second: DenseWeights
    output: DenseWeights
    flow_alone: Float[Array, "f"] | None = None
    """The same, equal for all questions, where there is no ``flow``."""


class NodeFeatures(NamedTuple):
    """What the walk policy knows of v nodes of b questions."""

    flows: Float[Array, "b v f"]
    """What each walker holds after each step, on a log scale."""
    distances: Float[Array, "b v 5"]
    """Directional distance encoding; the first column says whether it is a topic."""
    ppr: Float[Array, "b n 2"]
    """Standardised PageRank of head and tail of each candidate."""


def init_answers(
    draws: Initializer,
    dimension: int,
    hidden: int,
    flows: int,
    width: int,
    *,
    absolute: bool = True,
) -> AnswerWeights:
    """Initial parameters; ``absolute``: of a head that sees the question by itself."""
    message = max(width // MESSAGE_SHARE, 1)
    features = flows + PLACE_WIDTH + 2 * message
    output = draws.dense(width, 1)
    return AnswerWeights(
        message=draws.dense(hidden, 2 * message),
        features=draws.dense(features, width),
        question=draws.kernel(dimension, width) if absolute else None,
        gate=draws.kernel(dimension, width) if absolute else None,
        flow=draws.dense(dimension, flows, gain=0.1) if absolute else None,
        second=draws.dense(width, width, gain=2.0),
        output=DenseWeights(
            kernel=output.kernel, bias=jnp.full(1, RARE_ANSWER, jnp.float32)
        ),
        flow_alone=None if absolute else jnp.zeros(flows, jnp.float32),
    )


def answer_logits(
    weights: AnswerWeights,
    question: Float[Array, "b d"],
    nodes: NodeFeatures,
    ends: Int[Array, "b n 2"],
    scores: Float[Array, "b n"],
    hidden: Float[Array, "b n h"],
    mask: Bool[Array, "b n"],
) -> Float[Array, "b v"]:
    """The logit of each node, float32; -inf at nodes that no candidate touches.

    Args:
        weights: the parameters.
        question: embeddings of variance 1.
        nodes: what the walk says of the nodes.
        ends: nodes of head and tail of each candidate.
        scores: of the candidates.
        hidden: the last hidden states of the candidates.
        mask: True at real candidates.

    Shapes:
        returns: [b, v].
    """
    head, tail = ends[..., 0], ends[..., 1]
    v = nodes.flows.shape[1]
    log_share = jax.nn.log_softmax(jnp.where(mask, scores, -1e9), axis=1)
    messages = product(hidden, weights.message.kernel)
    messages = add_bias(messages, weights.message.bias)
    incoming, outgoing = jnp.split(messages, 2, axis=-1)
    # The nodes twice, in one call: as tails, then as heads.
    both = end_sums(
        jnp.concatenate([tail, head + v], axis=1),
        jnp.concatenate([log_share, log_share], axis=1),
        jnp.concatenate([incoming, outgoing], axis=1),
        jnp.concatenate([nodes.ppr[..., 1], nodes.ppr[..., 0]], axis=1),
        jnp.concatenate([mask, mask], axis=1),
        2 * v,
    )
    into = EndSums(*(each[:, :v] for each in both))
    out_of = EndSums(*(each[:, v:] for each in both))
    count = into.degree + out_of.degree
    ppr = jnp.maximum(into.ppr, out_of.ppr)
    place = [
        nodes.distances,
        DEGREE_SCALE * jnp.log1p(jnp.stack([into.degree, out_of.degree], axis=-1)),
        jnp.where(count > 0, ppr, 0.0)[..., None],
        LOGIT_SCALE * jnp.stack([into.share, out_of.share], axis=-1),
    ]
    columns = [nodes.flows, *place, into.message, out_of.message]
    features = jnp.concatenate(columns, axis=-1)
    terms = product(features, weights.features.kernel)
    row = weights.features.bias[None]
    if weights.gate is not None and weights.question is not None:
        terms = terms * (1.0 + question @ weights.gate)[:, None]
        row = row + question @ weights.question
    layer = jax.nn.gelu(terms + row[:, None])
    layer = product(layer, weights.second.kernel)
    layer = jax.nn.gelu(add_bias(layer, weights.second.bias))
    logits = product(layer, weights.output.kernel[:, 0]) + weights.output.bias[0]
    if weights.flow is not None:
        by_flow = add_bias(question @ weights.flow.kernel, weights.flow.bias)
        logits = logits + jnp.einsum("bvf,bf->bv", nodes.flows, by_flow)
    if weights.flow_alone is not None:
        logits = logits + product(nodes.flows, weights.flow_alone)
    return jnp.where(count > 0, logits, -jnp.inf)


class EndSums(NamedTuple):
    """What the candidates at one end say of each node; zeros where there are none."""

    degree: Float[Array, "b v"]
    share: Float[Array, "b v"]
    """log of the candidates' share of the softmax over all candidates."""
    message: Float[Array, "b v m"]
    """Mean of their messages, weighted by their share."""
    ppr: Float[Array, "b v"]


def end_sums(
    ends: Int[Array, "b e"],
    log_share: Float[Array, "b e"],
    messages: Float[Array, "b e m"],
    ppr: Float[Array, "b e"],
    mask: Bool[Array, "b e"],
    v: int,
) -> EndSums:
    """Sums over the candidates whose end is each node, weighted by their share."""
    constant = jax.lax.stop_gradient(log_share)
    floor = jnp.full(v, -1e9, jnp.float32)
    peak = jax.vmap(lambda i, x: floor.at[i].max(x))(ends, constant)
    relative = log_share - gather_rows(peak[..., None], ends)[..., 0]
    weight = jnp.where(mask, jnp.exp(jnp.where(mask, relative, 0.0)), 0.0)
    real = mask.astype(jnp.float32)
    columns = [
        real[..., None],
        weight[..., None],
        weight[..., None] * messages,
        (real * jax.lax.stop_gradient(ppr))[..., None],
    ]
    sums = sum_at(jnp.concatenate(columns, axis=-1), ends, v)
    count, total, ppr_sum = sums[..., 0], sums[..., 1], sums[..., -1]
    some = count > 0
    safe = jnp.where(some, total, 1.0)
    return EndSums(
        degree=count,
        share=jnp.where(some, jnp.where(some, peak, 0.0) + jnp.log(safe), -40.0),
        message=sums[..., 2:-1] / safe[..., None],
        ppr=jnp.where(some, ppr_sum / jnp.maximum(count, 1.0), -1e9),
    )
