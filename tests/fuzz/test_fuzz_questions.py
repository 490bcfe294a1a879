"""kgscout retrieve: any bytes as a file of questions are answered or refused."""

from __future__ import annotations

import json

import pytest
from fuzz.strangers import FUZZ, TEXT
from hypothesis import example, given
from hypothesis import strategies as st

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.inference.batch import (
    completed_questions,
    excerpt,
    read_ids,
    read_rows,
)
from kgscout_jax.inference.batch_lines import inputs_fingerprint
from kgscout_jax.inference.scout import Scout
from kgscout_jax.types import replace_surrogates

pytestmark = pytest.mark.extended

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
ODD = st.fixed_dictionaries(
    {}, optional={"id": JSON, "question": JSON, "q_entity": JSON, "other": JSON}
)
LINE = (
    (ODD | JSON).map(json.dumps)
    | ODD.map(lambda row: json.dumps(row, ensure_ascii=False))
    | TEXT
)


def raw(lines: list[str]) -> bytes:
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def one_line(error: UserError) -> None:
    said = str(error)
    assert "\n" not in said and len(said) < 800


@FUZZ
@given(st.lists(LINE, max_size=4).map(raw) | st.binary(max_size=80))
@example(b'\xef\xbb\xbf{"id": "a", "question": "x"}')
@example(b"[" * 100_000)
@example(b'{"id": ' + b"9" * 5000 + b"}")
@example(b'{"id": "a", "question": ' + b"[" * 5000 + b"]" * 5000 + b"}")
@example(b'{"id": {"a": "' + b"x" * 100_000 + b'"}}')
@example(b'{"id": "' + b"x" * 100_000 + b'"}\n{"id": "' + b"x" * 100_000 + b'"}')
def test_any_file_of_questions_is_read_or_refused_in_a_line(tmp_path, content):
    file = tmp_path / "q.jsonl"
    file.write_bytes(content)
    try:
        ids = read_ids(file)
    except UserError as error:
        assert str(error).startswith(str(file))
        one_line(error)
        return
    rows = [row for _, row in read_rows(file)]
    assert len(ids) == len(rows) > 0
    for row in rows:
        row.id.encode(), row.question.encode()
        assert row.problem is None or len(row.problem) < 600
        assert row.problem or row.question.strip()


@FUZZ
@given(st.lists(LINE, max_size=3).map(raw), TEXT)
def test_any_file_of_results_is_read_or_refused(tmp_path, content, question):
    file, inputs = tmp_path / "out.jsonl", {"k": 2}
    mark = inputs_fingerprint(inputs)
    ours = json.dumps({"id": "\ud800", "question": question, "settings": mark})
    file.write_bytes(ours.encode() + b"\n" + content)
    try:
        completed = completed_questions(file, file, inputs)
    except UserError as error:
        one_line(error)
    else:
        assert completed["\ud800"] == hash(replace_surrogates(question))


def test_long_values_are_cut_in_messages():
    assert excerpt("a" * 10**6) == repr("a" * 200)[:200] + "..."
    assert excerpt([1]) == "[1]" and len(excerpt([["x"] * 10**5])) == 203


def test_a_file_of_odd_questions_gives_a_line_each(hash_scout, tmp_path, monkeypatch):
    monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: hash_scout)
    (tmp_path / "kg.tsv").write_text("Alien\tdirected_by\tRidley Scott\n")
    questions = [
        {"id": "large", "question": "who directed Alien? " * 50_000},
        {"id": "\x00\x1b", "question": "\x00", "q_entity": "\x00"},
        {"id": "half", "question": "\ud800", "q_entity": ["\ud800", "Alien"]},
        {"id": "list", "question": ["x" * 10**6]},
        {"id": "many", "question": "?", "q_entity": ["Alien"] * 5000},
        {"id": "none", "question": "?", "q_entity": []},
        {"id": "text", "question": "?", "q_entity": ""},
        {"id": 10**30, "question": "\u2028\u202e?", "q_entity": None},
    ]
    file, out = tmp_path / "q.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in questions))
    args = ["retrieve", "out", "--kg", tmp_path / "kg.tsv", "--questions", file]
    args += ["--out", out, "--k", 3]
    for more in ([], [], ["--overwrite"]):  # resumed when complete, then overwritten
        assert main([str(arg) for arg in [*args, *more]]) == 0
        lines = [json.loads(line) for line in out.read_text("utf-8").split("\n")[:-1]]
        assert [line["id"] for line in lines] == [str(row["id"]) for row in questions]
        failed = [line["id"] for line in lines if "error" in line]
        assert failed == ["list"] and len(lines[3]["error"]) < 300
        assert lines[2]["topics_not_found"] == ["?"] and lines[2]["triplets"]
