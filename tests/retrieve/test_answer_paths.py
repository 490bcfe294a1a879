"""Paths of walkers to answers, against the enumeration of all walks."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.retrieve.answer_paths import answer_paths, without_loops

WALKERS, STEPS = 2, 3


def arcs_of(nodes, allowed):
    """(candidate, source, target, direction) of every allowed arc."""
    for i, (head, tail) in enumerate(nodes.tolist()):
        if allowed[i]:
            yield i, head, tail, 0
            yield i, tail, head, 1


def probability(walk, walker, arcs, weight):
    """Of a walk, as the product of each arc's share among those at its source."""
    total = 1.0
    for step, (i, source, _, way) in enumerate(walk):
        choices = [weight[j, step, d, walker] for j, s, _, d in arcs if s == source]
        total *= weight[i, step, way, walker] / sum(choices)
    return total


def best_probability(nodes, weight, topics, target, allowed):
    """The highest probability of any walk from a topic to ``target``."""
    arcs = list(arcs_of(nodes, allowed))
    best = 0.0
    for length in range(1, STEPS + 1):
        for walk in itertools.product(arcs, repeat=length):
            joined = all(a[2] == b[1] for a, b in itertools.pairwise(walk))
            if not joined or walk[0][1] not in topics or walk[-1][2] != target:
                continue
            for walker in range(WALKERS):
                best = max(best, probability(walk, walker, arcs, weight))
    return best


@given(st.integers(0, 10_000))
def test_the_path_is_the_most_probable_walk(seed):
    g = np.random.default_rng(seed)
    n, v = int(g.integers(1, 6)), 4
    nodes = g.integers(0, v, (n, 2))
    relation = g.integers(0, 3, n)
    follow = g.uniform(0.01, 1, (3, STEPS * 2 * WALKERS))
    allowed = g.random(n) < 0.8
    topics = np.unique(g.integers(0, v, 2))
    weight = follow.reshape(3, STEPS, 2, WALKERS)[relation]
    paths = answer_paths(
        nodes, relation, follow, topics, range(v), WALKERS, allowed=allowed
    )
    for target, path in enumerate(paths):
        if target in topics:
            assert path == ()
            continue
        expected = best_probability(
            nodes, weight, set(topics.tolist()), target, allowed
        )
        assert bool(path) == (expected > 0)
        if not path:
            continue
        assert allowed[list(path)].all()
        arcs = list(arcs_of(nodes, allowed))
        walks = walks_over(nodes, path, topics, target)
        reached = max(
            probability(walk, walker, arcs, weight)
            for walk in walks
            for walker in range(WALKERS)
        )
        np.testing.assert_allclose(reached, expected, rtol=1e-9)


def walks_over(nodes, path, topics, target):
    """Every way to cross the candidates of a path in order, from topic to target."""
    options = [
        [(i, *map(int, nodes[i]), 0), (i, *map(int, nodes[i][::-1]), 1)] for i in path
    ]
    return [
        walk
        for walk in itertools.product(*options)
        if walk[0][1] in topics
        and walk[-1][2] == target
        and all(a[2] == b[1] for a, b in itertools.pairwise(walk))
    ]


def test_a_walker_that_follows_one_relation_explains_the_answer():
    """Topic 0 has two films, 1 and 2; only 1 is reached by the relation asked for."""
    nodes = np.array([[0, 1], [0, 2], [2, 3], [1, 3]])
    relation = np.array([0, 1, 1, 0])
    follow = np.full((2, STEPS, 2, WALKERS), 0.5)  # the second follows everything
    follow[:, :, :, 0] = 1e-3
    follow[0, :, 0, 0] = 1.0
    args = (nodes, relation, follow.reshape(2, -1), np.array([0]))
    assert answer_paths(*args, [1, 3, 0], WALKERS) == [(0,), (0, 3), ()]
    only = np.array([False, True, True, False])
    assert answer_paths(*args, [1, 3], WALKERS, allowed=only) == [(), (1, 2)]


def test_loops_and_ways_to_a_topic_are_left_out():
    nodes = np.array([[0, 1], [2, 1], [1, 3], [0, 4], [4, 4]])
    topics = np.array([0])
    # 0 - 1 - 2 - 1 - 3: back at 1; then 4 - 0 - 1: by the topic; then a self-loop
    assert without_loops((0, 1, 1, 2), nodes, topics, 3) == (0, 2)
    assert without_loops((3, 3, 0), nodes, topics, 1) == (0,)
    assert without_loops((3, 4), nodes, topics, 4) == (3,)
    assert without_loops((0, 2), nodes, topics, 3) == (0, 2)
    assert without_loops((), nodes, topics, 3) == ()
