"""External sorting: runs, canonical order, offsets, and finding triplets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import group_by
from kgscout_jax.graph.build import canonical_order
from kgscout_jax.graph.build.canonical_order import CanonicalSort, Packing
from kgscout_jax.graph.build.external_sort import Runs
from kgscout_jax.graph.build.removal import find_triplets
from kgscout_jax.utils.array_writer import ArrayWriter


@pytest.mark.parametrize("seed", range(40))
def test_runs_merge_into_the_order_of_numpy(tmp_path, seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 90))
    runs = Runs(tmp_path, "x", rows)
    every = [np.empty(0, np.uint64)]
    for _ in range(rng.integers(0, 6)):
        high = int(rng.choice([3, 1000, 2**64 - 1], p=[0.2, 0.4, 0.4]))
        keys = rng.integers(0, high, rng.integers(0, 300), np.uint64)
        every.append(keys.copy())
        if rng.random() < 0.3:
            runs.add_sorted(np.array_split(np.sort(keys), 3))
        else:
            runs.add(keys)
    expected = np.sort(np.concatenate(every))
    assert len(runs) == len(expected)
    blocks = list(runs.merged())
    assert np.concatenate([*blocks, expected[:0]]).tolist() == expected.tolist()
    for one, next_one in itertools.pairwise(blocks):
        assert one[-1] < next_one[0]  # equal keys are in one block
    for block in blocks:  # only equal keys, or few runs' ends, make a block larger
        assert len(np.unique(block)) <= 2 * rows + 8 * max(1, rows // 4)
    assert not list(tmp_path.iterdir())


def test_array_writer_writes_what_numpy_reads(tmp_path):
    chunks = [np.arange(6).reshape(2, 3), np.empty((0, 3)), np.arange(3).reshape(1, 3)]
    with ArrayWriter(tmp_path / "a.npy", np.int32, 3) as writer:
        for chunk in chunks:
            writer.append(chunk)
    found = np.load(tmp_path / "a.npy", mmap_mode="r", allow_pickle=False)
    assert found.dtype == np.int32
    assert found.tolist() == np.concatenate(chunks).tolist()
    with ArrayWriter(tmp_path / "b.npy", np.bool_):
        pass
    assert np.load(tmp_path / "b.npy").tolist() == []
    with pytest.raises(KeyError), ArrayWriter(tmp_path / "c.npy", np.int64):
        raise KeyError
    with pytest.raises(ValueError):  # no header: nobody takes it for whole
        np.load(tmp_path / "c.npy", allow_pickle=False)


@pytest.mark.parametrize("bits", [64, 20, 9])
@pytest.mark.parametrize("seed", range(8))
def test_canonical_order_and_indices_equal_those_of_numpy(tmp_path, seed, bits):
    rng = np.random.default_rng(seed)
    n_entities, n_relations = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    sort = CanonicalSort(tmp_path, n_entities, n_relations, 16, key_bits=bits)
    high = [n_entities, n_relations, n_entities]
    old = np.unique(rng.integers(0, high, (rng.integers(0, 80), 3)), axis=0)
    dropped = rng.random(len(old)) < 0.3
    added = [rng.integers(0, high, (n, 3)).astype(np.int32) for n in (0, 30, 50)]
    sort.add_canonical(old.astype(np.int32), dropped if seed % 2 else None)
    for rows in added:
        sort.add(rows)
    out = tmp_path / "out"
    out.mkdir()
    kept = old[~dropped] if seed % 2 else old
    expected = np.unique(np.concatenate([kept, *added]), axis=0)
    assert sort.write(out) == len(expected)
    found = {path.stem: np.load(path) for path in out.iterdir()}
    assert found["triplets"].dtype == np.int32
    assert found["triplets"].tolist() == expected.tolist()
    heads, tails = (group_by(found["triplets"][:, i], n_entities) for i in (0, 2))
    assert found["head_offsets"].tolist() == heads.offsets.tolist()
    assert found["tail_offsets"].tolist() == tails.offsets.tolist()
    assert found["by_tail"].tolist() == tails.triplet_ids.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    wanted = rng.integers(0, high, (200, 3)).astype(np.int32)
    ids = {tuple(row): i for i, row in enumerate(expected.tolist())}
    places = find_triplets(found["triplets"], found["head_offsets"], wanted)
    assert places.tolist() == [ids.get(tuple(row), -1) for row in wanted.tolist()]


@given(st.data())
def test_packed_keys_unpack_and_sort_as_triplets(data):
    n_entities = data.draw(st.integers(1, 2**31 - 1))
    n_relations = data.draw(st.integers(1, 2**31 - 1))
    packing = Packing(n_entities, n_relations)
    ends = st.integers(0, n_entities - 1)
    row = st.tuples(ends, st.integers(0, n_relations - 1), ends)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=9)), np.int32)
    panels = rows[:, 0] >> packing.head_bits
    assert panels.max() < packing.panels
    keys = packing.pack(rows)
    for key, panel, expected in zip(keys, panels, rows.tolist(), strict=True):
        assert packing.unpack(np.array([key]), int(panel)).tolist() == [expected]
    order = np.lexsort((keys, panels))
    assert rows[order].tolist() == sorted(rows.tolist())


def test_more_triplets_than_int32_ids_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(canonical_order, "MAX_TRIPLETS", 3)
    sort = CanonicalSort(tmp_path, 9, 1, 16)
    sort.add(np.array([[i, 0, i] for i in range(4)], np.int32))
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="more than 3 triplets"):
        sort.write(tmp_path / "out")
