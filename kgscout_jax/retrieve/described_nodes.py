"""Nodes that have what the words before the asked noun name.

"Which legendary minions are from Naxxramas" has one topic and asks for those that are
legendary as well, where the graph has ``Legendary`` for a rarity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.types import entity_key

LEAST_HOLDERS = 2
"""Nodes that have an attribute, below which it may be a name."""


def described_nodes(
    question: str,
    topics: Sequence[str],
    around: LocalGraph,
    possible: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"] | None:
    """The possible nodes with every attribute that the question names so; None: it
    names none, or no node has them.

    Those beside a topic, where there are such.

    Args:
        question: the question.
        topics: names that it mentions.
        around: its candidates.
        possible: False at nodes that are no answers.
    """
    asked = asked_kind(question, topics)
    if asked is None or not asked.nouns:
        return None
    words = max(asked.nouns, key=lambda noun: noun.count(" ")).split()[:-1]
    places = {entity_key(name): i for i, name in enumerate(around.names)}
    out, found = possible.copy(), False
    head, tail = around.nodes.T
    is_topic = np.zeros(len(possible), bool)
    is_topic[around.starts] = True
    for word in words:
        place = places.get(entity_key(word))
        if place is None or is_topic[around.used[place]]:
            continue
        holders = np.zeros(len(possible), bool)
        holders[head[tail == around.used[place]]] = True
        if holders.sum() >= LEAST_HOLDERS:
            out, found = out & holders, True
    if not found or not out.any():
        return None
    beside = np.zeros(len(possible), bool)
    beside[tail[is_topic[head]]] = True
    beside[head[is_topic[tail]]] = True
    near = out & beside
    return near if near.any() else out
