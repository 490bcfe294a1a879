"""Facts found by cosine and their two-step pruning, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.arrays import group_by
from kgscout_jax.pseudo import facts as module
from kgscout_jax.pseudo.facts import (
    Fact,
    VectorFacts,
    beside_unnamed,
    nearest,
    prune,
)
from kgscout_jax.retrieve.hypotheses import with_hypotheses


def fact(head: str, tail: str, score: float, relation: str = "r") -> Fact:
    return Fact((head, relation, tail), score)


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 9), st.integers(0, 10**6))
def test_nearest_rows_are_those_of_a_full_sort(m, n, block, seed):
    rng = np.random.default_rng(seed)
    # few distinct values: ties are broken by id
    table = rng.integers(-1, 2, (m, 3)).astype(np.float16)
    queries = rng.integers(-1, 2, (4, 3)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        ids, scores = nearest(queries, lambda rows: table[rows], m, n)
    for query, some, values in zip(queries, ids, scores, strict=True):
        every = sorted((-float(query @ row), i) for i, row in enumerate(table))[:n]
        assert some.tolist() == [i for _, i in every]
        assert values.tolist() == [-value for value, _ in every]


def test_pruning_by_hand():
    facts = [
        fact("Heat", "Mann", 0.9),
        fact("Heat", "1995", 0.7),
        fact("Ali", "Mann", 0.8),
        fact("Ran", "Kurosawa", 0.95),
        fact("Ran", "1985", 0.3),
    ]
    # both ends: Heat (2 facts, .8), Mann (2, .85), Ran (2, .625), the others have one
    kept = prune(facts, entities=3, threshold=0.7)
    assert [one.triplet[::2] for one in kept] == [
        ("Heat", "Mann"), ("Ali", "Mann"), ("Heat", "1995"),
    ]  # fmt: skip
    # one entity: that with the higher mean of the three with two facts
    assert prune(facts, entities=1, threshold=0.7) == [facts[0], facts[2]]
    # heads, as in the paper: Heat (2, .8), Ran (2, .625), Ali (1, .8)
    heads = prune(facts, entities=2, threshold=0.7, ends="heads")
    assert heads == facts[:2]
    assert prune(facts, entities=9, threshold=0.96) == []


FACTS = st.lists(
    st.builds(
        fact,
        st.sampled_from("abcd"),
        st.sampled_from("abcd"),
        st.sampled_from([0.25, 0.5, 0.75, 1.0]),
        st.sampled_from("rs"),
    ),
    max_size=12,
    unique_by=lambda one: one.triplet,
)


@given(FACTS, st.integers(1, 5), st.sampled_from([-1.0, 0.5, 0.7]), st.booleans())
def test_pruning_leaves_facts_of_frequent_and_sure_entities(facts, k, least, heads):
    def of(name: str) -> list[Fact]:
        places = (0,) if heads else (0, 2)
        return [one for one in facts if name in [one.triplet[i] for i in places]]

    def mean(name: str) -> float:
        return sum(one.score for one in of(name)) / len(of(name))

    kept = prune(facts, entities=k, threshold=least, ends="heads" if heads else "both")
    names = [name for name in "abcd" if of(name)]
    # first step: fewer than k entities are better by (facts, mean)
    first = {
        name: sum((len(of(x)), mean(x)) > (len(of(name)), mean(name)) for x in names)
        for name in names
    }
    sure = {name for name in names if first[name] < k and mean(name) >= least}
    assert set(kept) <= {one for name in sure for one in of(name)}
    assert len(set(kept)) == len(kept)
    # without ties at the border every fact of these entities is there
    if sum(first[name] < k for name in names) <= k:
        assert set(kept) == {one for name in sure for one in of(name)}


def test_a_fact_in_two_spellings_is_one_and_names_both_graphs():
    triplets = [("Lima", "capital.of", "Peru"), ("LIMA", "capital_of", "peru")]
    rows = np.array([[0.8, 0.6], [1, 0]], np.float32)

    def embed(texts):
        assert list(texts) == ["lima is capital of peru"]
        return np.array([[1, 0]], np.float32)

    source = VectorFacts(
        size=2,
        rows=lambda ids: rows[ids],
        triplet=triplets.__getitem__,
        embed=embed,
        sources=[("one",), ("two",)].__getitem__,
    )
    (found,) = source.search(["?"], [[("Lima", "is_capital_of", "Peru")]], 2)
    assert found == [Fact(triplets[1], 1.0, ("two", "one"))]
    assert source.search(["?", "?"], [[], []], 2) == [[], []]


def test_facts_of_a_mediator_come_along():
    triplets = np.array([[0, 0, 1], [1, 1, 2], [3, 0, 1], [0, 2, 2]])
    ends = [group_by(triplets[:, place], 4) for place in (0, 2)]
    unnamed = np.array([False, True, False, False])
    beside = beside_unnamed(triplets, unnamed, ends)
    assert [beside(i) for i in range(4)] == [[1, 2], [0, 2], [0, 1], []]
    names = [("Obama", "r", "m.1"), ("m.1", "s", "Yale"), ("Bo", "r", "m.1")]
    rows = np.eye(3, dtype=np.float32)
    source = VectorFacts(
        size=3,
        rows=lambda ids: rows[ids],
        triplet=names.__getitem__,
        embed=lambda _: np.array([[1, 0, 0]]),
        beside=beside,
    )
    (found,) = source.search(["?"], [[("a", "b", "c")]], 1)
    assert [(one.triplet, one.score) for one in found] == [(x, 1.0) for x in names]


def test_hypotheses_are_averaged_with_the_question():
    questions = np.array([[1, 0], [0, 1]], np.float16)
    out = with_hypotheses(questions, [np.array([[0, 1]]), np.empty((0, 2))])
    assert out == pytest.approx(np.array([[0.5**0.5] * 2, [0, 1]]), abs=1e-3)
