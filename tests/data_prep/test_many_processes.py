"""The same bytes whoever does the work: one process, several, a job array, Ray."""

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
from prep_factory import NEEDS_ENCODER, same_shards, settings_for

from data_prep import embedding_table, stages
from data_prep.driver import prepare, prepare_part
from data_prep.embedding_table import TablePieces, Wanted
from data_prep.partition import Part
from data_prep.settings import PrepSettings
from data_prep.workspace import assembling, writing
from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph

pytestmark = NEEDS_ENCODER
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Several pieces of everything, though there are few questions and triplets."""
    monkeypatch.setattr(stages, "CHUNK", 3)
    monkeypatch.setattr(embedding_table, "SPAN", 9)


def settings(source, tmp_path, cache, **more):
    return settings_for(source, tmp_path / "out", cache, max_triplets=12, **more)


@pytest.mark.parametrize("guided", [False, True])
def test_two_workers(cut, source, cache, tmp_path, guided):
    more = {"cut": "guided", "select": "hybrid"} if guided else {}
    shards = prepare(settings(source, tmp_path, cache, workers=2, **more))
    assert not multiprocessing.active_children()
    if guided:
        alone = settings_for(source, tmp_path / "1", cache, max_triplets=12, **more)
        cut = prepare(alone)
    same_shards(shards.path, cut.path)


def test_workers_open_a_graph_folder_themselves(source, cache, tmp_path):
    build_graph([source / "graph.tsv"], tmp_path / "graph")
    found = [
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
    ]
    same_shards(found[0].path, found[1].path)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
)
def test_ray(cut, source, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # An empty cache: the cluster embeds, too.
    own = settings(source, tmp_path, tmp_path / "cache", engine="ray", workers=2)
    same_shards(prepare(own).path, cut.path)


def test_parts_one_after_the_other(cut, source, tmp_path):
    found = []
    for i in (2, 1, 3):
        cache = tmp_path / f"cache{i}"  # of machines that share none
        own = settings(source, tmp_path, cache, part=f"{i}/3")
        found.append(prepare_part(own))
        assert len(list(cache.rglob("*.npy"))) > 0
    assert found[:2] == [None, None]
    assert found[2] is not None
    same_shards(found[2].path, cut.path)
    done = {f: f.stat().st_mtime_ns for f in cut.path.rglob("*")}
    again = prepare_part(settings(source, tmp_path, cache, part="1/3"))
    assert again is not None and again.manifest == found[2].manifest
    assert done == {f: f.stat().st_mtime_ns for f in cut.path.rglob("*")}


def test_no_triplet_is_embedded_by_two_parts(cut, source, tmp_path, monkeypatch):
    asked: list[int] = []
    add = TablePieces.add

    def counted(self, wanted: Wanted, rows):
        asked.extend(wanted.ids.tolist())
        add(self, wanted, rows)

    monkeypatch.setattr(TablePieces, "add", counted)
    for i in (1, 2, 3):
        prepare_part(settings(source, tmp_path, tmp_path / "cache", part=f"{i}/3"))
    assert len(asked) == len(set(asked)) > 40


def test_a_plain_run_takes_over_from_parts(cut, source, cache, tmp_path):
    prepare_part(settings(source, tmp_path, cache, part="2/2"))
    work = tmp_path / "out/.work"
    made = {f.name: f.stat().st_mtime_ns for f in work.glob("*-*.npz")}
    assert len(made) == 6  # three chunks, cut and chosen
    seen: dict[str, int] = {}
    finished = stages.finished

    def look(*args):
        seen.update({f.name: f.stat().st_mtime_ns for f in work.glob("*-*.npz")})
        return finished(*args)

    stages.finished = look
    try:
        shards = prepare(settings(source, tmp_path, cache))
    finally:
        stages.finished = finished
    same_shards(shards.path, cut.path)
    assert len(seen) == 12 and made.items() <= seen.items()  # nothing was done twice


PART = """
import sys
from pathlib import Path
import torch
from data_prep import stages
from data_prep.driver import prepare_part
from data_prep.settings import PrepSettings

