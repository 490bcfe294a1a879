"""The retrieval benchmark in a small world: it runs, its peer is the same network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from prep_factory import NEEDS_ENCODER  # noqa: E402

from benchmarks.retrieve_size import Laps, by_callers, in_turns  # noqa: E402
from benchmarks.retrieve_world import (  # noqa: E402
    RELATIONS,
    name_of,
    random_units,
    relation_of,
)


def run(*flags: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """The benchmark as a command, after some other code."""
    code = f"{before}import runpy; runpy.run_path('benchmarks/retrieve.py', "
    command = [sys.executable, "-c", code + "run_name='__main__')", *flags]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@NEEDS_ENCODER
def test_a_run_ends_with_one_json_line(kgscout_cache):
    peers = ["torch_networkx"]
    try:
        import faiss  # noqa: F401  # pyright: ignore[reportMissingImports]

        peers.append("faiss_cosine")
    except ImportError:
        pass
    small = "--questions 2 --rounds 1 --callers 2 --peer-questions 1 --no-first-call"
    done = run("--sizes", "300", *small.split(), "--peers", *peers)
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["benchmark"] == "retrieve" and set(last["ratios"]) == set(peers)
    assert all(ratio > 0 for ratio in last["ratios"].values())
    ms = last["ms"]["300"]
    assert {"encoded", "not_encoded", "encode", "link", "callers_2"} <= set(ms)
    assert all(0 < each["best"] <= each["p50"] <= each["p99"] for each in ms.values())
    assert last["memory_mb"]["300"]["embeddings"] > 5
    # Both sides have the same network: the ratio means something.
    assert last["agreement"] < 1e-4
    assert "300" in last["ratios_by_size"] and "| encoded" in done.stdout


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--sizes 50", "error: --sizes: found 50, expected at least 100"),
        ("--callers 0", "error: --callers: found 0, expected at least 1"),
        (
            "--export nowhere --peers torch_networkx",
            "error: --export: nowhere: no such",
        ),
    ],
)
def test_bad_flags_are_one_line(flags, says):
    done = run(*flags.split())
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(says)


@pytest.mark.extended
def test_faiss_that_is_not_installed_is_one_line():
    done = run(before="import sys; sys.modules['faiss'] = None; ")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: peer faiss: the package faiss-cpu is not installed")


def test_names_are_made_of_words_and_each_is_another():
    names = [name_of(i) for i in range(0, 1_000_000, 7)] + [name_of(i) for i in (1, 2)]
    assert len(set(names)) == len(names)
    assert all(2 <= len(name.split()) <= 3 for name in names)
    relations = [relation_of(i) for i in range(RELATIONS)]
    assert len(set(relations)) == RELATIONS
    rows = random_units(100, 8, np.random.default_rng(0)).astype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)


def test_every_question_is_timed_in_turns():
    order: list[str] = []
    works = {name: lambda i, name=name: order.append(f"{name}{i}") for name in "ab"}
    figures = in_turns(works, {"a": 2, "b": 1}, rounds=2)
    assert order == ["a0", "a1", "b0"] * 2
    assert set(figures["b"]) == {"best", "p50", "p99", "cpu"}
    laps = Laps()
    laps.wall, laps.cpu = [0.001, 0.003, 0.002], [0.004, 0.004, 0.001]
    by_hand = {"best": 1.0, "p50": 2.0, "p99": 2.98, "cpu": 4.0}
    assert laps.figures == pytest.approx(by_hand)
    asked: list[int] = []
    told = by_callers(asked.append, 3, 10)
    assert sorted(asked[3:]) == list(range(10)) and told["per_second"] > 0
