"""Batches against plain loops; the order of an epoch; one compilation per bucket."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import memory_shards, shards_of, with_split
from split_factory import Case, build_split

from kgscout_jax.data.batch_order import by_size, epoch_batches
from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import DIRECTIONS
from kgscout_jax.data.tables import Tables, table_offsets
from kgscout_jax.utils.buckets import SMALLEST, bucket


def random_cases(seed: int, sizes: list[int], relations: int = 7) -> list[Case]:
    """Questions over random multigraphs with so many triplets each."""
    g = np.random.default_rng(seed)
    cases = []
    for size in sizes:
        rows = {
            (f"e{h}", f"r{r}", f"e{t}")
            for h, r, t in zip(
                g.integers(0, 9, 4 * size + 4),
                g.integers(0, relations, 4 * size + 4),
                g.integers(0, 9, 4 * size + 4),
                strict=True,
            )
        }
        triplets = sorted(rows)[:size]
        names = [f"e{i}" for i in g.permutation(12)]
        order = g.permutation(len(triplets)).tolist()
        cases.append(
            Case(
                triplets=triplets,
                topics=names[:2],
                answers=names[2 : 2 + int(g.integers(0, 4))],
                candidates=order,
            )
        )
    return cases


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_read_against_a_loop(seed, direction):
    g = np.random.default_rng(seed)
    sizes = [0, 1, 40, 5, 33, 12, 0, 25]
    built = build_split(random_cases(seed, sizes))
    shards, split = memory_shards(built), built.split
    reader = BatchReader(shards, split, direction)
    rows = g.permutation(len(sizes))[: g.integers(1, 6)]
    batch = reader.read(rows, 6)
    ppr = split.node_ppr
    n = batch.mask.shape[1]
    largest = max(sizes[row] for row in rows)
    assert n == (SMALLEST if largest <= SMALLEST else 40)
    for i, row in enumerate(rows):
        count = sizes[row]
        assert np.asarray(batch.mask[i]).tolist() == [j < count for j in range(n)]
        np.testing.assert_array_equal(batch.question[i], split.question_embeddings[row])
        on_path = set(split.path_triplets[direction][row].tolist())
        for j in range(count):
            triplet = int(split.candidates[row, j])
            assert int(batch.candidates[i, j]) == triplet
            relation = int(batch.relation_rows[i, int(batch.relation_index[i, j])])
            assert relation == built.graph.triplets[triplet, 1]
            assert bool(batch.on_path[i, j]) == (triplet in on_path)
            own = [ppr[row][node] for node in split.nodes[row, j]]
            assert batch.ppr[i, j].tolist() == own
            assert batch.ppr.dtype == np.float32
            np.testing.assert_array_equal(batch.nodes[i, j], split.nodes[row, j])
        assert not np.asarray(batch.ppr[i, count:]).any()
        used = np.asarray(batch.relation_index[i])[:count]
        distinct = np.asarray(batch.relation_rows[i])[np.unique(used)]
        assert len(set(distinct.tolist())) == len(distinct)  # each relation once
        assert not np.asarray(batch.on_path[i, count:]).any()
        answers = split.answers[row][split.answers[row] >= 0].tolist()
        found = np.asarray(batch.answers[i])
        assert found[found >= 0].tolist() == answers
    for i in range(len(rows), 6):  # questions that fill the batch up
        assert not np.asarray(batch.mask[i]).any()
        assert not np.asarray(batch.on_path[i]).any()
        assert (np.asarray(batch.answers[i]) == -1).all()
    assert int(np.max(batch.nodes)) < batch.topics.shape[1]


def test_inputs_gather_the_tables():
    built = build_split(random_cases(1, [20, 35]), dim=4)
    shards = memory_shards(built)
    batch = BatchReader(shards, built.split).read(np.array([1, 0]))
    inputs = batch.inputs(Tables.of(shards))
    np.testing.assert_array_equal(
        inputs.triplets[0, :35],
        built.triplet_embeddings[built.split.candidates[1, :35]],
    )
    relations = np.asarray(inputs.relations)[0][
        np.asarray(inputs.relation_index[0, :35])
    ]
    own = built.graph.triplets[built.split.candidates[1, :35], 1]
    np.testing.assert_array_equal(relations, built.relation_embeddings[own])


@pytest.mark.parametrize("triplets", [[], [("a", "r", "b")]])
def test_a_split_without_any_candidate(triplets):
    case = Case(triplets=triplets, candidates=[], topics=["a"], answers=["b"])
    shards, split = shards_of([case, case], n=1)
    reader = BatchReader(shards, split)
    batch = reader.read(np.array([0, 1]), 3)
    assert not np.asarray(batch.mask).any()
    inputs = batch.inputs(Tables.of(shards))
    assert np.isfinite(np.asarray(inputs.triplets)).all()
    assert inputs.triplets.shape[:2] == batch.mask.shape


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_buckets(size, largest):
    width = bucket(size, largest)
    assert 1 <= width <= max(largest, 1)
    assert width >= min(size, largest)
    assert width == largest or width == 1 or width & (width - 1) == 0
    assert width < 2 * max(size, SMALLEST)


sizes_of = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(sizes_of, st.integers(1, 8), st.integers(1, 4), st.integers(0, 3))
def test_an_epoch_is_a_permutation(sizes, batch_size, window, epoch):
    n_real = np.array(sizes)
    rows = np.flatnonzero(n_real)
    options = {"batch_size": batch_size, "window": window, "seed": 5}
    batches = epoch_batches(n_real, rows, **options, epoch=epoch)
    seen = np.concatenate([np.empty(0, int), *batches])
    assert sorted(seen.tolist()) == rows.tolist()
    assert len(batches) == -(-len(rows) // batch_size)
    assert all(1 <= len(batch) <= batch_size for batch in batches)
    again = epoch_batches(n_real, rows, **options, epoch=epoch)
    assert [b.tolist() for b in again] == [b.tolist() for b in batches]


def test_epochs_and_seeds_differ():
    n_real, rows = np.full(64, 5), np.arange(64)
    orders = {
        tuple(
            np.concatenate(
                epoch_batches(
                    n_real, rows, batch_size=4, window=2, seed=seed, epoch=epoch
                )
            ).tolist()
        )
        for seed in (0, 1)
        for epoch in (0, 1, 2)
    }
    assert len(orders) == 6


def test_a_batch_holds_questions_of_similar_size():
    g = np.random.default_rng(0)
    n_real = g.integers(1, 1000, 512)
    rows = np.arange(512)

    def padding(window: int) -> float:
        batches = epoch_batches(
            n_real, rows, batch_size=8, window=window, seed=0, epoch=0
        )
        return float(np.mean([n_real[b].max() - n_real[b].mean() for b in batches]))

    assert padding(16) < 0.2 * padding(1)


@given(sizes_of, st.integers(1, 8))
def test_by_size_is_ascending_and_stable(sizes, batch_size):
    n_real = np.array(sizes)
    rows = np.arange(len(sizes))[::-1]
    order = np.concatenate(list(by_size(n_real, rows, batch_size))).tolist()
    assert order == sorted(rows.tolist(), key=lambda row: (sizes[row], -row))


def test_one_compilation_per_bucket():
    import jax

    built = build_split(random_cases(2, [40, 38, 36, 10, 8, 30], relations=3))
    shards = memory_shards(built)
    reader = BatchReader(shards, built.split)
    tables = Tables.of(shards)

    @jax.jit
    def forward(tables, batch):
        inputs = batch.inputs(tables)
        return inputs.triplets.sum() + inputs.relations.sum()

    for rows, compiled in (
        ([0, 1], 1), ([1, 2], 1), ([2], 1),  # 40 wide
        ([3, 4], 2), ([4, 5], 2), ([5], 2),  # 32 wide
        ([0, 5], 2), ([3], 2),
    ):  # fmt: skip
        forward(tables, reader.read(np.array(rows), 2))
        assert forward._cache_size() == compiled


def test_an_accelerator_has_one_class_of_widths(monkeypatch):
    built = build_split(random_cases(0, [4, 40, 70, 300]))
    reader = BatchReader(memory_shards(built), built.split)
    several = reader.widths
    monkeypatch.setattr("jax.default_backend", lambda: "gpu")
    one = BatchReader(memory_shards(built), built.split).widths
    assert len(several) > 1
    assert one.classes == several.classes[-1:]


def test_tables_of_several_sets_hold_the_rows_of_each():
    import jax

    sets = [build_split(random_cases(seed, [40, 12, 25])) for seed in (3, 4)]
    shards = [memory_shards(built) for built in sets]
    together = Tables.of(*shards)
    forward = jax.jit(lambda tables, batch: batch.inputs(tables))
    pairs = zip(shards, sets, table_offsets(shards), strict=True)
    for number, (each, built, offsets) in enumerate(pairs):
        rows = np.array([2, 0])
        own = BatchReader(each, built.split).read(rows).inputs(Tables.of(each))
        reader = BatchReader(each, built.split, offsets=offsets)
        shared = forward(together, reader.read(rows))
        real = np.asarray(own.mask)
        for name in ("question", "relation_index", "nodes", "topics", "ppr", "mask"):
            a, b = (np.asarray(getattr(x, name)) for x in (own, shared))
            np.testing.assert_array_equal(a, b)
        rows_of = [np.asarray(x.triplets)[real] for x in (own, shared)]
        np.testing.assert_array_equal(*rows_of)
        of_relation = [
            np.take_along_axis(
                np.asarray(x.relations), np.asarray(x.relation_index)[..., None], axis=1
            )[real]
            for x in (own, shared)
        ]
        np.testing.assert_array_equal(*of_relation)
        assert (offsets.triplets > 0) == (number > 0)
    assert forward._cache_size() == 1


def test_direction_decides_what_is_on_a_path():
    case = Case(
        triplets=[("a", "r", "b"), ("c", "r", "b"), ("b", "r", "d")],
        topics=["a"],
        answers=["c", "d"],
    )
    shards, split = shards_of([case])
    marks = {
        direction: np.asarray(
            BatchReader(shards, split, direction).read(np.array([0])).on_path
        )[0, :3].tolist()
        for direction in DIRECTIONS
    }
    named = [shards.triplets[i].tolist() for i in split.candidates[0, :3]]
    names = [(shards.entities[h], shards.entities[t]) for h, _, t in named]
    directed = {p for p, mark in zip(names, marks["directed"], strict=True) if mark}
    both = {pair for pair, mark in zip(names, marks["both"], strict=True) if mark}
    assert directed == {("a", "b"), ("b", "d")}
    assert both == {("a", "b"), ("b", "d"), ("c", "b")}


def test_node_ids_of_sixteen_bits_are_widened():
    shards, split = shards_of([Case(triplets=[("a", "r", "b")], topics=["a"])])
    narrow = dataclasses.replace(split, nodes=split.nodes.astype(np.uint16))
    batch = BatchReader(with_split(shards, narrow), narrow).read(np.array([0]), 2)
    assert batch.nodes.dtype == np.int32
