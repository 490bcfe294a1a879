"""Triplets as KG-RAG writes them: ((Ann)-[wrote]->(Book))-[in]->(1999)."""

from __future__ import annotations

import re

from kgscout_jax.ingest.extract.protocol import NestedTriplet, Node
from kgscout_jax.types import display_name

ARROW = re.compile(r"\s*[-–—]+\s*\[([^\[\]]+)\]\s*[-–—]+>?\s*")
DEPTH = 4
"""Triplets within triplets, at most."""


def parse_triplet(line: str) -> NestedTriplet | None:
    """The triplet of a line; None if it is none."""
    start = line.find("(")
    node = _parse(line[start:].rstrip(" .,;`")) if start >= 0 else None
    return node if isinstance(node, NestedTriplet) else None


def _parse(text: str, depth: int = 0) -> Node | None:
    """The node that the whole text writes."""
    text = text.strip()
    if depth > DEPTH:
        return None
    end = _closing(text)
    if end is None:
        return None
    head_text, rest = text[1:end], text[end + 1 :]
    if not rest.strip():
        if _closing(head_text.strip()) is not None and ARROW.search(head_text):
            return _parse(head_text, depth)
        name = display_name(head_text.strip("\"'` "))
        return name if any(c.isalnum() for c in name) else None
    arrow = ARROW.match(rest)
    if arrow is None:
        return None
    head = _parse(f"({head_text})", depth + 1)
    tail = _parse(rest[arrow.end() :], depth + 1)
    relation = display_name(arrow[1].strip("\"'` "))
    if head is None or tail is None or not relation or head == tail:
        return None
    return NestedTriplet(head, relation, tail)


def _closing(text: str) -> int | None:
    """Where the parenthesis that opens the text closes."""
    if not text.startswith("("):
        return None
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return i
    return None
