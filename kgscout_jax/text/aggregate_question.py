"""Questions for a number over many values: "the average salary in Engineering".

The rules are for English.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from kgscout_jax.text.kinds import singular
from kgscout_jax.text.relation_words import PREPOSITIONS, split_words
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

Function = Literal["mean", "median", "sum"]
_FUNCTIONS: dict[str, Function] = {
    "average": "mean", "mean": "mean", "median": "median", "total": "sum",
    "combined": "sum", "sum": "sum",
}  # fmt: skip
_FILLERS = frozenset("all each every the of their".split())
_BEFORE = FUNCTION_WORDS | frozenset("high large big calculate compute show".split())
MOST_WORDS = 3
"""Words of what is added up."""


class AggregateQuestion(NamedTuple):
    """What a question wants of many values."""

    function: Function
    word: str
    """What the question calls it."""
    measure: tuple[str, ...]
    """The words for the values, in singular."""
    rest: str
    """What follows: whose values they are; "" for all."""


def aggregate_question(question: str) -> AggregateQuestion | None:
    """What a question wants of many values; None for other questions.

    >>> found = aggregate_question("What is the average salary of the pilots in Rome?")
    >>> found.function, found.measure, found.rest
    ('mean', ('salary',), 'of the pilots in Rome')
    >>> aggregate_question("What is the total budget?").rest
    ''
    >>> aggregate_question("What is the average number of pages in 1990?").measure
    ('page',)
    >>> aggregate_question("Who is the average student?")
    """
    words = [*WORD.finditer(question)]
    texts = [word[0].casefold() for word in words]
    at = next((i for i, text in enumerate(texts) if text in _FUNCTIONS), None)
    if at is None or at == 0 or not {*texts[:at]} <= _BEFORE or "who" in texts[:at]:
        return None
    first = at + 1
    while first < len(texts) and texts[first] in _FILLERS:
        first += 1
    if texts[first : first + 2] in (["number", "of"], ["amount", "of"]):
        first += 2
    last = first
    while last < len(texts) and texts[last] not in FUNCTION_WORDS | PREPOSITIONS:
        last += 1
    if not 0 < last - first <= MOST_WORDS:
        return None
    measure = [part for text in texts[first:last] for part in split_words(text)]
    rest = question[words[last - 1].end() :].strip(" ?.!")
    return AggregateQuestion(_FUNCTIONS[texts[at]], texts[at], singular(measure), rest)
