"""``kgscout serve`` as a process: it listens, it stops when told to."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from kgscout_jax.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def test_it_serves_and_stops_when_told_to(export, films):
    # The compiler is never done: nothing waits for it.
    code = (
        "import sys, time; from kgscout_jax.cli.main import main; "
        "from kgscout_jax.serve import startup; "
        "startup.compile_for = lambda *_: time.sleep(600); sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "serve", str(export), "--kg", str(films)]
    command += ["--kg", f"second={films}", "--port", "0"]
    command += ["--batch-wait-ms", "2000", "--max-batch", "2"]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None and process.stdout is not None
        port, said = 0, []
        for line in process.stderr:
            said.append(line)
            if match := re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line):
                port = int(match[1])
                break
        assert port, said
        threading.Thread(target=process.stderr.read, daemon=True).start()

        def ask(graph: str) -> tuple[int, dict]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
            asked = {"question": "who directed Alien?", "k": 32, "graph": graph}
            kind = {"Content-Type": "application/json"}
            connection.request("POST", "/answer", json.dumps(asked), kind)
            sent.set()
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())

        sent = threading.Event()
        with ThreadPoolExecutor(1) as callers:
            # an idle connection must not keep it from stopping
            idle = http.client.HTTPConnection("127.0.0.1", port)
            idle.request("GET", "/healthz")
            health = json.loads(idle.getresponse().read())
            assert list(health["graphs"]) == ["films", "second"]
            under_way = callers.submit(ask, "second")
            assert sent.wait(60)
            # the request waits two seconds for a second one: it is under way now
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(signal.SIGTERM)
            status, body = under_way.result(300)
        assert status == 200, body
        assert ["Alien", "directed_by", "Ridley Scott"] in [
            t[:3] for t in body["triplets"]
        ]
        assert process.wait(300) == 0
        assert process.stdout.read() == ""
        idle.close()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_help_is_there_at_once(command):
    code = "import sys; from kgscout_jax.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, command, "--help"],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"Example: kgscout {command} --kg" in done.stdout
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    heavy = {"jax", "torch", "scipy", "pydantic", "fastapi", "uvicorn", "mcp"}
    assert "kgscout_jax.utils.checks" in imported and not imported & heavy


def test_a_taken_address_is_refused_before_loading(films, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "nowhere", "--kg", str(films), "--port", port]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: --host, --port: cannot listen at 127.0.0.1:{port}")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serve", "nowhere", "--port", "0"], "required|expected at least one graph"),
        (["serve", "nowhere", "--kg", "no.tsv", "--port", "0"], r"no\.tsv: no such"),
        (["serve", "./nowhere", "--kg", "FILMS", "--port", "0"], "nowhere"),
        (["serve", "x", "--kg", "FILMS", "--host", "no host"], "--host: 'no host'"),
        (["serve", "x", "--kg", "FILMS", "--timeout", "0"], "--timeout: 0"),
        (["mcp", "./nowhere", "--kg", "FILMS"], "nowhere"),
        (["mcp", "x", "--kg", "FILMS", "--max-k", "0"], "--max-k: found 0"),
    ],
)
def test_bad_input_is_one_line_and_2(films, capsys, words, told):
    words = [str(films) if word == "FILMS" else word for word in words]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert re.search(told, error)
