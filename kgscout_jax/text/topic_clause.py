"""A question without the words for its topic: "in Africa", "African".

The rules are for English.
"""

from __future__ import annotations

import re

_BEFORE = re.compile(
    r"\b(?:in|of|from|at|on|with|by|for|within|inside)(?: the| our)? $", re.IGNORECASE
)


def without_topic_clause(question: str, start: int, stop: int) -> str | None:
    """The question without its topic's name and the preposition of it.

    None where the name is not one that tells which ones are meant: neither follows a
    preposition nor stands before a noun.

    Args:
        question: the question.
        start: where the name begins.
        stop: where it ends.

    >>> without_topic_clause("Which town in Ohio has the most bars?", 14, 18)
    'Which town has the most bars?'
    >>> without_topic_clause("Which Thai dishes do not contain egg?", 6, 10)
    'Which dishes do not contain egg?'
    >>> without_topic_clause("Did Ann sing?", 4, 7)
    """
    before, after = question[:start], question[stop:]
    if found := _BEFORE.search(before):
        return f"{before[: found.start()].rstrip()}{after}"
    asks = before.casefold().split()[-1:] in (["which"], ["what"], ["the"], ["many"])
    follows = re.match(r" [a-z]", after) is not None
    return f"{before}{after[1:]}" if (asks or not before) and follows else None
