"""The shards are the same bytes from one process, several, a job array or Ray."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from prep_factory import NEEDS_ENCODER, assert_same_shards, settings_for

from data_prep import embedding_table, stages
from data_prep.driver import prepare, prepare_partition
from data_prep.embedding_table import EmbeddingTask, TripletTable
from data_prep.partition import Partition
from data_prep.settings import PrepSettings
from data_prep.workspace import assembling, writing
from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph

pytestmark = NEEDS_ENCODER
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Several chunks and ranges, though there are few questions and triplets."""
    monkeypatch.setattr(stages, "CHUNK", 3)
    monkeypatch.setattr(embedding_table, "SPAN", 9)


def settings(source, tmp_path, cache, **more):
    return settings_for(source, tmp_path / "out", cache, max_triplets=12, **more)


def test_two_workers_write_the_same_bytes_as_one(cut, source, cache, tmp_path):
    shards = prepare(settings(source, tmp_path, cache, workers=2))
    assert not multiprocessing.active_children()
    assert_same_shards(shards.path, cut.path)


@pytest.mark.extended
def test_workers_open_a_graph_folder_and_follow_the_guided_walk(
    source, cache, tmp_path
):
    build_graph([source / "graph.tsv"], tmp_path / "graph")
    one, two = (
        prepare(
            PrepSettings(
                source="kg",
                kg=(tmp_path / "graph",),
                input=source / "questions",
                out=tmp_path / str(workers),
                cache=cache,
                max_triplets=12,
                workers=workers,
            )
        )
        for workers in (1, 2)
    )
    assert_same_shards(one.path, two.path)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
)
def test_ray_writes_the_same_bytes(cut, source, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # An empty cache: the cluster embeds, too.
    own = settings(source, tmp_path, tmp_path / "cache", engine="ray", workers=2)
    assert_same_shards(prepare(own).path, cut.path)


@pytest.mark.slow
def test_partitions_in_any_order_embed_each_triplet_once(
    cut, source, tmp_path, monkeypatch
):
    ids: list[int] = []
    add = TripletTable.add

    def recorded(self, task: EmbeddingTask, rows):
        ids.extend(task.ids.tolist())
        add(self, task, rows)

    monkeypatch.setattr(TripletTable, "add", recorded)
    results = []
    for i in (2, 1, 3):
        cache = tmp_path / f"cache{i}"  # of machines that share none
        own = settings(source, tmp_path, cache, part=f"{i}/3")
        results.append(prepare_partition(own))
        assert len(list(cache.rglob("*.segment"))) > 0
    assert results[:2] == [None, None]
    assert len(ids) == len(set(ids)) > 40
    shards = results[2]
    assert shards is not None
    assert_same_shards(shards.path, cut.path)
    times = {f: f.stat().st_mtime_ns for f in shards.path.rglob("*.*")}
    repeated = prepare_partition(settings(source, tmp_path, cache, part="1/3"))
    assert repeated is not None and repeated.manifest == shards.manifest
    assert times == {f: f.stat().st_mtime_ns for f in shards.path.rglob("*.*")}


def test_a_whole_run_takes_over_from_partitions(
    cut, source, cache, tmp_path, monkeypatch
):
    prepare_partition(settings(source, tmp_path, cache, part="2/2"))
    work = tmp_path / "out/.work"

    def results() -> dict[str, int]:
        return {f.name: f.stat().st_mtime_ns for f in work.glob("*-*.npz")}

    before = results()
    assert len(before) == 6  # three chunks, cut and chosen
    other = settings_for(source, tmp_path / "out", cache, max_triplets=5, part="1/2")
    with pytest.raises(
        UserError, match=r"work of --max-triplets 12, found 5; delete it"
    ):
        prepare_partition(other)
    assert results() == before
    at_the_end: dict[str, int] = {}
    chunk_results = stages.chunk_results

    def recorded(*args):
        at_the_end.update(results())
        return chunk_results(*args)

    monkeypatch.setattr(stages, "chunk_results", recorded)
    shards = prepare(settings(source, tmp_path, cache))
    assert_same_shards(shards.path, cut.path)
    # No task ran twice.
    assert len(at_the_end) == 12 and before.items() <= at_the_end.items()


PART = """
import sys
from pathlib import Path
import torch
from data_prep import stages
from data_prep.driver import prepare_partition
from data_prep.settings import PrepSettings

torch.set_num_threads(1)
stages.CHUNK = 3
source, out, cache, part = sys.argv[1:]
settings = PrepSettings(
    source="kg", kg=(Path(source, "graph.tsv"),), input=Path(source, "questions"),
    out=Path(out), cache=Path(cache), max_triplets=12, workers=1, part=part,
    cut="ppr", select="cosine",
)
print(prepare_partition(settings) is not None)
"""


@pytest.mark.slow
def test_partitions_may_run_at_the_same_time(cut, source, cache, tmp_path):
    arguments = [str(source), str(tmp_path / "out"), str(cache)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PART, *arguments, f"{i}/2"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in (1, 2)
    ]
    output = [process.communicate(timeout=300)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    # The last to end writes; the other may see the shards.
    assert "True" in output
    assert_same_shards(tmp_path / "out", cut.path)


# --- locks


@pytest.mark.extended
def test_a_whole_run_excludes_every_other_and_a_partition_itself(
    source, cache, tmp_path
):
    own = settings(source, tmp_path, cache)
    out, one, two = own.out, Partition(1, 2), Partition(2, 2)
    with writing(out):
        for refused in (None, one):
            with (
                pytest.raises(UserError, match="another data_prep is writing"),
                writing(out, refused),
            ):
                pass
        with pytest.raises(UserError, match="another data_prep is writing"):
            prepare(own)
    with writing(out, one):
        with writing(out, two), pytest.raises(UserError, match="another data_prep is"):
            prepare(own)
        with pytest.raises(UserError, match="another data_prep --part 1/2 is writing"):
            prepare_partition(settings(source, tmp_path, cache, part="1/2"))
    assert list(out.iterdir()) == []  # no lock is left, and all is free again
    with writing(out):
        pass


def test_one_partition_at_a_time_writes(tmp_path):
    one, two = Partition(1, 2), Partition(2, 2)
    with assembling(tmp_path, one) as first, assembling(tmp_path, two) as second:
        assert (first, second) == (True, False)
    with assembling(tmp_path, Partition(2, 2)) as later:
        assert later


def test_a_partition_waits_for_a_run_that_starts(tmp_path):
    import threading

    locked, release = threading.Event(), threading.Event()

    def hold():
        with writing(tmp_path):
            locked.set()
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(60)
    threading.Timer(0.3, release.set).start()
    start = time.monotonic()
    with writing(tmp_path, Partition(1, 2)):
        assert time.monotonic() - start > 0.2
    thread.join()


def test_a_partition_does_not_overwrite(tmp_path):
    with pytest.raises(UserError, match="--part: not with --overwrite"):
        settings_for(tmp_path, tmp_path, tmp_path, part="1/2", overwrite=True)


# --- the table in chunks


def test_rows_come_from_whichever_chunk_has_them(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 4)).astype(np.float16)
    table = TripletTable(tmp_path / "table", 100)
    order = np.sort(rng.choice(100, 60, replace=False)).astype(np.int32)
    for who in ("1-of-2", "2-of-2"):
        half = order if who == "2-of-2" else order[::3]
        for number, ids in table.ranges(half):
            missing = table.missing(number, ids)
            assert (missing // table.span == number).all()
            if len(missing):
                task = EmbeddingTask(number=number, owner=who, ids=missing)
                table.add(task, rows[missing])
    stored = [np.load(f) for f in (tmp_path / "table").glob("*.ids.npy")]
    assert sorted(np.concatenate(stored).tolist()) == order.tolist()  # each once
    for size in (0, 1, 30, 60):
        some = np.sort(rng.choice(order, size, replace=False))
        np.testing.assert_array_equal(table.rows(some, 4), rows[some])
    absent = np.setdiff1d(np.arange(100), order)[:1].astype(np.int32)
    with pytest.raises(KeyError):
        table.rows(absent, 4)


def test_a_large_graph_has_a_bounded_number_of_ranges():
    assert TripletTable(Path(), 10**8).span * embedding_table.RANGES >= 10**8


def test_the_manifest_counts_what_each_stage_did(cut):
    manifest = json.loads((cut.path / "manifest.json").read_text())
    counts = manifest["stages"]
    assert list(counts) == [
        "load", "embed questions and relations", "cut subgraphs", "embed triplets",
        "choose candidates", "write",
    ]  # fmt: skip
    assert all(stage["seconds"] >= 0 and len(stage) > 1 for stage in counts.values())
    splits = manifest["splits"].values()
    assert counts["embed questions and relations"]["questions"] == sum(
        s["questions"] for s in splits
    )
    candidates = sum(s["candidates"] for s in splits)
    assert counts["choose candidates"]["candidates"] == candidates
    assert counts["choose candidates"]["unique"] == len(cut.triplet_embeddings)
    infos = [q for name in cut.splits for q in cut.split(name).questions]
    stage = counts["cut subgraphs"]
    assert stage["triplets"] == sum(q.subgraph_triplets for q in infos)
    assert stage["triplets_before_cut"] == sum(q.ball_triplets for q in infos)
    assert stage["worker_seconds"] > 0
