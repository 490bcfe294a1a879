"""Nodes that have what the words before the asked noun name.

"Which legendary minions are from Naxxramas" has one topic and asks for those that are
legendary as well, where the graph has ``Legendary`` for a rarity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.shared_nodes import neighbours
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.words import WORD

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
    said = set(map(base_noun, WORD.findall(question.casefold())))
    words = {word for noun in asked.nouns for word in noun.split()[:-1]} & said
    if not words:
        return None
    out, found = possible.copy(), False
    head, tail = around.nodes.T
    is_topic = around.topic_mask(len(possible))
    named = [name in words for name in around.folded_names]
    for node in around.used[named]:
        holders = np.zeros(len(possible), bool)
        holders[head[tail == node]] = True
        if not is_topic[node] and holders.sum() >= LEAST_HOLDERS:
            out, found = out & holders, True
    if not found or not out.any():
        return None
    near = out & neighbours(is_topic, around)
    return near if near.any() else out
