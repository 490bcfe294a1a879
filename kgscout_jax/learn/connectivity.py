"""The expected connectivity of a selection, from below, differentiable.

Candidates are selected independently, with the inclusion probabilities q_i of
``policy.inclusion``. A path of triplets from a topic to an answer is selected with the
product of their q, and a selection that holds it has at least the connectivity of its
length (thesis, section 3.3.3: 1 for one hop, ``decay`` less for each further one).
So the largest product of that connectivity and those q over all paths

    max over paths p of  (1 - decay (|p| - 1))  prod of q_i over i in p

is at most the expected connectivity: one event instead of the union of all. It is equal
where there is one path, and no sum of several paths' probabilities is, because paths
share triplets. The best path is found by dynamic programming over the candidates, hop
by hop; the gradient is that of its own triplets, through the threshold of all.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.learn.answer_loss import node_mask
from kgscout_jax.policy.inclusion import Inclusion, presence

DECAY = 0.2
"""Connectivity lost per hop beyond the first, as in ``RewardWeights``."""
HOPS = math.ceil(1 / DECAY)
"""Longer paths have no connectivity."""


def connectivity(
    included: Inclusion,
    mask: Bool[Array, "n"],
    nodes: Int[Array, "n 2"],
    topics: Bool[Array, "v"],
    answers: Int[Array, "a"],
    *,
    directed: bool,
) -> Float[Array, ""]:
    """A lower bound of the expected connectivity of one question's selection.

    A topic that is an answer is connected once a triplet that holds it is selected.
    0 where no candidates join a topic with an answer.

    Args:
        included: inclusion probabilities of the candidates.
        mask: True at real candidates.
        nodes: local node ids of head and tail.
        topics: True at the topics' nodes.
        answers: local node ids, -1 as padding.
        directed: paths follow triplets from head to tail only, else both ways.
    """
    v, n = len(topics), len(mask)
    is_answer = node_mask(answers, v)
    source, target, index = nodes[:, 0], nodes[:, 1], jnp.arange(n)
    if not directed:
        source, target = jnp.r_[source, target], jnp.r_[target, source]
        index = jnp.r_[index, index]
    triplet, length = _best_path(
        jax.lax.stop_gradient(included.probability),
        mask,
        (source, target, index),
        topics,
        is_answer,
    )
    chosen = jnp.where(triplet < n, included.probability[triplet % n], 1.0)
    of_path = (1 - DECAY * (length - 1)) * chosen.prod()
    of_path = jnp.where(length > 0, of_path, 0.0)
    held = presence(included.intensity, nodes[:, 0], nodes[:, 1], mask, v)
    of_topic = jnp.where(topics & is_answer, held, 0.0).max()
    return jnp.maximum(of_path, of_topic)


def _best_path(
    probability: Float[Array, "n"],
    mask: Bool[Array, "n"],
    arcs: tuple[Int[Array, "m"], Int[Array, "m"], Int[Array, "m"]],
    topics: Bool[Array, "v"],
    is_answer: Bool[Array, "v"],
) -> tuple[Int[Array, "hops"], Int[Array, ""]]:
    """The triplets of the best path, n beyond its end, and its number of hops.

    0 hops where there is none. ``arcs``: sources, targets, and their triplets.
    """
    source, target, index = arcs
    n, m, v = len(probability), len(source), len(topics)
    weight = jnp.where(mask, probability, 0.0)[index]
    value = topics.astype(jnp.float32)
    came_by, ends = [], []
    for hop in range(HOPS):
        arriving = value[source] * weight
        value = jnp.zeros(v).at[target].max(arriving)
        is_best = (arriving > 0) & (arriving == value[target])
        arc = jnp.full(v, m).at[target].min(jnp.where(is_best, jnp.arange(m), m))
        came_by.append(arc)
        ends.append(jnp.where(is_answer, value, 0.0) * (1 - DECAY * hop))
    flat = jnp.stack(ends).reshape(-1)
    best = jnp.argmax(flat)  # of equal ones the shortest
    length = jnp.where(flat[best] > 0, best // v + 1, 0)
    node = best % v
    triplets = []
    for hop in reversed(range(HOPS)):
        on_path = hop < length
        arc = came_by[hop][node] % m
        triplets.append(jnp.where(on_path, index[arc], n))
        node = jnp.where(on_path, source[arc], node)
    return jnp.stack(triplets), length
