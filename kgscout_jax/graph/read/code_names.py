"""Codes of a table's entities, which other cells have instead of their names.

    name,iso,neighbours
    France,FR,"ES,DE"
    Spain,ES,FR

The neighbour of Spain is France: a column most of whose values are codes of entities of
one table leads to these entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from kgscout_jax.graph.read.elements import Node

SAMPLE_NODES = 1_000
"""Entities that tell which columns hold codes."""
CODE_SHARE = 0.9
"""Share of a column's values that are codes, from which on it leads to entities."""
FEW_VALUES = 2
"""Different values below which a column tells nothing."""
_OF_CODE = re.compile(r"(.+?)[_ ]?(?:code|iso\d?|abbr|symbol)", re.IGNORECASE)

Codes = Mapping[tuple[int, str], Callable[[str], str | None]]
"""By scope and column: the entity of a code; None for one that is none."""


def with_code_names(
    nodes: Iterable[Node], codes: Codes, own: tuple[int, Sequence[str]]
) -> Iterator[Node]:
    """The nodes, with names of entities instead of their codes.

    Args:
        nodes: of one table.
        codes: of all tables.
        own: the scope of the table, and its columns of codes.
    """
    rest = iter(nodes)
    first = [*islice(rest, SAMPLE_NODES)]
    found = _references(first, codes, own)
    for node in chain(first, rest):
        if found:
            pairs = [each for x in node.attributes for each in _resolved(*x, found)]
            yield Node(node.line, node.id, pairs, node.labels, node.facts)
        else:
            yield node


def _references(
    nodes: Sequence[Node], codes: Codes, own: tuple[int, Sequence[str]]
) -> dict[str, Callable[[str], str | None]]:
    """The columns that hold codes of entities, with the reader of these."""
    scope, columns = own
    values: dict[str, list[str]] = {}
    for node in nodes:
        for name, value in node.attributes:
            if name not in columns and name != node.name_attribute:
                values.setdefault(name, []).append(value)
    out = {}
    for name, cells in values.items():
        if len({*cells}) < FEW_VALUES:
            continue
        counts = [
            (sum(bool(_entities(cell, find)) for cell in cells), place == scope, find)
            for (place, _), find in codes.items()
        ]
        count, _, find = max(counts, key=lambda each: each[:2], default=(0, 0, None))
        if find is not None and count >= CODE_SHARE * len(cells):
            out[name] = find
    return out


def _resolved(
    name: str, value: str, found: Mapping[str, Callable[[str], str | None]]
) -> list[tuple[str, str]]:
    """A property, once for each entity whose code is in its value."""
    entities = _entities(value, found[name]) if name in found else []
    if not entities:
        return [(name, value)]
    return [(owner_of(name) or name, entity) for entity in entities]


def _entities(value: str, find: Callable[[str], str | None]) -> list[str]:
    """The entities of a code, or of several with commas between them; [] of others."""
    names = [find(code.strip()) for code in value.split(",") if code.strip()]
    known = [name for name in names if name is not None]
    return known if len(known) == len(names) else []


def owner_of(column: str) -> str:
    """Whose code a column holds by its name; "" where it says none.

    >>> owner_of("country_code"), owner_of("iso"), owner_of("countryCode")
    ('country', '', 'country')
    """
    match = _OF_CODE.fullmatch(column)
    return match[1] if match else ""
