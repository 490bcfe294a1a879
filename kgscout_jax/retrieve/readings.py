"""How far each node is ahead of the best one that another reading of a question gives.

Two steps along one relation, or one step along another, are two readings of a question.
A policy is sure where one reading stands far above all others, whatever the height: on
a graph that it has not seen all logits are low. Nodes of one reading, such as the
members of a set, do not compete.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.utils.stable_order import stable_argsort

MARGIN = 8.0
"""Margins are cut at this, in logits: beyond it nothing is surer."""
STEPS = 4
"""Nodes further from the topics than this share a distance."""


def answer_margins(
    answers: Float32[np.ndarray, "v"],
    logits: Float32[np.ndarray, "n"],
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    topics: Int[np.ndarray, "t"],
) -> Float32[np.ndarray, "v"]:
    """The logit of each node less that of the best node of another reading.

    At most ``MARGIN`` either way; that, where there is no other reading.

    Args:
        answers: logits of the nodes; -inf where there is none.
        logits: of the candidates.
        nodes: of head and tail of each candidate.
        relation_index: which relation each candidate has.
        topics: nodes that the walk starts from.
    """
    readings = node_readings(logits, nodes, relation_index, topics, len(answers))
    count = int(readings.max(initial=0)) + 1
    peaks = np.full(max(count, 2), -np.inf, np.float32)
    np.maximum.at(peaks, readings, answers)
    second, best = np.argsort(peaks, kind="stable")[-2:]
    rivals = np.where(readings == best, peaks[second], peaks[best])
    margins = np.full(len(answers), -MARGIN, np.float32)
    real = np.isfinite(answers)
    margins[real] = np.clip(answers[real] - rivals[real], -MARGIN, MARGIN)
    return margins


def node_readings(
    logits: Float32[np.ndarray, "n"],
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    topics: Int[np.ndarray, "t"],
    v: int,
) -> Int[np.ndarray, "v"]:
    """The reading that each node belongs to, as an id.

    The relation of its best candidate, the end of it, and the distance from the topics.
    """
    order = stable_argsort(logits)
    relation_end = 2 * relation_index[order, None] + np.array([0, 1])
    of_node = np.zeros(v, np.int64)
    of_node[nodes[order].ravel()] = relation_end.ravel()  # the last one stays
    return of_node * (STEPS + 2) + topic_steps(nodes, topics, v)


def answer_set(
    best: int,
    logits: Float32[np.ndarray, "n"],
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    topics: Int[np.ndarray, "t"],
    stated: Bool[np.ndarray, "v"] | None,
    v: int,
) -> Bool[np.ndarray, "v"]:
    """True at the nodes that may be answers beside the best one.

    Those at the same end of its relation; beside a topic, where that relation joins the
    best one with it. Where the question states the best one, all that it states:
    "parents and children".

    Args:
        best: the node.
        logits: of the candidates; the best one at the node tells its relation.
        nodes: of head and tail of each candidate.
        relation_index: which relation each candidate has.
        topics: nodes that the walk starts from.
        stated: True at nodes that the question states; None: none.
        v: number of nodes.
    """
    out = np.zeros(v, bool)
    at = (nodes == best).any(axis=1)
    if at.any():
        slot = int(np.where(at, logits, -np.inf).argmax())
        side = int(nodes[slot, 1] == best)
        out[_nodes_alike(slot, side, nodes, relation_index, topics)] = True
    if stated is not None and stated[best]:
        out[: len(stated)] |= stated
    out[best] = True
    return out


def joined_alike(
    node: int,
    logits: Float32[np.ndarray, "n"],
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    topics: Int[np.ndarray, "t"],
) -> Int[np.ndarray, "c"] | None:
    """The nodes that a topic has by the relation by which it has a node; None for none.

    Args:
        node: the node.
        logits: of the candidates; the best one that joins the node with a topic tells
            the relation.
        nodes: of head and tail of each candidate.
        relation_index: which relation each candidate has.
        topics: nodes that the walk starts from.
    """
    # A row for each end at which the node stands, with a topic at the other one.
    at = (nodes == node).T & np.isin(nodes, topics)[:, ::-1].T
    if not at.any():
        return None
    slot = int(np.where(at.any(axis=0), logits, -np.inf).argmax())
    side = int(at[1, slot])
    return np.unique(_nodes_alike(slot, side, nodes, relation_index, topics))


def _nodes_alike(
    slot: int,
    side: int,
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    topics: Int[np.ndarray, "t"],
) -> Int[np.ndarray, "m"]:
    """The nodes at one end of a candidate's relation; beside topics, if it joins one.

    Args:
        slot: the candidate.
        side: 0 for heads, 1 for tails.
        nodes: of head and tail of each candidate.
        relation_index: which relation each candidate has.
        topics: nodes that the walk starts from.
    """
    same = relation_index == relation_index[slot]
    if np.isin(nodes[slot, 1 - side], topics):
        same &= np.isin(nodes[:, 1 - side], topics)
    return nodes[same, side]


def topic_steps(
    nodes: Int[np.ndarray, "n 2"], topics: Int[np.ndarray, "t"], v: int
) -> Int[np.ndarray, "v"]:
    """Steps from the nearest topic in either direction; STEPS + 1 for more."""
    steps = np.full(v, STEPS + 1)
    steps[topics] = 0
    head, tail = nodes.T.copy()
    for step in range(1, STEPS + 1):
        before = steps == step - 1
        if not before.any():
            break
        for end, other in ((head, tail), (tail, head)):
            reached = other[before[end]]
            steps[reached[steps[reached] > step]] = step
    return steps
