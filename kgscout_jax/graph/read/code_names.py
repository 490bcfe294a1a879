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
from dataclasses import replace
from itertools import chain, islice

from kgscout_jax.graph.read.code_columns import OF_ID
from kgscout_jax.graph.read.elements import Edge, Node

SAMPLE_NODES = 1_000
"""Entities that tell which columns hold codes."""
CODE_SHARE = 0.9
"""Share of a column's values that are codes, from which on it leads to entities."""
FEW_VALUES = 2
"""Different values below which a column tells nothing."""
_OF_CODE = re.compile(r"(.+?)[_ ]?(?:code|iso\d?|abbr|symbol)", re.IGNORECASE)

_CODED = re.compile(r"(?=\S*\d)(?=\S*[^\W\d])\S+")
"""A word with letters and digits: seldom anything but a code."""

Finder = Callable[[str], str | None]
"""The entity of a code or an id; None for one that is none."""
Codes = Mapping[tuple[int, str], Finder]
"""By scope and column."""


def with_code_names(
    elements: Iterable[Node | Edge],
    codes: Codes,
    ids: Sequence[Finder],
    own: tuple[int, Sequence[str]],
) -> Iterator[Node | Edge]:
    """The elements, with names of entities instead of their codes and ids in nodes.

    Args:
        elements: of one table.
        codes: of all tables.
        ids: those of each table.
        own: the scope of the table, and its columns of its own codes and ids.
    """
    rest = iter(elements)
    first = [*islice(rest, SAMPLE_NODES)]
    nodes = [element for element in first if isinstance(element, Node)]
    found = _references(nodes, codes, ids, own)
    repeated = _repeated_ids(nodes)
    for node in chain(first, rest):
        if isinstance(node, Node):
            if node.called == node.id and (name := named_address(node.id, ids)):
                # A table of addresses says more of what others name.
                node = replace(node, id="", called=name, labels=())
            # The id of an object in a record says that it is itself.
            called = "" if node.id else node.name
            pairs = [
                each
                for pair in node.attributes
                if pair[0] not in repeated
                for each in _resolved(*pair, found, ids)
                if each == pair or each[1] != called
            ]
            yield replace(node, attributes=pairs)
        else:
            yield node


def _repeated_ids(nodes: Sequence[Node]) -> set[str]:
    """The attributes that but repeat the id of each entity, as an address of itself."""
    same: dict[str, list[bool]] = {}
    for node in nodes:
        for name, value in node.attributes if node.id else ():
            same.setdefault(name, []).append("://" in value and value == node.id)
    return {name for name, each in same.items() if len(each) > 1 and all(each)}


def _references(
    nodes: Sequence[Node],
    codes: Codes,
    ids: Sequence[Finder],
    own: tuple[int, Sequence[str]],
) -> dict[str, Finder]:
    """The columns that hold codes of entities, with the reader of these.

    And those called so, or of words with a digit, that hold ids of one table only:
    ``lead_id`` of employees, ``replaced_by`` with ``pkg-0227``.
    """
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
        elif OF_ID.fullmatch(name) or all(map(_CODED.fullmatch, cells)):
            whole = [find for find in ids if all(map(find, cells))]
            if len(whole) == 1:
                out[name] = whole[0]
    return out


def _resolved(
    name: str, value: str, found: Mapping[str, Finder], ids: Sequence[Finder]
) -> list[tuple[str, str]]:
    """A property, once for each entity whose code is in its value.

    An address that is the id of an entity is this entity, whatever else a column holds.
    """
    entities = _entities(value, found[name]) if name in found else []
    if not entities and (entity := named_address(value, ids)) is not None:
        entities = [entity]
    if not entities:
        return [(name, value)]
    return [(owner_of(name) or name, entity) for entity in entities]


def named_address(value: str, ids: Sequence[Finder]) -> str | None:
    """The entity with this address as its id, where one has it and another name."""
    if "://" not in value:
        return None
    named = {find(value) for find in ids} - {None, value}
    return named.pop() if len(named) == 1 else None


def _entities(value: str, find: Finder) -> list[str]:
    """The entities of a code, or of several with commas between them; [] of others."""
    names = [find(code.strip()) for code in value.split(",") if code.strip()]
    known = [name for name in names if name is not None]
    return known if len(known) == len(names) else []


def owner_of(column: str) -> str:
    """Whose code a column holds by its name; "" where it says none.

    >>> owner_of("country_code"), owner_of("iso"), owner_of("leadId")
    ('country', '', 'lead')
    """
    match = _OF_CODE.fullmatch(column) or OF_ID.fullmatch(column)
    return match[1] if match else ""
