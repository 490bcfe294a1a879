"""Literals as numbers: plain numbers, years and ISO dates."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d{1,3})?")
_DATE = re.compile(r"(-?\d{4})-(\d\d)(?:-(\d\d))?(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?Z?")
_WITH_UNIT = re.compile(
    r"(?P<before>[$€£¥]?)(?P<number>[+-]?\d[\d,]*(?:\.\d+)?)"
    r" ?(?P<after>[^\W\d_]{1,12}(?:[ /][^\W\d_]{1,12})?[²³]?|[%°€$£]|°[cf]|)",
    re.IGNORECASE,
)
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
    """A literal as a number, a date in years; nan for any other name.

    >>> value_of("1,200"), value_of("1990-07-01"), value_of("Bern")
    (1200.0, 1990.5, nan)
    """
    if is_number(name):
        return float(name.replace(",", ""))
    if (parts := _DATE.fullmatch(name)) is None:
        return math.nan
    year, month, day = (int(part or 1) for part in parts.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return math.nan
    return year + (month - 1) / 12 + (day - 1) / 372


class Quantity(NamedTuple):
    """A value with its unit; quantities of one unit are comparable."""

    value: float
    unit: str = ""
    """Casefolded; empty for plain numbers and dates."""


def quantity_of(name: str) -> Quantity | None:
    """A literal as people write it, with its unit; None for any other name.

    >>> quantity_of("8,848 m"), quantity_of("$35"), quantity_of("Bern")
    (Quantity(value=8848.0, unit='m'), Quantity(value=35.0, unit='$'), None)
    """
    name = name.strip()
    if not math.isnan(value := value_of(name)):
        return Quantity(value)
    found = _WITH_UNIT.fullmatch(name)
    if found is None or math.isnan(value := value_of(found["number"])):
        return None
    return Quantity(value, f"{found['before']}{found['after']}".casefold())


def precision(name: str) -> int:
    """How exact a date is: its number of parts; 0 for a number.

    Values of different precision are not comparable: 1979 and 1979-05-25.
    """
    return 0 if is_number(name) else name.partition("T")[0].strip("-").count("-") + 1
