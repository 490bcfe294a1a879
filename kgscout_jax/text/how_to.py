"""Questions for a way: "how do I download UniProt", "how is asthma treated"."""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import is_past
from kgscout_jax.text.question_clause import BE, around_topic
from kgscout_jax.text.words import FUNCTION_WORDS

_MODALS = frozenset("do can could should would must might".split())
_DOERS = frozenset("i we you one people somebody someone users anybody anyone".split())

_VAGUE = frozenset("use get make find do go start".split())
"""Verbs that name nothing to be done: "used in" does not say how to use it."""


def how_to(words: Sequence[str]) -> list[str] | None:
    """Words for what is to be done, in order; None for other questions.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> how_to(["how", "do", "i", "cite", TOPIC]), how_to(["how", "to", "use", TOPIC])
    (['cite'], [])
    >>> how_to(["how", "did", TOPIC, "die"]), how_to(["how", "many", "people", "work"])
    (None, None)
    >>> how_to(["how", "is", TOPIC, "inherited"]), how_to(["how", "is", TOPIC])
    (['inherited'], None)
    """
    if words[:2] == ["how", "to"]:
        rest = words[2:]
    elif (
        words[:1] == ["how"]
        and not _MODALS.isdisjoint(words[1:2])
        and not _DOERS.isdisjoint(words[2:3])
    ):
        rest = words[3:]
    elif _is_done(words):
        rest = words[-1:]
    else:
        return None
    vague = FUNCTION_WORDS | _VAGUE | {TOPIC}
    return [each for each in rest if each not in vague]


def _is_done(words: Sequence[str]) -> bool:
    """Whether it asks how something is done to the topic."""
    if (parts := around_topic(words)) is None:
        return False
    before, after = parts
    asks = len(before) == 2 and before[0] == "how" and before[1] in BE
    return asks and len(after) == 1 and is_past(after[0])
