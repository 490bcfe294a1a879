"""The web snippets of ComplexWebQuestions 1.1 as documents.

``web_snippets_train.json`` and its siblings are JSON lists of
``{"question_ID", "question", "web_query", "split_source", "web_snippets"}`` with
``web_snippets`` a list of ``{"title", "snippet"}``. A question has several records, one
for each query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from kgscout_jax.types import display_name
from kgscout_jax.utils.io import read_json, write_text
from kgscout_jax.utils.manifest import as_record


class _Snippet(TypedDict):
    title: NotRequired[str | None]
    snippet: str


class _Record(TypedDict):
    question_ID: str
    question: str
    web_query: NotRequired[str]
    web_snippets: list[_Snippet]


@dataclass(frozen=True, slots=True)
class QuestionSnippets:
    """The snippets of one question, each once, in the order of the file."""

    id: str
    question: str
    snippets: tuple[tuple[str, str], ...]
    """(title, text)."""


def read_snippets(path: Path) -> Iterator[QuestionSnippets]:
    """The questions of a file with their snippets.

    Raises:
        UserError: the file is missing or not of this form.
    """
    records = as_record(read_json(path), list[_Record], str(path))
    questions: dict[str, tuple[str, dict[tuple[str, str], None]]] = {}
    for record in records:
        _, found = questions.setdefault(record["question_ID"], (record["question"], {}))
        for snippet in record["web_snippets"]:
            title = display_name(snippet.get("title") or "")
            if text := display_name(snippet["snippet"]):
                found.setdefault((title, text))
    for id, (question, found) in questions.items():
        yield QuestionSnippets(id, question, tuple(found))


def write_snippets(question: QuestionSnippets, folder: Path) -> Path:
    """Write the snippets as one Markdown document, and return its path."""
    name = re.sub(r"[^\w.-]+", "_", question.id)[:120]
    parts = [f"## {title}\n\n{text}\n" for title, text in question.snippets]
    path = folder / f"{name}.md"
    write_text(path, "\n".join(parts))
    return path
