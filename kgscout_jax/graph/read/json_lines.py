"""Streaming reader of JSON: Neo4j's export, or a triplet an object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.header import (
    CANONICAL,
    NO_NAME,
    find_ends,
    find_roles,
    in_roles,
    name_rank,
    plain,
)
from kgscout_jax.graph.read.json_array import array_values, starts_array
from kgscout_jax.graph.read.json_document import (
    ELEMENTS,
    NODES,
    document_rows,
    is_document,
)
from kgscout_jax.graph.read.options import excerpt
from kgscout_jax.graph.read.streams import bounded_lines, open_text
from kgscout_jax.types import replace_surrogates

JSON_LINES = (".jsonl", ".ndjson", ".json")
NAMELESS = CANONICAL[0]
"""The fields of an array of three names."""
NESTED = ("properties", "attributes", "data")
"""Fields of nodes and edges whose fields are theirs."""
IDS = ("id", "key")
"""Fields with the id of a node, or of an edge, which says nothing."""


def json_elements(path: Path, columns: Sequence[str] = ()) -> Iterator[Node | Edge]:
    """The nodes and edges of JSON lines, of one array, or of one object with lists.

    A line, or a value of the array, is a node or relationship of ``apoc.export.json``;
    an object with fields for head, relation and tail, found by their names or given
    by ``columns``; one with an id, a node; one with a name, facts about what is called
    so; or an array of three names. An object with lists of nodes and edges is read by
    ``json_document``.

    Raises:
        UserError: (on iteration) the file is missing, or a line is something else.
    """
    keys = tuple(in_roles(columns)) if columns else ()
    with open_text(path) as handle:
        is_array = starts_array(handle)
    with open_text(path) as handle:
        one_object = not is_array and is_document(path, handle)
    with open_text(path) as handle:
        if one_object:
            yield from _document_elements(path, handle)
            return
        rows = array_values(path, handle) if is_array else _line_values(path, handle)
        for number, row in rows:
            where = f"{path}:{number}"
            if isinstance(row, list) and len(row) == len(NAMELESS):
                row = dict(zip(NAMELESS, row, strict=True))
            if not isinstance(row, dict):
                raise UserError(f"{where}: expected an object, found {excerpt(row)}")
            yield from _elements(row, keys, where, number)


def _line_values(path: Path, handle: TextIO) -> Iterator[tuple[int, Any]]:
    """(line number, value) of the lines that are not blank."""
    for number, line in enumerate(bounded_lines(path, handle), start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            raise UserError(
                f"{path}:{number}: not a JSON object a line (Neo4j: "
                "apoc.export.json.all), nor an array of them"
            ) from None


def _elements(
    row: dict[str, Any], columns: tuple[str, ...], where: str, line: int
) -> Iterator[Node | Edge]:
    """The elements of one line."""
    kind = row.get("type")
    if kind == "node" and "id" in row:
        yield _node(row, where, line)
    elif kind == "relationship" and "start" in row and "end" in row:
        ends = []
        for key in ("start", "end"):
            end = row[key] if isinstance(row[key], dict) else {"id": row[key]}
            node = _node(end, where, line)
            if node.attributes:
                yield node
            ends.append(node.id)
        label = _text(row.get("label"))
        if label is None or not label.strip():
            raise UserError(f"{where}: a relationship without a label")
        properties = _properties(row.get("properties"), where)
        yield Edge(line, ends[0], ends[1], properties, relation=label)
    elif columns or find_roles(list(row)):
        described = "id" in row and not any(name in row for name in columns)
        if columns and described:
            yield _node(row, where, line)
        else:
            yield _triplet(row, columns, where, line)
    elif (edge := _edge(row, where, line)) is not None:
        yield edge
    elif "id" in row:
        yield _node(row, where, line)
    elif (record := _record(row, where, line)) is not None:
        yield record
    else:
        raise UserError(
            f"{where}: expected a node or relationship of Neo4j, or fields for head, "
            f"relation and tail; found {', '.join(excerpt(n, 20) for n in [*row][:8])}"
        )


def _document_elements(path: Path, handle: TextIO) -> Iterator[Node | Edge]:
    """The elements of one object with lists of nodes and edges."""
    count, edges = 0, 0
    others: list[str] = []
    for line, part, row in document_rows(path, handle, others):
        where = f"{path}:{line}"
        if not isinstance(row, dict):
            raise UserError(f"{where}: expected an object, found {excerpt(row)}")
        edge = None if part == NODES else _edge(row, where, line)
        if edge is not None:
            edges += 1
            yield edge
        elif part in (NODES, ELEMENTS):
            # Nodes without ids are numbered by their place (D3).
            fields = _fields(row, where)
            ids = [fields[name] for name in IDS if name in fields]
            yield _node({**row, "id": ids[0] if ids else count}, where, line)
            count += 1
        else:
            found = ", ".join(excerpt(name, 20) for name in [*row][:8])
            raise UserError(
                f"{where}: an edge without source and target; found {found}"
            )
    if others and not edges:
        found = ", ".join(excerpt(name, 20) for name in others[:8])
        raise UserError(
            f"{path}: no list of edges, expected edges or links beside the nodes; "
            f"found {found}"
        )


def _fields(row: dict[str, Any], where: str) -> dict[str, Any]:
    """The fields of a node or an edge, those of nested objects with it."""
    fields = {name: value for name, value in row.items() if name not in NESTED}
    for name in NESTED:
        nested = row.get(name)
        if isinstance(nested, dict):
            fields = {**nested, **fields}
        elif name == NESTED[0] and nested is not None:
            raise UserError(
                f"{where}: properties are {excerpt(nested)}, expected an object"
            )
        elif nested is not None:
            fields[name] = nested
    return fields


def _edge(row: dict[str, Any], where: str, line: int) -> Edge | None:
    """An object with fields for its two ends; None without them."""
    fields = _fields(row, where)
    names = list(fields)
    found = find_ends([plain(name) for name in names])
    if found is None:
        return None
    ends = []
    for name in (names[found[0]], names[found[1]]):
        value = fields.pop(name)
        end = _text(value.get("id") if isinstance(value, dict) else value)
        if end is None or not end.strip():
            raise UserError(
                f"{where}: {excerpt(name, 30)} is {excerpt(value)}, expected a node"
            )
        ends.append(end)
    return Edge(line, ends[0], ends[1], _properties(fields, where), IDS)


def _triplet(
    row: dict[str, Any], columns: tuple[str, ...], where: str, line: int
) -> Edge:
    """An object with fields for head, relation and tail."""
    names = list(row)
    roles = find_roles(names)
    keys = columns
    if not keys and roles is not None:
        keys = tuple(names[i] for i in (roles.head, roles.relation, roles.tail))
    fixed = keys[1][1:] if keys and keys[1].startswith("=") else None
    cells = [
        fixed if i == 1 and fixed else _text(row.get(k)) for i, k in enumerate(keys)
    ]
    for key, cell in zip(keys, cells, strict=True):
        if cell is None or not cell.strip():
            raise UserError(
                f"{where}: {excerpt(key, 30)} is {excerpt(row.get(key))}, expected a "
                "name"
            )
    head, relation, tail = map(str, cells)
    others = {name: value for name, value in row.items() if name not in keys}
    return Edge(line, head, tail, _properties(others, where), relation=relation)


def _node(row: dict[str, Any], where: str, line: int) -> Node:
    """A node, or the end of a relationship."""
    id = _text(row.get("id"))
    if id is None:
        raise UserError(
            f"{where}: a node without an id, found {excerpt(row.get('id'))}"
        )
    fields = _fields(row, where)
    labels = fields.pop("labels", None)
    labels = labels if isinstance(labels, list) else []
    if fields.get("type") == "node":
        del fields["type"]
    others = {name: value for name, value in fields.items() if name not in IDS}
    return Node(
        line,
        id,
        _properties(others, where),
        [text for text in map(_text, labels) if text],
    )


def _record(row: dict[str, Any], where: str, line: int) -> Node | None:
    """An object with a name and facts about what is called so; None without a name."""
    keys = sorted(row, key=lambda key: name_rank(plain(key)))
    for key in keys:
        if name_rank(plain(key)) == NO_NAME:
            break
        if (name := _text(row[key])) is not None and name.strip():
            others = {field: value for field, value in row.items() if field != key}
            properties = _properties(others, where)
            return Node(line, name, properties, facts=True, called=name)
    return None


def _properties(value: Any, where: str) -> Attributes:
    """Names and values; lists give several, nested objects and nulls none."""
    if value is None:
        return []
    if not isinstance(value, dict):
        raise UserError(f"{where}: properties are {excerpt(value)}, expected an object")
    pairs = []
    for name, values in value.items():
        for each in values if isinstance(values, list) else [values]:
            if (text := _text(each)) is not None:
                pairs.append((replace_surrogates(name), text))
    return pairs


def _text(value: Any) -> str | None:
    """A string, number or truth value as text; None for anything else."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None
