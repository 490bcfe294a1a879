"""PageRank of a batch against networkx, by hand, and bit for bit against itself."""

import logging

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from networkx_pagerank import networkx_pagerank

from kgscout_jax.graph.walk import pagerank as module
from kgscout_jax.graph.walk.pagerank import pagerank

N = 8
edge_lists = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=20
)
node_sets = st.lists(st.integers(0, N - 1), max_size=3, unique=True)
leaf_lists = st.lists(st.tuples(st.integers(0, N - 1), st.booleans()), max_size=5)
batches = st.lists(
    st.tuples(st.integers(1, N), edge_lists, node_sets, leaf_lists),
    min_size=1,
    max_size=5,
)


def oracle(n, edges, restart, direction, alpha=0.85):
    """The ranks of nodes 0 to n - 1 by networkx."""
    rank = networkx_pagerank(edges, restart, direction, nodes=range(n), alpha=alpha)
    return np.array([rank[i] for i in range(n)])


def fold(n, edges, restart, leaves=()):
    """A drawn graph on N nodes as one on n, and leaves of its nodes."""
    edges = [(head % n, tail % n) for head, tail in edges]
    for leaf, (hub, out) in enumerate(leaves, n):
        edges.append((hub % n, leaf) if out else (leaf, hub % n))
    return n + len(leaves), edges, sorted({node % n for node in restart})


def run(batch, direction, **options):
    """PageRank of a batch of (n, edges, restart), split into one array per block."""
    sizes = [n for n, _, _ in batch]
    start = np.cumsum([0, *sizes])
    blocks = list(zip(start.tolist(), batch, strict=False))
    edges = [(h + s, t + s) for s, (_, own, _) in blocks for h, t in own]
    ends = np.array(edges, np.int32).reshape(-1, 2)
    restart = [node + s for s, (_, _, own) in blocks for node in own]
    rank = pagerank(
        int(start[-1]),
        ends[:, 0],
        ends[:, 1],
        np.repeat(np.arange(len(batch)), sizes),
        np.array(restart, np.int64),
        direction=direction,
        **options,
    )
    return np.split(rank, start[1:-1])


SHAPES = [
    (5, [(0, 1), (0, 2), (3, 0), (4, 0)], [0]),  # a star
    (4, [(0, 1), (0, 2), (3, 0)], [1]),  # a leaf is the topic
    (4, [(0, 1), (0, 2), (3, 0)], [1, 3]),
    (6, [(i, i + 1) for i in range(5)], [2]),  # a chain
    (6, [(i + 1, i) for i in range(5)], [0]),
    (2, [(0, 1)], [0]),  # pairs
    (2, [(1, 0)], [0, 1]),
    (5, [(0, 1), (1, 2), (3, 4)], [0]),
    (5, [(0, 1)], [0, 2, 4]),  # topics without an edge
    (4, [(0, 1), (0, 1), (2, 0)], [0]),  # parallel edges to a leaf
    (4, [(0, 1), (1, 0), (0, 2), (2, 3)], [0]),
    (3, [(0, 0), (0, 1), (2, 0)], [0]),  # self-loop of a hub, of a leaf
    (3, [(0, 1), (1, 1), (0, 2)], [0]),
    (5, [(3, 1), (0, 3), (3, 2), (1, 4)], [0]),
]


@pytest.mark.parametrize("direction", ["both", "directed"])
@given(batch=batches, alpha=st.sampled_from([0.0, 0.5, 0.85, 0.95]))
@example(batch=SHAPES, alpha=0.85)
def test_ranks_equal_networkx_on_the_same_multigraph(direction, batch, alpha):
    batch = [fold(*question) for question in batch]
    options = {"tolerance": 1e-9, "max_iterations": 1000, "alpha": alpha}
    ranks = run(batch, direction, **options)
    for (n, edges, restart), rank in zip(batch, ranks, strict=True):
        expected = oracle(n, edges, restart, direction, alpha)
        assert np.abs(rank - expected).sum() <= n * 1e-9 + 1e-11
        assert (rank[expected == 0] == 0).all()
        assert rank.sum() == pytest.approx(1.0 if restart else 0.0, abs=n * 1e-6)


