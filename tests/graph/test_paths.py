"""Hop distances and shortest-path hops against networkx, and by hand."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgscout_jax.graph.walk.shortest_paths import hop_distances, shortest_path_edges

N = 7
edge_lists = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=16
)
node_sets = st.lists(st.integers(0, N - 1), max_size=3, unique=True)
questions = st.lists(st.tuples(edge_lists, node_sets, node_sets), max_size=4)


def multigraph(edges, directed):
    """The oracle's graph, with every edge, all N nodes."""
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from(range(N))
    graph.add_edges_from(edges)
    return graph


def columns(edges):
    rows = np.array(edges, np.int32).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


@pytest.mark.parametrize("directed", [True, False])
@given(edges=edge_lists, sources=st.lists(st.integers(0, N - 1), max_size=4))
def test_hop_distances_are_those_of_networkx(directed, edges, sources):
    graph = multigraph(edges, directed)
    expected = np.full(N, -1)
    for source in sources:
        for node, hops in nx.single_source_shortest_path_length(graph, source).items():
            if expected[node] < 0 or hops < expected[node]:
                expected[node] = hops
    found = hop_distances(
        N, *columns(edges), np.array(sources, np.int64), directed=directed
    )
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)


def test_hop_distances_without_edges_are_0_or_unreachable():
    none = np.empty(0, np.int32)
    assert hop_distances(0, none, none, none, directed=True).shape == (0,)
    isolated = hop_distances(3, none, none, np.array([1]), directed=False)
    assert isolated.tolist() == [-1, 0, -1]


def oracle(edges, topics, answers, directed):
    """Rows and mask by enumerating every shortest path with networkx."""
    graph = multigraph(edges, directed)
    rows, pairs = set(), set()
    for slot, topic in enumerate(topics):
        for answer in answers:
            if topic == answer or not nx.has_path(graph, topic, answer):
                continue
            for path in nx.all_shortest_paths(graph, topic, answer):
                for depth, (u, v) in enumerate(nx.utils.pairwise(path)):
                    rows.add((slot, u, v, depth))
                    pairs.add((u, v))
                    if not directed:
                        pairs.add((v, u))
    return rows, [edge in pairs for edge in edges]


DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 3), (4, 3), (1, 1), (1, 2), (3, 0)]
"""Two ways from 0 to 3, one of them doubled, 4 behind it, a self-loop, a detour."""


@pytest.mark.parametrize("directed", [True, False])
@given(batch=questions)
@example(batch=[(DIAMOND, [0], [3, 4])])
def test_path_edges_are_those_of_networkx(directed, batch):
    heads, tails, width = [], [], 3
    topics = np.full((len(batch), width), -1)
    is_answer = np.zeros(len(batch) * N, bool)
    for i, (edges, own_topics, own_answers) in enumerate(batch):
        heads += [i * N + h for h, _ in edges]
        tails += [i * N + t for _, t in edges]
        topics[i, : len(own_topics)] = np.array(own_topics, int) + i * N
        is_answer[np.array(own_answers, int) + i * N] = True
    found, on_path = shortest_path_edges(
        len(batch) * N,
        np.array(heads, np.int32),
        np.array(tails, np.int32),
        topics,
        is_answer,
        directed=directed,
    )
    assert found.dtype == np.int32
    order = list(zip(found[:, 1], found[:, 0], found[:, 2], strict=True))
    assert order == sorted(set(order))
    cut = np.searchsorted(found[:, 1], np.arange(len(batch) + 1) * N)
    first = 0
    for i, (edges, own_topics, own_answers) in enumerate(batch):
        rows, mask = oracle(edges, own_topics, own_answers, directed)
        own = found[cut[i] : cut[i + 1]] - np.array([0, i * N, i * N, 0])
        assert set(map(tuple, own.tolist())) == rows
        assert on_path[first : first + len(edges)].tolist() == mask
        first += len(edges)
