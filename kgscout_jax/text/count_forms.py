"""Questions for a number in other forms than "how many".

"Acme headcount", "how often did Ann win a prize", "the machine count in Bern".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kgscout_jax.text.claim_forms import ASKS
from kgscout_jax.text.spelling import Correction

_TIMES = re.compile(
    r"^(?P<often>how (?:often|many times)) (?:ha[sd]|have|did|do|does|is|are|was|were) "
    r"(?P<rest>.+?) (?:an?|any) (?P<noun>[a-z]+)\b",
    re.I,
)
"""How often something was done to one of them: how many of them."""
_GROUPS = (
    "team squad crew staff board panel committee department group unit band class "
    "faculty roster lineup membership workforce cast"
).split()
_GROUP = "|".join(_GROUPS)
_DETERMINERS = frozenset(
    "Average Total Maximum Minimum Typical Largest Smallest".split()
)
"""Words before a size or a number that name nothing."""
_BIG = re.compile(
    rf"^how (?:big|large) (?:is|was|are) (?=the .+ (?:{_GROUP})\W*$)", re.I
)
_SIZE = re.compile(rf"^(?P<who>.+?) (?:{_GROUP}) (?P<size>size)\W*$", re.I)
_HEADCOUNT = re.compile(
    r"^(?P<who>.+?)(?: (?P<what>[a-z]+))? (?P<size>(?i:head ?count))\W*$"
)
_NUMBER = re.compile(
    r"^(?P<who>.+?)(?P<number>(?: total)? number of "
    r"(?P<what>(?:[a-z]+(?:ed|al|ive) )?[a-z]+s(?: [a-z]+){0,3}))\W*$",
    re.I,
)
_COUNT = re.compile(r"^(?P<who>.+?) (?P<what>[a-z]+)(?P<count> count)\W*$")
_COUNT_IN = re.compile(
    r"^(?P<asks>(?:what(?:['’]s| is) )?(?:the )?(?P<what>[a-z]+) count) (?=in|at|on)",
    re.I,
)
"""The number of what is somewhere: "the machine count in Bern"."""


def count_forms(question: str, says: Callable[[str], bool]) -> list[Correction]:
    """What stands in a question for a number for "how many"; [] for others.

    Args:
        question: the question.
        says: whether a relation of the graph is called by a word.

    >>> from kgscout_jax.text.spelling import corrected
    >>> corrected(text := "Acme headcount", count_forms(text, lambda _: False))
    'how many members does Acme have'
    """
    if times := [] if says("frequency") else _times(question):
        return times
    if (match := _BIG.match(question)) and not says("size"):
        return [Correction(0, match[0], "how many people are on ")]
    for form in (_SIZE, _HEADCOUNT):
        match = form.match(question)
        if match and _is_name(match["who"]) and not says(match["size"].casefold()):
            counted = match.groupdict().get("what") or "member"
            return _how_many(question, _plural(counted), match.end("who"))
    match = _NUMBER.match(question)
    if match and _is_name(match["who"]) and not says("number"):
        return _how_many(question, match["what"], match.end("who"))
    match = _COUNT_IN.match(question)
    if match and not says("count"):
        counted = _plural(match["what"])
        return [Correction(0, match["asks"], f"how many {counted} are")]
    match = _COUNT.match(question)
    if match and _is_name(match["who"]) and not says("count"):
        return _how_many(question, _plural(match["what"]), match.end("who"))
    return []


def _how_many(question: str, counted: str, end: int) -> list[Correction]:
    """Corrections of "Acme number of sales", where the name ends at ``end``."""
    return [
        Correction(0, "", f"how many {counted} does "),
        Correction(end, question[end:], " have"),
    ]


def _plural(noun: str) -> str:
    """The plural of a noun.

    >>> _plural("species"), _plural("prize")
    ('species', 'prizes')
    """
    from lemminflect import getInflection  # takes long to load

    return (getInflection(noun.casefold(), "NNS") or (f"{noun}s",))[0]


def _times(question: str) -> list[Correction]:
    """Corrections of a question how often something happened."""
    if (match := _TIMES.match(question)) is None:
        return []
    end = match.end("rest")
    return [
        Correction(0, match["often"], f"how many {_plural(match['noun'])}"),
        Correction(end, question[end : match.end("noun")], ""),
    ]


def _is_name(text: str) -> bool:
    """Whether words at the beginning of a question may be a name: "Data Ops".

    Not "average" or "the director with the highest", and no question word.
    """
    last = text.split()[-1:]
    capital = bool(last) and (last[0][0].isupper() or any(map(str.isdigit, last[0])))
    return capital and not (ASKS.match(text) or text.split()[0] in _DETERMINERS)
