"""Whether a name can be what is measured: a number with its unit, and a unit of that.

No length is "133 min", no price "31 km", and "Albatross 3" is neither.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgscout_jax.text.units import UNITS
from kgscout_jax.text.values import CURRENCIES, quantity_of

_ABOUT = frozenset(
    "about approx approximately around circa ca over under nearly".split()
)
"""Words before a number with its unit."""
_CURRENCY = 3
"""Letters of a sign before a number, as in "USD 300", at most."""
_MONEY = "money"
_MEASURES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "price cost salary wage income budget revenue turnover".split(), (_MONEY,)
    ),
    **dict.fromkeys(("weight", "mass"), ("mass",)),
    **dict.fromkeys("height width depth altitude elevation".split(), ("length",)),
    **dict.fromkeys(("length", "distance"), ("length", "time")),
    **dict.fromkeys(("duration", "runtime", "age"), ("time",)),
}
"""What a measure is said in."""


def is_amount(name: str) -> bool:
    """Whether a name may be a number with its unit.

    >>> is_amount("USD 300"), is_amount("about 9 t"), is_amount("Albatross 3")
    (True, True, False)
    """
    first, second = (*name.casefold().split(), "", "")[:2]
    if first.strip(".") in _ABOUT or len(first) <= _CURRENCY:
        first += second
    return any(map(str.isdigit, first))


def has_other_unit(name: str, measures: Iterable[str]) -> bool:
    """Whether a name is a quantity in a unit of something else.

    Args:
        name: the name.
        measures: what is asked for, in singular.

    >>> has_other_unit("133 min", ["price"]), has_other_unit("133 min", ["length"])
    (True, False)
    """
    fits = _fits(name, measures)
    return fits is not None and not fits


def has_unit_of(name: str, measures: Iterable[str]) -> bool:
    """Whether a name is a quantity in a unit of what is asked for.

    >>> has_unit_of("133 min", ["duration"]), has_unit_of("133", ["duration"])
    (True, False)
    """
    return bool(_fits(name, measures))


def _fits(name: str, measures: Iterable[str]) -> bool | None:
    """Whether the unit of a name is one of the measures; None where that is open."""
    possible = {each for noun in measures for each in _MEASURES.get(noun, ())}
    quantity = quantity_of(name) if possible else None
    if quantity is None or not quantity.unit:
        return None
    if quantity.unit[0] in CURRENCIES:
        return _MONEY in possible
    dimension, _ = UNITS.get(quantity.unit, (None, 0.0))
    return None if dimension is None else dimension in possible
