"""Evaluations in other processes: the figures and the bytes of one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import jax
import numpy as np
import pytest
from evaluate.answer_world import timeless, write_run
from written_shards import planted, write_shards

from kgscout_jax.cli.main import eval_main
from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import Shards
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.policy.module import Policy
from kgscout_jax.retrieve import policy_calls
from kgscout_jax.retrieve.policy_calls import PolicyCall

ROOT = Path(__file__).resolve().parents[2]
PICTURES = (".pdf", ".png", ".svg")
ENGINES = {"local": ["--workers", "2"], "ray": ["--engine", "ray", "--workers", "2"]}
NEEDS_RAY = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
)
COMMANDS = {
    "retrieval": [
        *("--k", "3", "6", "--target", "0.6", "--token-budget", "600"),
        *("--retrievers", "kgscout", "cosine", "bm25", "ceiling"),
        *("prize_triplets", "prize_paths"),
    ],
    "answers": ["--k", "3", "--retrievers", "cosine", "scout"],
}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Shards of several batches of questions."""
    cases = {
        "train": [planted(i, 12) for i in range(20)],
        "dev": [planted(i, 12) for i in range(20, 56)],
        "test": [planted(i, 8 + i % 7) for i in range(56, 97)],
    }
    return write_shards(tmp_path_factory.mktemp("many") / "shards", cases).path


@pytest.fixture(scope="module")
def a_run(tmp_path_factory, kgscout_cache):
    return write_run(tmp_path_factory.mktemp("many") / "run")


def flags(name: str, run: Path, shards: Path, out: Path, *more: str) -> list[str]:
    places = ["--run", str(run), "--shards", str(shards), "--out", str(out)]
    return [name, *places, *COMMANDS[name], *more]


@pytest.fixture(scope="module")
def of_one_process(many, a_run, tmp_path_factory):
    """Command -> the folder that one process writes."""
    folders = {}
    for name in COMMANDS:
        folders[name] = tmp_path_factory.mktemp("one") / "out"
        assert eval_main(flags(name, a_run, many, folders[name]), "eval.py") == 0
    return folders


@pytest.mark.extended
def test_a_limit_measures_a_sample_as_the_whole_does(
    many, a_run, of_one_process, tmp_path, capsys
):
    words = flags("retrieval", a_run, many, tmp_path / "out", "--limit", "9")
    assert eval_main(words, "eval.py") == 0
    sample, whole = (
        (folder / "questions.jsonl").read_text().splitlines()
        for folder in (tmp_path / "out", of_one_process["retrieval"])
    )
    assert len(sample) == 9 < len(whole)
    assert sample == [line for line in whole if line in sample]
    assert eval_main([*words[:-1], "0"], "eval.py") == 2
    assert "--limit" in capsys.readouterr().err


def contents(folder: Path) -> dict[str, object]:
    """The content of every file, but for times; pages and tables print some.

    Pictures are another test's, see ``pictures``.
    """
    found: dict[str, object] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(file.relative_to(folder))
        if file.suffix == ".json":
            found[name] = timeless(json.loads(file.read_text()))
        elif file.suffix == ".jsonl":
            lines = file.read_text().splitlines()
            found[name] = [timeless(json.loads(line)) for line in lines]
        elif file.name.startswith(("table.", "report.")) or file.suffix in PICTURES:
            found[name] = None
        else:
            found[name] = file.read_bytes()
    return found


@pytest.mark.extended
def test_a_policy_in_another_process_gives_the_same_bits(many, a_run):
    shards, policy = Shards.open(many), load_trained(a_run).policy
    assert isinstance(policy, Policy)
    batch = BatchReader(shards, shards.split("test")).arrays(np.arange(9), 16)
    for only_logits in (True, False):
        here = PolicyCall(policy, shards, only_logits=only_logits)
        there = ForkingPickler.loads(ForkingPickler.dumps(here))
        (mine, _), (theirs, seconds) = here(batch), there(batch)
        assert seconds > 0 and (mine.answers is None) == only_logits
        jax.tree.map(np.testing.assert_array_equal, mine, theirs)
        opened = policy_calls._opened.cache_info().misses
        ForkingPickler.loads(ForkingPickler.dumps(here))(batch)
        assert policy_calls._opened.cache_info().misses == opened  # held


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_ray_is_one_line(many, a_run, tmp_path, monkeypatch, capsys, name):
    monkeypatch.setitem(sys.modules, "ray", None)
    args = flags(name, a_run, many, tmp_path / "out", "--engine", "ray")
    assert eval_main(args, "eval.py") == 2
    assert "pip install 'kgscout-jax[ray]'" in capsys.readouterr().err


def test_a_file_of_predictions_is_judged_here(tmp_path, capsys):
    (tmp_path / "p.jsonl").write_text('{"prediction": ["a"], "ground_truth": ["a"]}\n')
    args = ["answers", "--predictions", str(tmp_path / "p.jsonl"), "--engine", "ray"]
    assert eval_main(args, "eval.py") == 2
    assert "--engine: found ray with --predictions" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=NEEDS_RAY)])
@pytest.mark.parametrize("name", COMMANDS)
def test_two_processes_write_what_one_writes(
    many, a_run, of_one_process, tmp_path, name, engine
):
    args = flags(name, a_run, many, tmp_path / "out", *ENGINES[engine])
    done = subprocess.run(
        [sys.executable, ROOT / "eval.py", *args],
        env=os.environ | {"PYTHONPATH": str(ROOT), "RAY_worker_niceness": "0"},
        timeout=300,
    )
    assert done.returncode == 0
    expected, found = contents(of_one_process[name]), contents(tmp_path / "out")
    assert found.keys() == expected.keys()
    for file, content in expected.items():
        assert found[file] == content, file
