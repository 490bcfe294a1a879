"""Open questions: OKGQA's published CSV, and JSON lines of one's own."""

from __future__ import annotations

import ast
import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from kgscout_jax.errors import UserError
from kgscout_jax.types import display_name
from kgscout_jax.utils.io import open_text, read_json_lines


@dataclass(frozen=True, kw_only=True)
class OpenQuestion:
    """A question whose answer is a paragraph."""

    id: str
    text: str
    type: str = "open"
    """As ``TYPES`` of the paper: descriptive, explanatory, ..."""
    names: tuple[tuple[str, ...], ...] = ()
    """Per entity the names under which it may stand in a graph, best first."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the source."""

    @property
    def subject(self) -> str:
        """What the question is about, for judges; the question where unknown."""
        return ", ".join(each[-1] for each in self.names) or self.text


def read_questions(path: Path, limit: int | None = None) -> list[OpenQuestion]:
    """The questions of a file, at most ``limit``: the first of each type in turn.

    Args:
        path: OKGQA's CSV (``question``, ``id``, ``type``, ``placeholders``,
            ``dbpedia_entities_re`` or ``dbpedia_entities``), or JSON lines (``id``,
            ``question``; optional ``type``, and ``entities`` or ``q_entity``: names).
        limit: None for all.

    Raises:
        UserError: no such file, no question in it, a field of the wrong kind, an id
            used twice.
    """
    is_csv = path.suffix.lower() == ".csv"
    questions = _read_csv(path) if is_csv else _read_json_lines(path)
    if not questions:
        raise UserError(f"{path}: no question in it, expected at least one")
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise UserError(f"{path}: id {question.id!r} is used twice, expected once")
        seen.add(question.id)
    return questions if limit is None else in_turn(questions)[:limit]


def in_turn(questions: Sequence[OpenQuestion]) -> list[OpenQuestion]:
    """The questions, one of each type after another."""
    rank: dict[str, int] = defaultdict(int)
    places = []
    for question in questions:
        places.append(rank[question.type])
        rank[question.type] += 1
    order = sorted(range(len(questions)), key=lambda i: (places[i], i))
    return [questions[i] for i in order]


def _read_csv(path: Path) -> list[OpenQuestion]:
    questions = []
    with open_text(path) as file:
        rows = csv.DictReader(file)
        missing = {"question"} - set(rows.fieldnames or ())
        if missing:
            found = ", ".join(rows.fieldnames or ()) or "nothing"
            raise UserError(f"{path}: columns {found}, expected question among them")
        for number, row in enumerate(rows, start=2):
            where = f"{path}:{number}"
            text = display_name(row["question"] or "")
            if not text:
                raise UserError(f"{where}: question: empty, expected some text")
            placeholders = _mapping(row.get("placeholders"), where, "placeholders")
            column = "dbpedia_entities_re"
            if not (row.get(column) or "").strip():
                column = "dbpedia_entities"
            uris = _mapping(row.get(column), where, column)
            questions.append(
                OpenQuestion(
                    id=str(row.get("id") or number - 2),
                    text=text,
                    type=row.get("type") or "open",
                    names=entity_names(uris, placeholders),
                    extra={
                        "placeholders": placeholders,
                        "naturalness": row.get("naturalness"),
                        "difficulty": row.get("difficulty"),
                    },
                )
            )
    return questions


def entity_names(
    uris: Mapping[str, str], placeholders: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """Per placeholder with a URI: the URI, its name in words, the placeholder's text.

    >>> entity_names({"a": "http://dbpedia.org/resource/Alan_Turing"}, {"a": "Turing"})
    (('http://dbpedia.org/resource/Alan_Turing', 'Turing', 'Alan Turing'),)
    """
    names = []
    for key, uri in uris.items():
        local = display_name(unquote(uri.rpartition("/")[2]).replace("_", " "))
        texts = [uri, placeholders.get(key, ""), local]
        names.append(tuple(dict.fromkeys(text for text in texts if text)))
    return tuple(one for one in names if one)


def _mapping(text: str | None, where: str, column: str) -> dict[str, str]:
    """A dict of strings that a cell holds, in Python's or JSON's spelling."""
    if not (text or "").strip():
        return {}
    assert text is not None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        raise UserError(f"{where}: {column}: found {text[:60]!r}, expected a mapping")
    return {str(k): v for k, v in value.items() if isinstance(v, str)}


def _read_json_lines(path: Path) -> list[OpenQuestion]:
    known = {"id", "question", "type", "entities", "q_entity"}
    questions = []
    for number, row in read_json_lines(path):
        where = f"{path}:{number}"
        text, id = row.get("question"), row.get("id", number - 1)
        if not isinstance(text, str) or not text.strip():
            raise UserError(f"{where}: question: found {text!r}, expected some text")
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise UserError(f"{where}: id: found {id!r}, expected text or a number")
        entities = row.get("entities", row.get("q_entity"))
        entities = [] if entities is None else entities
        if isinstance(entities, str):
            entities = [entities]
        if not isinstance(entities, list) or any(
            not isinstance(name, str) for name in entities
        ):
            raise UserError(f"{where}: entities: expected a list of names")
        type = row.get("type", "open")
        questions.append(
            OpenQuestion(
                id=str(id),
                text=display_name(text),
                type=type if isinstance(type, str) else "open",
                names=tuple((name,) for name in entities if name.strip()),
                extra={k: v for k, v in row.items() if k not in known},
            )
        )
    return questions
