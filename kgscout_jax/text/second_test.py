"""A second test of values in a question: "the best selling film released before 2010".

The rules are for English.
"""

from __future__ import annotations

from typing import NamedTuple

from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.words import WORD, folded


class SecondTest(NamedTuple):
    """What a question says of values beside its first test."""

    rest: str
    """The question with blanks for its first test."""
    asked: ValueQuestion
    """What the rest wants of values."""


def second_test(question: str, first: ValueQuestion) -> SecondTest | None:
    """The limit of values that a question has beside its first test; None without.

    Args:
        question: the question.
        first: what it wants of values.

    >>> question = "the oldest film released before 2010"
    >>> found = second_test(question, value_question(question, []))
    >>> found.rest, found.asked.limits
    ('the        film released before 2010', ('2010',))
    >>> question = "Films of over 90 minutes released after 2010"
    >>> second_test(question, value_question(question, [])).asked.limits
    ('2010',)
    >>> question = "the oldest film"
    >>> second_test(question, value_question(question, []))
    """
    if first.rival is not None or first.choice:
        return None
    stop = first.stop
    if not stop:
        word = WORD.match(question, first.start)
        if word is None:
            return None
        stop = word.end()
        for limit in first.limits:
            place = folded(question).find(limit, stop)
            stop = place + len(limit) if place >= 0 else stop
    blanks = " " * (stop - first.start)
    rest = question[: first.start] + blanks + question[stop:]
    found = value_question(rest, [])
    if found is None or found.is_superlative or not found.limits:
        return None
    return SecondTest(rest, found)
