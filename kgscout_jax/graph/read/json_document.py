"""Streaming reader of one JSON object with a list of nodes and a list of edges.

networkx (``node_link_data``, ``cytoscape_data``), D3, Cytoscape.js, vis.js,
graphology, the JSON Graph Format and LlamaIndex's property graphs have this form. The
last two may hold the nodes, and LlamaIndex its relations, in an object by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.json_array import JsonText
from kgscout_jax.graph.read.json_exports import is_triplet

NODES = "nodes"
ELEMENTS = "elements"
"""An object with both lists, or one list of all."""
_GRAPHS = (ELEMENTS, "graph")
"""Objects around the lists."""
LISTS = (
    *(NODES, "edges", "links", "rels", "relationships", "relations"),
    *("triplets", "triples", ELEMENTS),
)


def is_document(path: Path, handle: TextIO) -> bool:
    """Whether a text begins with an object that has nodes."""
    text = JsonText(path, handle)
    if text.first() != "{":
        return False
    keys: list[str] = []
    try:
        for key in text.members():
            if key in (NODES, ELEMENTS):
                return text.first() in ("[", "{")
            value = text.value()
            if key in _GRAPHS and isinstance(value, dict) and NODES in value:
                return True
            rows = value if key in LISTS and isinstance(value, list) else ()
            if rows and all(map(is_triplet, rows)):
                return "entities" in keys
            keys.append(key)
    except UserError:
        pass  # The reader of lines says what is wrong.
    return False


def document_rows(
    path: Path, handle: TextIO, others: list[str]
) -> Iterator[tuple[int, str, Any]]:
    """(line number from 1, name of the list, value) of the nodes and edges.

    Args:
        path: for errors.
        handle: the text.
        others: names of other lists of objects are added.

    Raises:
        UserError: (on iteration) the text is not valid JSON, goes on behind the object,
            or holds a value over the limit.
    """
    text = JsonText(path, handle)
    yield from _rows(text, others)
    text.take("", "object")


def _rows(text: JsonText, others: list[str]) -> Iterator[tuple[int, str, Any]]:
    for key in text.members():
        if key in _GRAPHS and text.first() == "{":
            yield from _rows(text, others)
        elif key in LISTS and text.first() == "[":
            for line, value in text.array():
                if not isinstance(value, str):  # a list of names says nothing of them
                    yield line, key, value
        elif key in LISTS and text.first() == "{":
            for id in text.members():
                line, value = text.line, text.value()
                has_id = key != NODES or not isinstance(value, dict)
                yield line, key, value if has_id else {"id": id, **value}
        else:
            value = text.value()
            if isinstance(value, list) and any(
                isinstance(each, (dict, list)) for each in value
            ):
                others.append(key)
