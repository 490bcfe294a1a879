"""The marked paths, at every K, against networkx on random multigraphs."""

import itertools

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.show.drawing import ANSWER, GOLD, TOPIC, path_marks

NODES = 7


def marked_by_networkx(pairs, kinds):
    """The ranks on a shortest path, walked both ways, from a topic to an answer."""
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(NODES))
    for rank, (head, tail) in enumerate(pairs):
        graph.add_edge(head, tail, key=rank)
    marked = set()
    for topic in (i for i in range(NODES) if kinds[i] & TOPIC):
        for answer in (i for i in range(NODES) if kinds[i] & (ANSWER | GOLD)):
            if topic == answer or not nx.has_path(graph, topic, answer):
                continue
            for path in nx.all_shortest_paths(nx.Graph(graph), topic, answer):
                for u, v in itertools.pairwise(path):
                    marked |= set(graph[u][v])
    return sorted(marked)


def at(marks, k):
    """What is marked at K, read as the script in the page reads it."""
    return next((ranks for start, ranks in reversed(marks) if start <= k), [])


@given(
    st.lists(st.tuples(*[st.integers(0, NODES - 1)] * 2), max_size=14),
    st.lists(st.integers(0, 7), min_size=NODES, max_size=NODES),
)
def test_marks_are_those_of_networkx_at_every_k(pairs, kinds):
    heads, tails = np.array(pairs, np.int32).reshape(-1, 2).T
    marks = path_marks(heads, tails, np.array(kinds, np.int32))
    for k in range(1, len(pairs) + 1):
        assert at(marks, k) == marked_by_networkx(pairs[:k], kinds), k
    # Only changes are listed.
    assert all(a[1] != b[1] for a, b in zip([(0, []), *marks], marks, strict=False))
    assert [k for k, _ in marks] == sorted({k for k, _ in marks})


def test_a_longer_path_is_unmarked_when_a_shorter_one_comes():
    heads, tails = np.array([[0, 1], [1, 2], [2, 0], [0, 2]]).T
    kinds = np.array([TOPIC, 0, ANSWER])
    assert path_marks(heads, tails, kinds) == [(2, [0, 1]), (3, [2]), (4, [2, 3])]


def test_nothing_to_connect():
    none = np.zeros(0, np.int32)
    assert path_marks(none, none, np.array([TOPIC, ANSWER])) == []
    one = np.zeros(1, np.int32)
    assert path_marks(one, one, np.array([TOPIC | ANSWER])) == []
    assert path_marks(one, one + 1, np.array([TOPIC, 0])) == []
