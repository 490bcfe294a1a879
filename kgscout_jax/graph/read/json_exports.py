"""Objects of other programs' JSON in the form of Neo4j's export.

    {"_key": "7", "_id": "clubs/7", "name": "Ajax"}                        ArangoDB
    {"_id": "plays_for/9", "_key": "9", "_from": "persons/1", "_to": "clubs/7"}
    {"nodes": [{"id": "Ann", "type": "Person"}], "relationships": [...]}   LangChain
    {"source": {"id": "p1", "label": "Ann"}, "relation": "knows", "target": {...}}
    {"sentence": "...", "triples": [{"head": "Ann", "type": "knows", "tail": "Bo"}]}
    {"type": "Feature", "properties": {"name": "Old Mill"}, "geometry": {...}}  GeoJSON

``json_databases`` has the forms of databases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kgscout_jax.graph.read.header import NAMES, RELATIONS, Roles, find_roles, plain
from kgscout_jax.graph.read.json_databases import (
    graphson,
    is_graphson,
    is_neo4j_row,
    is_wikibase,
    neo4j_edge,
    neo4j_node,
    neo4j_row,
    wikibase,
)
from kgscout_jax.text.kinds import singular_form

NESTED = ("properties", "attributes", "metadata", "data")
"""Fields of nodes and edges whose fields are theirs."""
_ARANGO = ("_key", "_id", "_rev", "_from", "_to", "_oldRev")
_LISTS = ("relationships", "edges", "links", "relations")
"""Lists beside the nodes of one of many documents."""
_TRIPLETS = ("triples", "triplets", "relations", "relationships", "facts")
"""Fields with the triplets of a sentence."""
_KINDS = ("labels", "type", "kind", "class")
_IDS = ("id", "key", "uuid")


def in_neo4j_form(value: Any) -> Iterator[Any]:
    """The objects of a value of JSON as nodes and relationships of Neo4j.

    A value of another form is returned as it is.

    >>> [*in_neo4j_form({"_id": "clubs/7", "_key": "7"})]
    [{'type': 'node', 'id': 'clubs/7', 'labels': ['club'], 'properties': {}}]
    """
    if not isinstance(value, dict):
        yield value
    elif _is_arango(value):
        yield _arango(value)
    elif is_neo4j_row(value):
        yield from neo4j_row(value)
    elif is_graphson(value):
        yield from graphson(value)
    elif is_wikibase(value):
        yield from wikibase(value)
    elif _is_document(value):
        yield from _document(value)
    elif (name := _triplets_field(value)) is not None:
        yield from _edges(value[name])
    elif value.get("type") == "Feature" and isinstance(value.get("properties"), dict):
        yield _feature(value)
    elif (roles := _object_roles(value)) is not None:
        yield _triplet(value, roles)
    else:
        yield value


def _is_arango(value: Mapping[str, Any]) -> bool:
    """Whether a value is a document or an edge of ArangoDB."""
    id = value.get("_id")
    return isinstance(id, str) and "/" in id and "_key" in value


def _arango(value: Mapping[str, Any]) -> dict[str, Any]:
    """A document is a node, whose collection is its kind or the relation of an edge."""
    collection = value["_id"].partition("/")[0]
    others = {name: each for name, each in value.items() if name not in _ARANGO}
    if "_from" not in value or "_to" not in value:
        return neo4j_node(value["_id"], [singular_form(collection)], others)
    relation = _relation_field(others)
    label = collection if relation is None else others.pop(relation)
    return neo4j_edge({"id": value["_from"]}, label, {"id": value["_to"]}, others)


def _relation_field(fields: Mapping[str, Any]) -> str | None:
    """The field that says the relation of an edge; None without one."""
    named = {plain(name): name for name in fields if isinstance(fields[name], str)}
    return next((named[name] for name in RELATIONS if name in named), None)


def _is_document(value: Mapping[str, Any]) -> bool:
    """Whether a value holds lists of nodes and of edges, as a text's graph does."""
    lists = [value.get("nodes"), *(value.get(name) for name in _LISTS)]
    return isinstance(lists[0], list) and any(
        isinstance(each, list) for each in lists[1:]
    )


