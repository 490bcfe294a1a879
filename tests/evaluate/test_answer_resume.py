"""Batches that are stopped, or whose server dies: nothing is lost or asked twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from evaluate.answer_world import N, batch, contents, flags, lines, metrics, sage

from kgscout_jax.cli.main import eval_main
from kgscout_jax.reason import endpoint

ROOT = Path(__file__).resolve().parents[2]


COMMAND = ("--retrievers", "none", "cosine", "--k", 3)


@pytest.fixture(scope="module")
def whole(shards, tmp_path_factory):
    """What COMMAND gives when nothing happens."""
    out = tmp_path_factory.mktemp("whole")
    with sage() as server:
        assert batch(shards, out, *COMMAND, server=server) == 0
        assert len(server.bodies) == 2 * N - 1  # one question has no triplet
    return contents(out)


def test_the_same_command_asks_for_nothing_twice(shards, tmp_path, whole):
    with sage() as server:
        assert batch(shards, tmp_path, *COMMAND, server=server) == 0
        asked = len(server.bodies)
        assert batch(shards, tmp_path, *COMMAND, server=server) == 0
        assert contents(tmp_path) == whole
        # other rules, fewer triplets, a price: the replies are the same
        more = ("--rules", "kgscout", "--input-price", 3)
        assert batch(shards, tmp_path, *COMMAND, *more, server=server) == 0
        assert len(server.bodies) == asked
        assert metrics(tmp_path)["rules"] == "kgscout"


def test_larger_limits_ask_for_what_is_new(shards, tmp_path):
    command = ("--retrievers", "cosine", "--k", 3, 6, "--limit")
    with sage() as server:
        assert batch(shards, tmp_path, *command, 4, 2, server=server) == 0
        assert len(server.bodies) == 6
        small = lines(tmp_path, "cosine-k3")
        assert metrics(tmp_path)["n"] == {"3": 4, "6": 2}
        assert lines(tmp_path, "cosine-k6")[1]["id"] == small[1]["id"]
        assert batch(shards, tmp_path, *command, 7, 3, server=server) == 0
        assert len(server.bodies) == 10
        assert lines(tmp_path, "cosine-k3")[:4] == small
        assert metrics(tmp_path)["n"] == {"3": 7, "6": 3}


def test_a_server_that_dies_loses_nothing(shards, tmp_path, whole, capsys):
    command = (*COMMAND, "--concurrency", 1)
    with sage(lambda number, _: "ok" if number < 20 else "hang_up") as server:
        assert batch(shards, tmp_path, *command, server=server) == 1
    found = metrics(tmp_path)
    missing = 2 * N - 1 - 20
    assert len(found["missing"]) == missing
    assert {one["retriever"] for one in found["missing"]} == {"cosine"}
    assert found["spending"]["cosine"]["3"]["missing"] == missing
    causes = found["failures"]["cosine"]["3"]["causes"]
    assert causes["no_reply"]["count"] == missing
    told = capsys.readouterr().err
    assert f"{missing} replies are missing, counted as wrong" in told
    assert "The same command asks for what is missing only" in told
    page = (tmp_path / "report.html").read_text()
    assert f"{missing} replies are missing" in page
    errors = [line.get("error") for line in lines(tmp_path, "cosine-k3")]
    assert sum(error is not None for error in errors) == missing
    with sage() as server:
        assert batch(shards, tmp_path, *command, server=server) == 0
        assert len(server.bodies) == missing
    assert contents(tmp_path) == whole


def test_after_a_server_is_gone_the_cache_still_answers(shards, tmp_path, monkeypatch):
    command = ("--retrievers", "cosine", "ppr", "--concurrency", 1, "--k", 2)
    with sage() as server:
        # a draw of all of them is all of them, in another order
        assert batch(shards, tmp_path, *command, "--limit", 5, server=server) == 0
    pauses = []
    monkeypatch.setattr(endpoint._Batch, "pause", lambda *of: pauses.append(of) or 0.0)
    arguments = flags(shards, tmp_path, *command, server="http://127.0.0.1:9/v1")
    assert eval_main(arguments, "eval.py") == 1
    # nobody listens there: no request is sent again
    assert not pauses
    for name in ("cosine", "ppr"):
        spent = metrics(tmp_path)["spending"][name]["2"]
        assert (spent["replies"], spent["missing"]) == (5, N - 5)


@pytest.mark.extended
@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL]
)
def test_a_killed_batch_goes_on(shards, tmp_path, whole, how):
    command = (*COMMAND, "--concurrency", 2)
    with sage(delay=0.05) as server:
        process = subprocess.Popen(
            [
                sys.executable,
                ROOT / "eval.py",
                *flags(shards, tmp_path, *command, server=server),
            ],
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            text=True,
        )
        while len(server.bodies) < N + 4 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(how)
        _, said = process.communicate(timeout=300)
        asked = len(server.bodies)
    assert process.returncode == (130 if how == signal.SIGTERM else -how), said
    if how == signal.SIGTERM:
        assert "Traceback" not in said and "the same command goes on" in said
    assert not (tmp_path / "metrics.json").exists()
    with sage() as server:
        assert batch(shards, tmp_path, *command, server=server) == 0
        # what was under way when it was killed is asked again, nothing else
        left = 2 * N - 1 - asked
        assert 0 < left <= len(server.bodies) <= left + 2
    assert contents(tmp_path) == whole
