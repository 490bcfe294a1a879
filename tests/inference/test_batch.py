"""kgscout retrieve: a line for every question, whatever happens meanwhile."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from prep_factory import NEEDS_ENCODER, TRIPLETS
from scout_factory import lines, shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.batch import read_ids
from kgscout_jax.inference.scout import Scout
from kgscout_jax.utils.lock import locked

pytestmark = NEEDS_ENCODER
NAMES = sorted({name for head, _, tail in TRIPLETS for name in (head, tail)})
QUESTIONS = [
    {"id": f"q{i}", "question": f"Where is {name}?"}
    | ({"q_entity": [name]} if i % 3 else {})
    for i, name in enumerate(NAMES)
]


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("guided")


@pytest.fixture
def run(world, tmp_path, monkeypatch, capsys):
    """Call the command; (exit code, last line on stderr)."""
    # Loaded once: what is loaded is the test of scouts.
    monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: world.scout)

    def call(questions=QUESTIONS, *more, kg=None, k: int = 5) -> tuple[int, str]:
        file = tmp_path / "q.jsonl"
        if not isinstance(questions, str):
            questions = "".join(json.dumps(row) + "\n" for row in questions)
        file.write_text(questions)
        args = ["retrieve", world.policy, "--kg", kg or world.file, "--k", k]
        args += ["--questions", file, "--out", tmp_path / "out.jsonl"]
        capsys.readouterr()
        code = main([str(arg) for arg in [*args, *more]])
        said = capsys.readouterr().err.splitlines()
        return code, said[-1] if said else ""

    return call


def results(folder: Path) -> list[dict]:
    found = lines(folder / "out.jsonl")
    for line in found:
        line.pop("seconds", None)
    return found


def test_results_never_replace_questions_or_graph(run, world, tmp_path):
    graph = tmp_path / "graph.tsv"
    graph.write_bytes(world.file.read_bytes())
    (tmp_path / "link").hardlink_to(graph)
    for name in ("q.jsonl", "graph.tsv", "link"):
        out = tmp_path / name
        code, said = run(QUESTIONS, "--out", out, "--overwrite", kg=graph)
        assert code == 2 and f"--out {out}: this is an input, expected" in said
    assert graph.read_bytes() == world.file.read_bytes()
    assert len(lines(tmp_path / "q.jsonl")) == len(QUESTIONS)


def test_a_line_for_each_question_in_their_order(run, world, tmp_path):
    assert run()[0] == 0
    found = results(tmp_path)
    assert [line["id"] for line in found] == [row["id"] for row in QUESTIONS]
    graph = open_graph([world.file])
    for line, row in zip(found, QUESTIONS, strict=True):
        one = world.scout.retrieve(
            row["question"], graph, 5, topics=row.get("q_entity")
        )
        assert line["question"] == row["question"] and line["answers"] == []
        assert line["topics"] == list(one.topics)
        assert bool(line["linked"]) == ("q_entity" not in row and bool(one.topics))
        scores = [triplet[3] for triplet in line["triplets"]]
        np.testing.assert_allclose(scores, one.scores, rtol=1e-5, atol=1e-5)
        assert {tuple(t[:3]) for t in line["triplets"]} == set(one.triplets)
    assert sum(len(line["triplets"]) for line in found) > 50
    assert not list(tmp_path.glob("*.part"))


def test_an_empty_list_of_topics_means_none(run, tmp_path):
    rows: list[dict] = [{"id": "linked", "question": "Where is Ada?"}]
    rows += [{**rows[0], "id": "null", "q_entity": None}]
    rows += [{**rows[0], "id": "none", "q_entity": []}]
    assert run(rows)[0] == 0
    linked, null, none = results(tmp_path)
    assert linked["topics"] == null["topics"] == ["Ada"]
    assert none["topics"] == none["linked"] == none["triplets"] == []


def test_questions_may_begin_with_a_byte_order_mark(tmp_path):
    text = '\ufeff{"id": "a", "question": "Where?"}\n'.encode()
    (tmp_path / "q.jsonl").write_bytes(text)
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(text))
    for name in ("q.jsonl", "q.jsonl.gz"):
        assert read_ids(tmp_path / name) == {"a"}


def test_a_question_that_fails_is_a_line(run, tmp_path):
    bad = [
        {"id": "no text"},
        {"id": "empty", "question": " "},
        {"id": "number", "question": 3},
        {"id": "topics", "question": "Who?", "q_entity": [1]},
        {"id": 7, "question": "Where is \ud800 Ada?", "q_entity": "Ada"},
        {"id": "lost", "question": "Who?", "q_entity": ["Atlantis"]},
    ]
    code, said = run(bad)
    assert code == 0 and said.endswith("out.jsonl: 4 of 6 questions failed")
    found = results(tmp_path)
    assert [line["id"] for line in found] == [str(row["id"]) for row in bad]
    for line, says in zip(found, ("None", "' '", "3", r"\[1\]"), strict=False):
        assert re.search(f"is {says}, expected", line["error"])
        assert "triplets" not in line
    assert found[4]["triplets"] and found[5]["triplets"] == []
    _, said = run(bad[-1:], "--overwrite")
    assert said.endswith("no topic of 1 of 1 questions is in the graph")
    assert found[5]["topics_not_found"] == ["Atlantis"]
    code, said = run(bad[:4], "--overwrite")
    assert code == 1  # not one went well


def test_a_defect_of_one_question_is_its_own(run, world, monkeypatch, tmp_path):
    link = Scout.link

    def fails(self, question, graph):
        if "Bern" in question:
            raise RuntimeError("a defect")
        return link(self, question, graph)

    monkeypatch.setattr(Scout, "link", fails)
    rows = [{"id": n, "question": f"Where is {n}?"} for n in ("Ada", "Bern", "Chur")]
    assert run(rows)[0] == 0
    found = results(tmp_path)
    assert [line.get("error") for line in found] == [None, "a defect", None]


@pytest.mark.extended
def test_damaged_embeddings_fail_only_who_meets_them(run, world, tmp_path):
    build_graph([world.file], tmp_path / "graph")
    KnowledgeGraph.open(tmp_path / "graph").embed(world.scout.encoder)
    (file,) = (tmp_path / "graph").rglob("*.triplets.npy")
    table = np.load(file)
    table[0] = np.nan
    np.save(file, table)
    fields = json.loads((file.parent / "manifest.json").read_text())
    del fields["files"]  # no checksums: the encoder itself gave this row
    (file.parent / "manifest.json").write_text(json.dumps(fields))
    assert run(kg=tmp_path / "graph")[0] == 0
    failed = [line for line in results(tmp_path) if "error" in line]
    assert 0 < len(failed) < len(QUESTIONS)
    says = r"triplets\.npy: 1 of 60 rows of embeddings of triplets are not finite"
    assert all(re.search(says, line["error"]) for line in failed)


# --- stopped and started again


@pytest.mark.extended
def test_an_interrupted_run_resumes(run, world, monkeypatch, tmp_path):
    retrieve = Scout.retrieve_many
    asked: list[str] = []
    left = 2

    def many(self, questions, *args, **more):
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        asked.extend(questions)
        return retrieve(self, questions, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Scout, "retrieve_many", many)
        assert run(QUESTIONS, "--batch-size", 4)[0] == 130
        part = tmp_path / "out.jsonl.part"
        assert len(lines(part)) == 8 and not (tmp_path / "out.jsonl").exists()
        with open(part, "a") as handle:  # what a power cut leaves
            handle.write('{"id": "q8", "question": "Wh')
        left = 100
        assert run(QUESTIONS, "--batch-size", 4)[0] == 0
    assert asked == [row["question"] for row in QUESTIONS]  # each once
    again = results(tmp_path)
    assert run(QUESTIONS, "--overwrite")[0] == 0
    whole = results(tmp_path)
    assert [line["id"] for line in again] == [line["id"] for line in whole]
    for one, other in zip(again, whole, strict=True):
        assert one["triplets"] == other["triplets"]


@pytest.mark.parametrize(
    "whole_lines",
    [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 10)), 6],
)
def test_a_run_torn_within_a_batch_resumes_bit_equal(run, tmp_path, whole_lines):
    assert run(QUESTIONS, "--batch-size", 4)[0] == 0
    whole = results(tmp_path)
    written = (tmp_path / "out.jsonl").read_text().splitlines(keepends=True)
    torn = "".join(written[:whole_lines]) + written[whole_lines][:40]
    (tmp_path / "out.jsonl.part").write_text(torn)
    (tmp_path / "out.jsonl").unlink()
    assert run(QUESTIONS, "--batch-size", 4)[0] == 0
    assert results(tmp_path) == whole


@pytest.mark.extended
def test_added_questions_are_appended(run, tmp_path):
    assert run(QUESTIONS[:5])[0] == 0
    before = (tmp_path / "out.jsonl").read_text()
    code, said = run(QUESTIONS[:5])
    assert code == 0 and said.endswith("has all 5 questions already")
    assert run(QUESTIONS[:7])[0] == 0
    assert (tmp_path / "out.jsonl").read_text().startswith(before)
    assert len(results(tmp_path)) == 7


def test_other_settings_are_refused(run, world, tmp_path):
    assert run(QUESTIONS[:5])[0] == 0
    code, said = run(QUESTIONS[:5], k=6)
    assert code == 2 and "out.jsonl:1: of --k 5, found 6; choose another" in said
    (tmp_path / "out.jsonl").rename(tmp_path / "out.jsonl.part")
    code, said = run(QUESTIONS[:5], k=6)
    assert code == 2 and "out.jsonl.part:1: of --k 5, found 6; choose" in said
    other = tmp_path / "other.tsv"
    other.write_text(Path(world.file).read_text() + "a\tb\tc\n")
    code, said = run(QUESTIONS[:5], kg=other)
    assert code == 2 and "out.jsonl.part:1: of another graph than --kg" in said
    code, said = run(QUESTIONS[:5], "--token-budget", 900)
    assert code == 2 and "of no --token-budget, found 900; choose" in said
    (tmp_path / ".out.jsonl.settings").unlink()  # as of earlier versions
    code, said = run(QUESTIONS[:5], k=6)
    assert code == 2 and "of another policy, graph or settings; choose" in said
    changed = [{**QUESTIONS[0], "question": "Another?"}, *QUESTIONS[1:6]]
    code, said = run(changed)
    assert code == 2 and "q.jsonl:1: id 'q0' is that of another question" in said
    assert run(QUESTIONS[:5], "--overwrite", k=6)[0] == 0


# --- files that are no questions


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"id": "a", "question": "x"}\nnot json\n', r"q\.jsonl:2: not valid JSON"),
        ("[1]\n", r"q\.jsonl:1: expected a JSON object, got list"),
        ('{"question": "x"}\n', r"q\.jsonl:1: 'id' is None, expected a question id"),
        ('{"id": "", "question": "x"}\n', r"q\.jsonl:1: 'id' is ''"),
        ('{"id": "a"}\n\n{"id": "a"}\n', r"q\.jsonl:3: id 'a' occurs twice, .* 1$"),
        ("", r"q\.jsonl: no question"),
    ],
)
def test_malformed_question_files_are_refused(run, tmp_path, text, says):
    code, said = run(text)
    assert code == 2 and re.search(says, said), said
    assert not list(tmp_path.glob("out*"))


def test_refused_arguments(run, tmp_path):
    code, said = run(QUESTIONS[:1], kg=tmp_path / "nowhere.tsv")
    assert code == 2 and "nowhere.tsv: no such file or folder" in said
    code, said = run(QUESTIONS[:1], k=0)
    assert code == 2 and "--k: found 0, expected at least 1" in said
    assert not list(tmp_path.glob("out*"))


def test_a_second_run_with_the_same_output_is_refused(run, tmp_path):
    with locked(tmp_path, "retrieve", name=".out.jsonl.lock"):
        code, said = run(QUESTIONS[:1])
    assert code == 2 and "another kgscout retrieve --out out.jsonl is writing" in said
    assert run(QUESTIONS[:1], "--embed")[0] == 0
