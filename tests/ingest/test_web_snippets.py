"""The reader of ComplexWebQuestions' snippets."""

from __future__ import annotations

import json

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.web_snippets import read_snippets, write_snippets

RECORDS = [
    {
        "question_ID": "WebQTest-1/a",
        "question": "Who borders Peru?",
        "web_query": query,
        "split_source": ["ptrnet split"],
        "web_snippets": [
            {"title": "Peru", "snippet": "Chile  borders Peru."},
            {"title": None, "snippet": query},
            {"title": "empty", "snippet": " "},
        ],
    }
    for query in ("peru", "chile")
]


def test_snippets_of_a_question_come_together_each_once(tmp_path):
    file = tmp_path / "web_snippets_dev.json"
    file.write_text(json.dumps(RECORDS))
    (question,) = read_snippets(file)
    assert question.id == "WebQTest-1/a"
    assert question.snippets == (
        ("Peru", "Chile borders Peru."), ("", "peru"), ("", "chile"),
    )  # fmt: skip
    path = write_snippets(question, tmp_path)
    assert path.name == "WebQTest-1_a.md"
    assert path.read_text().startswith("## Peru\n\nChile borders Peru.\n")


def test_another_form_is_named(tmp_path):
    file = tmp_path / "x.json"
    file.write_text('[{"question": "x"}]')
    with pytest.raises(UserError, match=r"x\.json: .*question_ID"):
        list(read_snippets(file))
