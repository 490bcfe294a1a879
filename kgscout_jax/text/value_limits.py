"""Limits of values in a question: numbers, quantities, dates, and intervals of them."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from kgscout_jax.text.units import UNITS
from kgscout_jax.text.values import (
    CURRENCIES,
    SCALE,
    WRITTEN_DATE,
    is_date,
    is_number,
    is_year,
    value_of,
)

_UNIT = "|".join(sorted(UNITS.keys() - {"b"}, key=len, reverse=True))
"""Units that a question may write; a number with a b may be of billions."""
_PLAIN = (
    r"(?:\d{1,3}(?:,\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f]\d{3})+|"
    r"\d{1,3}(?:\.\d{3}){2,}|\d+)(?:\.\d+)?"
)
LIMIT = re.compile(
    rf"(?<![\w.,/:-])(?:{WRITTEN_DATE}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}|"
    r"\d{1,2}/\d{1,2}/\d{4}|\d{4}/\d\d?/\d\d?|"
    r"\d{1,2}:\d\d(?::\d\d)?|"
    rf"[{CURRENCIES}]{_PLAIN}[kmb]|"
    rf"[+-]?(?:\d{{4}}-\d\d(?:-\d\d)?|{_PLAIN}(?: ?(?:{SCALE}))?(?: ?(?:{_UNIT}))?))"
    r"(?![\w/-]|[.,:]\d)"
)
"""A limit in a casefolded question."""
UP_TO = re.compile(rf"\bup to (?=[{CURRENCIES}]?(?:{LIMIT.pattern}))")
"""What stands before the highest value."""
_SCALE = re.compile(rf"(?:{SCALE})\b")
_LAST_UNIT = re.compile(rf"(?<=[\d ])(?:{_UNIT})$")
_AT_TIME = re.compile(r"\b(?:in|during)(?: the year)? $|\bon $")
_HAS = re.compile(r"\b(?:has|have|had|having|with) ((?:exactly )?)$")
NUMBER_WORDS = {
    word: n
    for n, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve".split(), 2
    )
}
_NUMBER_WORD = "|".join(NUMBER_WORDS)
_HAS_WORD = re.compile(
    rf"\b(?:has|have|had|having|with) ((?:exactly )?)({_NUMBER_WORD})(?= (?!as\b)[a-z])"
)
_WORD_LIMIT = re.compile(
    rf" (?:than |least |most )?({_NUMBER_WORD})( (?:{_UNIT})\b)?(?: ?[a-z]|\W*$)"
)
_NOUN = re.compile(r" (?!as\b)[a-z]")
_BETWEEN = re.compile(r"\b(between|from)(?: the years?)? $")
_DECADE = re.compile(r"\b(?:in|during|from) the ((?:1[5-9]|20)\d)0s\b")
_BETWEEN_AND = {"between": ("and",), "from": ("to", "until", "till")}


class Interval(NamedTuple):
    """An interval that a question names, its ends included."""

    limits: tuple[str, str]
    """The lowest and the highest value as they are written."""
    start: int
    """Where it begins in the text, with its preposition."""
    stop: int
    is_time: bool
    """Whether it is one time: "in 2003"."""


def word_limit(text: str, start: int) -> str:
    """What a word for a number says right behind a comparing one; "" for none.

    Args:
        text: a casefolded question.
        start: where the comparing word ends.

    >>> word_limit("plays of more than three acts", 13), word_limit("over 3 acts", 4)
    ('3', '')
    >>> word_limit("over two hours", 4)
    '2 hours'
    """
    found = _WORD_LIMIT.match(text, start)
    return f"{NUMBER_WORDS[found[1]]}{found[2] or ''}" if found else ""


def interval(text: str) -> Interval | None:
    """The first interval of a casefolded question; None without such.

    >>> interval("which films were released in may 2003?").limits
    ('may 2003', 'may 2003')
    >>> interval("the towns with between 600 and 2,000 people").limits
    ('600', '2,000')
    >>> interval("the towns with between 1 and 2 million people").limits
    ('1 million', '2 million')
    >>> interval("which planets have 2 moons?").limits
    ('2', '2')
    >>> interval("which planets have two moons?").limits
    ('2', '2')
    >>> interval("which books were published in the 1960s?").limits
    ('1960', '1969')
    >>> interval("the country in which 2003 people live")
    """
    if decade := _DECADE.search(text):
        limits = f"{decade[1]}0", f"{decade[1]}9"
        return Interval(limits, decade.start(), decade.end(), True)
    found = [*LIMIT.finditer(text)]
    for limit, following in itertools.zip_longest(found, found[1:]):
        before = text[: limit.start()].rstrip(CURRENCIES)
        if following is not None and (opening := _BETWEEN.search(before)):
            joint = text[limit.end() : following.start()].rstrip(CURRENCIES).split()
            if joint in [[word] for word in _BETWEEN_AND[opening[1]]]:
                ends = (_in_unit_of(limit[0], following[0]), following[0])
                return Interval(ends, opening.start(), following.end(), False)
        if (has := _HAS.search(before)) and _NOUN.match(text, limit.end()):
            return Interval((limit[0], limit[0]), has.start(1), limit.end(), False)
        if (at := _AT_TIME.search(before)) and (is_year(limit[0]) or is_date(limit[0])):
            return Interval((limit[0], limit[0]), at.start(), limit.end(), True)
    if word := _HAS_WORD.search(text):
        number = str(NUMBER_WORDS[word[2]])
        return Interval((number, number), word.start(1), word.end(), False)
    return None


def _in_unit_of(low: str, high: str) -> str:
    """The lower limit with the scale and the unit of the higher one, where it has none.

    In "between 1 and 2 million", "from 500 to 800 thousand" and "between 8 and 64 GB",
    but not in "between 90,000 and 2 million".
    """
    scale, unit = _SCALE.search(high), _LAST_UNIT.search(high)
    if not is_number(low) or (scale and value_of(low) >= 1000):
        return low
    ends = (low, scale and scale[0], unit and unit[0])
    return " ".join(each for each in ends if each)
