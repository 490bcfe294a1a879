"""kgscout ask and push: what people see, and what a name cannot do to a terminal."""

from __future__ import annotations

import io
import json
import re

import pytest
from prep_factory import NEEDS_ENCODER
from reason.unruly_server import serving
from scout_factory import shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.cli.runner import parse
from kgscout_jax.errors import UserError, escape
from kgscout_jax.export.load import load_exported
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.settings import AskSettings
from kgscout_jax.reason.path_text import path_line
from kgscout_jax.serve.settings import ServeSettings

pytestmark = NEEDS_ENCODER


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("guided")


@pytest.fixture(scope="module")
def answering(kgscout_cache):
    """A world whose policy has an answer head."""
    return shared_world("walk")


@pytest.fixture
def ask(world, tmp_path, monkeypatch, capsys):
    """Call ``kgscout ask``; (exit code, stdout, last line on stderr)."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(
        question: str | None, *more, world=world, page=True
    ) -> tuple[int, str, str]:
        monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: world.scout)
        args = ["ask", world.policy, "--kg", world.file]
        args += [] if question is None else [question]
        args += ["--html", tmp_path / "x.html"] if page else []
        args += more
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return code, out, err.splitlines()[-1] if err else ""

    return call


def test_evidence_and_picture(ask, tmp_path):
    code, out, _ = ask("In which town was Siena born?", "--k", 4)
    assert code == 0
    assert re.search(
        r"^topics: Siena \(exact, 0\.\d\d\)|^topics: Siena \(exact, 1", out
    )
    rows = [line.split() for line in out.splitlines() if re.match(r" ?[1-4] ", line)]
    assert [int(row[0]) for row in rows] == [1, 2, 3, 4]
    scores = [float(row[1]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert "this policy gives evidence only: " in out and "answer: " not in out
    assert "Siena" in (tmp_path / "x.html").read_text()


def test_answers_come_with_probability_and_path(ask, answering, tmp_path):
    question = "In which town was Siena born?"
    sure = ("--min-probability", 0, "--k", 6)
    code, out, _ = ask(question, *sure, world=answering)
    selection = SelectionConfig(min_probability=0.0)
    graph = open_graph([answering.file])
    found = answering.scout.retrieve(question, graph, 6, selection=selection)
    assert code == 0 and found.answers
    printed = re.findall(r"^answer: (.+) \((0\.\d\d|1\.00)\)$", out, re.M)
    expected = [(a.name, f"{a.probability:.2f}") for a in found.answers]
    assert printed == expected[:20]
    told = answering.scout.answer(question, graph, 6, min_probability=0.0)
    assert [(a.name, a.probability) for a in told] == [
        (a.name, a.probability) for a in found.answers
    ]
    best = next(answer for answer in found.answers if answer.path)
    line = path_line(best.path, best.name)
    assert f"answer: {best.name} ({best.probability:.2f})\n    {line}\n" in out
    assert out.index(line) < out.index("score")  # evidence stands below
    page = (tmp_path / "x.html").read_text()
    assert f"<b>{best.name}</b> <small>{best.probability:.2f}</small>" in page


def test_below_the_probability_there_are_guesses(ask, answering):
    code, out, _ = ask(
        "In which town was Siena born?", "--min-probability", 1, world=answering
    )
    assert code == 0 and "answer: " not in out
    guess = r"\w+ \((?:0\.\d\d|1\.00)\)"
    assert re.search(rf"^not sure; best guesses: {guess}; {guess}", out, re.M)
    code, out, _ = ask("Where?", world=answering)
    assert code == 0 and "not sure: without a topic no answer follows" in out


def test_named_topics_are_used_and_unknown_ones_refused(ask):
    code, out, _ = ask("Where?", "--topic", "ada", "--k", 2)
    assert code == 0 and "topics: Ada\n" in out
    code, out, said = ask("Where?", "--topic", "ada", "--topic", "Sienna", "--k", 2)
    assert code == 2 and not out
    assert "no entity of the graph is called 'Sienna'; similar: 'Siena'" in said


def test_a_page_is_written_where_one_is_asked_for(ask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = ask("In which town was Siena born?", page=False)
    assert code == 0 and "page: " not in out and not list(tmp_path.iterdir())
    code, out, _ = ask("In which town was Siena born?")
    assert "page: " in out and (tmp_path / "x.html").exists()


def test_json_is_the_result_as_one_object(ask, answering):
    question, k = "In which town was Siena born?", ("--k", 6)
    code, out, _ = ask(question, "--json", *k, page=False, world=answering)
    record = json.loads(out)
    found = answering.scout.retrieve(question, open_graph([answering.file]), 6)
    assert code == 0 and record == found.to_dict()
    assert record["topics"] == ["Siena"] and "explanation" not in record
    first = {**dict(zip(("head", "relation", "tail"), found.triplets[0], strict=True))}
    assert record["triplets"][0] == first | {"score": round(float(found.scores[0]), 4)}
    assert record["status"] == ("answered" if found.answers else "not sure")
    code, out, _ = ask(question, "--json", "--min-probability", 1, world=answering)
    unsure = json.loads(out)
    assert unsure["status"] == "not sure" and not unsure["answers"]
    assert {"name", "probability", "path"} == set(unsure["best_guesses"][0])


def test_an_explanation_names_what_was_chosen_and_what_else_it_might_be(ask):
    code, out, _ = ask("In which town was Siena born?", "--explain", "--k", 40)
    link = r"^link: 'Siena' -> Siena \(exact, .*: topic$"
    assert code == 0 and re.search(link, out, re.M)
    assert re.search(r"^considered: \d+ triplets, selected: \d+$", out, re.M)
    assert re.search(r"^time: graph .* s, policy .* s, question .* s$", out, re.M)
    code, out, _ = ask("In which town was Siena born?", "--explain", "--json")
    assert json.loads(out)["explanation"]["links"][0]["name"] == "Siena"


def test_control_characters_are_escaped():
    assert escape("a\x00b\n\x1b\u202e") == "a\\x00b\\n\\x1b\\u202e"
    assert (
        escape("né 名前 \U0001f469\u200d\U0001f680")
        == "né 名前 \U0001f469\u200d\U0001f680"
    )


def test_a_language_model_answers(ask):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with serving(["ok", "length"]) as server:
        model = ("--llm", server.url, "--model", "m")
        code, out, _ = ask("Where is Ada?", *model, "--k", 3)
        _, cut, _ = ask("Where is Ada?", *model)
    assert code == 0 and re.search(r"^answer \(m\): .", out, re.M)
    note = "the reply was cut at 2 tokens"
    assert f"answer (m): Ridley Scott\nnote: {note}\n" in cut and note not in out
    request, _ = server.bodies
    assert "Where is Ada?" in json.dumps(request["messages"])


def test_refused(ask, tmp_path):
    code, _, said = ask("Who?", "--llm", "http://127.0.0.1:9/v1")
    assert code == 2 and "--llm without --model" in said
    code, _, said = ask("Who?", "--k", 0)
    assert code == 2 and "--k: found 0, expected at least 1" in said
    code, _, said = ask("Who?", "--min-probability", 2)
    assert code == 2 and "--min-probability: found 2.0, expected a number from" in said
    code, _, said = ask("Who?", "--form", "answers")
    assert code == 2 and "has no answer head" in said
    code, _, said = ask(" ")
    assert code == 2 and "question: found ' ', expected some text" in said
    assert not (tmp_path / "x.html").exists()


def test_the_page_never_replaces_the_graph(ask, world):
    before = world.file.read_bytes()
    code, _, said = ask("Who?", "--html", world.file)
    assert code == 2 and f"--html {world.file}: this is an input" in said
    with pytest.raises(UserError, match=r"--html .*this is an input"):
        AskSettings(graphs=("a=x.tsv", f"b={world.file}"), html=world.file)
    assert world.file.read_bytes() == before


def test_push_to_a_folder(world, tmp_path, capsys):
    copy = tmp_path / "copy"
    assert main(["push", str(world.policy), str(copy)]) == 0
    assert str(copy) in capsys.readouterr().out
    assert load_exported(copy).config == world.scout.exported.config
    assert main(["push", str(world.policy), str(copy)]) == 2
    assert "give --overwrite" in capsys.readouterr().err
    assert main(["push", str(world.policy), str(copy), "--overwrite"]) == 0


@pytest.mark.parametrize("command", ["retrieve", "ask", "push"])
def test_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"Example: kgscout {command} " in capsys.readouterr().out


def test_without_a_policy_the_bundled_one_is_asked(tmp_path):
    def named(*words: str) -> tuple[str | None, str | None]:
        settings = parse(AskSettings, [*words, "--kg", "my.csv"], "kgscout ask")
        return settings.policy, settings.question

    assert named() == (None, None)
    assert named("Who directed Heat?") == (None, "Who directed Heat?")
    assert named("AC/DC") == (None, "AC/DC")
    assert named("owner/name", "Who?") == ("owner/name", "Who?")
    assert named(str(tmp_path)) == (str(tmp_path), None)  # no question is a folder
    assert named("kgscout-base") == ("kgscout-base", None)
    assert parse(ServeSettings, ["--kg", "my.csv"], "kgscout serve").policy is None


def test_a_list_of_graph_files_ends_before_the_question(tmp_path):
    def read(*words: str) -> tuple[tuple[str, ...], str | None, str | None]:
        settings = parse(AskSettings, [str(word) for word in words], "kgscout ask")
        return tuple(map(str, settings.kg)), settings.policy, settings.question

    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "config.json").touch()
    a, b = tmp_path / "a.tsv", tmp_path / "b.tsv"
    b.touch()
    both = str(a), str(b)
    assert read("--kg", a, b, "Who?") == (both, None, "Who?")
    assert read("--kg", a, "Who?", f"--kg={b}") == (both, None, "Who?")
    assert read("--kg", a, b, policy, "Who?") == (both, str(policy), "Who?")
    assert read("--kg", a, b, "") == (both, None, "")
    assert read("Who?", "--kg", a, b) == (both, None, "Who?")
    assert read("--kg", a, "Who?", "--k", "3") == ((str(a),), None, "Who?")


def test_questions_of_a_pipe_are_answered_one_by_one(ask, world, monkeypatch):
    lines = "In which town was Siena born?\n\nWhere is Ada?\xff\n".encode("latin1")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines), "utf-8"))
    code, out, _ = ask(None)
    assert code == 0
    first, second = out.split("question: ")[1:]
    assert first.startswith("In which town was Siena born?\ntopics: Siena (exact")
    assert second.startswith("Where is Ada?\ufffd\ntopics: Ada (exact")
    _, alone, _ = ask("In which town was Siena born?")
    assert first.split("\n", 1)[1].strip() == alone.strip()
