"""The words of a question, and how far each stands from the topic's name.

Sentence embeddings blur questions over several relations. Each word, embedded by
itself, can be compared with each relation: "directed" with ``directed_by``. The words
next to the topic's name mostly speak of the first relation, those further off of later
ones ("the capital of the country of Rockhampton Airport").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgscout_jax.types import Question

WORDS = 16
"""Words of a question that are kept: the first ones that no topic's name contains."""
WORD = re.compile(r"[^\W_]+")
ARTICLES = frozenset(("the", "a", "an"))
PARTICLES = frozenset("a an and at by for from in is of on or s the to with".split())
"""Words that do not make a place a mention of a topic whose name holds them."""
FUNCTION_WORDS = PARTICLES | frozenset(
    "all any are as be been can could did do does give had has have he her his how i "
    "if it its know list me my name not or please she some tell than that their them "
    "there these they this those us want was we were what when where which who whom "
    "whose why will would you your".split()
)
"""Words that name no relation."""


def folded(text: str) -> str:
    """A text casefolded, each character by one: places in it are those in the text.

    >>> folded("GROSSE Straße"), len(folded("İzmir"))
    ('grosse straße', 5)
    """
    if text.isascii():
        return text.lower()
    pairs = ((each, each.casefold()) for each in text)
    return "".join(low if len(low) == 1 else each.lower()[:1] for each, low in pairs)


def name_span(text: str, name: str) -> tuple[int, int] | None:
    """Where a text first has a name, in any case; None where it has not.

    >>> name_span("is BERN in Bern", "Bern"), name_span("is it", "Bern")
    ((3, 7), None)
    """
    start = folded(text).find(folded(name))
    return None if start < 0 else (start, start + len(name))


class QuestionWord(NamedTuple):
    """A word of a question."""

    text: str
    """Casefolded."""
    distance: int
    """Words from the nearest word of a topic's name, negative before it; 0: unknown."""


def question_words(text: str, topics: Sequence[str]) -> list[QuestionWord]:
    """The first ``WORDS`` words that no topic's name contains, in their order."""
    words = WORD.findall(text.casefold())
    of_topics = {w for topic in topics for w in WORD.findall(topic.casefold())}
    mentions = [i for i, w in enumerate(words) if w in of_topics and w not in PARTICLES]
    out = []
    for i, word in enumerate(words):
        if word in of_topics and (word not in PARTICLES or _beside(i, mentions)):
            continue
        if word in FUNCTION_WORDS:
            continue
        nearest = min(mentions, key=lambda m: abs(m - i), default=i)
        out.append(QuestionWord(word, i - nearest))
    return out[:WORDS]


def distinct_words(questions: Iterable[Question]) -> set[str]:
    """The words of questions, see ``question_words``."""
    return {
        word.text
        for question in questions
        for word in question_words(question.text, question.topics)
    }


def _beside(place: int, mentions: Sequence[int]) -> bool:
    """Whether the word stands between two words of a topic's name, or next to one."""
    return place - 1 in mentions and place + 1 in mentions
