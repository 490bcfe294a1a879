"""Pseudo-graphs from Cypher: run in an embedded engine, or read pattern by pattern.

The engine (kglite) reads files on LOAD CSV, so text of a model never reaches it
unchecked: outside brackets only CREATE and MERGE may stand, within them no call of a
function, and the length is bounded. It runs in a process that can open no file
(``cypher_engine.py``). What the engine refuses is read tolerantly: every
node and edge pattern that can be recognised counts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet, display_name

Outcome = Literal["ran", "patterns", "nothing"]
Cause = Literal["", "too long", "clause", "function", "syntax", "no facts"]
MAX_CHARACTERS = 20_000
"""Longer texts are not run."""
ENGINE = Path(__file__).with_name("cypher_engine.py")
SECONDS = 60.0
"""A query that takes longer is ended."""
MAX_TRIPLETS = 500
"""The most triplets of one pseudo-graph."""

_FENCE = re.compile(r"```[a-z]*\n?(.*?)(?:```|\Z)", re.DOTALL | re.I)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CALL = re.compile(
    r"\b(?:local)?(?:date|datetime|toInteger|toString)\(\s*("
    + _QUOTED.pattern
    + r"|\d+)\s*\)",
    re.I,
)
_RETURN = re.compile(r"\bRETURN\b[^;]*", re.I)
_NODE = re.compile(
    r"\(\s*(?P<var>\w*)\s*(?P<labels>(?::\s*[\w`]+\s*)*)(?P<props>\{[^{}]*\})?\s*\)"
)
_EDGE = re.compile(
    r"(?P<back><)?-\s*(?:\[\s*\w*\s*:?\s*(?P<type>[^\]{]*?)\s*(?:\{[^{}]*\})?\s*\])?\s*-(?P<out>>)?"
)
_PROPERTY = re.compile(r"(\w+)\s*:\s*(" + _QUOTED.pattern + r"|[^,}]+)")
_NAMES = ("name", "title", "label", "id")
_OWN = frozenset((*_NAMES, "type"))


@dataclass(frozen=True, kw_only=True)
class PseudoGraph:
    """The triplets of a model's Cypher, and how they were read."""

    triplets: tuple[Triplet, ...]
    outcome: Outcome
    cause: Cause = ""
    """Why it did not run."""
    message: str = ""
    """What the engine said, for a repair."""


def read_cypher(reply: str) -> PseudoGraph:
    """The pseudo-graph of a model's reply.

    Raises:
        UserError: the engine is not installed.
    """
    code = code_of(reply)
    cause, message = forbidden(code)
    if not cause:
        triplets, message = _run(code)
        if triplets:
            return PseudoGraph(triplets=triplets, outcome="ran")
        cause = "syntax" if message else "no facts"
    triplets = tuple(dict.fromkeys(_patterns(code)))[:MAX_TRIPLETS]
    outcome: Outcome = "patterns" if triplets else "nothing"
    return PseudoGraph(triplets=triplets, outcome=outcome, cause=cause, message=message)


def code_of(reply: str) -> str:
    """The Cypher of a reply: that of its code block, one query, without RETURN."""
    match = _FENCE.search(reply)
    code = match.group(1) if match else reply
    code = _outside_quotes(_COMMENT, code, " ")
    code = _CALL.sub(r"\1", code)
    code = _outside_quotes(_RETURN, code, " ")
    # Statements of one reply share their variables: models mean one query.
    return _outside_quotes(re.compile(";"), code, "\n").strip()


def forbidden(code: str) -> tuple[Cause, str]:
    """Why a query is not run, and what to tell its author; ("", "") if it may run."""
    if len(code) > MAX_CHARACTERS:
        return "too long", f"expected at most {MAX_CHARACTERS} characters"
    depth, word = 0, ""
    for token in re.findall(r"\w+|[^\w\s]", _QUOTED.sub('""', code)):
        if token == "(" and depth:
            return "function", f"{word}(...) is not allowed"
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif depth == 0 and token.upper() not in ("CREATE", "MERGE", *"-<>,"):
            return "clause", f"{token} is not allowed: only CREATE and MERGE are"
        word = token
    return "", ""


