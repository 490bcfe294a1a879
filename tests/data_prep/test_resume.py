"""A second run: with the same settings, with others, after a kill."""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prep_factory import (
    NEEDS_ENCODER,
    QUESTIONS,
    TRIPLETS,
    assert_same_shards,
    settings_for,
    write_input,
)

from data_prep import stages, worker
from data_prep.driver import prepare
from data_prep.settings import PrepSettings
from data_prep.sources import load_source
from data_prep.topic_linking import TopicLinker, split_questions
from kgscout_jax.data.shards import SPLITS, Shards
from kgscout_jax.errors import UserError

pytestmark = NEEDS_ENCODER

ROOT = Path(__file__).resolve().parents[2]


def test_a_second_run_writes_nothing(cut, source, cache):
    before = {f: (f.stat().st_mtime_ns, f.stat().st_ino) for f in cut.path.rglob("*")}
    segments = set(cache.rglob("*.segment"))
    assert segments
    repeated = prepare(settings_for(source, cut.path, cache, max_triplets=12))
    assert repeated.manifest == cut.manifest
    after = {f: (f.stat().st_mtime_ns, f.stat().st_ino) for f in cut.path.rglob("*")}
    assert after.keys() == before.keys()
    assert all(after[f] == before[f] for f in after if f.is_file())
    assert set(cache.rglob("*.segment")) == segments


@pytest.mark.extended
def test_an_empty_cache_changes_no_byte(cut, source, tmp_path):
    out = tmp_path / "out"
    shards = prepare(settings_for(source, out, tmp_path / "cache", max_triplets=12))
    assert shards.manifest["embeddings"]["from_cache"] == 0
    assert_same_shards(out, cut.path)


def test_shards_of_other_settings_need_overwrite(cut, source, cache, tmp_path):
    out = shutil.copytree(cut.path, tmp_path / "out")
    other = settings_for(source, out, cache, max_triplets=12, candidates=5)
    with pytest.raises(UserError, match=r"--candidates 1000, found 5; .*--overwrite"):
        prepare(other)
    assert_same_shards(out, cut.path)  # nothing is lost
    replaced = prepare(
        settings_for(source, out, cache, max_triplets=12, candidates=5, overwrite=True)
    )
    assert replaced.split("train").candidates.shape[1] == 5
    fresh = prepare(
        settings_for(source, tmp_path / "fresh", cache, max_triplets=12, candidates=5)
    )
    assert_same_shards(out, fresh.path)


def test_overwrite_leaves_nothing_of_the_old_shards(cut, source, cache, tmp_path):
    out = shutil.copytree(cut.path, tmp_path / "out")
    less = write_input(tmp_path / "less", {"test": QUESTIONS["test"]})
    with pytest.raises(
        UserError, match=r"dev\.jsonl, test\.jsonl, found graph\.tsv, test"
    ):
        prepare(settings_for(less, out, cache, max_triplets=12))
    shards = prepare(settings_for(less, out, cache, max_triplets=12, overwrite=True))
    assert shards.splits == ["test"]
    assert shards.manifest["missing_splits"] == ["train", "dev"]
    assert not (out / "train").exists()  # nothing of the old shards is left


def test_overwrite_repairs_a_damaged_folder(cut, source, cache, tmp_path):
    out = shutil.copytree(cut.path, tmp_path / "out")
    (out / "triplets.npy").write_bytes(b"")
    with pytest.raises(UserError, match=r"triplets\.npy: 0 bytes"):
        prepare(settings_for(source, out, cache, max_triplets=12))
    prepare(settings_for(source, out, cache, max_triplets=12, overwrite=True))
    assert_same_shards(out, cut.path)


