"""How a candidate stands among the words of a question, and how its name is written."""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.link.candidates import Candidate
from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.question_tokens import QuestionTokens
from kgscout_jax.graph.link.stop_words import GRAMMAR, STOP_WORDS
from kgscout_jax.text.question_clause import BE

WHOLE = 0.9
"""Coverage of a name from which all of it is in the question."""
_LOCATIVE = frozenset("in from near at".split())
"""Prepositions before places."""
_JOINT = re.compile(r"\s*(?:,|&|(?:,\s*)?\b(?:and|or)\b)\s*", re.IGNORECASE)
"""What joins two names of one kind."""


def describes(question: QuestionTokens, c: Candidate) -> bool:
    """Whether a form of a name describes the noun behind it: "African countries"."""
    if c.how != "alias":
        return False
    behind = question.words[c.last + 1 : c.last + 2]
    capitals = question.text[c.start].isupper()
    small = (
        c.last + 1 < len(question)
        and question.text[question.starts[c.last + 1]].islower()
    )
    return c.first > 0 and capitals and small and GRAMMAR.isdisjoint(behind)


def is_predicate(question: QuestionTokens, c: Candidate) -> bool:
    """Whether a whole name is what a question says of all that it asks for.

    "Which tasks are done", "players of Ajax who are defenders".
    """
    words = question.words
    before = words[max(c.first - 2, 0) : c.first]
    asks = words[:1] in (["which"], ["what"]) or words[:2] == ["how", "many"]
    asks = asks or before[:1] in (["who"], ["that"], ["which"])  # "players who are"
    behind = c.first > 2 - (words[0] != "how") and before[-1] in BE
    whole = c.how in ("exact", "normalised") and c.likeness >= WHOLE
    return asks and behind and whole and c.last == len(words) - 1


def is_place(question: QuestionTokens, c: Candidate) -> bool:
    """Whether a whole name stands as it is written behind "in"."""
    before = question.words[max(c.first - 1, 0) : c.first]
    content = content_words(question, c) > 0
    return c.how == "exact" and content and not _LOCATIVE.isdisjoint(before)


def are_joined(question: QuestionTokens, one: Candidate, other: Candidate) -> bool:
    """Whether two names stand beside each other: "gold and silver", "gold, silver"."""
    first, last = sorted((one, other), key=lambda c: c.start)
    return _JOINT.fullmatch(question.text[first.stop : last.start]) is not None


def content_words(question: QuestionTokens, c: Candidate) -> int:
    """How many of a candidate's words are no stop words."""
    return sum(w not in STOP_WORDS for w in question.words[c.first : c.last + 1])


def full_match_mask(
    question: QuestionTokens, candidates: list[Candidate]
) -> Bool[np.ndarray, "t"]:
    """True for tokens in a full match of two or more words that are no stop words."""
    mask = np.zeros(len(question), bool)
    for c in candidates:
        words = question.words[c.first : c.last + 1]
        neighbours = question.words[max(c.first - 1, 0) : c.first]
        neighbours += question.words[c.last + 1 : c.last + 2]
        # The name may be longer: "Martin Luther" in "martin luther king".
        closed = all(word in STOP_WORDS for word in neighbours)
        content = sum(word not in STOP_WORDS for word in words)
        if closed and c.likeness >= 0.9 and content >= 2:
            mask[c.first : c.last + 1] = True
    return mask


def is_identifier(index: LinkIndex, c: Candidate) -> bool:
    """Whether a candidate is a whole name without capitals."""
    # Where most words of names have capitals, one without is a common noun.
    if c.how != "exact" or index.share_small < 0.5:
        return False
    name = index.text_of(c.surface)
    return name == name.lower() and any(map(str.isalpha, name))


def is_grammar_code(question: QuestionTokens, index: LinkIndex, c: Candidate) -> bool:
    """Whether a function word is a code that is written otherwise."""
    if c.first < c.last or question.words[c.first] not in GRAMMAR:
        return False
    name = index.text_of(c.surface)
    written = question.text[c.start : c.stop]
    return name.isupper() and len(name) > 1 and written != name


def is_capital(question: QuestionTokens, index: LinkIndex, c: Candidate) -> bool:
    """Whether a name with a capital stands as it is written, not at the start.

    Such as Go in "which Go packages run on macOS", where other words have none.
    """
    written = question.text[c.start : c.stop]
    name = index.text_of(c.surface)
    if c.how != "exact" or not c.first or name != written or name.islower():
        return False
    ends = zip(question.starts, question.stops, strict=True)
    words = [question.text[start:stop] for start, stop in ends]
    return any(map(str.islower, [*words[1 : c.first], *words[c.last + 1 :]]))