def random_graph(seed, n, m):
    rng = np.random.default_rng(seed)
    ends = (rng.random((m, 2)) ** 2 * n).astype(int)  # a few hubs
    return n, [(int(h), int(t)) for h, t in ends], [0, n // 2]


def test_leaves_of_one_hub_tie_exactly():
    edges = [(i, 0) if i % 3 else (0, i) for i in range(1, 50)]
    (rank,) = run([(52, [*edges, (0, 50), (50, 51), (51, 0)], [50])], "both")
    assert len(set(rank[1:50].tolist())) == 1


@pytest.mark.parametrize("direction", ["both", "directed"])
@pytest.mark.parametrize("n", [30, 400, 3000])
def test_the_error_bound_holds_on_larger_graphs(direction, n):
    question = random_graph(n, n, 3 * n)
    (rank,) = run([question], direction)
    expected = oracle(*question, direction)
    assert np.abs(rank - expected).sum() <= n * 1e-6


def two_cycle(n):
    """A graph on which the walk settles as slowly as alpha allows."""
    return n, [(0, 1), (1, 0)], [0]


@pytest.mark.parametrize("direction", ["both", "directed"])
def test_a_block_does_not_depend_on_the_others_bit_for_bit(direction, monkeypatch):
    batch = [random_graph(i, 5 + 37 * i, 10 + 90 * i) for i in range(8)]
    batch += [two_cycle(2), (3, [], [1]), (4, [(0, 1)], []), two_cycle(500)]
    shrunk = []
    square = module._square
    monkeypatch.setattr(
        module, "_square", lambda *a: shrunk.append(a[0].shape) or square(*a)
    )
    together = run(batch, direction)
    assert len(shrunk) >= 3  # converged blocks left the working set, more than once
    for i, question in enumerate(batch):
        np.testing.assert_array_equal(together[i], run([question], direction)[0])
    reverse = run(batch[::-1], direction)[::-1]
    for one, other in zip(together, reverse, strict=True):
        np.testing.assert_array_equal(one, other)


def test_repeated_restarts_and_gaps_in_block_numbers_change_nothing():
    heads, tails = np.array([0, 2]), np.array([1, 3])
    plain, gaps = (
        pagerank(4, heads, tails, np.array(block), np.array(restart), direction="both")
        for block, restart in (
            ([0, 0, 1, 1], [0, 1, 2]),
            ([3, 3, 900, 900], [0, 1, 2, 2, 0]),
        )
    )
    np.testing.assert_array_equal(plain, gaps)


def test_graphs_without_edges_rank_their_restart_node_only():
    none = np.empty(0, np.int32)
    assert pagerank(0, none, none, none, none, direction="both").shape == (0,)
    alone = pagerank(2, none, none, np.array([0, 0]), np.array([1]), direction="both")
    assert alone.tolist() == [0.0, 1.0]


def test_blocks_that_do_not_converge_are_logged(caplog):
    with caplog.at_level(logging.WARNING, logger=module.__name__):
        run([two_cycle(2), (2, [], [0])], "both", max_iterations=5)
    assert "1 of 2 graphs did not converge in 5 iterations" in caplog.text


@pytest.mark.parametrize(
    ("block", "options", "message"),
    [
        ([0, 0], {"direction": "up"}, "direction is 'up'"),
        ([0, 0], {"direction": "both", "alpha": 1.0}, "alpha is 1"),
        ([1, 0], {"direction": "both"}, "ascend"),
        ([0, 1], {"direction": "both"}, "connects two blocks"),
    ],
)
def test_invalid_arguments_are_refused(block, options, message):
    one = np.array([0])
    with pytest.raises(ValueError, match=message):
        pagerank(2, one, np.array([1]), np.array(block), one, **options)
