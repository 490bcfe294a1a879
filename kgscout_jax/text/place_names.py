"""Names of countries and continents, which say what a node is where no triplet does."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("demonyms.txt")
"""A country, continent or region on each line: its names, ``|``, and words for what is
from there."""
_CONTINENTS = frozenset(
    ("africa", "antarctica", "asia", "australia", "europe", "oceania", "north america")
) | {"south america"}
_REGIONS = frozenset(("latin america", "central america"))
_CITIES = frozenset(
    "singapore monaco luxembourg djibouti panama kuwait guatemala mexico".split()
) | {"san marino", "hong kong"}
"""Countries that are called as their capitals."""


@cache
def places() -> tuple[tuple[list[str], list[str]], ...]:
    """(names, words for what is from there) of each."""
    lines = FILE.read_text("utf-8").splitlines()
    parts = ([p.split(",") for p in line.split("|")] for line in lines)
    return tuple(
        ([n.strip() for n in names], [w.strip() for w in words])
        for names, words in parts
    )


@cache
def _kinds() -> dict[str, frozenset[str]]:
    """What the places of a name are, by the casefolded name."""
    names = {name.casefold() for names, _ in places() for name in names}
    countries = names - (_CONTINENTS | _REGIONS) | {"australia"}
    return {
        name: frozenset(
            (["country"] if name in countries else [])
            + (["continent"] if name in _CONTINENTS else [])
            + (["city"] if name in _CITIES else [])
        )
        for name in names | _CONTINENTS
    }


def place_kinds(name: str) -> frozenset[str]:
    """What a place of this name is: country, continent, city; nothing for others.

    Args:
        name: casefolded.

    >>> [sorted(place_kinds(name)) for name in ("chad", "singapore", "asia", "bern")]
    [['country'], ['city', 'country'], ['continent'], []]
    """
    return _kinds().get(name, frozenset())
