"""Questions about the one that values choose among what a topic leads to.

"What is the capital of the largest country in Africa" asks first which country that is,
and then for its capital. The rules are for English.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kgscout_jax.text.compared_phrase import asks_behind, compared_phrase
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.value_question import value_question
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

_PASSED = FUNCTION_WORDS | PREPOSITIONS
_RELATIVE = re.compile(r" (?:that|which|who|whose) ")
_END = re.compile(r"\W*$")


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
    head = question[:start]
    content = [m for m in WORD.finditer(head) if m[0].casefold() not in _PASSED]
    if not content:
        return None
    begin, end = content[-1].end(), stop
    if relative := [*_RELATIVE.finditer(head, content[0].end())]:
        begin = relative[-1].start()  # "that borders Chad"
    asked = value_question(question[:begin] + question[stop:], [])
    if asked is None or not asked.is_superlative:
        return None
    if asked.start < begin and not asks_behind(question, asked.start):
        end = _END.search(question).start()  # type: ignore[union-attr]
    clause, short = question[begin:end], question[:begin] + question[end:]
    phrase = compared_phrase(short, asked, keys)
    # The clause says more of what is compared, or stands at its end.
    if phrase is None or not phrase.start < begin <= phrase.stop:
        return None
    if asked.word.of_amount and short[phrase.start : asked.start].strip() == "the":
        return None  # "the most awards in 1990" are no award
    whole = short[phrase.start : begin] + clause + short[begin : phrase.stop]
    return NestedQuestion(
        f"Which {phrase.noun} is {whole}?", short[: phrase.start], short[phrase.stop :]
    )
