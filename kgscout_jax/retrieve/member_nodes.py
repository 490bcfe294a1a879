"""Nodes of a kind that are joined with the one topic: "which countries are in X"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.members_question import members_noun


def member_nodes(
    words: Sequence[str], around: LocalGraph, called: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"] | None:
    """The nodes that a question asks for which names no more than their kind.

    None for other questions, and where several relations join them with the topic.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
        called: True at nodes that are called what is asked for.
    """
    if len(around.mentions) != 1 or not members_noun(words):
        return None
    is_topic = np.zeros_like(called)
    is_topic[around.starts] = True
    meant = called & ~is_topic
    slots, ends = np.nonzero(meant[around.nodes] & is_topic[around.nodes[:, ::-1]])
    if len(np.unique(2 * around.relation_index[slots] + ends)) != 1:
        return None
    out = np.zeros_like(called)
    out[around.nodes[slots, ends]] = True
    return out
