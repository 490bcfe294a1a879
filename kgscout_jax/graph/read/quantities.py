"""Quantities that RDF and JSON write as an object: a number and its unit.

    "installedCapacity": {"@type": "QuantitativeValue", "value": 310, "unitText": "MW"}

Such an object is the literal "310 MW", as a table has it, and no entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from kgscout_jax.graph.read.header import plain
from kgscout_jax.text.values import is_number
from kgscout_jax.types import Triplet

_VALUES = frozenset("value amount magnitude numericvalue numeric_value".split())
_UNITS = (
    "unittext unit_text unit units unitcode unit_code hasunit uom currency "
    "currencycode currency_code"
).split()
"""Names of units, those that people read first."""
_UNIT_CODES = {
    "GRM": "g", "KGM": "kg", "TNE": "t", "LBR": "lb", "ONZ": "oz", "MMT": "mm",
    "CMT": "cm", "MTR": "m", "KMT": "km", "INH": "in", "FOT": "ft", "SMI": "mi",
    "MTK": "m²", "KMK": "km²", "MLT": "ml", "LTR": "l", "MTQ": "m³", "SEC": "s",
    "MIN": "min", "HUR": "h", "DAY": "days", "WEE": "weeks", "MON": "months",
    "ANN": "years", "WTT": "W", "KWT": "kW", "MAW": "MW", "KWH": "kWh", "CEL": "°C",
    "FAH": "°F", "P1": "%", "KMH": "km/h",
}  # fmt: skip
"""Common codes of units (UN/CEFACT recommendation 20), and what people write."""
_SORTS = frozenset(("type", "@type"))
MOST_HELD = 1_000
"""Triplets of nodes within one statement that are held back at most."""


def quantity_text(fields: Mapping[str, str]) -> str | None:
    """The literal of an object with a value and a unit; None for another object.

    >>> quantity_text({"@type": "QuantitativeValue", "value": "310", "unitText": "MW"})
    '310 MW'
    >>> quantity_text({"value": "12"}), quantity_text({"value": "12", "rank": "3"})
    ('12', None)
    >>> quantity_text({"value": "42", "unitCode": "GRM"})
    '42 g'
    """
    by_name = {plain(name): text.strip() for name, text in fields.items()}
    values = [name for name in by_name if name in _VALUES]
    units = [name for name in _UNITS if by_name.get(name)]
    others = by_name.keys() - _VALUES - {*_UNITS} - _SORTS
    if len(by_name) < len(fields) or len(values) != 1 or others:
        return None
    number = by_name[values[0]]
    if not is_number(number):
        return None
    unit = by_name[units[0]] if units else ""
    return f"{number} {_UNIT_CODES.get(unit, unit)}".rstrip()


def with_quantities(
    triplets: Iterable[Triplet], is_inner: Callable[[str], bool]
) -> Iterator[Triplet]:
    """The triplets, those of an object that is a quantity as one with its literal.

    Args:
        triplets: in the order of the file.
        is_inner: whether a name is that of a node within one statement, whose triplets
            stand together.
    """
    held: list[Triplet] = []
    nodes = set[str]()
    for triplet in triplets:
        inner = [name for name in (triplet[0], triplet[2]) if is_inner(name)]
        if held and nodes.isdisjoint(inner):
            yield from _without_objects(held)
            held, nodes = [], set()
        if not inner:
            yield triplet
            continue
        held.append(triplet)
        nodes.update(inner)
        if len(held) == MOST_HELD:  # A long list is no quantity.
            yield from held
            held, nodes = [], set()
    yield from _without_objects(held)


def _without_objects(held: list[Triplet]) -> Iterator[Triplet]:
    """The triplets of some nodes and of what leads to them, without quantities."""
    fields: dict[str, dict[str, str]] = defaultdict(dict)
    leading = defaultdict(int)
    several = set[str]()
    for head, relation, tail in held:
        several |= {head} if relation in fields[head] else set()
        fields[head][relation] = tail
        leading[tail] += 1
    texts = {
        head: text
        for head, pairs in fields.items()
        if leading[head] == 1
        and head not in several
        and (text := quantity_text(pairs)) is not None
    }
    for head, relation, tail in held:
        if head not in texts:
            yield head, relation, texts.get(tail, tail)
