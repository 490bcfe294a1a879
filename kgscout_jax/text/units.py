"""Units of values that are converted into each other."""

from __future__ import annotations

_DIMENSIONS = {
    "length": {
        "m metre metres meter meters": 1.0, "km kilometre kilometres kilometer "
        "kilometers": 1000.0, "ft foot feet": 0.3048, "mi mile miles": 1609.344,
        "cm centimetre centimetres centimeter centimeters": 0.01,
        "mm millimetre millimetres millimeter millimeters": 0.001,
    },
    "area": {
        "m² m2 sqm": 1.0, "km² km2 sqkm": 1e6, "ha hectare hectares": 1e4,
        "acre acres": 4046.8564224,
    },
    "volume": {
        "l litre litres liter liters": 1.0, "cl": 0.01, "hl": 100.0,
        "ml millilitre millilitres milliliter milliliters": 0.001,
    },
    "mass": {
        "g gram grams": 1.0, "kg kilogram kilograms": 1000.0, "mg": 0.001,
        "lb lbs pound pounds": 453.59237, "t tonne tonnes": 1e6,
    },
    "time": {
        "s sec second seconds": 1.0, "min minute minutes": 60.0,
        "h hour hours": 3600.0, "day days": 86400.0, "week weeks": 604800.0,
        "month months": 2629800.0, "year years": 31557600.0,
    },
    "power": {
        "w watt watts": 1.0, "kw kilowatt kilowatts": 1e3,
        "mw megawatt megawatts": 1e6, "gw gigawatt gigawatts": 1e9,
    },
    "data": {
        "b byte bytes": 1.0, "kb kilobyte kilobytes": 1e3,
        "mb megabyte megabytes": 1e6, "gb gigabyte gigabytes": 1e9,
        "tb terabyte terabytes": 1e12, "pb petabyte petabytes": 1e15,
        "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40,
        "pib": 2.0**50,
    },
}  # fmt: skip
"""By dimension, casefolded units and how many of the first one they are."""
UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, size)
    for dimension, units in _DIMENSIONS.items()
    for names, size in units.items()
    for name in names.split()
}
"""The dimension and the size of each unit that is converted."""


def dimension_of(unit: str) -> str:
    """What a unit measures; "" for one that is not converted.

    >>> dimension_of("gb"), dimension_of("patients")
    ('data', '')
    """
    return UNITS[unit][0] if unit in UNITS else ""
