"""Questions for those that lack something: "which tasks have no owner".

The rules are for English.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kgscout_jax.text.kinds import singular
from kgscout_jax.text.words import WORD

_NOUN = r"((?:[a-z]+ ){0,2}?[a-z]+)"
_ASK = (
    r"^\W*(?:(?:which|what|list|show|name|find|how many)"
    r"(?: me)?(?: all)?(?: of)?(?: the)? )?"
)
_NOTHING = re.compile(
    rf"{_ASK}{_NOUN} (?:(?:that )?(?:has|have|had|with) no|without(?: an?| any)?"
    rf"|(?:that )?(?:do|does|did)(?: not|n['’]t) have(?: an?| any)) {_NOUN}\W*$"
)
"""Of the members and of what they lack."""
_NOT = re.compile(
    rf"{_ASK}{_NOUN} (?:that )?(?:do|does|did|are|is|were|was|have|has)"
    r"(?: not|n['’]t)(?: been)? (.+)$"
)


_WHO = frozenset("who whom why when where how which what it there".split())
"""No nouns of members."""


class Absence(NamedTuple):
    """What a question asks for and what that lacks."""

    members: tuple[str, ...]
    """The noun of those that it asks for, in singular."""
    lacking: tuple[str, ...]
    """The noun of what they have none of, in singular; () where a verb is negated."""
    predicate: str
    """What they do not do; "" where they lack something."""


def absence(question: str) -> Absence | None:
    """What a question asks for that lacks something; None for others.

    >>> absence("Which tasks have no due dates?")
    Absence(members=('task',), lacking=('due', 'date'), predicate='')
    >>> absence("Which dishes do not contain egg?")
    Absence(members=('dish',), lacking=(), predicate='contain egg')
    >>> absence("Who is not here?"), absence("Which dish is good?")
    (None, None)
    """
    text = question.casefold()
    nothing, negated = _NOTHING.match(text), _NOT.match(text)
    found = nothing or negated
    if found is None or not _WHO.isdisjoint(found[1].split()):
        return None
    members = singular(WORD.findall(found[1]))
    if nothing is not None:
        return Absence(members, singular(WORD.findall(nothing[2])), "")
    return Absence(members, (), found[2].strip(" ?."))
