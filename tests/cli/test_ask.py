"""kgscout ask and push: what people see, and what a name cannot do to a terminal."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER
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


def test_topics_that_are_given(ask):
    code, out, _ = ask("Where?", "--topic", "ada", "--topic", "Mu", "--k", 2)
    assert code == 0 and "topics: Ada\n" in out and "not in the graph: Mu" in out
    code, out, _ = ask("Where?", "--topic", "Mu")
    assert code == 0 and "topics: none found in the graph" in out
    assert "no triplets" in out and "answer (extractive): none found" in out


def test_names_cannot_command_the_terminal(ask, tmp_path):
    file = tmp_path / "evil.tsv"
    names = ["[red]Ada[/red]", "\x1b[2Jclear", "\u202eevil", "<b>bold</b>"]
    file.write_text("".join(f"{name}\t[blink]r\tAda\n" for name in names))
    code, out, _ = ask("Where is Ada?", "--topic", "Ada", kg=file)
    assert code == 0
    assert "\x1b[2J" not in out and "\u202e" not in out
    assert "[red]Ada[/red]" in out and "\\x1b[2Jclear" in out and "[blink]r" in out
    assert "<b>bold" not in (tmp_path / "x.html").read_text()


def test_control_characters_are_escaped():
    assert escape("a\x00b\n\x1b\u202e") == "a\\x00b\\n\\x1b\\u202e"
    assert (
        escape("né 名前 \U0001f469\u200d\U0001f680")
        == "né 名前 \U0001f469\u200d\U0001f680"
    )


def test_a_language_model_answers(ask, tmp_path):
    asked = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self):
            size = int(self.headers["Content-Length"])
            asked.append(json.loads(self.rfile.read(size)))
            reply = {
                "id": "1", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {
                    "role": "assistant", "content": '{"answers": ["Xanadu"]}'}}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1,
                          "total_tokens": 2},
            }  # fmt: skip
            raw = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        code, out, _ = ask("Where is Ada?", "--llm", url, "--model", "m", "--k", 3)
    finally:
        server.shutdown()
        server.server_close()
    assert code == 0 and "answer (m): Xanadu\n" in out
    sent = json.dumps(asked[0]["messages"])
    assert "Where is Ada?" in sent and "Ada" in sent


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
