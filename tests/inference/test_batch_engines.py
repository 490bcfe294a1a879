"""kgscout retrieve in other processes: the same bytes as in one, killed or not."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER, TRIPLETS
from scout_factory import shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.inference import batch_lines
from kgscout_jax.inference.batch_lines import (
    BatchLines,
    Row,
    load_scout,
    open_graphs,
    settings_fingerprint,
)
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.settings import RetrieveSettings

pytestmark = NEEDS_ENCODER
ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted({name for head, _, tail in TRIPLETS for name in (head, tail)})
QUESTIONS = [
    {"id": f"{turn}-{i}", "question": f"Where is {name}?"}
    | ({"q_entity": [name]} if i % 3 else {})
    for turn in range(4)
    for i, name in enumerate(NAMES)
]


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("guided")


@pytest.fixture(scope="module")
def folder(world, tmp_path_factory):
    """A GRAPH folder, the questions, and what one process writes."""
    folder = tmp_path_factory.mktemp("engines")
    build_graph([world.file], folder / "graph")
    lines = [json.dumps(row) + "\n" for row in QUESTIONS]
    (folder / "q.jsonl").write_text("".join(lines))
    assert main(command(world, folder, "one.jsonl")) == 0
    return folder


def command(world, folder: Path, out: str, *more: str) -> list[str]:
    values = {
        "--kg": folder / "graph",
        "--questions": folder / "q.jsonl",
        "--out": folder / out,
        "--k": 5,
        "--batch-size": 4,
    }
    flags = [str(each) for pair in values.items() for each in pair]
    return ["retrieve", str(world.policy), *flags, *more]


def sent(function: BatchLines):
    """The function as another process receives it."""
    return ForkingPickler.loads(ForkingPickler.dumps(function))


def timeless(file: Path) -> list[bytes]:
    """The lines of a file but for the seconds."""
    parts = [
        line.partition(b', "seconds": ') for line in file.read_bytes().split(b"\n")
    ]
    return [head + tail[tail.find(b",") :] for head, _, tail in parts]


@pytest.fixture
def loaded_once(world, monkeypatch):
    """What is loaded is the test of scouts."""
    monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: world.scout)


@pytest.fixture
def described(world, folder):
    """A function of batches, and the same as another process makes it."""
    settings = RetrieveSettings(
        policy=str(world.policy),
        kg=(folder / "graph",),
        questions=folder / "q.jsonl",
        out=folder / "out.jsonl",
    )
    scout, graph = load_scout(settings, open_graphs(settings))
    mark = settings_fingerprint(settings, scout, graph)
    here = BatchLines(settings, mark, scout, graph)
    batch_lines._opened.cache_clear()
    return here, sent(here)


@pytest.mark.extended
def test_another_process_opens_the_inputs_once(loaded_once, described, monkeypatch):
    here, there = described
    rows = [Row(id="1", question=f"Where is {NAMES[0]}?", topics=(NAMES[0],))]
    calls = []
    opened = batch_lines.open_graphs
    monkeypatch.setattr(
        batch_lines, "open_graphs", lambda *of: calls.append(of) or opened(*of)
    )
    (mine,), (theirs,), _ = here(rows), there(rows), there(rows)
    assert len(calls) == 1
    mine, theirs = json.loads(mine.text), json.loads(theirs.text)
    assert mine | {"seconds": 0} == theirs | {"seconds": 0} and mine["triplets"]


@pytest.mark.extended
def test_another_graph_at_the_same_path_is_refused(loaded_once, described, world):
    here, _ = described
    here.mark = "of another graph"
    with pytest.raises(UserError, match=r"the graph is not the command's; expected"):
        sent(here)([])


def test_embeddings_of_a_graph_of_files_are_refused(loaded_once, world, folder, capsys):
    out = command(world, folder, "no.jsonl", "--embed", "--workers", "2")
    out[out.index("--kg") + 1] = str(world.file)
    assert main(out) == 2
    assert "--embed: found a graph of files, expected" in capsys.readouterr().err


def test_ray_that_is_not_installed_is_one_line(world, folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(command(world, folder, "no.jsonl", "--engine", "ray")) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith("Ray is not installed; pip install 'kgscout-jax[ray]'")
    assert not list(folder.glob("no.jsonl*"))


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--workers", "0"], "--workers: found 0, expected at least 1"),
        (["--ray-address", "auto"], "with --engine local, expected --engine ray"),
    ],
)
def test_refused_engines(world, folder, capsys, flags, says):
    assert main(command(world, folder, "no.jsonl", *flags)) == 2
    assert says in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_write_the_bytes_of_one(loaded_once, world, folder):
    assert main(command(world, folder, "two.jsonl", "--workers", "2")) == 0
    assert timeless(folder / "two.jsonl") == timeless(folder / "one.jsonl")


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
)
def test_a_killed_job_on_ray_resumes_and_writes_the_bytes_of_one(world, folder):
    flags = command(world, folder, "ray.jsonl", "--engine", "ray", "--workers", "2")
    args = [sys.executable, "-m", "kgscout_jax", *flags]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "RAY_worker_niceness": "0"}
    part = folder / "ray.jsonl.part"
    process = subprocess.Popen(args, env=environment)
    while process.poll() is None and not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    lines = part.read_bytes().splitlines(keepends=True)
    assert 0 < len(lines) < len(QUESTIONS)
    part.write_bytes(b"".join(lines[:1]) + lines[-1][:20])  # torn within a batch
    assert subprocess.run(args, env=environment, timeout=300).returncode == 0
    assert timeless(folder / "ray.jsonl") == timeless(folder / "one.jsonl")
