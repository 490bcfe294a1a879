"""The word by which a question negates: "who does not work at Acme".

A walk finds what is joined to a topic, never what is not. The rules are for English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgscout_jax.text.relation_words import split_words

_WORD = re.compile(
    r"\b(?:not|never|cannot|neither|nor|without|nobody|none|no)\b|\w*n['’]t\b",
    re.IGNORECASE,
)
_IDIOMS = re.compile(
    r"\"[^\"]*\"|[“«][^”»]*[”»]|\([^)]*\)"  # what somebody said, a title
    r"|\b(?:whether\s+)?or\s+not\b|\bnot\s+only\b|\byes\s+or\s+no\b|\bnone\s+other\b"
    r"|\bno\.?\s*\d"
    # what one should not do is a fact of its own: interacts with, is forbidden in
    r"|\b(?:should|must|may|ought)\s*(?:not\b|n['’]t\b)"
    # "..., isn't it?", "I don't know who"
    r"|,\s*\w+n['’]t\s+\w+\W*$"
    r"|\bi\b[^,.?]{0,12}(?:\bnot|n['’]t)\s+(?:know|remember|recall|sure|certain)\b",
    re.IGNORECASE,
)
"""Where such words negate nothing that is asked for."""
_NOT = re.compile(r"not\b|cannot\b|n['’]t\b", re.IGNORECASE)


def has_negating_word(question: str) -> bool:
    """Whether a word may negate the question; ``negation_of`` tells if one does."""
    return _WORD.search(question) is not None


def negation_of(
    question: str, names: Sequence[tuple[int, int]], relations: Sequence[str]
) -> str:
    """The first word that negates the question; "" where none does.

    Words of names, and those of a relation that is itself negated, do not.

    >>> negation_of("Who doesn't work at Acme?", [], []), negation_of("Who is?", [], [])
    ("doesn't", '')

    Args:
        question: the question.
        names: the spans of what it names.
        relations: names of the relations around.
    """
    spans = [*names, *(match.span() for match in _IDIOMS.finditer(question))]
    for match in _WORD.finditer(question):
        word, start = match.group(), match.start()
        if any(begin <= start < end for begin, end in spans):
            continue
        named = word[0].isupper() and not word.isupper()
        if named and question[:start].strip(" \"'«“(¿"):
            continue  # a name that is no topic: a film called No Exit
        spelled = "not" if _NOT.search(word) else word.casefold()
        if not any(spelled in split_words(relation) for relation in relations):
            return word
    return ""