def _run(code: str) -> tuple[tuple[Triplet, ...], str]:
    """The triplets of a checked query, or what the engine says against it."""
    try:
        process = subprocess.run(
            [sys.executable, "-I", str(ENGINE)],
            input=code.encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        reply = json.loads(process.stdout or b"{}")
    except (subprocess.TimeoutExpired, ValueError):
        return (), "it takes too long"
    if reply.get("missing"):
        raise UserError(
            f"{reply['missing']} is not installed: pip install 'kgscout-jax[pgakv]'"
        )
    if "edges" not in reply:
        return (), reply.get("error", "it cannot be run")
    triplets = [*_edge_triplets(reply["edges"]), *_property_triplets(reply["nodes"])]
    return tuple(dict.fromkeys(triplets))[:MAX_TRIPLETS], ""


def _edge_triplets(edges: list[Any]) -> Iterator[Triplet]:
    for head, relation, tail in edges:
        names = _node_name(head), _node_name(tail)
        if names[0] and names[1]:
            kind = relation["type"].lower()
            yield names[0], kind, names[1]
            for name, value in relation.get("properties", {}).items():
                if name not in _OWN and (text := display_name(str(value))):
                    yield names[0], f"{kind}_{name}", text


def _property_triplets(nodes: list[Any]) -> Iterator[Triplet]:
    for node in nodes:
        name = _node_name(node)
        for key, value in node["properties"].items():
            if name and key not in _OWN and (text := display_name(str(value))):
                yield name, key, text


def _node_name(node: Mapping[str, Any]) -> str:
    """The name that the model gave to a node; "" where it gave none."""
    properties = node["properties"]
    for key in _NAMES[:3]:
        text = display_name(str(properties.get(key, "")))
        # The engine titles nodes without a name after their label.
        if text and not re.fullmatch(rf"{node['labels'][0]}_\d+", text):
            return text
    return ""


def _patterns(code: str) -> Iterator[Triplet]:
    """Triplets of the patterns that can be recognised in a broken query."""
    names: dict[str, str] = {}
    for match in _NODE.finditer(code):
        properties = _properties(match["props"])
        name = next((properties[key] for key in _NAMES if properties.get(key)), "")
        if name and match["var"]:
            names[match["var"]] = name
        for key, value in properties.items():
            if name and key not in _OWN:
                yield name, key, value
    nodes = list(_NODE.finditer(code))
    for one, two in pairwise(nodes):
        edge = _EDGE.fullmatch(code[one.end() : two.start()].strip())
        if edge is None:
            continue
        ends = [
            next(
                (p[key] for key in _NAMES if (p := _properties(m["props"])).get(key)),
                names.get(m["var"], ""),
            )
            for m in (one, two)
        ]
        if edge["back"] and not edge["out"]:
            ends.reverse()
        relation = "_".join((edge["type"] or "").lower().split())
        if all(ends) and relation:
            yield ends[0], relation, ends[1]


def _properties(text: str | None) -> dict[str, str]:
    """The properties of a pattern as text."""
    out = {}
    for key, value in _PROPERTY.findall(text or ""):
        value = value.strip()
        if value[:1] in "'\"" and len(value) > 1:
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        if value := display_name(value):
            out[key] = value
    return out


def _outside_quotes(pattern: re.Pattern[str], text: str, by: str) -> str:
    """The text with matches outside quoted parts replaced."""
    parts, last = [], 0
    for match in re.finditer(
        f"(?P<q>{_QUOTED.pattern})|(?P<x>{pattern.pattern})",
        text,
        pattern.flags | re.DOTALL,
    ):
        if match["x"] is not None:
            parts += [text[last : match.start()], by]
            last = match.end()
    return "".join([*parts, text[last:]])
