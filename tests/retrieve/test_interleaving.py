"""The order of triplets by their own logits and by the answer head."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.retrieve.interleaving import (
    BEFORE,
    PACE,
    discounted,
    interleaved_logits,
)
from kgscout_jax.retrieve.readings import node_readings


def slow_discount(logits, groups):
    """The discount by a loop."""
    out, seen = [0.0] * len(logits), {}
    for i in sorted(range(len(logits)), key=lambda i: -logits[i]):
        seen[groups[i]] = seen.get(groups[i], 0) + 1
        out[i] = logits[i] - np.log(seen[groups[i]])
    return np.array(out)


@given(st.integers(1, 20), st.integers(1, 12), st.integers(0, 10**6))
def test_the_order_equals_a_loop_over_nodes(n, v, seed):
    g = np.random.default_rng(seed)
    nodes, relations = g.integers(0, v, (n, 2)), g.integers(0, 3, n)
    topics = g.integers(0, v, 1)
    logits = g.normal(0, 3, n).astype(np.float32)
    answers = g.normal(0, 3, v).astype(np.float32)
    answers[np.setdiff1d(np.arange(v), nodes)] = -np.inf
    by_triplet = slow_discount(logits, relations)
    by_node = slow_discount(answers, node_readings(logits, nodes, relations, topics, v))
    place = {t: float(p) for p, t in enumerate(np.argsort(-by_triplet))}
    moved = []
    for node in np.argsort(-by_node).tolist():
        touching = [t for t in range(n) if node in nodes[t]]
        best = max(touching, key=lambda t: by_triplet[t], default=None)
        if best is not None and best not in moved:
            moved.append(best)
    for j, triplet in enumerate(moved, start=1):
        place[triplet] = min(place[triplet], PACE * j - BEFORE)
    out = interleaved_logits(logits, answers, nodes, relations, topics)
    expected = sorted(place, key=place.__getitem__)
    assert np.argsort(-out, kind="stable").tolist() == expected
    assert sorted(out) == sorted(logits)


@given(st.lists(st.tuples(st.floats(-9, 9, width=32), st.integers(0, 3)), min_size=1))
def test_the_discount_equals_a_loop(rows):
    logits, groups = (np.array(column) for column in zip(*rows, strict=True))
    logits = logits.astype(np.float32)
    expected = slow_discount(logits, groups)
    np.testing.assert_allclose(discounted(logits, groups), expected)


def test_the_triplet_of_the_likeliest_answer_moves_up():
    # Three triplets of a hub stand first; the answer's is the last.
    nodes = np.array([[0, 1], [0, 2], [0, 3], [4, 5]])
    logits = np.array([4, 3, 2, 1], np.float32)
    answers = np.array([-9, 0, 0, 0, -5, 3], np.float32)
    relations = np.array([0, 1, 2, 3])
    out = interleaved_logits(logits, answers, nodes, relations, np.array([0]))
    assert np.argsort(-out).tolist() == [0, 3, 1, 2]


def test_many_triplets_of_one_relation_make_room_for_another():
    nodes = np.array([[0, 1], [0, 2], [0, 3], [0, 4]])
    logits = np.array([4, 3.9, 3.8, 3.4], np.float32)
    answers = np.full(5, -np.inf, np.float32)
    answers[0] = 0.0
    relations = np.array([0, 0, 0, 1])
    out = interleaved_logits(logits, answers, nodes, relations, np.array([0]))
    assert np.argsort(-out).tolist() == [0, 3, 1, 2]
