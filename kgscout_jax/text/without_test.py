"""The part of a question that a walk answers, less what it wants of values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgscout_jax.text.question_clause import BE, DO
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.words import WORD

_CLAUSE = re.compile(
    r"[,\s]*\b(?:(?:which|what|that|and|who)\s+)?"
    r"(?:has|have|had|with|whose|is|are|was|were|comes?|by)\b(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
"""The beginning of a clause before a comparing word, which ends the text."""
_FRONTED = re.compile(r"\W*(?P<test>\w+)(?: [^\s,]+){1,3}, ")
"""A test before the question: "Before 1990, which"."""


def without_test(question: str, asked: ValueQuestion, topics: Sequence[str]) -> str:
    """The question without the clause that compares; where a topic is in it, without
    the superlative.

    Args:
        question: the question.
        asked: what it wants of values, see ``value_question``.
        topics: what it calls the entities that it starts from, limits excluded.

    >>> from kgscout_jax.text.value_question_parser import value_question
    >>> question = "Which towns of Italy have a population over 600?"
    >>> asked = value_question(question, ["Italy"])
    >>> without_test(question, asked, ["Italy"])
    'Which towns of Italy'
    >>> question = "What is the largest town in Italy?"
    >>> without_test(question, value_question(question, ["Italy"]), ["Italy"])
    'What is the town in Italy?'
    >>> question = "Before 1990, which towns of Italy were founded?"
    >>> without_test(question, value_question(question, ["Italy"]), ["Italy"])
    'which towns of Italy were founded?'
    >>> question = "Which towns in Italy cover over 90 km2?"
    >>> without_test(question, value_question(question, ["Italy"]), ["Italy"])
    'Which towns in Italy'
    """
    fronted = None if asked.is_superlative else _FRONTED.match(question)
    if fronted is not None and fronted.start("test") == asked.start:
        return question[fronted.end() :]
    before = question[: asked.start]
    clauses = [*_CLAUSE.finditer(before)]
    before = before[: clauses[0].start()] if clauses else before.rstrip(" ,")
    rest, folded = question[asked.start :].casefold(), before.casefold()
    names = [name.casefold() for name in topics]
    if any(name in rest for name in names):
        found = WORD.match(question, asked.start)
        if not asked.is_superlative or asked.word.weak or found is None:
            return question
        return question[: asked.start] + question[found.end() :].lstrip()
    kept = next((name for name in names if name in folded), None)
    return question if kept is None else _without_verb(before, kept)


def _without_verb(text: str, topic: str) -> str:
    """A text less a verb that stands alone behind its topic: "firms in Bern opened".

    Not where the topic does it: "which firms did Ann found".
    """
    place = text.casefold().find(topic)
    stop = place + len(topic)
    before = WORD.findall(text[:place].casefold())
    if (BE | DO).isdisjoint(before) and before[-1:] and before[-1] in PREPOSITIONS:
        return text[:stop] if len(text[stop:].split()) == 1 else text
    return text
