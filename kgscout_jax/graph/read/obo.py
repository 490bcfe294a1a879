"""Ontologies in the OBO flat format, as biology has them.

    [Term]
    id: DOID:1
    name: fungal disease
    is_a: DOID:2 ! disease
    relationship: caused_by FUNGI:3 ! rust fungus

A term is a node, ``is_a`` and ``relationship`` are edges, called by the names of their
[Typedef]. Obsolete terms are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.streams import bounded_lines, open_text

SUFFIX = ".obo"
_TERM, _INSTANCE, _TYPEDEF = "[Term]", "[Instance]", "[Typedef]"
_LITERALS = {
    "def": "definition",
    "synonym": "synonym",
    "comment": "comment",
    "xref": "xref",
    "namespace": "namespace",
    "subset": "subset",
    "creation_date": "creation_date",
    "created_by": "created_by",
}
"""Tags with a text -> relation."""
_TARGETS = {"is_a": "is_a", "instance_of": "instance_of", "replaced_by": "replaced_by"}
"""Tags with a term -> relation."""
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)".*')
_REMARK = re.compile(r"\s*(?:\{[^}]*\}\s*)?(?:\s!.*)?$")
"""Qualifiers and a comment behind a value."""

_Tags = list[tuple[int, str, str]]
"""Line number, tag and value."""


def obo_elements(path: Path) -> Iterator[Node | Edge]:
    """The terms of an ontology, and what joins them.

    Raises:
        UserError: (on iteration) the file is missing, or a term has no id.
    """
    names = {
        value["id"]: value["name"]
        for kind, tags in _stanzas(path)
        if kind == _TYPEDEF and {"id", "name"} <= {*(value := _first(tags))}
    }
    for kind, tags in _stanzas(path):
        first = _first(tags)
        if kind not in (_TERM, _INSTANCE) or first.get("is_obsolete") == "true":
            continue
        if not first.get("id"):
            raise UserError(f"{path}:{tags[0][0]}: a term without an id")
        id, edges = first["id"], list[Edge]()
        facts: Attributes = [("name", first["name"])] if "name" in first else []
        for line, tag, value in tags:
            if tag in _LITERALS:
                facts.append((_LITERALS[tag], _literal(value)))
            elif tag in _TARGETS:
                target = _REMARK.sub("", value)
                edges.append(Edge(line, id, target, relation=_TARGETS[tag]))
            elif tag == "relationship":
                relation, _, target = _REMARK.sub("", value).partition(" ")
                name = names.get(relation, relation)
                edges.append(Edge(line, id, target.strip(), relation=name))
        yield Node(tags[0][0], id, facts)
        yield from edges


def _stanzas(path: Path) -> Iterator[tuple[str, _Tags]]:
    """The kind of each stanza, and its tags; "" for the header."""
    kind, tags = "", _Tags()
    with open_text(path) as handle:
        for number, line in enumerate(bounded_lines(path, handle), start=1):
            text = line.strip()
            if text.startswith("[") and text.endswith("]"):
                if tags:
                    yield kind, tags
                kind, tags = text, []
            elif text and not text.startswith("!"):
                tag, _, value = text.partition(":")
                tags.append((number, tag.strip(), value.strip()))
    if tags:
        yield kind, tags


def _first(tags: _Tags) -> dict[str, str]:
    """The first value of each tag, without comments."""
    return {tag: _REMARK.sub("", value) for _, tag, value in reversed(tags)}


def _literal(value: str) -> str:
    """A text without its quotes, and what stands behind them.

    >>> _literal('"water mould disease" EXACT []'), _literal("DOID:1 ! disease")
    ('water mould disease', 'DOID:1')
    """
    if found := _QUOTED.fullmatch(value):
        return found[1].replace("\\n", " ").replace("\\", "")
    return _REMARK.sub("", value)