def test_two_graph_files_of_one_name_are_both_recorded(source, cache, tmp_path):
    for part, rows in (("a", TRIPLETS[:30]), ("b", TRIPLETS[30:])):
        (tmp_path / part).mkdir()
        lines = "".join("\t".join(t) + "\n" for t in rows)
        (tmp_path / part / "graph.tsv").write_text(lines)
    settings = PrepSettings(
        source="kg",
        kg=(tmp_path / "a/graph.tsv", tmp_path / "b/graph.tsv"),
        input=source / "questions",
        out=tmp_path / "out",
        cache=cache,
        limit=1,
    )
    shards = prepare(settings)
    files = [entry["file"] for entry in shards.manifest["sources"]]
    assert files.count("graph.tsv") == 2
    with open(tmp_path / "a/graph.tsv", "a") as handle:
        handle.write("Ada\tborn.in\tAda\n")
    with pytest.raises(
        UserError, match=r"shards of another graph\.tsv, its content dif"
    ):
        prepare(settings)


def test_limits_draw_questions(source, cache, tmp_path):
    def draw(seed: int) -> list[list[str]]:
        settings = settings_for(
            source, tmp_path, cache, train_questions=3, limit=4, seed=seed
        )
        dataset = load_source("kg", settings.input, settings.kg)
        linker = TopicLinker(dataset, settings)
        splits = (split_questions(dataset, s, settings, linker) for s in SPLITS)
        return [[q.id for q in split.questions] for split in splits]

    train, dev, test = draw(1)
    assert (len(train), len(dev), len(test)) == (3, 4, 4)
    ids = [str(row["id"]) for row in QUESTIONS["dev"]]
    assert dev == [number for number in ids if number in dev]  # in their order
    assert not {"lost", "none"} & set(train)
    assert draw(1) == [train, dev, test] != draw(2)


# --- interrupted


