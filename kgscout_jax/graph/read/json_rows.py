"""The values of a file of JSON: lines, one array, or lists that one object holds.

    {"count": 2, "employees": [{"name": "Ann"}, {"name": "Bob"}]}
    {"Ann": {"city": "Rome"}, "Bob": {"city": "Bern"}}

Services return the first object, and configurations are the second one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.header import NAMES, plain
from kgscout_jax.graph.read.json_array import JsonText, array_values, starts_array
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

    Raises:
        UserError: (on iteration) the file is missing, or is not valid JSON.
    """
    with open_text(path) as handle:
        is_array = starts_array(handle)
    with open_text(path) as handle:
        form = _Form() if is_array else _form(path, handle)
    with open_text(path) as handle:
        if is_array:
            for line, value in array_values(path, handle):
                yield JsonRow(line, "", value)
        elif form.lists:
            yield from _listed(JsonText(path, handle))
        elif form.by_name:
            yield from _by_name(JsonText(path, handle))
        else:
            for line, value in _line_values(path, handle):
                yield JsonRow(line, "", value)


class _Form(NamedTuple):
    """What one object of a file is; neither: a record, or one of many lines."""

    lists: bool = False
    """Whether it holds lists of objects."""
    by_name: bool = False
    """Whether it holds objects alone, each under its name."""


def _form(path: Path, handle: TextIO) -> _Form:
    """The form of a text that is no array."""
    text = JsonText(path, handle)
    if text.first() != "{":
        return _Form()
    lists, objects, others = 0, 0, 0
    try:
        for key in text.members():
            if text.first() == "[":
                count = 0
                for _, value in text.array():
                    count += isinstance(value, dict)
                    if count == _MANY:
                        return _Form(lists=True)
                lists += count > 0
                others += not count
                continue
            value = text.value()
            if isinstance(value, dict):
                enveloped = key.casefold() in ENVELOPES and any(
                    map(_has_objects, value.values())
                )
                lists += enveloped
                objects += not enveloped
            elif plain(key) in NAMES and isinstance(value, str):
                return _Form()  # a record with records within it
            else:
                others += 1
        if text.first():
            return _Form()  # the first of several lines
    except UserError:
        return _Form()  # the reader of lines says what is wrong
    return _Form(lists > 0, objects > 1 and not lists and not others)


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _listed(text: JsonText) -> Iterator[JsonRow]:
    """The objects of the lists that one object holds."""
    for key in text.members():
        if text.first() == "[":
            for line, value in text.array():
                if isinstance(value, dict):
                    value = plain_binding(value) if key == BINDINGS else value
                    yield JsonRow(line, key, value)
        elif key.casefold() in ENVELOPES and text.first() == "{":
            yield from _listed(text)
        else:
            text.value()


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
