"""Values of JSON without what services and databases wrap around them.

    {"$oid": "64f1"}, {"$date": "2021-05-01T00:00:00Z"}, {"$numberInt": "3"}   MongoDB
    {"edges": [{"node": {"name": "Azul"}}], "pageInfo": {...}}                 GraphQL
    {"name": {"0": "Ann", "1": "Bo"}, "age": {"0": 41, "1": 39}}               pandas

The first two stand anywhere in a value, and pandas' columns are a whole file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgscout_jax.graph.read.cell_text import clean_cell

_NUMBERS = ("$numberInt", "$numberLong", "$numberDecimal", "$numberDouble")
SPLIT = ({"columns", "index", "data"}, {"columns", "data"})
"""The fields of a data frame whose rows stand apart (``orient="split"``)."""
_SAYING_NOTHING = frozenset(("__v", "__typename", "cursor"))
"""Versions, and names of types of a schema."""


def without_wrappers(value: Any) -> Any:
    """A value with what is wrapped in it; the lists of connections of GraphQL.

    >>> without_wrappers({"_id": {"$oid": "64f1"}, "n": {"$numberInt": "3"}, "__v": 0})
    {'_id': '64f1', 'n': '3'}
    >>> without_wrappers({"games": {"edges": [{"node": {"name": "Azul"}}]}})
    {'games': [{'name': 'Azul'}]}
    """
    if isinstance(value, list):
        if value and isinstance(value[0], (dict, list)):
            return [without_wrappers(each) for each in value]
        return value
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name == "$oid" or name in _NUMBERS:
            return inner
        if name == "$date":
            return _day(inner)
    edges = value.get("edges")
    if isinstance(edges, list) and edges and all(map(_is_connected, edges)):
        return [without_wrappers(each["node"]) for each in edges]
    return {
        name: without_wrappers(each)
        for name, each in value.items()
        if name not in _SAYING_NOTHING
    }


def _is_connected(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("node"), dict)


def _day(value: Any) -> Any:
    """A time as text; that of midnight is its day."""
    return clean_cell(value) if isinstance(value, str) else without_wrappers(value)


def are_numbered(column: Mapping[str, Any]) -> bool:
    """Whether an object is a column of a data frame: its rows by their numbers.

    >>> are_numbered({"0": "Ann", "1": "Bo"}), are_numbered({"name": "Ann"})
    (True, False)
    """
    return len(column) > 1 and [*column] == [*map(str, range(len(column)))]


def frame_records(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a data frame: by its columns, or apart from their names."""
    if value.keys() in SPLIT:
        for row in value["data"]:
            yield dict(zip(value["columns"], row, strict=False))
        return
    for row in next(iter(value.values())):
        yield {name: column[row] for name, column in value.items()}
