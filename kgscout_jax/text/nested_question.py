"""Questions about the one that values choose among what a topic leads to.

"What is the capital of the largest country in Africa" asks first which country that is,
and then for its capital. The rules are for English.
"""

from __future__ import annotations

from typing import NamedTuple

from kgscout_jax.text.compared_phrase import asks_behind, compared_phrase, phrase_end
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

_ASKING = frozenset(
    "who whom whose what which where when how name list give find show tell".split()
)
_PASSED = FUNCTION_WORDS | PREPOSITIONS


class NestedQuestion(NamedTuple):
    """A question of two steps."""

    inner: str
    """The question for what is compared."""
    before: str
    after: str
    """What the question asks about that, before and behind its name."""

    def outer(self, name: str) -> str:
        """The question about the one that is found."""
        return f"{self.before}{name}{self.after}"


def nested_question(
    question: str, topic: tuple[int, int], keys: frozenset[str]
) -> NestedQuestion | None:
    """The two steps of a question; None for one of a single step.

    Args:
        question: the question.
        topic: where the name of its one topic begins and ends.
        keys: of words of the relations that may be compared, see ``word_key``.

    >>> question = "What is the capital of the largest country in Africa?"
    >>> found = nested_question(question, (46, 52), frozenset({"popul"}))
    >>> found.inner, found.outer("Chad")
    ('Which country is the largest country in Africa?', 'What is the capital of Chad?')
    >>> question = "What is the largest country in Africa?"
    >>> nested_question(question, (31, 37), frozenset({"popul"}))
    """
    start, stop = topic
    asked = value_question(
        question[:start] + " " * (stop - start) + question[stop:], []
    )
    if asked is None or not asked.is_superlative:
        return None
    if asked.word.weak and not question[: asked.start].casefold().endswith("the "):
        return None  # "when did the head of the league first win"
    if asked.start < start:  # "the largest country in Africa"
        begin, end = phrase_end(question, asked.start), stop
        if not asks_behind(question, asked.start):
            end = len(question.rstrip(" ?.!"))
    else:  # "the country in Africa with the largest population"
        words = [*WORD.finditer(question[:start])]
        named = [m for m in words if m[0].casefold() not in _PASSED]
        begin, end = named[-1].end() if named else start, stop
    clause, short = question[begin:end], question[:begin] + question[end:]
    asked = value_question(short, [])
    if begin > start or asked is None:
        return None
    phrase = compared_phrase(short, asked, keys)
    # The clause says more of what is compared, or stands at its end.
    if phrase is None or not phrase.start < begin <= phrase.stop:
        return None
    if asked.word.of_amount and short[phrase.start : asked.start].strip() == "the":
        return None  # "the most awards in 1990" are no award
    asking, rest = (
        {*WORD.findall(part.casefold())} & _ASKING
        for part in (short[: phrase.start], short[phrase.stop :])
    )
    if not asking or rest:
        return None  # "among the firms in Peru, which is the oldest"
    whole = short[phrase.start : begin] + clause + short[begin : phrase.stop]
    return NestedQuestion(
        f"Which {phrase.noun} is {whole}?", short[: phrase.start], short[phrase.stop :]
    )
