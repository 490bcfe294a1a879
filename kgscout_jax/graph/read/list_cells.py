"""Cells of a table that hold several values."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from kgscout_jax.graph.read.cell_text import without_addresses
from kgscout_jax.graph.read.key_columns import is_numeric
from kgscout_jax.text.kinds import singular_form
from kgscout_jax.text.relation_words import split_words
from kgscout_jax.types import entity_key

MOST_PART = 40
"""Characters of the longest part of a list in a cell."""
SURE_SEPARATORS = ("|", ";", "\n")
_SLASH = " / "
"""It separates values of which one stands elsewhere as well: "Tue / Thu", "Tue"."""
MOST_WORDS = 4
"""Words of the longest name in a list of names."""
_REMARKS = frozenset("notes comments remarks details terms conditions".split())
"""Columns of texts that have commas of their own."""
_QUOTED = re.compile(r'"[^"]*"')
_GROUPED = re.compile(r"\d,\d")
_SMALL = re.compile(r"\d{1,3}[a-z]*")
_WORDS = re.compile(r"[^\W\d][\w-]*(?:,[^\W\d][\w-]*)*")
"""Single words, separated by commas alone."""


def list_separators(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> dict[int, str]:
    """``list_separator`` of the columns that have one; also commas between names in a
    column that is called by a noun in plural.
    """
    found = {}
    for i, (name, cells) in enumerate(zip(header, columns, strict=True)):
        column = [without_addresses(cell) for cell in cells]
        separator = list_separator(column)
        if separator or (_is_plural(name) and _are_names(column)):
            found[i] = separator or ","
    return found


def _is_plural(name: str) -> bool:
    """Whether a column is called by a noun in plural: ``Stars``."""
    noun = (split_words(name) or [""])[-1]
    return singular_form(noun) != noun and noun not in _REMARKS


def _are_names(column: Sequence[str]) -> bool:
    """Whether most cells are several names, separated by commas.

    >>> _are_names(["Al Pacino, Val Kilmer", "Jim Carrey, Ed Harris, Laura Linney"])
    True
    >>> _are_names(["12, 7", "good, but a little too slow for me"])
    False
    """
    lists = [cell.split(",") for cell in column if cell]
    several = [parts for parts in lists if len(parts) > 1]
    parts = [part.split() for each in lists for part in each]
    names = all(0 < len(part) <= MOST_WORDS for part in parts)
    digits = any(map(str.isdigit, "".join(column)))
    return names and not digits and len(several) > 1 and 2 * len(several) >= len(lists)


def list_separator(column: Sequence[str]) -> str | None:
    """What separates several values in the cells of a column; None: nothing does.

    Bars, semicolons and ends of lines do wherever the parts are short. Commas do where
    the same parts stand in several places of lists, as genres and ingredients do and
    "Paris, France" does not, and between single words without spaces, where cells have
    one, two and more of them. Where no space stands behind any comma, names are listed,
    as Airtable does, with those in quotes that have commas of their own.

    >>> list_separator(["Action|Drama", "Drama", "Comedy|Action"])
    '|'
    >>> list_separator(["Dutch, French", "French", "French, German", "German, Dutch"])
    ','
    >>> list_separator(["Ann Lee,Bo Ek", "Cy Du", '"Eve, the first",Bo Ek'])
    ','
    >>> list_separator(["Tue / Thu", "Tue", "Mon"]), list_separator(["Side A / Side B"])
    (' / ', None)
    >>> list_separator(["Paris, France", "Lyon, France", "Rome, Italy"])
    >>> list_separator(["1", "7, 14", "14", "1, 4, 7"])
    ','
    >>> list_separator(["1,250", "48.9, 2.3", "14"])
    """
    cells = [cell for cell in column if cell]
    for separator in SURE_SEPARATORS:
        lists = [cell.split(separator) for cell in cells if separator in cell]
        parts = [part.strip() for each in lists for part in each]
        several = len(lists) > 1 or not {*cells}.isdisjoint(parts)
        if several and all(0 < len(part) <= MOST_PART for part in parts):
            return separator
    lists = [cell.split(_SLASH) for cell in cells]
    parts = [part for each in lists if len(each) > 1 for part in each]
    again = len({*parts}) < len(parts) or not {*cells}.isdisjoint(parts)
    if parts and again and all(0 < len(part) <= MOST_PART for part in parts):
        return _SLASH
    cells = [cell.strip(" ,") for cell in cells]
    lists = [split_cell(cell, ",") for cell in cells]
    if sum(len(parts) > 1 for parts in lists) < 2:
        return None
    if is_numeric(cells) and not _are_numbered(lists):
        return None
    if any(not part or len(part) > MOST_PART for parts in lists for part in parts):
        return None
    if all(map(_WORDS.fullmatch, cells)) and len({*map(len, lists)}) > 2:
        return ","
    if len({*map(len, lists)}) > 1 and all(map(_is_tight, cells)):
        return ","
    places: dict[str, set[int]] = {}
    counts: Counter[str] = Counter()
    for parts in lists:
        for place, part in enumerate(parts):
            counts[entity_key(part)] += 1
            places.setdefault(entity_key(part), set()).add(place)
    repeated = [part for part, count in counts.items() if count > 1]
    moving = sum(len(places[part]) > 1 for part in repeated)
    many = 2 * len(counts) <= counts.total()
    varied = len({*map(len, lists)}) > 2 and len(repeated) > 2
    is_list = (many or varied) and 2 * moving >= len(repeated)
    return "," if repeated and is_list else None


def split_cell(cell: str, separator: str) -> list[str]:
    """The values of a list in a cell; those in quotes may hold the separator.

    >>> split_cell('"Ash, Then Rain",Switchback', ","), split_cell("a| b", "|")
    (['Ash, Then Rain', 'Switchback'], ['a', 'b'])
    """
    parts = cell.split(separator)
    if cell.count('"') > 1 and len(separator) == 1:
        parts = next(csv.reader([cell], delimiter=separator, skipinitialspace=True))
    return [part.strip() for part in parts]


def _is_tight(cell: str) -> bool:
    """Whether no space stands behind a comma of a cell, nor digits around it."""
    outside = _QUOTED.sub("", cell)
    return ", " not in outside and _GROUPED.search(outside) is None


def _are_numbered(lists: Sequence[Sequence[str]]) -> bool:
    """Whether cells are lists of small numbers: lines "1, 14", no "1,234" or "48.9, 2".

    Some have one and others several, which are no groups of three digits.
    """
    later = [part for parts in lists for part in parts[1:]]
    small = all(_SMALL.fullmatch(part) for parts in lists for part in parts)
    groups = all(len(part) == 3 for part in later)
    return small and not groups and len({*map(len, lists)}) > 2
