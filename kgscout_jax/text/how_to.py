"""Questions for a way to do something: "how do I download UniProt"."""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
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
    """
    if words[:2] == ["how", "to"]:
        rest = words[2:]
    elif (
        words[:1] == ["how"]
        and not _MODALS.isdisjoint(words[1:2])
        and not _DOERS.isdisjoint(words[2:3])
    ):
        rest = words[3:]
    else:
        return None
    vague = FUNCTION_WORDS | _VAGUE | {TOPIC}
    return [each for each in rest if each not in vague]
