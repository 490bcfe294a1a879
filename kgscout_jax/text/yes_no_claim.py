"""Questions of yes or no that name one entity: "is Acme profitable".

What the walk finds is seldom meant: no word says profit, so nothing answers. "Is Acme
listed on an exchange" is answered by the exchanges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kgscout_jax.text.question_clause import BE, DO, around_topic
from kgscout_jax.text.question_noun import noun_of_topic
from kgscout_jax.text.relation_words import PREPOSITIONS

_VERBS = BE | DO | {"could"}
_ARTICLES = frozenset(("a", "an"))
_ANY = frozenset("people anyone anybody anything someone somebody something".split())


class YesNoClaim(NamedTuple):
    """What a question of yes or no says of its one topic."""

    predicate: str
    """The adjective or noun that it ends with; "" where there is none."""
    unanswerable: bool
    """Whether no triplet answers: it asks whether the topic is one of a class, or like
    something unknown."""


def yes_no_claim(words: Sequence[str]) -> YesNoClaim | None:
    """The claim; None for other questions, "is there" and "does X have a R".

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> yes_no_claim(["is", TOPIC, "profitable"])
    YesNoClaim(predicate='profitable', unanswerable=False)
    >>> yes_no_claim(["is", TOPIC, "listed", "on", "an", "exchange"]).predicate
    ''
    >>> yes_no_claim(["is", TOPIC, "a", "company"]).unanswerable
    True
    >>> yes_no_claim(["does", TOPIC, "have", "a", "mascot"])
    """
    if (parts := around_topic(words)) is None:
        return None
    before, after = parts
    if not before or before[0] not in _VERBS:
        return None
    is_state = before[0] in BE
    if before[1:2] == ["there"] or (noun_of_topic(words) and not is_state):
        return None
    if "same" in after:  # "do Acme and Zzyzx have the same owner"
        return YesNoClaim("", True)
    if not after or after[-1] in _ANY or not PREPOSITIONS.isdisjoint(after):
        return YesNoClaim("", False)
    of_class = is_state and len(before) == 1 and after[0] in _ARTICLES
    return YesNoClaim(after[-1], of_class)
