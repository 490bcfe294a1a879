"""kgscout ask and push: what people see, and what a name cannot do to a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER
from reason.unruly_server import serving
from scout_factory import shared_world

from kgscout_jax.cli.ask import escape
from kgscout_jax.cli.main import main
from kgscout_jax.export.load import load_exported
from kgscout_jax.inference.scout import Scout

pytestmark = NEEDS_ENCODER


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("guided")


@pytest.fixture
def ask(world, tmp_path, monkeypatch, capsys):
    """Call ``kgscout ask``; (exit code, stdout, last line on stderr)."""
    monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: world.scout)
    monkeypatch.setenv("COLUMNS", "200")

    def call(question: str, *more, kg: Path | None = None) -> tuple[int, str, str]:
        args = ["ask", world.policy, "--kg", kg or world.file, question]
        args += ["--html", tmp_path / "x.html", *more]
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return code, out, err.splitlines()[-1] if err else ""

    return call


def test_evidence_answer_and_picture(ask, world, tmp_path):
    code, out, _ = ask("In which town was Siena born?", "--k", 4)
    assert code == 0
    assert re.search(
        r"^topics: Siena \(exact, 0\.\d\d\)|^topics: Siena \(exact, 1", out
    )
    rows = [line.split() for line in out.splitlines() if re.match(r" ?[1-4] ", line)]
    assert [int(row[0]) for row in rows] == [1, 2, 3, 4]
    scores = [float(row[1]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    answer = re.search(r"^answer \(extractive\): (.+)$", out, re.M)
    assert answer and answer[1].split("; ")[0] in {w for row in rows for w in row}
    page = (tmp_path / "x.html").read_text()
    assert answer[1].split("; ")[0] in page


def test_named_topics_are_used_and_unknown_ones_listed(ask):
    code, out, _ = ask("Where?", "--topic", "ada", "--topic", "Mu", "--k", 2)
    assert code == 0 and "topics: Ada\n" in out and "not in the graph: Mu" in out
    code, out, _ = ask("Where?", "--topic", "Mu")
    assert code == 0 and "topics: none found in the graph" in out
    assert "no triplets" in out and "answer (extractive): none found" in out


def test_control_characters_are_escaped():
    assert escape("a\x00b\n\x1b\u202e") == "a\\x00b\\n\\x1b\\u202e"
    assert (
        escape("né 名前 \U0001f469\u200d\U0001f680")
        == "né 名前 \U0001f469\u200d\U0001f680"
    )


def test_a_language_model_answers(ask):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with serving() as server:
        model = ("--llm", server.url, "--model", "m")
        code, out, _ = ask("Where is Ada?", *model, "--k", 3)
    assert code == 0 and re.search(r"^answer \(m\): .", out, re.M)
    (request,) = server.bodies
    assert "Where is Ada?" in json.dumps(request["messages"])


def test_refused(ask, tmp_path):
    code, _, said = ask("Who?", "--llm", "http://127.0.0.1:9/v1")
    assert code == 2 and "--llm without --model" in said
    code, _, said = ask("Who?", "--k", 0)
    assert code == 2 and "--k: found 0, expected at least 1" in said
    code, _, said = ask(" ")
    assert code == 2 and "question: found ' ', expected some text" in said
    assert not (tmp_path / "x.html").exists()


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
    assert f"Example: kgscout {command} policy/" in capsys.readouterr().out
