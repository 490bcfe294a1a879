"""Which nodes the topics of a question have in common.

"Which players of Mexico play for Porto" names two things, and asks for what both lead
to. A policy that has not seen a graph often stops at a node that only one of them leads
to. Figures: ``recipes/answer_kinds.py``.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.relation_words import leads_to_role


def shared_nodes(
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    possible: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"] | None:
    """The first of these sets with a possible node; None: there is none.

    Nodes one step from every mention; nodes one step further on; nodes one step from
    one mention and at most two from the others. A record without a name is no step.

    Args:
        around: candidates of the question, in either direction.
        unnamed: True at nodes without a name.
        possible: False at nodes that are no answers.
    """
    if len(around.mentions) < 2:
        return None
    topics = _mention_masks(around, len(unnamed))
    is_topic = topics.any(axis=0)
    possible = possible & ~unnamed & ~is_topic
    for topic in topics:
        members = class_members(topic, around)
        if (members & possible).any():
            possible &= members  # "Which national park is Snowdon in"
    near = np.array([_reached(topic, around, unnamed) for topic in topics])
    shared = near.all(axis=0)
    shared |= neighbours(shared & unnamed, around)
    shared &= ~is_topic
    if (shared & possible).any():
        return shared & possible
    beyond = _reached(shared, around, unnamed) & possible
    if beyond.any():
        return beyond
    far = near | np.array([_reached(each, around, unnamed) for each in near])
    between = far.all(axis=0) & near.any(axis=0) & possible
    holders = between & _holders(np.asarray(is_topic), around)
    if holders.any():
        return holders  # "Which pilot lives in Canada"
    return between if between.any() else None


def called_shared_nodes(
    shared: Bool[np.ndarray, "v"],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    called: Bool[np.ndarray, "v"],
    leading: Bool[np.ndarray, "r"],
) -> Bool[np.ndarray, "v"] | None:
    """Those of shared nodes that are surely what is asked for; None: none is.

    They are called so, and one relation joins them with each mention: "which oil
    paintings hang in Room 3". Or what is so joined leads to them by a relation that is
    called so: the ``customer`` of sales paid by card.

    Args:
        shared: see ``shared_nodes``.
        around: candidates of the question.
        unnamed: True at nodes without a name.
        called: True at nodes that are called what is asked for.
        leading: relations that lead to what is called so.
    """
    topics = _mention_masks(around, len(unnamed))
    near = np.logical_and.reduce([_reached(each, around, unnamed) for each in topics])
    near &= ~topics.any(axis=0)
    found = near & shared & called
    heads, tails = around.nodes.T
    middle = found
    if not found.any():
        slots = near[heads] & shared[tails] & leading[around.relation_index]
        middle, found = np.zeros((2, len(unnamed)), bool)
        middle[heads[slots]] = True
        found[tails[slots]] = True
    for topic in topics:
        joining = (middle[around.nodes] & topic[around.nodes[:, ::-1]]).any(axis=1)
        if len(np.unique(around.relation_index[joining])) != 1:
            return None
    return found if found.any() else None


def are_of_class(nodes: Bool[np.ndarray, "v"], around: LocalGraph) -> bool:
    """Whether one of two mentions is the class of all these nodes, and one relation
    joins them with the other: "which packages are under the MIT License"."""
    if len(around.mentions) != 2:
        return False
    ways = []
    for mention in around.mentions:
        is_topic = np.isin(around.nodes, mention)
        joining = (nodes[around.nodes] & is_topic[:, ::-1]).any(axis=1)
        relations = np.unique(around.relation_index[joining])
        if len(relations) != 1 or joining.sum() < nodes.sum():
            return False
        ways.append(relations[0])
    return int(around.to_class[ways].sum()) == 1


def ways_to_mentions(
    nodes: Bool[np.ndarray, "v"], around: LocalGraph
) -> Int[np.ndarray, "v"] | None:
    """For each node the number of the group whose relations to all mentions are the
    same: no word of the question tells those apart. -1 elsewhere; None without groups.

    Args:
        nodes: what the mentions have in common, see ``shared_nodes``.
        around: candidates of the question.
    """
    if len(around.mentions) < 2:
        return None
    out = np.full(len(nodes), -1)
    ways = []
    for place, mention in enumerate(around.mentions):
        at_mention = np.isin(around.nodes, mention)
        for end in (0, 1):
            slots = np.flatnonzero(at_mention[:, 1 - end] & nodes[around.nodes[:, end]])
            sides = 2 * around.relation_index[slots] + end
            place_of = np.full(len(slots), place)
            ways.append(np.column_stack([around.nodes[slots, end], place_of, sides]))
    found = np.unique(np.concatenate(ways), axis=0)
    groups: dict[tuple[int, ...], int] = {}
    for node in np.unique(found[:, 0]).tolist():
        way = found[found[:, 0] == node, 1:]
        if len(np.unique(way[:, 0])) == len(around.mentions):
            out[node] = groups.setdefault((*way.ravel().tolist(),), len(groups))
    return out if groups else None


def _mention_masks(around: LocalGraph, v: int) -> Bool[np.ndarray, "m v"]:
    """True at the nodes of each mention, a row a mention."""
    topics = np.zeros((len(around.mentions), v), bool)
    for topic, mention in zip(topics, around.mentions, strict=True):
        topic[mention] = True
    return topics


def class_members(
    topic: Bool[np.ndarray, "v"], around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """The nodes that a topic is the class of."""
    head, tail = around.nodes[around.to_class[around.relation_index]].T
    out = np.zeros_like(topic)
    out[head[topic[tail]]] = True
    return out


def _holders(
    topics: Bool[np.ndarray, "v"], around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """Nodes that work as one of the topics."""
    roles = np.array([leads_to_role(each) for each in around.relations], bool)
    heads, tails = around.nodes[roles[around.relation_index]].T
    out = np.zeros_like(topics)
    out[heads[topics[tails]]] = True
    return out


def _reached(
    nodes: Bool[np.ndarray, "v"], around: LocalGraph, unnamed: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """Nodes that are one step from these, or two by a record without a name."""
    reached = neighbours(nodes, around)
    return reached | neighbours(reached & unnamed, around)


def neighbours(
    nodes: Bool[np.ndarray, "v"], around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """Nodes that share a triplet with one of these."""
    out = np.zeros_like(nodes)
    head, tail = around.nodes.T
    out[tail[nodes[head]]] = True
    out[head[nodes[tail]]] = True
    return out
