"""Finds the columns of triplets, or of nodes, of a parquet file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.dialect import SAMPLE_ROWS, Dialect
from kgscout_jax.graph.read.entity_tables import entity_layout
from kgscout_jax.graph.read.find_layout import missing_relation
from kgscout_jax.graph.read.header import (
    INITIALS,
    RELATIONS,
    Roles,
    column_order,
    described_relation,
    find_ends,
    find_roles,
    in_roles,
    plain,
)
from kgscout_jax.graph.read.layout import Layout
from kgscout_jax.graph.read.node_columns import lists_nodes, node_columns
from kgscout_jax.graph.read.parquet import (
    batches,
    is_name,
    is_string,
    open_parquet,
    texts,
)

_NO_DIALECT = Dialect("", quoted=False)
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_SAMPLE_ROWS = 3


def parquet_layout(path: Path, columns: Sequence[str] = ()) -> Layout:
    """The layout of a parquet file; its header is the names of its columns.

    Names are blank in the header where a column holds no properties: nested and binary
    ones, and pandas' index.

    Heads, tails and ids of nodes are strings or integers, relations strings.

    Args:
        path: the file.
        columns: see ``ReadOptions.columns``; else they are found by their names as in a
            text table, or name and facts of an entity a row, or the first three of
            strings.

    Raises:
        UserError: the file cannot be read, has not the columns, or one of them holds
            values of another type.
    """
    file = open_parquet(path)
    schema = file.schema_arrow
    if columns:
        expected = ", ".join(columns)
        layout = _given_layout(schema, columns) or _node_layout(path, file)
    else:
        expected = "head, relation, tail"
        layout = (
            _node_layout(path, file)
            or _entity_layout(path, file)
            or _named_layout(path, schema)
        )
    if layout is None:
        names = ", ".join(f"{field.name} ({field.type})" for field in schema)
        raise UserError(
            f"{path}: expected columns {expected} of strings (integers "
            f"too as head and tail), found {names}"
        )
    header = tuple(name if _has_values(schema, name) else "" for name in schema.names)
    layout = replace(layout, header=header, width=len(header))
    if layout.doubt:
        places = layout.head, layout.relation, layout.tail
        layout = replace(layout, sample=_sample(path, file, places))
    return layout


def _sample(
    path: Path, file: Any, places: Sequence[int], rows: int = _SAMPLE_ROWS
) -> list[list[str]]:
    """The first rows; only the cells of these columns are filled in."""
    names = file.schema_arrow.names
    first = next(batches(path, file, [names[i] for i in places], rows), None)
    if first is None:
        return []
    cells = [[""] * len(names) for _ in range(first.num_rows)]
    for i in places:
        for row, cell in zip(cells, texts(path, first.column(names[i])), strict=True):
            row[i] = cell
    return cells


def _names_without_edges(schema: Any) -> list[str] | None:
    """The names of columns, blank without values; None if triplets have such ones."""
    names = [name if _has_values(schema, name) else "" for name in schema.names]
    if find_roles(names) or find_ends([plain(name) for name in names]):
        return None
    return names


def _node_layout(path: Path, file: Any) -> Layout | None:
    """The layout of a list of nodes; None if columns are those of triplets."""
    schema = file.schema_arrow
    if (names := _names_without_edges(schema)) is None:
        return None
    nodes = node_columns(names, with_edges=False)
    if nodes is None or nodes.id is None:
        return None
    if not is_name(schema.field(nodes.id).type):
        return None
    rows = [names, *_sample(path, file, [nodes.id])]
    if not lists_nodes(rows, nodes):
        return None
    return Layout(_NO_DIALECT, nodes=nodes, edges=False)


def _entity_layout(path: Path, file: Any) -> Layout | None:
    """The layout of a table with a row for each entity, named by a column of text."""
    schema = file.schema_arrow
    if (names := _names_without_edges(schema)) is None:
        return None
    places = [i for i, name in enumerate(names) if name]
    rows = _sample(path, file, places, SAMPLE_ROWS)
    found = entity_layout(_NO_DIALECT, [names, *rows])
    if found is None or found.nodes is None:
        return None
    called = found.nodes.called  # without a name, its columns may be triplets
    if called is None or not is_string(schema.field(called).type):
        return None
    return replace(found, skip_first=False, sample=rows[:_SAMPLE_ROWS])


def _given_layout(schema: Any, columns: Sequence[str]) -> Layout | None:
    """The layout with columns that the user names or numbers; None without them."""
    head, relation, tail = in_roles(columns)
    constant = relation[1:].strip() if relation.startswith("=") else None
    if constant == "":
        raise UserError("columns: expected =NAME, found = without a name")
    places: list[int] = []
    for name in (head, head if constant else relation, tail):
        if name in schema.names:
            places.append(schema.names.index(name))
        elif name.isdecimal() and 1 <= int(name[:9]) <= len(schema.names):
            places.append(int(name[:9]) - 1)
        else:
            return None
    if not _are_triplets(schema, places):
        return None
    return Layout(
        _NO_DIALECT,
        head=places[0],
        relation=places[1],
        tail=places[2],
        constant=constant,
    )


def _are_triplets(schema: Any, places: Sequence[int]) -> bool:
    """Whether the types of three columns are those of head, relation and tail."""
    head, relation, tail = (schema.field(i).type for i in places)
    return is_name(head) and is_string(relation) and is_name(tail)


def _named_layout(path: Path, schema: Any) -> Layout | None:
    """The layout by the names of the columns, else by their order."""
    names = schema.names
    strings = [i for i, field in enumerate(schema) if is_string(field.type)]
    ends, doubt = find_ends([plain(name) for name in names]), None
    if order := column_order(names):
        places = order
    elif roles := _roles(schema):
        places = roles.head, roles.relation, roles.tail
        if roles.ambiguous and tuple(map(str.lower, names)) not in INITIALS:
            doubt = "several columns could be meant"
    elif ends and ({*ends[:2]} <= {*strings} or len(strings) < 3):
        middle = ends[:2] == (0, 2) and 1 in strings and {*strings} <= {0, 1, 2}
        described = described_relation(names)
        if middle:
            places = 0, 1, 2
            doubt = "the middle column is taken for the relation"
        elif described in strings:
            places = ends[0], described, ends[1]
            doubt = f"{names[described]} is taken for the relation"
        else:
            raise missing_relation(str(path), names, names[ends[0]], names[ends[1]])
    else:
        places = tuple(strings[:3])
        doubt = "the first columns of strings are taken"
    if len(places) < 3 or not _are_triplets(schema, places):
        return None
    return Layout(
        _NO_DIALECT, head=places[0], relation=places[1], tail=places[2], doubt=doubt
    )


def _roles(schema: Any) -> Roles | None:
    """The roles of columns by their names: of strings, else with integers at ends."""
    strings = [field.name if is_string(field.type) else "" for field in schema]
    names = [
        field.name if is_name(field.type) and plain(field.name) not in RELATIONS else ""
        for field in schema
    ]
    both = [string or name for string, name in zip(strings, names, strict=True)]
    return find_roles(strings) or find_roles(both)


def _has_values(schema: Any, name: str) -> bool:
    """Whether a column may hold properties."""
    import pyarrow as pa

    if schema.names.count(name) > 1 or _PANDAS_INDEX.fullmatch(name):
        return False
    type_ = schema.field(name).type
    return is_string(type_) or not (
        pa.types.is_nested(type_)
        or pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_dictionary(type_)
    )
