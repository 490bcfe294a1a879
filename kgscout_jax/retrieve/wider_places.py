"""The country or continent that a topic lies in, where no word says the way to it.

"Which country is the band from" is answered two steps away by graphs that know the city
of a band and the country of a city.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.text.asked_kind import AskedKind
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.place_names import place_kinds
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.words import question_words

_WIDE = frozenset("country nation continent".split())
_VAGUE = frozenset(
    "lie lies lying come comes came coming located situated found held based set from "
    "belong belongs stand stands place".split()
)
"""Words that say no more than that something is somewhere."""
_STEPS = 3


def wider_place(
    question: str,
    topics: Sequence[str],
    asked: AskedKind | None,
    around: LocalGraph,
    called: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"] | None:
    """The one country or continent that the fewest steps lead to from heads to tails.

    None for other questions, where words say another way, and where there are several.

    Args:
        question: the question.
        topics: names that it mentions.
        asked: the kind of answer that it asks for.
        around: its candidates.
        called: True at nodes that are called so by a relation or a class; where there
            are none, names tell.
    """
    if asked is None or asked.nouns.isdisjoint(_WIDE) or len(around.mentions) != 1:
        return None
    words = [word.text for word in question_words(question, topics)]
    if any(w not in _VAGUE and base_noun(w) not in asked.nouns for w in words):
        return None
    if not called.any():
        known = [
            not asked.nouns.isdisjoint(place_kinds(n)) for n in around.folded_names
        ]
        called = np.zeros_like(called)
        called[around.used[np.array(known, bool)]] = True
    placing = np.array([_is_placing(each) for each in around.relations], bool)
    for steps in (placing, np.ones_like(placing)):
        nearest = _nearest(steps, around, called)
        if nearest.any():
            return nearest if nearest.sum() == 1 else None
    return None


def _is_placing(relation: str) -> bool:
    """Whether a relation says where something is or is from."""
    words = relation_words(relation)
    return (
        needs_no_word(relation)
        or words[-1:] in (["from"], ["in"], ["at"])
        or words[-2:] == ["part", "of"]
    )


def _nearest(
    steps: Bool[np.ndarray, "r"], around: LocalGraph, called: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """Those of the nodes that the fewest steps from heads to tails lead to."""
    seen = around.topic_mask(len(called))
    wanted = called & ~seen
    heads, tails = around.nodes[steps[around.relation_index]].T
    for _ in range(_STEPS):
        reached = np.zeros_like(seen)
        reached[tails[seen[heads]]] = True
        if (reached & wanted).any():
            return reached & wanted
        seen |= reached
    return np.zeros_like(seen)
