"""Questions for those that have the most of something: "who directed the most films".

No value says it: what a relation joins is counted. The rules are for English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import singular
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

_HAVE = frozenset("has have had with".split())
_ASKING = frozenset("who which what whose".split())
_BEGINNING = frozenset("is are was were the name tell me show".split())
_BEHIND = re.compile(r" (?:(?:on|in|to|at|of) (?:it|them|here)|here)\W*$")
"""Words behind what is counted: "the most services on it"."""
_NOUN = 3
"""Words of a noun phrase, at most."""


class MostCounted(NamedTuple):
    """What a question asks for and counts; nouns in singular."""

    asked: tuple[str, ...]
    """The noun of what has the most; () for "who"."""
    counted: tuple[str, ...]
    """The noun of what is counted; () for anything: "who wrote the most"."""
    clause: tuple[str, ...]
    """The words of the question with ``TOPIC`` for what is counted; () for "has"."""


def most_counted(question: str) -> MostCounted | None:
    """What a question asks for that names nothing else; None for others.

    >>> most_counted("Which city has the most bridges?")
    MostCounted(asked=('city',), counted=('bridge',), clause=())
    >>> most_counted("Who directed the most films?").clause[:2]
    ('who', 'directed')
    >>> most_counted("What is the country with the most airports?").asked
    ('country',)
    >>> most_counted("Which product is ordered most often?").counted
    ()
    >>> most_counted("Which skill is most common?").asked
    ('skill',)
    >>> most_counted("What is the most common skill?").asked
    ('skill',)
    >>> most_counted("Which city has the most expensive bridge?")
    >>> most_counted("Which city in Ohio has the most bridges?")
    """
    words = WORD.findall(_BEHIND.sub("", question.casefold()))
    if "most" not in words[2:] or words[:2] == ["which", "of"]:
        return None  # "Which of our venues" names what is compared in another way.
    at = words.index("most")
    before, behind = words[:at], words[at + 1 :]
    if behind[:1] in (["common"], ["frequent"]):
        before = before[: -1 if before[-1:] == ["the"] else None]
        if before[:1] not in (["which"], ["what"]) or before[-1:] not in (
            ["is"],
            ["are"],
        ):
            return None
        subject, noun = before[1:-1], behind[1:]
        asked = () if subject and noun else _noun_phrase(subject or noun)
        return MostCounted(asked, (), ()) if asked else None
    if behind in ([], ["often"], ["frequently"]):
        before, counted = before[: -1 if before[-1:] == ["the"] else None], ()
    else:
        counted = _noun_phrase(behind)
        # "The most expensive bridge" is no number of bridges.
        if before[-1:] != ["the"] or not counted or counted[-1] == words[-1]:
            return None
        before = before[:-1]
    has = bool(before) and before[-1] in _HAVE
    start = 0
    while start < len(before) and before[start] in _ASKING | _BEGINNING:
        start += 1
    if has:
        asked = _noun_phrase(before[start:-1])
        bare = start == len(before) - 1 and before[0] == "who"
        return MostCounted(asked, counted, ()) if asked or bare else None
    if not before or before[0] not in ("who", "which", "what"):
        return None
    return MostCounted((), counted, (*before, TOPIC))


def _noun_phrase(words: Sequence[str]) -> tuple[str, ...]:
    """A noun phrase in singular; () for words that are none."""
    if not 0 < len(words) <= _NOUN or (FUNCTION_WORDS | PREPOSITIONS) & {*words}:
        return ()
    return singular(words)
