"""An order of triplets that follows the answer head too, and repeats itself less.

On a graph that a policy has not seen, the triplets with the highest logits are often
many of one kind, and the one that leads on stands behind them: the first halves of
facts that unnamed records hold together, or every film of a director. Two things help.
The odds of a triplet are divided by its rank among those of its relation, those of a
node by its rank among those of its reading (see ``readings``). And the best triplet of
each likely answer moves up, one for every ``PACE`` places, because the answer head
knows of nodes what the logits of triplets do not. Figures: ``recipes/base.md``.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Float64, Int

from kgscout_jax.graph.walk.block_ranking import places
from kgscout_jax.retrieve.readings import node_readings
from kgscout_jax.utils.stable_order import stable_argsort

PACE = 1.5
"""The best triplet of the j-th best node moves to place ``PACE`` times j, about."""
BEFORE = 0.75
"""How much before that: between two places, so that there are no ties."""


def interleaved_logits(
    logits: Float32[np.ndarray, "n"],
    answers: Float32[np.ndarray, "v"],
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    topics: Int[np.ndarray, "t"],
) -> Float32[np.ndarray, "n"]:
    """The logits of the candidates, permuted into this order.

    Args:
        logits: of the candidates.
        answers: logits of the nodes; -inf where there is none.
        nodes: of head and tail of each candidate.
        relation_index: which relation each candidate has.
        topics: nodes that the walk starts from.
    """
    readings = node_readings(logits, nodes, relation_index, topics, len(answers))
    order = descending(discounted(logits, relation_index))
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    best = np.full(len(answers), -1)
    best[nodes[order[::-1]].ravel()] = np.repeat(order[::-1], 2)  # the last one stays
    by_node = best[descending(discounted(answers, readings))]
    by_node = by_node[by_node >= 0]
    _, first = np.unique(by_node, return_index=True)
    moved = by_node[np.sort(first)]
    target = PACE * (np.arange(len(moved)) + 1) - BEFORE
    place[moved] = np.minimum(place[moved], target)
    out = np.empty_like(logits)
    out[stable_argsort(place)] = logits[descending(logits)]
    return out


def discounted(
    logits: Float32[np.ndarray, "n"], groups: Int[np.ndarray, "n"]
) -> Float64[np.ndarray, "n"]:
    """Logits less the log of their rank, from 1, in their group."""
    return logits - np.log(1 + places(groups, np.arange(len(logits)), logits))


def descending(values: Float64[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
    """Positions by value, highest first; the first of equals first."""
    return stable_argsort(-values)
