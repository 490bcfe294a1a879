"""Whether names are written as numbers or dates, in whatever country's way."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.text.words import WORD

_NUMBER = re.compile(r"[+-]?\d[\d,. ]*(?:[eE][+-]?\d{1,3})?")
NUMBER_START = frozenset("+-0123456789")
"""What numbers and dates begin with."""
_DAY = r"\d{3,4}-\d\d(?:-\d\d)?"
_YEAR = r"(?:1\d|2[01])\d\d"
_DATED = re.compile(
    rf"(?<![\d.,])(?<![A-Z]_)(?:{_DAY}(?!\d)|{_YEAR}(?![.,]?\d|-\d{{3}})|\d\d?[./]\d\d?[./]\d{{2,4}}\b"
    r"|\d?\d:\d\d\b)"
)
_MOMENT = re.compile(rf"[+-]?{_DAY}(?:T[\d:.Z+-]*)?")
_TIME_WORDS = frozenset(
    "january february march april may june july august september october november "
    "december monday tuesday wednesday thursday friday saturday sunday weekday weekend "
    "mon tue tues wed weds thu thur thurs fri sat sun jan feb mar apr jun jul aug sep "
    "sept oct nov dec spring summer autumn fall winter morning noon afternoon evening "
    "night midnight daily weekly monthly yearly annually".split()
)
_BETWEEN_TIMES = frozenset("early late mid to and or from until every on in of".split())


def is_numeral(name: str) -> bool:
    """Whether a name is a number, in the notation of whatever country."""
    return _NUMBER.fullmatch(name.strip()) is not None


def is_value(name: str) -> bool:
    """Whether a name is a number, or a date as computers write it."""
    if name.lstrip()[:1] not in NUMBER_START:
        return False
    return is_numeral(name) or is_moment(name)


def is_moment(name: str) -> bool:
    """Whether a name is a date as computers write it, with a time or without."""
    return _MOMENT.fullmatch(name.strip()) is not None


def value_mask(names: Sequence[str]) -> Bool[np.ndarray, "n"]:
    """``is_value`` of each name."""
    # Signs and digits come before this character.
    return np.array([name < ":" and is_value(name) for name in names], bool)


def is_dated(name: str) -> bool:
    """Whether a name holds a date, a year or a time of the day, or is one of the year.

    >>> [is_dated(name) for name in ("1815-12-10", "2008 NBA Finals", "Bern", "12,000")]
    [True, True, False, False]
    >>> is_dated("23:40"), is_dated("late spring"), is_dated("Hot Springs")
    (True, True, False)
    """
    if _DATED.search(name):
        return True
    words = {word.removesuffix("s") for word in WORD.findall(name.casefold())}
    return not words.isdisjoint(_TIME_WORDS) and words <= _TIME_WORDS | _BETWEEN_TIMES