torch.set_num_threads(1)
stages.CHUNK = 3
source, out, cache, part = sys.argv[1:]
settings = PrepSettings(
    source="kg", kg=(Path(source, "graph.tsv"),), input=Path(source, "questions"),
    out=Path(out), cache=Path(cache), max_triplets=12, workers=1, part=part,
    cut="ppr", select="cosine",
)
print(prepare_part(settings) is not None)
"""


def test_parts_at_the_same_time(cut, source, cache, tmp_path):
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
    said = [process.communicate(timeout=120)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    # The last to end writes; the other may see that it is done.
    assert "True" in said
    same_shards(tmp_path / "out", cut.path)


# --- who may be at work in a folder


def test_what_excludes_what(source, cache, tmp_path):
    own = settings(source, tmp_path, cache)
    out, one, two = own.out, Part(1, 2), Part(2, 2)
    with writing(out):
        for refused in (None, one):
            with (
                pytest.raises(UserError, match="another data_prep is writing"),
                writing(out, refused),
            ):
                pass
    with writing(out, one):
        with writing(out, two), pytest.raises(UserError, match="another data_prep is"):
            prepare(own)
        with pytest.raises(UserError, match="another data_prep --part 1/2 is writing"):
            prepare_part(settings(source, tmp_path, cache, part="1/2"))
    assert list(out.iterdir()) == []  # no lock is left, and all is free again
    with writing(out):
        pass


def test_one_part_writes(tmp_path):
    one, two = Part(1, 2), Part(2, 2)
    with assembling(tmp_path, one) as first, assembling(tmp_path, two) as second:
        assert (first, second) == (True, False)
    with assembling(tmp_path, Part(2, 2)) as later:
        assert later


def test_a_part_waits_for_a_run_that_starts(tmp_path):
    import threading

    held, free = threading.Event(), threading.Event()

    def hold():
        with writing(tmp_path):
            held.set()
            free.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    threading.Timer(0.3, free.set).start()
    start = time.monotonic()
    with writing(tmp_path, Part(1, 2)):
        assert time.monotonic() - start > 0.2
    thread.join()


def test_parts_of_other_settings_are_refused(source, cache, tmp_path):
    prepare_part(settings(source, tmp_path, cache, part="1/2"))
    work = tmp_path / "out/.work"
    before = sorted(work.rglob("*"))
    other = settings_for(source, tmp_path / "out", cache, max_triplets=5, part="2/2")
    with pytest.raises(UserError, match=r"\.work: holds work of other settings"):
        prepare_part(other)
    assert sorted(work.rglob("*")) == before


@pytest.mark.parametrize("part", ["0/2", "3/2", "2", "1/0", "-1/2", "a/b", "1/2/3"])
def test_bad_parts(part, tmp_path):
    with pytest.raises(UserError, match=r"--part: found '.*', expected i/n"):
        settings_for(tmp_path, tmp_path, tmp_path, part=part)


def test_a_part_does_not_overwrite(tmp_path):
    with pytest.raises(UserError, match="--part: not with --overwrite"):
        settings_for(tmp_path, tmp_path, tmp_path, part="1/2", overwrite=True)


def test_shares_cover_everything_once():
    items = list(range(11))
    for n in (1, 2, 3, 20):
        parts = [Part(i, n) for i in range(1, n + 1)]
        assert sorted(x for part in parts for x in part.share(items)) == items
        for part in parts:
            assert sorted(part.rotated(items)) == items
        begins = [part.rotated(items)[0] for part in parts]
        assert begins == sorted(begins) and begins[0] == 0


# --- the table in pieces


def test_rows_come_from_whichever_piece_has_them(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 4)).astype(np.float16)
    pieces = TablePieces(tmp_path / "table", 100)
    order = np.sort(rng.choice(100, 60, replace=False)).astype(np.int32)
    for who in ("1-of-2", "2-of-2"):
        half = order if who == "2-of-2" else order[::3]
        for number, ids in pieces.ranges(half):
            missing = pieces.missing(number, ids)
            assert (missing // pieces.span == number).all()
            if len(missing):
                wanted = Wanted(number=number, who=who, ids=missing)
                pieces.add(wanted, rows[missing])
    held = [np.load(f) for f in (tmp_path / "table").glob("*.ids.npy")]
    assert sorted(np.concatenate(held).tolist()) == order.tolist()  # each once
    for size in (0, 1, 30, 60):
        some = np.sort(rng.choice(order, size, replace=False))
        np.testing.assert_array_equal(pieces.rows(some, 4), rows[some])
    absent = np.setdiff1d(np.arange(100), order)[:1].astype(np.int32)
    with pytest.raises(KeyError):
        pieces.rows(absent, 4)


def test_ranges_are_few():
    assert TablePieces(Path(), 10**8).span * embedding_table.RANGES >= 10**8


def test_stages_in_the_manifest(cut):
    manifest = json.loads((cut.path / "manifest.json").read_text())
    told = manifest["stages"]
    assert list(told) == [
        "load", "embed questions and relations", "cut subgraphs", "embed triplets",
        "choose candidates", "write",
    ]  # fmt: skip
    assert all(stage["seconds"] >= 0 and len(stage) > 1 for stage in told.values())
    splits = manifest["splits"].values()
    assert told["embed questions and relations"]["questions"] == sum(
        s["questions"] for s in splits
    )
    candidates = sum(s["candidates"] for s in splits)
    assert told["choose candidates"]["candidates"] == candidates
    assert told["choose candidates"]["unique"] == len(cut.triplet_embeddings)
    infos = [q for name in cut.splits for q in cut.split(name).questions]
    stage = told["cut subgraphs"]
    assert stage["triplets"] == sum(q.subgraph_triplets for q in infos)
    assert stage["triplets_before_cut"] == sum(q.ball_triplets for q in infos)
    assert stage["worker_seconds"] > 0
