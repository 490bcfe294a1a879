"""Numbers and dates of statements: 1990-09-17 is 17 September 1990.

They are read as everywhere else, see ``kgscout_jax/text/values.py``.

A statement may say less than the graph ("born in 1990"), or bound what it says ("before
1995", "more than 30,000"). What it says more precisely than the graph is open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from kgscout_jax.text.values import (
    date_parts,
    is_day_or_month,
    quantity_of,
    value_spans,
)

Comparison = Literal["same", "differs", "open"]
ABOUT = 0.05
"""Relative difference up to which a number is about another."""

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
    for start, stop in value_spans(text):
        if (value := _value(text[start:stop])) is not None:
            yield start, stop, value


@lru_cache(maxsize=100_000)
def parse_value(name: str) -> Value | None:
    """The value that a name is, with its unit if it has one; None for other names.

    >>> parse_value("28 hours")
    Value(number=28.0, year=None, month=None, day=None, unit='hours')
    """
    name = name.strip()
    if (value := _value(name)) is not None:
        return value
    # A unit may be longer than those of quantities: 7 championships.
    start, stop = next(value_spans(name), (-1, 0))
    unit = _UNIT.fullmatch(name, stop)
    if start or unit is None or (value := _value(name[:stop])) is None:
        return None
    if value.number is None or unit["unit"] is None:
        return None
    return replace(value, year=None, unit=unit["unit"].lower())


def _value(text: str) -> Value | None:
    """The value that a text is by itself."""
    text = " ".join(text.split())
    if (date := date_parts(text)) is not None:
        year, month, day = (*date, None)[:3]
        if is_day_or_month(text):
            month = day = None
        return Value(year=year, month=month, day=day)
    if (quantity := quantity_of(text)) is None:
        return None
    year = int(text) if re.fullmatch(r"[12]\d{3}", text) else None
    return Value(number=quantity.value, year=year, unit=quantity.unit)


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
        one, two = (unit.lower().split()[0].rstrip("s.") or "s" for unit in units)
        if not (one.startswith(two) or two.startswith(one)):
            return []
    return [(stated.number, known.number)]
