"""The folder of shards: damage and other versions are refused, int8 comes near."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from written_shards import DIMENSION, write_shards

from data_prep.write_shards import quantized
from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import DIRECTIONS, Shards
from kgscout_jax.data.tables import Tables
from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.baselines import Cosine
from kgscout_jax.utils import manifest
from kgscout_jax.utils.io import sha256_file
from kgscout_jax.utils.ragged import Ragged


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Shards:
    return write_shards(tmp_path_factory.mktemp("shards") / "whole")


def _flip(file: Path, at: int = -1) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(bytes(data))


def _manifest(folder: Path, **changes: Any) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (
        lambda f: (f / "train/candidates.npy").write_bytes(b"\x93NUMPY"),
        r"train/candidates\.npy: 6 bytes, expected \d+: truncated",
    ),
    "shorter table": (
        lambda f: (f / "triplet_embeddings.npy").open("r+b").truncate(500),
        r"triplet_embeddings\.npy: 500 bytes, expected \d+",
    ),
    "missing": (
        lambda f: (f / "dev/questions.jsonl").unlink(),
        r"dev/questions\.jsonl: missing, though the manifest lists it",
    ),
    "flipped byte": (
        lambda f: _flip(f / "test/question_embeddings.npy"),
        r"test/question_embeddings\.npy: damaged: checksum differs",
    ),
    "newer": (
        lambda f: _manifest(f, version=3),
        r"manifest\.json: format version is 3, expected 2: written by a newer",
    ),
    "older": (
        lambda f: _manifest(f, version=1),
        r"manifest\.json: format version is 1, expected 2: run kgscout prep again",
    ),
    "unfinished": (
        lambda f: (f / "manifest.json").unlink(),
        r"no manifest\.json; the folder is unfinished",
    ),
    "not JSON": (
        lambda f: (f / "manifest.json").write_text('{"format": '),
        r"manifest\.json: not valid JSON",
    ),
    "no manifest": (
        lambda f: (f / "manifest.json").write_text("[]"),
        r"manifest\.json: not a manifest of kgscout-shards",
    ),
    "of something else": (
        lambda f: _manifest(f, format="tokens"),
        r"manifest\.json: not a manifest of kgscout-shards",
    ),
    "without files": (
        lambda f: _manifest(f, files=None),
        r"manifest\.json: .*files",
    ),
}


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused_in_one_line(written, tmp_path, damage, verify):
    make_damage, message = DAMAGE[damage]
    folder = shutil.copytree(written.path, tmp_path / "shards")
    make_damage(folder)
    with pytest.raises(UserError, match=message) as caught:
        Shards.open(folder, verify=verify)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_byte_is_compared_when_asked_or_when_first_used(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "END_BYTES", 64)
    shards = write_shards(tmp_path / "shards")
    file = shards.path / "triplet_embeddings.npy"
    middle = file.stat().st_size // 2
    _flip(file, middle)
    opened = Shards.open(shards.path)  # whole, by its ends
    with pytest.raises(UserError, match=r"triplet_embeddings\.npy: damaged: checksum"):
        _ = opened.triplet_embeddings  # all of it is compared on first use
    assert len(opened.triplets) and len(opened.split("train"))
    with pytest.raises(
        UserError, match=r"triplet_embeddings\.npy: damaged: checksum differs"
    ):
        Shards.open(shards.path, verify=True)
    _flip(file, middle)
    Shards.open(shards.path, verify=True)
    for at in (0, 63, -64, -1):
        _flip(file, at)
        with pytest.raises(UserError, match="checksum differs"):
            Shards.open(shards.path)
        _flip(file, at)


def test_every_flipped_byte_of_a_split_is_damage(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "END_BYTES", 4)
    folder = write_shards(tmp_path / "shards").path
    rng = np.random.default_rng(0)
    for file in sorted((folder / "dev").iterdir()):
        at = int(rng.integers(file.stat().st_size))
        _flip(file, at)
        with pytest.raises(UserError, match=f"{file.name}: damaged: checksum"):
            Shards.open(folder).split("dev")
        _flip(file, at)
    Shards.open(folder).split("dev")


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 128, 129, 1000])
def test_the_checksum_of_the_ends_sees_64_kib_at_either_end(
    tmp_path, monkeypatch, size
):
    monkeypatch.setattr(manifest, "END_BYTES", 64)
    file = tmp_path / "file"
    data = bytes(np.random.default_rng(size).integers(0, 256, size, np.uint8))
    file.write_bytes(data)
    before = manifest.sha256_ends(file)
    assert (before == sha256_file(file)) == (size <= 128)  # then it covers all
    for at in {0, 63, 64, 65, size - 65, size - 64, size - 1, size // 2}:
        if not 0 <= at < size:
            continue
        _flip(file, at)
        seen = at < 64 or at >= size - 64
        assert (manifest.sha256_ends(file) != before) == seen
        _flip(file, at)


def test_an_absent_split_lists_those_present(tmp_path):
    shards = write_shards(tmp_path / "shards", {"train": []})
    with pytest.raises(UserError, match=r"no split 'validation'; present: train$"):
        shards.split("validation")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match="no such folder of shards"):
        Shards.open(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("candidates", lambda a: a[:-1], "39 rows, expected 40, as in questions.jsonl"),
        ("topics", lambda a: a[:-1], "39 rows, expected 40, by offsets"),
        ("answers_offsets", lambda a: a[:-1], "40 rows, expected 41, one per question"),
        ("node_ppr", lambda a: a[1:], "1639 rows, expected 1640, the sum of n_nodes"),
    ],
)
def test_arrays_of_other_lengths_are_refused(written, tmp_path, file, change, message):
    folder = shutil.copytree(written.path, tmp_path / "shards")
    path = folder / "train" / f"{file}.npy"
    np.save(path, change(np.load(path)))
    files = set(written.manifest["files"])
    shards = Shards(folder, written.manifest, files)  # past the checksums
    with pytest.raises(UserError, match=message) as caught:
        shards.split("train")
    assert str(path) in str(caught.value)


# --- int8


tables = hnp.arrays(
    np.float16,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
    elements=st.floats(-1, 1, width=16),
)


@given(tables)
def test_quantized_rows_are_off_by_half_a_step(table):
    rows, scales = quantized(table)
    assert (rows.dtype, scales.dtype) == (np.int8, np.float16)
    assert np.abs(rows.astype(int)).max(initial=0) <= 127
    table = table.astype(np.float64)
    found = rows.astype(np.float64) * scales.astype(np.float64)[:, None]
    largest = np.abs(table).max(axis=1, keepdims=True)
    # Half a step, and what a scale rounded to float16 (subnormal too) moves the rest.
    bound = largest / 254 + largest * 2.0**-11 + 128 * 2.0**-25
    assert (np.abs(found - table) <= bound).all()


@pytest.mark.extended
def test_an_int8_table_scores_as_float16_does_to_rounding(tmp_path):
    whole = write_shards(tmp_path / "float16")
    small = write_shards(tmp_path / "int8", table="int8")
    assert small.triplet_embeddings.dtype == np.int8
    assert whole.triplet_scales is None
    sizes = [
        s.manifest["files"]["triplet_embeddings.npy"]["bytes"] for s in (whole, small)
    ]
    assert sizes[1] - 128 == (sizes[0] - 128) / 2
    ids = np.arange(len(whole.triplet_embeddings))
    exact, near = whole.triplet_vectors(ids), small.triplet_vectors(ids)
    assert exact.dtype == near.dtype == np.float32
    np.testing.assert_array_equal(exact, whole.triplet_embeddings)
    lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(near, axis=1)
    assert ((exact * near).sum(axis=1) / lengths).min() > 0.9998

    split = small.split("train")
    batch = BatchReader(small, split).read(np.array([3, 1]))
    found = np.asarray(batch.inputs(Tables.of(small)).triplets, np.float32)
    wanted = near[np.asarray(batch.candidates)]
    assert found.shape[-1] == DIMENSION
    np.testing.assert_allclose(found, wanted, atol=3e-4)  # float16 below 1
    scores = [Cosine().rank(s, s.split("dev"), 5).scores for s in (whole, small)]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.02)


# --- ragged rows

lists = st.lists(st.lists(st.integers(0, 70_000), max_size=5), max_size=6)


@given(lists, st.data())
def test_ragged_rows_come_back_as_they_were(rows, data):
    flat = np.array([v for row in rows for v in row], np.int32)
    ragged = Ragged.of_counts(flat, np.array([len(r) for r in rows], int))
    padded = ragged.padded()
    assert padded.dtype == np.int32
    assert padded.shape == (len(rows), max([1, *map(len, rows)]))
    restored = Ragged.of_padded(padded)
    for i, row in enumerate(rows):
        assert ragged[i].tolist() == restored[i].tolist() == row
        assert padded[i].tolist() == row + [-1] * (padded.shape[1] - len(row))
    rows_drawn = data.draw(st.lists(st.integers(0, len(rows) - 1))) if rows else []
    owner, values = ragged.rows(np.array(rows_drawn, int))
    assert values.tolist() == [v for i in rows_drawn for v in rows[i]]
    assert owner.tolist() == [k for k, i in enumerate(rows_drawn) for _ in rows[i]]


def test_rows_stored_as_sixteen_bits_are_read_as_32(written):
    stored = np.load(written.path / "train/path_edges_both.npy")
    assert stored.dtype == np.uint16
    for way in DIRECTIONS:
        edges = written.split("train").path_edges[way]
        assert edges[0].dtype == edges.rows(np.array([2, 0]))[1].dtype == np.int32
