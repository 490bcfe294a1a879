"""Literals as numbers: plain numbers, years and ISO dates."""

from __future__ import annotations

import datetime
import math
import re

_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d{1,3})?")
_DATE = re.compile(r"(-?\d{4})-(\d\d)(?:-(\d\d))?(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?Z?")
_IDENTIFIER = re.compile(r"0\d+")


def is_number(name: str) -> bool:
    """Whether a name is a plain number, such as 7.5 or 1,200."""
    return _NUMBER.fullmatch(name) is not None and _IDENTIFIER.fullmatch(name) is None


def is_date(name: str) -> bool:
    """Whether a name is an ISO date, or a month of one."""
    return _DATE.fullmatch(name) is not None


def is_year(name: str) -> bool:
    """Whether a name is a number that can be a year of the common era."""
    return re.fullmatch(r"[12]\d{3}", name) is not None and int(name) <= 2100


def value_of(name: str) -> float:
    """A literal as a number, a date as days; nan for any other name."""
    if is_number(name):
        return float(name.replace(",", ""))
    if (parts := _DATE.fullmatch(name)) is None:
        return math.nan
    year, month, day = (int(part or 1) for part in parts.groups())
    try:
        return float(
            datetime.date(max(year, 1), max(month, 1), max(day, 1)).toordinal()
        )
    except ValueError:
        return math.nan


def precision(name: str) -> int:
    """How exact a date is: its number of parts; 0 for a number.

    Values of different precision are not comparable: 1979 and 1979-05-25.
    """
    return 0 if is_number(name) else name.partition("T")[0].strip("-").count("-") + 1
