"""Whether the dots in numbers stand between thousands: 18.400 m² is no 18.4 m²."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kgscout_jax.text.values import (
    CURRENCIES,
    has_decimal_comma,
    quantity_of,
    with_joined_groups,
)

SEVERAL = 2
"""The least number of values that are evidence."""
_TWICE = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}")
_ONCE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_FIRST_PART = re.compile(r"[^\s\d+-]*(\S+)")
_SIGNS = f"%{CURRENCIES}"
_PLACES = frozenset("lat latitude lon lng long longitude".split())
"""Relations to degrees: their dots stand before decimals."""


def number_part(name: str) -> str:
    """The first part of a value, without the sign of a currency.

    >>> number_part("€1.200 a year"), number_part("900€")
    ('1.200', '900')
    """
    found = _FIRST_PART.match(name.strip())
    return found[1].rstrip(_SIGNS) if found else ""


def has_grouping_dots(
    names: Sequence[str], relation: Sequence[str], *, decimal_commas: bool
) -> bool:
    """Whether dots stand between the thousands of a column.

    They do where a value has two of them. Else two values or more must have a dot, and
    all of those one to three digits before it, the first no 0, and three behind it.
    Then either the graph writes decimal commas elsewhere, or the column has a whole
    number of the same unit from 100 to 999, and none from 1000 on without a dot.

    Args:
        names: the values.
        relation: the words of their relation.
        decimal_commas: whether other values of the graph have decimal commas.

    >>> has_grouping_dots(["18.400 m²", "6.200 m²", "400 m²"], [], decimal_commas=False)
    True
    >>> has_grouping_dots(["1.234 kg", "2.345 kg"], [], decimal_commas=False)
    False
    """
    parts = [number_part(name) for name in names]
    if any(_TWICE.fullmatch(part) for part in parts):
        return True
    dotted = [name for name, part in zip(names, parts, strict=True) if "." in part]
    numbers = [name for name in dotted if quantity_of(name) is not None]
    once = all(_ONCE.fullmatch(number_part(name)) for name in numbers)
    if len(numbers) < SEVERAL or not once or not _PLACES.isdisjoint(relation):
        return False
    if decimal_commas:
        return True
    units = {_unit(name) for name in numbers}
    whole = [
        int(part)
        for name, part in zip(names, parts, strict=True)
        if part.isdecimal() and _unit(name) in units
    ]
    return any(number >= 100 for number in whole) and max(whole) < 1000


def _unit(name: str) -> str:
    quantity = quantity_of(name)
    return quantity.unit if quantity is not None else ""


def writes_decimal_commas(names: Iterable[str]) -> bool:
    """Whether several names are numbers with decimal commas, perhaps with a unit.

    >>> writes_decimal_commas(["6,50 €", "2,00 €"]), writes_decimal_commas(["6,500 m"])
    (True, False)
    """
    found = (
        name
        for name in names
        if "," in name
        and has_decimal_comma(number_part(with_joined_groups(name.strip())))
        and quantity_of(name) is not None
    )
    return sum(1 for _, _ in zip(found, range(SEVERAL), strict=False)) == SEVERAL
