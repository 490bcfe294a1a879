"""Nodes that have the same of something as the topic: the others on Ann's team.

A walk of two steps by one relation, there and back; a policy often stops at the team.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.kind_mask import kind_mask
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.fellow_question import shared_noun
from kgscout_jax.text.stated_relation import all_answer_ends


def fellow_nodes(
    words: Sequence[str],
    topics: Sequence[str],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    possible: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"] | None:
    """The nodes that a question asks for by what they share with its topic.

    What they share is called so by the relation or by its class. None for other
    questions, and where nothing is.

    Args:
        words: of the question, see ``question_tokens``.
        topics: names that it mentions.
        around: its candidates.
        unnamed: True at nodes without a name.
        possible: False at nodes that are no answers.
    """
    noun = shared_noun(words) if len(around.mentions) == 1 else ()
    if not noun:
        return None
    is_topic = around.topic_mask(len(possible))
    ends = all_answer_ends(["the", *noun, "of", TOPIC], around.relations)
    sides = [2 * i + end for i, asked in enumerate(ends) for end in asked]
    out = _there_and_back(sides, is_topic, ~is_topic, around)
    if not out.any():
        kind = kind_mask(f"which {' '.join(noun)}", topics, around, unnamed)
        if kind is None:
            return None
        slots, at = np.nonzero(
            is_topic[around.nodes[:, ::-1]] & kind.called[around.nodes]
        )
        sides = np.unique(2 * around.relation_index[slots] + at).tolist()
        out = _there_and_back(sides, is_topic, kind.called, around)
    out &= possible & ~is_topic
    return out if out.any() else None


def _there_and_back(
    sides: Sequence[int],
    start: Bool[np.ndarray, "v"],
    between: Bool[np.ndarray, "v"],
    around: LocalGraph,
) -> Bool[np.ndarray, "v"]:
    """The nodes that lead by one of the sides where the first nodes do.

    The first side that leads to any counts.

    Args:
        sides: 2 * relation and the end that it leads to.
        start: the first nodes.
        between: True at nodes that they may share.
        around: the candidates.
    """
    out = np.zeros_like(start)
    for side in sides:
        relation, end = divmod(side, 2)
        triplets = around.nodes[around.relation_index == relation]
        middle = np.zeros_like(start)
        middle[triplets[start[triplets[:, 1 - end]], end]] = True
        middle &= between
        out[triplets[middle[triplets[:, end]], 1 - end]] = True
        if (out & ~start).any():
            return out
    return out
