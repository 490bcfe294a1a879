"""Values of JSON that databases of graphs export, as nodes and edges of Neo4j's export.

    {"n": {"identity": 1, "labels": ["Ward"], ...}, "r": {"type": "IN", ...}}   Neo4j
    {"id": 1, "label": "ship", "outE": {"ownedBy": [{"inV": 2}]}}               GraphSON
    {"type": "item", "id": "Q1", "labels": {...}, "claims": {...}}              Wikibase

Each becomes what ``apoc.export.json`` would write of it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from kgscout_jax.types import replace_surrogates

Object = Mapping[str, Any]
_NEO4J_IDS = ("elementId", "identity", "id")
_STARTS = ("startNodeElementId", "start", "startNode")
_ENDS = ("endNodeElementId", "end", "endNode")
_YEARS, _MONTHS = 9, 10
"""Precisions of times of Wikibase."""


def neo4j_node(
    id: Any, labels: list[Any] | None = None, properties: Object | None = None
) -> dict[str, Any]:
    """A node of ``apoc.export.json``."""
    return {
        "type": "node",
        "id": id,
        "labels": labels or [],
        "properties": dict(properties or {}),
    }


def neo4j_edge(
    start: Object, label: Any, end: Object, properties: Object | None = None
) -> dict[str, Any]:
    """A relationship of ``apoc.export.json``; its ends have an ``id`` each."""
    return {
        "type": "relationship",
        "label": label,
        "start": dict(start),
        "end": dict(end),
        "properties": dict(properties or {}),
    }


# Rows of queries of Neo4j.


def is_neo4j_row(value: Object) -> bool:
    """Whether a value is a row of nodes, relationships and paths of Neo4j."""
    if value.get("type") in ("node", "relationship"):
        return False  # of ``apoc.export.json``
    parts = [part for each in value.values() for part in _parts(each)]
    return any(map(_is_node, parts)) and all(
        _is_node(each) or _is_relationship(each) or not isinstance(each, dict)
        for each in parts
    )


def neo4j_row(value: Object) -> Iterator[dict[str, Any]]:
    """The nodes and relationships of a row."""
    for part in (part for each in value.values() for part in _parts(each)):
        if _is_node(part):
            yield neo4j_node(
                _first(part, _NEO4J_IDS), part["labels"], part["properties"]
            )
        elif _is_relationship(part):
            start, end = ({"id": _first(part, names)} for names in (_STARTS, _ENDS))
            yield neo4j_edge(start, part["type"], end, part.get("properties"))


def _parts(value: Any) -> Iterator[Any]:
    """A node or a relationship, or those of a list or a path."""
    if isinstance(value, list):
        if value and isinstance(value[0], (dict, list)):  # no vector of numbers
            for each in value:
                yield from _parts(each)
    elif isinstance(value, dict) and isinstance(value.get("segments"), list):
        for each in value["segments"]:
            yield from each.values()
    else:
        yield value


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and {"labels", "properties"} <= {*value}


def _is_relationship(value: Any) -> bool:
    return isinstance(value, dict) and "type" in value and "properties" in value


def _first(value: Object, names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


# GraphSON of TinkerPop.


def is_graphson(value: Object) -> bool:
    """Whether a value is a vertex with its edges."""
    return "id" in value and any(
        isinstance(value.get(name), dict) for name in ("inE", "outE")
    )


def graphson(value: Object) -> Iterator[dict[str, Any]]:
    """A vertex and the edges that leave it; those that reach it leave another one."""
    plain: dict[str, Any] = {name: _untyped(each) for name, each in value.items()}
    properties = {
        name: [each["value"] if isinstance(each, dict) else each for each in values]
        for name, values in (plain.get("properties") or {}).items()
    }
    yield neo4j_node(plain["id"], [plain.get("label")], properties)
    for label, edges in (plain.get("outE") or {}).items():
        for edge in edges:
            ends = {"id": plain["id"]}, {"id": edge.get("inV")}
            yield neo4j_edge(ends[0], label, ends[1], edge.get("properties"))


def _untyped(value: Any) -> Any:
    """A value without the types of GraphSON; dates as text."""
    if isinstance(value, list):
        return [_untyped(each) for each in value]
    if not isinstance(value, dict):
        return value
    if {*value} == {"@type", "@value"}:
        inner = _untyped(value["@value"])
        if value["@type"] in ("g:Date", "g:Timestamp") and isinstance(inner, int):
            day = datetime.datetime.fromtimestamp(inner / 1000, datetime.UTC)
            return day.date().isoformat()
        if value["@type"] == "g:Map" and isinstance(inner, list):
            return dict(zip(map(str, inner[::2]), inner[1::2], strict=False))
        return inner
    return {name: _untyped(each) for name, each in value.items()}


# Entities of Wikibase.


def is_wikibase(value: Object) -> bool:
    """Whether a value is an item or a property of Wikibase."""
    kind = value.get("type") in ("item", "property")
    return kind and isinstance(value.get("claims"), dict | list) and "labels" in value


def wikibase(value: Object) -> Iterator[dict[str, Any]]:
    """An item with its statements, whose relations are ids of properties; a property
    is a node too, for its name.

    Deprecated statements and unknown values are left out.
    """
    id = value["id"]
    name = _text(value["labels"])
    facts: dict[str, list[Any]] = {"name": [name]} if name else {}
    if description := _text(value.get("descriptions")):
        facts["description"] = [description]
    facts["alias"] = _texts(value.get("aliases"))
    if value["type"] == "property":
        yield neo4j_node(id, [], {"name": name} if name else {})
        return
    edges = []
    claims = value["claims"]
    for claim in (c for each in (claims or {}).values() for c in each):
        target, text = _snak(claim.get("mainsnak", {}))
        relation = claim.get("mainsnak", {}).get("property")
        if claim.get("rank") == "deprecated" or not (target or text):
            continue
        qualifiers: dict[str, list[str]] = {}
        for snaks in (claim.get("qualifiers") or {}).values():
            for snak in snaks:
                found = next(filter(None, _snak(snak)), "")
                qualifiers.setdefault(snak.get("property"), []).append(found)
        if target:
            edges.append(neo4j_edge({"id": id}, relation, {"id": target}, qualifiers))
        else:
            facts.setdefault(relation, []).append(text)
    yield neo4j_node(id, [], {name: each for name, each in facts.items() if each})
    yield from edges


def _text(texts: Any) -> str:
    """The English one of texts by language, else the first; "" for none."""
    texts = texts if isinstance(texts, dict) else {}
    found = texts.get("en") or next(iter(texts.values()), None)
    return replace_surrogates(found["value"]) if found else ""


def _texts(texts: Any) -> list[str]:
    """The English ones of lists of texts by language."""
    found = texts.get("en", []) if isinstance(texts, dict) else []
    return [replace_surrogates(each["value"]) for each in found]


def _snak(snak: Object) -> tuple[str, str]:
    """The id of the entity that is the value, or the value as text."""
    data: dict[str, Any] = snak.get("datavalue") or {"value": "", "type": ""}
    value, kind = data["value"], data["type"]
    if kind == "wikibase-entityid":
        return str(value["id"]), ""
    if kind == "time":
        precision = value.get("precision", _MONTHS + 1)
        count = 1 if precision <= _YEARS else 2 if precision == _MONTHS else 3
        day = value["time"].lstrip("+").partition("T")[0]
        return "", "-".join(day.split("-")[:count])
    if kind == "quantity":
        return "", value["amount"].lstrip("+")
    if kind == "monolingualtext":
        return "", value["text"]
    if kind == "globecoordinate":
        return "", f"{value['latitude']}, {value['longitude']}"
    return "", value if isinstance(value, str) else ""
