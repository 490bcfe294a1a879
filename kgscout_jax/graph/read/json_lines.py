"""Streaming reader of JSON: Neo4j's export, or a triplet an object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.day_cells import day_cell
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.header import (
    CANONICAL,
    OF_NAME,
    find_ends,
    find_roles,
    in_roles,
    name_rank,
    plain,
)
from kgscout_jax.graph.read.json_array import starts_array
from kgscout_jax.graph.read.json_document import (
    ELEMENTS,
    NODES,
    document_rows,
    is_document,
)
from kgscout_jax.graph.read.json_exports import NESTED, flat_fields
from kgscout_jax.graph.read.json_rows import JsonRow, json_rows
from kgscout_jax.graph.read.options import excerpt
from kgscout_jax.graph.read.streams import open_text
from kgscout_jax.types import replace_surrogates

JSON_LINES = (".jsonl", ".ndjson", ".json", ".cyjs", ".geojson")
NAMELESS = CANONICAL[0]
"""The fields of an array of three names."""
_IDS_OF_NEO4J = {"node": "id", "relationship": "start"}
_OF_HETIONET = ("kind", "identifier")
"""Fields that are a node's id together, which edges have as a list."""
_JOINT = "::"
IDS = ("id", "key")
"""Fields with the id of a node, or of an edge, which says nothing."""


def json_elements(
    path: Path, columns: Sequence[str] = (), left_out: Counter[str] | None = None
) -> Iterator[Node | Edge]:
    """The nodes and edges of JSON lines, of one array, or of one object with lists.

    A line, or a value of the array, is a node or relationship of ``apoc.export.json``;
    an object with fields for head, relation and tail, found by their names or given
    by ``columns``; one with an id, a node; one with a name, facts about what is called
    so; or an array of three names. An object with lists of nodes and edges is read by
    ``json_document``, and files of records alone by ``json_records``.

    Triplets whose tail is null are left out, and counted in ``left_out``.

    Raises:
        UserError: (on iteration) the file is missing, or a line is something else.
    """
    keys = tuple(in_roles(columns)) if columns else ()
    if is_graph(path):
        with open_text(path) as handle:
            yield from _document_elements(path, handle)
        return
    for row in json_rows(path):
        elements = [*row_elements(path, row, keys)]
        if not elements and left_out is not None:
            left_out["null"] += 1
        yield from elements


def row_elements(
    path: Path, row: JsonRow, columns: tuple[str, ...] = ()
) -> Iterator[Node | Edge]:
    """The elements of one value, see ``json_elements``."""
    value, where = row.value, f"{path}:{row.line}"
    if isinstance(value, list) and len(value) == len(NAMELESS):
        value = dict(zip(NAMELESS, value, strict=True))
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected an object, found {excerpt(value)}")
    yield from _elements(value, columns, where, row.line)


def is_graph(path: Path) -> bool:
    """Whether a file is one object with nodes.

    Raises:
        UserError: the file is missing or cannot be read.
    """
    with open_text(path) as handle:
        if starts_array(handle):
            return False
    with open_text(path) as handle:
        return is_document(path, handle)


def is_element(value: Any) -> bool:
    """Whether a value is no record: a triplet, an edge, a part of Neo4j's export."""
    if not isinstance(value, dict):
        return True
    names, id = [*value], _IDS_OF_NEO4J.get(str(value.get("type")))
    is_neo4j = id is not None and id in value
    return is_neo4j or bool(find_roles(names) or find_ends([*map(plain, names)]))


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
        label = text_of(row.get("label"))
        if label is None or not label.strip():
            raise UserError(f"{where}: a relationship without a label")
        properties = _properties(row.get("properties"), where)
        yield Edge(line, ends[0], ends[1], properties, relation=label)
    elif columns or find_roles(list(row)):
        described = "id" in row and not any(name in row for name in columns)
        if columns and described:
            yield _node(row, where, line)
        elif (triplet := _triplet(row, columns, where, line)) is not None:
            yield triplet
    elif (edge := _edge(row, where, line)) is not None:
        yield edge
    elif "id" in row:
        yield _node(row, where, line)
    elif key := name_field(row):
        name = str(text_of(row[key]))
        others = {field: value for field, value in row.items() if field != key}
        yield Node(line, name, _properties(others, where), facts=True, called=name)
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
        if isinstance(row, list) and len(row) == len(NAMELESS) and part != NODES:
            edges += 1
            yield from row_elements(path, JsonRow(line, part, row))
            continue
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
            if not ids and all(map(text_of, map(fields.get, _OF_HETIONET))):
                ids = [_JOINT.join(str(fields[name]) for name in _OF_HETIONET)]
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
    properties = row.get(NESTED[0])
    if properties is not None and not isinstance(properties, dict):
        raise UserError(
            f"{where}: properties are {excerpt(properties)}, expected an object"
        )
    return flat_fields(row)


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
        end = text_of(value.get("id") if isinstance(value, dict) else value)
        if isinstance(value, list) and value and all(map(text_of, value)):
            end = _JOINT.join(str(text_of(part)) for part in value)
        if end is None or not end.strip():
            raise UserError(
                f"{where}: {excerpt(name, 30)} is {excerpt(value)}, expected a node"
            )
        ends.append(end)
    return Edge(line, ends[0], ends[1], _properties(fields, where), IDS)


def _triplet(
    row: dict[str, Any], columns: tuple[str, ...], where: str, line: int
) -> Edge | None:
    """An object with fields for head, relation and tail; None where that is null."""
    names = list(row)
    roles = find_roles(names)
    keys = columns
    if not keys and roles is not None:
        keys = tuple(names[i] for i in (roles.head, roles.relation, roles.tail))
    fixed = keys[1][1:] if keys and keys[1].startswith("=") else None
    cells = [
        fixed if i == 1 and fixed else text_of(row.get(k)) for i, k in enumerate(keys)
    ]
    if keys[2] in row and row[keys[2]] is None and all(cells[:2]):
        return None
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
    id = text_of(row.get("id"))
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
        [text for text in map(text_of, labels) if text],
    )


def name_field(value: Mapping[str, Any]) -> str | None:
    """The field that names an object without an id; None without one."""
    ranked = [
        (name_rank(plain(name)), name)
        for name, each in value.items()
        if name_rank(plain(name)) < OF_NAME and (text_of(each) or "").strip()
    ]
    return min(ranked, key=lambda pair: pair[0], default=(0, None))[1]


def _properties(value: Any, where: str) -> Attributes:
    """Names and values; lists give several, nested objects and nulls none."""
    if value is None:
        return []
    if not isinstance(value, dict):
        raise UserError(f"{where}: properties are {excerpt(value)}, expected an object")
    pairs = []
    for name, values in value.items():
        for each in values if isinstance(values, list) else [values]:
            if (text := fact_text(each)) is not None:
                pairs.append((replace_surrogates(name), text))
    return pairs


def fact_text(value: Any) -> str | None:
    """``text_of`` what is said of an entity: a time at midnight is its day."""
    text = text_of(value)
    return None if text is None else day_cell(text)


def text_of(value: Any) -> str | None:
    """A string, number or truth value as text; None for anything else."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None