def _document(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes and edges of one document; what it was taken from is no part of it."""
    for node in value["nodes"]:
        fields = node if isinstance(node, dict) else {"id": node}
        yield {"type": "node", **_node(fields)}
    for name in _LISTS:
        yield from _edges(value.get(name) or ())


def _edges(rows: Iterable[Any]) -> Iterator[Any]:
    """Relationships of objects with fields for head, relation and tail; other values as
    they are."""
    for each in rows:
        roles = find_roles([*each]) if isinstance(each, dict) else None
        yield each if roles is None else _triplet(each, roles)


def _triplets_field(value: Mapping[str, Any]) -> str | None:
    """The field of a sentence with the triplets that it says; None for other values."""
    for name in _TRIPLETS:
        rows = value.get(name)
        if isinstance(rows, list) and rows and all(map(is_triplet, rows)):
            return name
    return None


def is_triplet(value: Any) -> bool:
    """Whether a value is an array of three names, or an object of head, relation and
    tail."""
    if isinstance(value, list):
        return len(value) == 3 and all(isinstance(each, str) for each in value)
    return isinstance(value, dict) and find_roles([*value]) is not None


def _feature(value: Mapping[str, Any]) -> dict[str, Any]:
    """A record of a place of GeoJSON; of a point with its coordinates."""
    fields = value["properties"].items()  # "@id" is OpenStreetMap's number of it
    out = {name: v for name, v in fields if v is not None and name[:1] != "@"}
    geometry = value.get("geometry") or {}
    if geometry.get("type") == "Point":
        longitude, latitude, *_ = geometry["coordinates"]
        out |= {"latitude": latitude, "longitude": longitude}
    return out


def _object_roles(value: Mapping[str, Any]) -> Roles | None:
    """The fields of a triplet whose ends are objects, or that has its properties in
    one; None for other values."""
    if not any(isinstance(each, dict) for each in value.values()):
        return None
    names = [*value]
    roles = find_roles(names)
    if roles is None or value.get("type") in ("node", "relationship"):
        return None
    parts = [value[names[roles.head]], value[names[roles.tail]]]
    parts += [value[name] for name in NESTED if name in names]
    return roles if any(isinstance(each, dict) for each in parts) else None


def _triplet(value: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """A relationship of an object with fields for head, relation and tail."""
    names = [*value]
    head, relation, tail = (names[i] for i in (roles.head, roles.relation, roles.tail))
    label = value[relation]
    if isinstance(label, dict):
        label = _name(label) or label.get("id")
    used = (head, relation, tail, *_IDS)
    others = {name: each for name, each in value.items() if name not in used}
    return neo4j_edge(_end(value[head]), label, _end(value[tail]), flat_fields(others))


def _end(value: Any) -> dict[str, Any]:
    return _node(value) if isinstance(value, dict) else {"id": value}


def _node(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A node with its id, labels and properties; a value without an id has no kind."""
    flat = flat_fields(fields)
    ids = [flat[name] for name in _IDS if flat.get(name) is not None]
    id = ids[0] if ids else _name(flat)
    kind = next((flat[name] for name in _KINDS if flat.get(name)), None)
    labels = kind if isinstance(kind, list) else [kind] if ids and kind else []
    others = {n: v for n, v in flat.items() if n not in (*_IDS, *_KINDS)}
    return {"id": id, "labels": labels, "properties": others}


def _name(fields: Mapping[str, Any]) -> str | None:
    """The name of an object; None without one."""
    named = {plain(name): each for name, each in fields.items()}
    found = (named[name] for name in NAMES if isinstance(named.get(name), str))
    return next(found, None)


def flat_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object, with those of its properties."""
    out = {name: each for name, each in fields.items() if name not in NESTED}
    for name in NESTED:
        nested = fields.get(name)
        if isinstance(nested, dict):
            out = {**nested, **out}
        elif nested is not None:
            out[name] = nested
    return out
