"""Cities by name, and the city of an airport."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

AIRPORT_RADIUS_KM = 80.0
NOT_IN_NAMES = re.compile(r"[\W_\u0300-\u036f]+")
Record = Mapping[str, Any]


def fold(name: str) -> str:
    """The name without accents, case, punctuation: for comparing spellings."""
    plain = name.replace("Saint ", "St ")
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain)
    return NOT_IN_NAMES.sub("", plain).lower()


def cities_by_name(pool: list[Record]) -> dict[str, list[Record]]:
    """Folded name -> cities so called, own names before alternative ones."""
    index: dict[str, list[Record]] = defaultdict(list)
    for record in pool:
        index[fold(record["name"])].append(record)
    own = set(index)
    for record in pool:
        latin = filter(str.isascii, record["alternatenames"])
        for name in dict.fromkeys(map(fold, latin)):
            if name and name not in own:
                index[name].append(record)
    return dict(index)


def nearest_city(airport: Record, cities: Mapping[str, list[Record]]) -> Record | None:
    """The nearest city of the airport's city name within the radius, or None."""
    city_name = airport["city"]
    for name in (
        city_name,
        city_name.removesuffix(" Island"),
        re.split("[-/,]", city_name)[0],
    ):
        near = [
            (distance, city["geonameid"], city)
            for city in cities.get(fold(name), [])
            if (distance := _kilometres(airport, city)) <= AIRPORT_RADIUS_KM
        ]
        if near:
            return min(near, key=lambda item: item[:2])[2]
    return None


def _kilometres(airport: Record, city: Record) -> float:
    """Great-circle distance between an airport and a city, in kilometres."""
    a, b = math.radians(airport["lat"]), math.radians(city["latitude"])
    across = math.radians(city["longitude"] - airport["lon"])
    chord = math.sin((b - a) / 2) ** 2
    chord += math.cos(a) * math.cos(b) * math.sin(across / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(min(1.0, chord)))
