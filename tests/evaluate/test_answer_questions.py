"""Which questions are asked: a fair draw, and the split that holds just those."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import shards_of
from split_factory import Case

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.questions import (
    draw_order,
    limits_by_k,
    take_questions,
)


def star(i, hop, size=3):
    leaves = [(f"hub{i}", f"r{j}", f"leaf{i}.{j}") for j in range(size)]
    return Case(triplets=leaves, topics=[f"hub{i}"], answers=[f"leaf{i}.0"], hop=hop)


HOPS = [1] * 13 + [2] * 6 + [None] * 2 + [3]
_, SPLIT = shards_of([star(i, hop, 1 + i % 4) for i, hop in enumerate(HOPS)])


@given(st.integers(0, 10_000))
def test_every_beginning_of_the_draw_has_every_hops_share(seed):
    order = draw_order(SPLIT, seed)
    assert sorted(order) == list(range(len(HOPS)))
    assert (order == draw_order(SPLIT, seed)).all()
    kinds = set(HOPS)
    for n in range(len(HOPS) + 1):
        for hop in kinds:
            share = HOPS.count(hop) / len(HOPS)
            drawn = sum(HOPS[i] == hop for i in order[:n])
            assert abs(drawn - n * share) <= 1 + share * len(kinds)


def test_every_question_is_drawn_about_as_often():
    first = [i for seed in range(3000) for i in draw_order(SPLIT, seed)[:6]]
    times = np.bincount(first, minlength=len(HOPS)) / 3000
    assert np.abs(times - 6 / len(HOPS)).max() < 0.06


def test_draws_differ_by_seed():
    assert len({tuple(draw_order(SPLIT, seed)[:4]) for seed in range(20)}) > 10


def test_a_part_of_a_split_holds_all_arrays_of_its_questions():
    rows = np.array([5, 0, 21, 5])
    taken = take_questions(SPLIT, rows)
    assert len(taken) == 4
    for field in dataclasses.fields(SPLIT):
        whole, part = getattr(SPLIT, field.name), getattr(taken, field.name)
        if field.name == "name":
            assert part == whole
            continue
        pairs = [(whole, part)]
        if isinstance(whole, dict):
            assert whole.keys() == part.keys()
            pairs = [(whole[key], part[key]) for key in whole]
        for before, after in pairs:
            assert len(after) == 4
            for i, row in enumerate(rows):
                assert np.array_equal(before[int(row)], after[i])
    assert (taken.n_real == SPLIT.n_real[rows]).all()
    assert len(take_questions(SPLIT, np.array([], np.int64))) == 0


def test_one_limit_holds_for_every_k():
    assert limits_by_k([30, 10], []) == {10: None, 30: None}
    assert limits_by_k([30, 10], [5]) == {10: 5, 30: 5}
    found = limits_by_k([100, 10, 30], [7, 50, 25])
    assert list(found.items()) == [(10, 50), (30, 25), (100, 7)]
    assert limits_by_k([10, 10], [5, 5]) == {10: 5}


@pytest.mark.parametrize(
    "ks, limit, message",
    [
        ([], [], "--k: found nothing"),
        ([0], [], "--k: found 0, expected at least 1"),
        ([10], [-1], "--limit: found -1, expected at least 1"),
        ([10, 20, 30], [1, 2], "--limit: 2 numbers for 3 of --k"),
        ([10, 10], [5, 6], "--k: 10 twice, with limits 5 and 6"),
    ],
)
def test_impossible_limits_are_refused(ks, limit, message):
    with pytest.raises(UserError, match=message):
        limits_by_k(ks, limit)
