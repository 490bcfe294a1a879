"""How the values of one relation are written, and what they are in one unit.

Heights may be in metres, kilometres and feet, and "63.000" is a large number where
another value of the same relation is "1.512.000".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kgscout_jax.text.digit_groups import has_grouping_dots, number_part
from kgscout_jax.text.units import UNITS
from kgscout_jax.text.values import (
    CURRENCIES,
    DAYS,
    Quantity,
    has_day_first,
    has_decimal_comma,
    has_dots,
    has_scale,
    is_date,
    precision,
    quantity_of,
    with_joined_groups,
)

_ASSUMED = frozenset(
    "m metre metres meter meters kg kilogram kilograms g gram grams".split()
)
"""Units of values without one, where a question says them."""
SCALES = {"thousands": 1e3, "millions": 1e6, "mio": 1e6, "billions": 1e9, "bn": 1e9}
"""Words of a relation's name that multiply its values."""
_MINUTES = re.compile(
    r"(?:\w+ )?(?:runtime|(?:run|running|playing|cook|cooking|prep|preparation) time)"
)
"""Relations whose plain values are minutes."""
_SIGNS = frozenset(CURRENCIES)
_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
_ENGLISH = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?![\d,.])")
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


class Value(NamedTuple):
    """A value in the unit of its column."""

    number: float
    parts: int = 0
    """Of a date the number of its parts, 1 for a year; 0 for other values."""

    def negated(self) -> Value:
        """The value with the other sign: a high age is an early birth."""
        return self._replace(number=-self.number)

    def order(self, other: Value) -> float:
        """Above 0 where it is later or more than another, below 0 where it is less.

        Dates are compared as exactly as both are known: 1989-11-12 is not after 1989.
        """
        if not (self.parts and other.parts):
            return self.number - other.number
        step = {1: DAYS, 2: 31}.get(min(self.parts, other.parts), 1)
        here, there = (round(each.number * DAYS) // step for each in (self, other))
        return here - there


@dataclass(frozen=True)
class ValueColumn:
    """How the values of one relation are written."""

    unit: str = ""
    """The most frequent one."""
    grouped: bool = False
    """Whether dots stand between thousands."""
    commas: bool = False
    """Whether commas stand before decimals, and dots between thousands."""
    dated: bool = False
    """Whether all values are dates, or may be years."""
    day_first: bool = False
    """Whether dates with slashes begin with the day: some must, or one has dots."""
    implied: str = ""
    """The unit of values that have none, where the relation says it."""
    scale: float = 1.0
    """What plain values are multiplied by, where the relation says it: in millions."""

    @staticmethod
    def of(
        names: Sequence[str],
        relation: Sequence[str] = (),
        *,
        decimal_commas: bool = False,
    ) -> ValueColumn:
        """How the values ``names`` are written.

        Args:
            names: the values.
            relation: the words of their relation; one may be their unit.
            decimal_commas: whether other values of the graph have decimal commas.

        >>> ValueColumn.of(["820 m", "1.2 km", "640 m"]).unit
        'm'
        >>> ValueColumn.of(["45", "60"], ["cooking", "time", "minutes"]).implied
        'minutes'
        >>> ValueColumn.of(["94", "131"], ["runtime"]).read_limit("2 hours")
        Value(number=120.0, parts=0)
        >>> ValueColumn.of(["377", "401"], ["forged", "year"]).dated
        True
        """
        names = [with_joined_groups(name.strip()) for name in names]
        found = [quantity_of(name) for name in names]
        units = Counter(each.unit for each in found if each is not None)
        earliest = 100 if relation[-1:] == ["year"] else 1000
        return ValueColumn(
            unit=max(sorted(units), key=units.__getitem__, default=""),
            grouped=has_grouping_dots(names, relation, decimal_commas=decimal_commas),
            commas=any(has_decimal_comma(number_part(name)) for name in names),
            dated=all(
                _is_time(*each, earliest) for each in zip(found, names, strict=True)
            ),
            day_first=any(map(has_day_first, names)) or any(map(has_dots, names)),
            implied=next((word for word in relation[1:] if word in UNITS), "")
            or ("minutes" if _MINUTES.fullmatch(" ".join(relation)) else ""),
            scale=next((SCALES[word] for word in relation[1:] if word in SCALES), 1.0),
        )

    def read(self, name: str) -> Value | None:
        """A value of the column; None where it is none, or not comparable.

        >>> dates = ValueColumn.of(["22/5/2008", "5/12/2008"])
        >>> dates.read("5/12/2008").order(dates.read("22/5/2008")) > 0
        True

        >>> ValueColumn.of(["820 m", "640 m"]).read("1.2 km")
        Value(number=1200.0, parts=0)
        """
        name = with_joined_groups(name.strip())
        if self.day_first:  # 5/12/2008 where another one is 22/12/2008
            name = _SLASHES.sub(r"\2/\1/\3", name) if not has_day_first(name) else name
        number = number_part(name)
        if self.grouped and _GROUPED.fullmatch(number) and not has_scale(name):
            name = name.replace(number, number.replace(".", ""), 1)
        elif self.commas and (_GROUPED.fullmatch(number) or "," in number):
            plain = number.replace(".", "").replace(",", ".")
            name = name.replace(number, plain, 1)
        quantity = quantity_of(name)
        if quantity is None:
            return None
        if quantity.unit != self.unit:
            own, other = UNITS.get(self.unit), UNITS.get(quantity.unit)
            if own is None or other is None or own[0] != other[0]:
                return None
            return Value(quantity.value * other[1] / own[1])
        return Value(quantity.value, max(precision(name), 1) if self.dated else 0)

    def read_limit(self, name: str) -> Value | None:
        """A limit as a question writes it, mostly without a unit.

        >>> ValueColumn.of(["45", "60"], ["time", "minutes"]).read_limit("2 hours")
        Value(number=120.0, parts=0)
        >>> ValueColumn.of(["3.2", "9"], ["people", "millions"]).read_limit("5 million")
        Value(number=5.0, parts=0)
        """
        if self.commas and _ENGLISH.match(name):
            name = name.replace(",", "")  # beside 2,50 a question may say "over 20,000"
        quantity = quantity_of(name)
        if self.scale > 1 and quantity and has_scale(name):
            return Value(quantity.value / self.scale)
        if self.implied and not self.unit and quantity and quantity.unit in UNITS:
            own, other = UNITS[self.implied], UNITS[quantity.unit]
            same = own[0] == other[0]
            return Value(quantity.value * other[1] / own[1]) if same else None
        if quantity is None:
            return None
        if quantity.unit in _SIGNS and self.unit not in _SIGNS:
            return Value(quantity.value)  # "over $5m" of plain numbers
        if not self.unit and quantity.unit in _ASSUMED:
            return Value(quantity.value)  # heights are in metres
        if quantity.unit or not self.unit:
            return self.read(name)
        plain = ValueColumn(grouped=self.grouped, commas=self.commas)
        return plain.read(name)


def _is_time(quantity: Quantity | None, name: str, earliest: int) -> bool:
    """Whether a value is a date or may be a year; True for what is no value."""
    if quantity is None:
        return True
    year = earliest <= quantity.value <= 2100 and not has_scale(name)
    return not quantity.unit and (is_date(name.strip()) or year)
