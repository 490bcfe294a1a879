"""PageRank over a shared graph against networkx, ``pagerank`` and itself."""

import logging

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgscout_jax.graph.walk.pagerank import pagerank
from kgscout_jax.graph.walk.shared_pagerank import COLUMNS, SharedWalk

N = 8
weights = st.sampled_from([0.0, 0.25, 1.0, 3.0])
edge_lists = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), weights), max_size=20
)
node_sets = st.lists(st.integers(0, N - 1), max_size=3)
DIRECTIONS = ("both", "directed")


def oracle(n, edges, restart, direction, alpha=0.85):
    """networkx on the multigraph, nearly exact; zeros without a restart node."""
    if not len(restart):
        return np.zeros(n)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    for head, tail, weight in edges:
        graph.add_edge(head, tail, weight=weight)
        if direction == "both":
            graph.add_edge(tail, head, weight=weight)
    seeds = dict.fromkeys(map(int, restart), 1.0)
    rank = nx.pagerank(
        graph, alpha=alpha, personalization=seeds, tol=1e-12, max_iter=5000
    )
    return np.array([rank[i] for i in range(n)])


def walk(n, edges, direction, **options):
    """The walk over weighted edges."""
    columns = np.array(edges, float).reshape(-1, 3)
    ends = columns[:, :2].astype(np.int32)
    return SharedWalk(
        n, ends[:, 0], ends[:, 1], direction=direction, edge_weight=columns[:, 2],
        **options,
    )  # fmt: skip


def random_graph(seed, n, m):
    """Edges of weight 1 with a few hubs, parallel ones and dangling nodes."""
    ends = (np.random.default_rng(seed).random((m, 2)) ** 2 * n).astype(int)
    return [(int(h), int(t), 1.0) for h, t in ends]


@pytest.mark.parametrize("direction", DIRECTIONS)
@settings(deadline=None, max_examples=60)
@given(edges=edge_lists, restarts=st.lists(node_sets, max_size=4))
def test_equals_networkx_on_the_same_multigraph(direction, edges, restarts):
    rows = [np.array(nodes, np.int64) for nodes in restarts]
    found = walk(N, edges, direction).pagerank(rows)
    assert found.shape == (len(rows), N)
    for nodes, rank in zip(rows, found, strict=True):
        assert np.abs(rank - oracle(N, edges, nodes, direction)).sum() <= N * 1e-6
        assert rank.sum() == pytest.approx(float(len(nodes) > 0), abs=1e-9)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("n", [30, 3000])
def test_error_bound_holds_in_either_precision(direction, n):
    edges = random_graph(n, n, 3 * n)
    shared = walk(n, edges, direction)
    assert shared._dtype == (np.float32 if n == 3000 else np.float64)
    restarts = [np.array([0, n // 2]), np.array([n - 1])]
    for nodes, rank in zip(restarts, shared.pagerank(restarts), strict=True):
        expected = oracle(n, edges, nodes, direction)
        assert np.abs(rank - expected).sum() <= n * 1e-6
        assert rank.sum() == pytest.approx(1, abs=1e-5)
        # Out of reach is exactly 0, as in ``pagerank``.
        graph = nx.DiGraph([edge[:2] for edge in edges])
        if direction == "both":
            graph = graph.to_undirected()
        reached = set(map(int, nodes)).union(
            *(nx.descendants(graph, int(i)) for i in nodes if int(i) in graph)
        )
        assert set(np.flatnonzero(rank).tolist()) == reached


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_agrees_with_blocks(direction):
    n, edges = 400, random_graph(5, 400, 900)
    heads, tails, _ = np.array(edges).astype(np.int32).T
    block = np.zeros(n, np.int64)
    for seed in range(5):
        nodes = np.random.default_rng(seed).integers(0, n, 2)
        alone = pagerank(n, heads, tails, block, nodes, direction=direction)
        (rank,) = walk(n, edges, direction).pagerank([nodes])
        assert np.abs(rank - alone).sum() <= 2 * n * 1e-6


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("n", [50, 2500])
def test_a_question_does_not_depend_on_the_others_bit_for_bit(direction, n):
    shared = walk(n, random_graph(n, n, 2 * n), direction)
    rng = np.random.default_rng(0)
    restarts = [rng.integers(0, n, size) for size in (1, 2, 0, 5) * 6]
    assert len(restarts) > COLUMNS
    together = shared.pagerank(restarts)
    for low, high in ((0, 1), (1, 2), (2, 3), (1, 4), (3, 10), (COLUMNS, 24)):
        few = shared.pagerank(restarts[low:high])
        np.testing.assert_array_equal(few, together[low:high])


def test_by_hand():
    # Two nodes, one edge: 0 -> 1, and 1 is dangling: back to 0. With alpha = 1/2,
    # x1 = x0 / 2 and x0 + x1 = 1.
    shared = walk(2, [(0, 1, 1.0)], "directed", alpha=0.5)
    rank = shared.pagerank([np.array([0])])
    np.testing.assert_allclose(rank, [[2 / 3, 1 / 3]], atol=2e-6)


def test_a_walk_that_does_not_settle_is_told(caplog):
    shared = walk(2, [(0, 1, 1.0), (1, 0, 1.0)], "directed")
    with caplog.at_level(logging.WARNING):
        shared.pagerank([np.array([0]), np.array([], int)], max_iterations=3)
    assert "1 of 2 questions did not converge in 3 iterations" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "sideways"}, "direction is 'sideways'"),
        ({"direction": "both", "alpha": 1.0}, "alpha is 1.0"),
        ({"direction": "both", "edge_weight": np.array([-1.0])}, "not negative"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        SharedWalk(2, np.array([0]), np.array([1]), **options)
