"""Numbers and dates, however they are written: 1990-09-17 is 17 September 1990.

A statement may say less than the graph ("born in 1990"), or bound what it says ("before
1995", "more than 30,000"). What it says more precisely than the graph is open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Comparison = Literal["same", "differs", "open"]
ABOUT = 0.05
"""Relative difference up to which a number is about another."""

_MONTHS: dict[str, int] = {
    name: number
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1
    )
}
_MONTH = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<{}>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<{}>\d{{4}})"
_DATES = (
    rf"{_DAY.format('d1')}(?:\s+of)?\s+{_MONTH.format('m1')},?\s+{_YEAR.format('y1')}"
    rf"|{_MONTH.format('m2')}\s+{_DAY.format('d2')},?\s+{_YEAR.format('y2')}"
    rf"|{_MONTH.format('m3')},?\s+{_YEAR.format('y3')}"
    rf"|\+?{_YEAR.format('y4')}-(?P<m4>\d\d)(?:-(?P<d4>\d\d))?(?:[T ]\d\d:[\d:.]+Z?)?"
    rf"|(?P<d5>\d\d?)(?P<s5>[./])(?P<m5>\d\d?)(?P=s5){_YEAR.format('y5')}"
)
_NUMBER = (
    r"(?P<currency>[$€£])?(?P<number>[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    r"(?:\s*(?P<scale>thousand|million|billion|trillion)\b|(?P<percent>\s*%))?"
)
_VALUE = re.compile(rf"(?<![\w.,/:−-])(?:{_DATES}|{_NUMBER})(?!\w|[.,:/-]\d|-\w)", re.I)
_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_UNIT = re.compile(r"\s*[-\s]?\s*(?P<unit>[^\W\d]+(?:[ /][^\W\d]+)?|°\w)?\s*", re.I)
_BOUND = re.compile(
    r"(?:\b(?P<less>before|earlier than|under|below|(?:less|fewer) than|at most|up to)"
    r"|\b(?P<more>after|later than|over|above|(?:more|greater) than|at least)"
    r"|\b(?P<about>about|around|approximately|roughly|nearly|almost|circa|ca\.))"
    r"(?:\s+the\s+year)?\s*$",
    re.I,
)


@dataclass(frozen=True, kw_only=True)
class Value:
    """A number or a date; a number of four digits may be a year."""

    number: float | None = None
    year: int | None = None
    month: int | None = None
    day: int | None = None
    unit: str = ""


def find_values(text: str) -> Iterator[tuple[int, int, Value]]:
    """The values in a text with the spans that they take."""
    for match in _VALUE.finditer(text):
        if (value := _value(match)) is not None:
            yield match.start(), match.end(), value


@lru_cache(maxsize=100_000)
def parse_value(name: str) -> Value | None:
    """The value that a name is, with its unit if it has one; None for other names.

    >>> parse_value("28 hours")
    Value(number=28.0, year=None, month=None, day=None, unit='hours')
    """
    name = name.strip()
    match = _VALUE.match(name)
    if match is None or (value := _value(match)) is None:
        return None
    rest = _UNIT.fullmatch(name, match.end())
    if rest is None or (rest["unit"] and value.number is None):
        return None
    if not rest["unit"]:
        return value
    return Value(number=value.number, unit=rest["unit"].lower())


def _value(match: re.Match[str]) -> Value | None:
    if match["number"] is None:
        return _date(match)
    text = match["number"].replace(",", "").replace("−", "-")
    year = int(text) if re.fullmatch(r"[12]\d{3}", text) else None
    unit = match["currency"] or ("%" if match["percent"] else "")
    scale = _SCALE.get((match["scale"] or "").lower())
    if unit or scale:
        return Value(number=float(text) * (scale or 1), unit=unit)
    return Value(number=float(text), year=year)


def _date(match: re.Match[str]) -> Value | None:
    groups = match.groupdict()
    way = next(i for i in "12345" if groups[f"y{i}"])
    year, month, day = (groups.get(f"{part}{way}") for part in "ymd")
    month = _MONTHS.get((month or "")[:3].lower()) or int(month or 0)
    day = int(day or 0)
    if way == "5" and month > 12:
        month, day = day, month  # 9/17/1990
    elif way == "5" and day <= 12 and day != month:
        month = day = 0  # either way round
    if month > 12 or day > 31:
        return None
    return Value(year=int(year or 0), month=month or None, day=day or None)


def compare(
    stated: Value, known: Value, before: str = "", after: str = ""
) -> Comparison:
    """Whether what a text states, between ``before`` and ``after``, is known."""
    bound = _BOUND.search(before)
    pairs = _comparable(stated, known, after)
    if not pairs:
        return "open"
    if bound is None:
        for one, two in pairs:
            if one is None:
                return "same"
            if two is None:
                return "open"
            if not math.isclose(one, two, rel_tol=1e-9):
                return "differs"
        return "same"
    one, two = next(((s, k) for s, k in pairs if s != k), pairs[0])
    if one is None or two is None:
        return "open"
    if bound["about"]:
        close = abs(one - two) <= ABOUT * abs(one) and stated.number is not None
        return "same" if close or one == two else "open"
    inclusive = bound.group().lower().startswith(("at ", "up "))
    if one == two:
        return "same" if inclusive else "differs"
    return "same" if (two < one) == bool(bound["less"]) else "differs"


def _comparable(
    stated: Value, known: Value, after: str
) -> list[tuple[float | None, float | None]]:
    """Parts of two values to compare, most significant first; [] if of two kinds."""
    if stated.year is not None and known.year is not None:
        return [
            (stated.year, known.year),
            (stated.month, known.month),
            (stated.day, known.day),
        ]
    if stated.number is None or known.number is None:
        return []
    following = _UNIT.match(after)
    units = [stated.unit or (following["unit"] or "" if following else ""), known.unit]
    if known.unit and units[0]:
        one, two = (unit.lower().split()[0].rstrip("s.") for unit in units)
        if not (one.startswith(two) or two.startswith(one)):
            return []
    return [(stated.number, known.number)]
