"""Paths against all simple paths, enumerated one by one."""

import time
from random import Random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kgscout_jax.reason.readers.path_search import find_paths


def every_path(triplets, topics, hops):
    """(nodes, triplets, forward) of every simple path, edges both ways."""
    found = []

    def grow(nodes, used, forward):
        if used:
            found.append((nodes, used, forward))
        if len(used) == hops:
            return
        for i, (head, _, tail) in enumerate(triplets):
            for start, end, ahead in ((head, tail, True), (tail, head, False)):
                if start == nodes[-1] and end not in nodes:
                    grow((*nodes, end), (*used, i), (*forward, ahead))

    for topic in topics:
        grow((topic,), (), ())
    return found


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)),
        max_size=9,
        unique=True,
    ),
    st.lists(st.integers(0, 6), max_size=3, unique=True),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
@example([(1, 0, 2), (1, 0, 3), (2, 2, 0), (3, 2, 0)], [0], 3, Random(0))
def test_the_best_path_per_relations_and_end_is_found(triplets, topics, hops, random):
    values = np.array([random.randint(-8, 8) / 2 for _ in triplets])
    heads, relations, tails = np.array(triplets, int).reshape(-1, 3).T
    best = {}
    for nodes, used, forward in every_path(triplets, topics, hops):
        steps = tuple(zip((triplets[i][1] for i in used), forward, strict=True))
        key = (nodes[0], steps, nodes[-1])
        value = values[list(used)].sum()
        best[key] = max(best.get(key, -np.inf), value)
    found = find_paths(heads, relations, tails, values, topics, hops=hops, width=10**6)
    got = {}
    for level, paths in enumerate(found, start=1):
        assert paths.nodes.shape == (len(paths), level + 1)
        assert (np.diff(paths.value) <= 0).all()
        names = {}
        for row in range(len(paths)):
            used = paths.triplets[row].tolist()
            forward = paths.forward[row].tolist()
            nodes = paths.nodes[row].tolist()
            for i, ahead, start, end in zip(
                used, forward, nodes, nodes[1:], strict=False
            ):
                head, _, tail = triplets[i]
                assert (start, end) == ((head, tail) if ahead else (tail, head))
            steps = tuple(zip((triplets[i][1] for i in used), forward, strict=True))
            names.setdefault(int(paths.group[row]), set()).add((nodes[0], steps))
            got[nodes[0], steps, nodes[-1]] = values[used].sum()
            assert np.isclose(paths.value[row], values[used].sum())
        # a group is one sequence of relations, and a sequence one group
        assert all(len(each) == 1 for each in names.values())
        assert len(set.union(*names.values())) == len(names)
    # merging may lose a path of three hops or more, never make one up
    assert all(value <= best[key] for key, value in got.items())
    short = {key: value for key, value in best.items() if len(key[1]) <= 2}
    assert {key: got.get(key) for key in short} == short


def test_width_keeps_the_best():
    n = 50
    heads, tails = np.zeros(n, int), np.arange(1, n + 1)
    values = np.linspace(0, 1, n)
    (paths,) = find_paths(heads, heads, tails, values, [0], hops=2, width=7)
    assert paths.nodes[:, 1].tolist() == list(range(n, n - 7, -1))


def test_two_hubs_stay_within_time_and_memory():
    """10,000 triplets: a topic beside a hub of hubs has millions of 4-hop paths."""
    rng = np.random.default_rng(0)
    heads = np.concatenate([[0] * 100, rng.integers(1, 101, 9900)])
    tails = np.concatenate([np.arange(1, 101), rng.integers(101, 400, 9900)])
    relations = rng.integers(0, 300, len(heads))
    started = time.monotonic()
    found = find_paths(
        heads, relations, tails, rng.normal(size=len(heads)), [0], hops=4, width=2000
    )
    assert [len(paths) for paths in found][1:] == [2000] * 3
    assert time.monotonic() - started < 5


def test_without_edges_or_topics_there_are_no_paths():
    none = np.zeros(0, int)
    assert find_paths(none, none, none, none.astype(float), [3], hops=2, width=9) == []
    one = np.array([0])
    assert find_paths(one, one, one, one.astype(float), [0], hops=2, width=9) == []
    assert find_paths(one, one, one, one.astype(float), [], hops=2, width=9) == []
