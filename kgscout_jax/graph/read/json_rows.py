"""The values of a file of JSON: lines, one array, or lists that one object holds.

    {"count": 2, "employees": [{"name": "Ann"}, {"name": "Bob"}]}
    {"data": {"firm": {"name": "Acme", "employees": [{"name": "Ann"}]}}}
    {"Ann": {"city": "Rome"}, "Bob": {"city": "Bern"}}

Services return the first two objects, and configurations are the third one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.header import NAMES, plain
from kgscout_jax.graph.read.json_array import JsonText, array_values, starts_array
from kgscout_jax.graph.read.json_bills import MARKS, bill_rows
from kgscout_jax.graph.read.json_exports import in_neo4j_form
from kgscout_jax.graph.read.json_wrappers import (
    SPLIT,
    are_numbered,
    frame_records,
    without_wrappers,
)
from kgscout_jax.graph.read.query_results import plain_binding
from kgscout_jax.graph.read.streams import bounded_lines, open_text

ENVELOPES = frozenset("data result results response payload".split())
"""Members that may be an object around the lists."""
BINDINGS = "bindings"
"""The list of rows of a SPARQL query's result."""
_MANY = 1_000
"""Objects of a list from which on the rest of the file is not read to tell its form."""


class JsonRow(NamedTuple):
    """A value of a file."""

    line: int
    """From 1."""
    table: str
    """The name of the list that it is from; "" for lines and arrays."""
    value: Any


def json_rows(path: Path) -> Iterator[JsonRow]:
    """The values of a file that is no document of nodes and edges.

    Those of other programs are in Neo4j's form, see ``in_neo4j_form``.

    Raises:
        UserError: (on iteration) the file is missing, or is not valid JSON.
    """
    for row in _rows(path):
        if _is_flat(row.value):
            yield row
            continue
        plain_value = without_wrappers(row.value)
        records = isinstance(plain_value, list) and isinstance(row.value, dict)
        for each in plain_value if records else [plain_value]:
            for value in in_neo4j_form(each):
                yield row._replace(value=value)


def _is_flat(value: Any) -> bool:
    """Whether a value is an object of texts and numbers that no program has marked."""
    return isinstance(value, dict) and not any(
        isinstance(each, (dict, list)) or name[:1] == "_"
        for name, each in value.items()
    )


def _rows(path: Path) -> Iterator[JsonRow]:
    """The values as they are."""
    with open_text(path) as handle:
        is_array = starts_array(handle)
    with open_text(path) as handle:
        form = "lines" if is_array else _form(path, handle)
    with open_text(path) as handle:
        if is_array:
            for line, value in array_values(path, handle):
                yield JsonRow(line, "", value)
        elif form == "lists":
            yield from _listed(JsonText(path, handle))
        elif form == "by name":
            yield from _by_name(JsonText(path, handle))
        elif form == "frame":
            for value in frame_records(JsonText(path, handle).value()):
                yield JsonRow(1, "", value)
        elif form == "bill":
            for value in bill_rows(JsonText(path, handle).value()):
                yield JsonRow(1, "", value)
        elif form == "record":
            yield from _composed("", 1, JsonText(path, handle).value())
        else:
            for line, value in _line_values(path, handle):
                yield JsonRow(line, "", value)


_Form = Literal["lines", "lists", "by name", "record", "bill", "frame"]
"""What one object of a file is: one of many lines; one that holds lists of objects, or
objects alone, each under its name; one record with a name; a bill of materials; a data
frame of pandas."""


def _form(path: Path, handle: TextIO) -> _Form:
    """The form of a text that is no array."""
    text = JsonText(path, handle)
    if text.first() != "{":
        return "lines"
    lists, objects, others, is_record = 0, 0, 0, False
    keys, numbered = set[str](), True
    try:
        for key in text.members():
            if key in MARKS:
                return "bill"
            keys.add(key)
            if text.first() == "[":
                count = 0
                for _, value in text.array():
                    count += isinstance(value, dict)
                    if count == _MANY and not is_record:
                        return "lists"
                lists += count > 0
                others += not count
                continue
            value = text.value()
            if isinstance(value, dict):
                numbered &= are_numbered(value)
                enveloped = key.casefold() in ENVELOPES and (
                    _has_lists(value) or any(map(_has_lists, value.values()))
                )
                lists += enveloped
                objects += not enveloped
            else:
                is_record |= plain(key) in NAMES and isinstance(value, str)
                others += 1
        if text.first():
            return "lines"  # the first of several
    except UserError:
        return "lines"  # their reader says what is wrong
    if keys in SPLIT or (objects > 1 and not others and numbered):
        return "frame"
    if is_record:
        return "record"
    if lists:
        return "lists"
    return "by name" if objects > 1 and not others else "lines"


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _has_lists(value: Any) -> bool:
    """Whether a value is an object that holds lists of objects."""
    return isinstance(value, dict) and any(map(_has_objects, value.values()))


def _listed(text: JsonText, *, enveloped: bool = False) -> Iterator[JsonRow]:
    """The objects of the lists that one object holds.

    And, in an envelope, those of objects that hold lists.
    """
    for key in text.members():
        if text.first() == "[":
            for line, value in text.array():
                if isinstance(value, dict):
                    value = plain_binding(value) if key == BINDINGS else value
                    yield JsonRow(line, key, value)
        elif key.casefold() in ENVELOPES and text.first() == "{":
            yield from _listed(text, enveloped=True)
        else:
            line, value = text.line, text.value()
            if enveloped and _has_lists(value):
                yield from _composed(key, line, value)


def _composed(table: str, line: int, record: dict[str, Any]) -> Iterator[JsonRow]:
    """A record, and those of its lists as tables of their own; their names stay in it.

    As one record with what is in it where something in a list has neither name nor id.
    """
    lists = {name: each for name, each in record.items() if _has_objects(each)}
    if not all(map(_is_table, lists.values())):
        yield JsonRow(line, table, record)
        return
    names = {name: [_name(each) for each in rows] for name, rows in lists.items()}
    own = record | {name: [*filter(None, each)] for name, each in names.items()}
    if _name(record):
        yield JsonRow(line, table, own)
    for name, rows in lists.items():
        yield from (JsonRow(line, name, each) for each in rows)


def _is_table(rows: list[Any]) -> bool:
    """Whether each value of a list is an object with a name or an id."""
    return all(
        isinstance(each, dict) and (_name(each) or "id" in map(plain, each))
        for each in rows
    )


def _name(record: Mapping[str, Any]) -> str:
    """The name of a record; "" without one."""
    named = (value for key, value in record.items() if plain(key) in NAMES)
    return next((value for value in named if isinstance(value, str)), "")


def _by_name(text: JsonText) -> Iterator[JsonRow]:
    """The objects that one object holds, with their names, which may be ids."""
    for key in text.members():
        line, value = text.line, text.value()
        named = any(plain(name) in NAMES for name in value)
        yield JsonRow(line, "", {"id" if named else "name": key, **value})


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
