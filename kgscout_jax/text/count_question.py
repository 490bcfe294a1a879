"""Questions for the number of answers, in English, whatever words ask for it."""

from __future__ import annotations

import re

_BEGINNING = (
    r"^\W*(?:(?:please|can|could|you|do|know|tell|give|show|find|say|i|we|want|need|to|"
    r"me|us|get|have|what|whats|which|is|was|are|s|d|like|would)\W+)*"
)
"""What may stand before "the number of"."""
_COUNT = re.compile(
    r"\bhow many\b"
    rf"|(?P<number>{_BEGINNING}(?:(?:the|a)\s+)?(?:(?:total|exact|overall)\s+)?"
    r"(?:number\s+of\b|(?:count|tally)\s+of\b(?=\s+(?:all\s+|the\s+)*\w+s\b)))"
    rf"|(?P<count>{_BEGINNING}count\s+(?:up\s+)?(?=(?:the|all|every|each)\b"
    r"|\w+s\s+(?:that|who|which|with|in|on|at|from|of|by|for)\b))",
    re.IGNORECASE,
)


def asks_for_count(question: str) -> bool:
    """Whether the question asks how many there are.

    >>> [asks_for_count(q) for q in ("How many films are there?", "count the films")]
    [True, True]
    >>> asks_for_count("What is the total number of films by Mann?")
    True
    >>> asks_for_count("I need a count of the films"), asks_for_count("Count of Egmont")
    (True, False)
    >>> asks_for_count("What is the atomic number of iron?")
    False
    """
    return _COUNT.search(question) is not None


def as_how_many(question: str) -> str:
    """The question, beginning with "how many" where other words ask for a count.

    >>> as_how_many("Tell me the number of films by Mann")
    'how many films by Mann'
    >>> as_how_many("Count the films")
    'how many the films'
    """
    found = _COUNT.search(question)
    if found is None or found.lastgroup is None:
        return question
    return f"how many {question[found.end() :].lstrip()}"