class Interruption(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("after", [0, 3])
def test_no_task_runs_twice_when_a_run_resumes(
    cut, source, cache, tmp_path, monkeypatch, after
):
    monkeypatch.setattr(stages, "CHUNK", 3)
    settings = settings_for(source, tmp_path / "out", cache, max_triplets=12)
    calls = {"cut": 0, "choose": 0}

    def counted(name: str, function: Callable, limit: int | None) -> Callable:
        def call(*args):
            if calls[name] == limit:
                raise Interruption
            calls[name] += 1
            return function(*args)

        return call

    cut_chunk, choose_chunk = worker.cut_chunk, worker.choose_chunk
    monkeypatch.setattr(worker, "cut_chunk", counted("cut", cut_chunk, None))
    stopping = counted("choose", choose_chunk, after)
    monkeypatch.setattr(worker, "choose_chunk", stopping)
    with pytest.raises(Interruption):
        prepare(settings)
    with pytest.raises(UserError, match=r"no manifest\.json; the folder is unfinished"):
        Shards.open(tmp_path / "out")
    monkeypatch.setattr(worker, "choose_chunk", counted("choose", choose_chunk, None))
    prepare(settings)
    assert calls == {"cut": 6, "choose": 6}
    assert_same_shards(tmp_path / "out", cut.path)


def test_results_of_other_settings_need_overwrite(
    cut, source, cache, tmp_path, monkeypatch
):
    def stop(*_):
        raise Interruption

    out = tmp_path / "out"
    monkeypatch.setattr(worker, "choose_chunk", stop)
    with pytest.raises(Interruption):
        prepare(settings_for(source, out, cache, max_triplets=5))
    monkeypatch.undo()
    results = {file.name for file in (out / ".work").iterdir()}
    other = settings_for(source, out, cache, max_triplets=12)
    with pytest.raises(
        UserError, match=r"\.work: holds work of --max-triplets 5, found 12; .*--overw"
    ):
        prepare(other)
    assert {file.name for file in (out / ".work").iterdir()} == results
    prepare(dataclasses.replace(other, overwrite=True))
    assert_same_shards(out, cut.path)


KILLER = """
import os, signal, sys, time
from pathlib import Path
import torch
from data_prep import driver
from data_prep import stages
from data_prep.settings import PrepSettings
from kgscout_jax.text.encoder import SentenceEncoder

torch.set_num_threads(1)
stages.CHUNK = 2
source, out, cache, *moments = sys.argv[1:]
source, out = Path(source), Path(out)
settings = PrepSettings(
    source="kg", kg=(source / "graph.tsv",), input=source / "questions", out=out,
    cache=Path(cache), max_triplets=12, workers=2, cut="ppr", select="cosine",
)
encoder = SentenceEncoder()
encoder.identity  # loads the model: each child has it already
driver.SentenceEncoder = lambda *_, **__: encoder


def files():
    return {
        f"{folder}/{name}"
        for folder, names, others in os.walk(out)
        for name in (*names, *others)
        if name != ".lock"
    }


for moment in [*map(int, moments), None]:
    known = files()
    child = os.fork()
    if child == 0:
        driver.prepare(settings)
        os._exit(0)
    while moment is not None and len(files() - known) < moment:
        time.sleep(0.0005)
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "it ended before its moment"
    if moment is not None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) == (moment is not None), status
"""


@pytest.mark.extended
def test_a_run_killed_at_any_time_resumes_to_the_same_bytes(
    cut, source, cache, tmp_path
):
    # Killed as soon as so many new files are there, again and again.
    rng = random.Random(0)
    moments = [str(rng.randint(1, 9)) for _ in range(4)]
    killer = [sys.executable, "-c", KILLER, str(source), str(tmp_path / "out")]
    environment = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    jax = {k: v for k, v in os.environ.items() if k.startswith(("JAX_", "XLA_"))}
    process = subprocess.run(
        [*killer, str(cache), *moments],
        cwd=ROOT,
        env={**environment, **jax, "PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    assert_same_shards(tmp_path / "out", cut.path)


def test_files_of_a_killed_run_are_deleted_and_a_cache_serves_any_folder(
    cut, source, cache, tmp_path
):
    out = tmp_path / "out"
    (out / "train").mkdir(parents=True)
    (out / "train" / ".ppr.npy.4711.part").write_bytes(b"half")
    copy = shutil.copytree(source, tmp_path / "copy")
    shards = prepare(settings_for(copy, out, cache, max_triplets=12))
    assert shards.manifest["embeddings"]["computed"] == 0
    assert_same_shards(out, cut.path)
    # Killed after the manifest was written, before the workspace was deleted.
    (out / ".work").mkdir()
    (out / ".work" / "cut-train-0000000.npz").write_bytes(b"")
    prepare(settings_for(copy, out, cache, max_triplets=12))
    assert_same_shards(out, cut.path)


def test_a_folder_that_cannot_be_written_is_named(source, cache, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        prepare(settings_for(source, tmp_path / "file", cache))


def test_a_refused_preparation_leaves_no_folder(source, cache, tmp_path):
    out = tmp_path / "deep" / "out"
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tb\n")
    own = dataclasses.replace(settings_for(source, out, cache), kg=(bad,))
    with pytest.raises(UserError, match=r"bad\.tsv"):
        prepare(own)
    assert not (tmp_path / "deep").exists()
    # a folder that was there stays
    out.mkdir(parents=True)
    with pytest.raises(UserError, match=r"bad\.tsv"):
        prepare(own)
    assert list(out.iterdir()) == []


@pytest.mark.extended
@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_stops_with_one_line(tmp_path, workers):
    command = ["-m", "data_prep", "world", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, *command, "--workers", workers],
        cwd=ROOT,
        env={**os.environ, "KGSCOUT_CACHE": str(tmp_path / "cache")},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "out" / ".work").exists() and process.poll() is None:
        time.sleep(0.05)
    process.terminate()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    last = "interrupted; the same command goes on from here"
    assert said.splitlines()[-1] == last
    assert "Traceback" not in said and "leaked" not in said
