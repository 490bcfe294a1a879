"""Balls, PageRank and the cut of many questions at once against networkx and loops."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_pagerank import networkx_pagerank

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk import block_keys as keys_module
from kgscout_jax.graph.walk.block_keys import blocks_of, positions, unique_keys
from kgscout_jax.graph.walk.block_ranking import top_of_block
from kgscout_jax.graph.walk.subgraph import Subgraphs, balls, cut_subgraphs

N = 9
TRIPLETS = st.lists(
    st.tuples(st.integers(0, N - 1), st.sampled_from("rs"), st.integers(0, N - 1)),
    min_size=1,
    max_size=22,
)
TOPICS = st.lists(st.lists(st.integers(0, N - 1), max_size=3), min_size=1, max_size=5)


def graph_of(triplets) -> KnowledgeGraph:
    return KnowledgeGraph.from_triplets([(f"e{h}", r, f"e{t}") for h, r, t in triplets])


def ids_of(graph: KnowledgeGraph, topics) -> list[np.ndarray]:
    return [graph.find_all([f"e{i}" for i in row]) for row in topics]


def multigraph(graph: KnowledgeGraph, kind=nx.MultiGraph):
    """networkx's view, the triplet id as the key of an edge."""
    out = kind()
    out.add_nodes_from(range(len(graph.entities)))
    for i, (head, _, tail) in enumerate(graph.triplets.tolist()):
        out.add_edge(head, tail, key=i)
    return out


def ball_oracle(graph: KnowledgeGraph, topics, hops) -> list[int]:
    """Ids of the triplets with an end at most hops - 1 steps from a topic."""
    if not len(topics):
        return []
    undirected = multigraph(graph)
    near = nx.multi_source_dijkstra_path_length(
        undirected, set(topics.tolist()), cutoff=hops - 1, weight=lambda *_: 1
    )
    return sorted(
        key for u, v, key in undirected.edges(keys=True) if u in near or v in near
    )


def assert_ranks(graph, ids, ppr, topics, direction) -> None:
    """Assert that these triplets' ends have the PageRank that networkx gives them."""
    edges = graph.triplets[ids][:, [0, 2]].tolist()
    rank = networkx_pagerank(edges, topics.tolist(), direction)
    expected = np.array([[rank[head], rank[tail]] for head, tail in edges])
    error = np.abs(ppr - expected.reshape(-1, 2)).sum()
    assert error <= 2 * len(ids) * len(rank) * 1e-6


def rows_of(cut: Subgraphs, block: int) -> tuple[list[int], np.ndarray]:
    here = slice(*cut.offsets[block : block + 2])
    return cut.triplet_ids[here].tolist(), cut.ppr[here]


@given(TRIPLETS, TOPICS, st.integers(1, 4))
def test_balls_equal_those_of_networkx(triplets, topics, hops):
    graph = graph_of(triplets)
    linked = ids_of(graph, topics)
    m = len(graph.triplets)
    expected = [
        block * m + i
        for block, own in enumerate(linked)
        for i in ball_oracle(graph, own, hops)
    ]
    assert balls(graph, linked, hops).tolist() == expected


@given(st.lists(st.integers(0, 30)), st.randoms(use_true_random=False))
@pytest.mark.parametrize("bitmap_cells", [1 << 20, 0])
def test_unique_keys_and_positions_by_table_and_by_sort(bitmap_cells, keys, rng):
    known = sorted(set(keys))
    shuffled = rng.sample(keys, len(keys))
    array = np.array(shuffled, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys_module, "BITMAP_CELLS", bitmap_cells)
        unique = unique_keys(array, 31)
        assert unique.tolist() == known
        assert positions(unique, array, 31).tolist() == list(map(known.index, shuffled))


@given(st.lists(st.integers(0, 34)), st.sampled_from([1, 5, 7]))
def test_blocks_of_equals_division(keys, width):
    array = np.array(sorted(keys), np.int64)
    assert blocks_of(array, 35, width).tolist() == (array // width).tolist()


@given(
    TRIPLETS,
    TOPICS,
    st.integers(1, 3),
    st.none() | st.integers(1, 8),
    st.sampled_from(["both", "directed"]),
)
def test_the_cut_is_the_top_by_the_pagerank_of_networkx(
    triplets, topics, hops, size, direction
):
    graph = graph_of(triplets)
    linked = ids_of(graph, topics)
    options = {"hops": hops, "direction": direction}
    cut = cut_subgraphs(graph, linked, max_triplets=size, **options)
    uncut = cut_subgraphs(graph, linked, max_triplets=None, **options)
    n = len(graph.entities)
    nodes = []
    for block, own in enumerate(linked):
        ball = ball_oracle(graph, own, hops)
        assert cut.sizes_before_cut[block] == len(ball)
        nodes += sorted(
            {block * n + e for i in ball for e in graph.triplets[i, [0, 2]].tolist()}
        )
        # The uncut ball has networkx's ranks.
        found, ppr = rows_of(uncut, block)
        assert found == ball
        assert_ranks(graph, ball, ppr, own, direction)
        # The cut is the top of those by the sum, ties by id.
        scores = ppr[:, 0] + ppr[:, 1]
        order = sorted(range(len(ball)), key=lambda i: (-scores[i], ball[i]))
        kept = sorted(order[:size])
        cut_ids, cut_ppr = rows_of(cut, block)
        assert cut_ids == [ball[i] for i in kept]
        np.testing.assert_array_equal(cut_ppr, ppr[kept])
        # It does not depend on the other questions, bit for bit.
        alone = cut_subgraphs(graph, [own], max_triplets=size, **options)
        assert alone.triplet_ids.tolist() == cut_ids
        np.testing.assert_array_equal(alone.ppr, cut_ppr)
    assert cut.nodes_before_cut.tolist() == nodes
    assert cut.n_blocks == len(topics)


@given(TRIPLETS, TOPICS, st.integers(1, 3), st.integers(0, 4) | st.none())
def test_small_and_large_graphs_take_the_same_cut(triplets, topics, hops, hub_degree):
    graph = graph_of(triplets)
    linked = ids_of(graph, topics)
    options = {"hops": hops, "max_triplets": 5, "hub_degree": hub_degree}
    cut = cut_subgraphs(graph, linked, **options)
    with pytest.MonkeyPatch.context() as patch:  # the way without bitmaps and tables
        patch.setattr(keys_module, "BITMAP_CELLS", 0)
        other = cut_subgraphs(graph, linked, **options)
    for name, values in vars(cut).items():
        np.testing.assert_array_equal(values, getattr(other, name))


@given(TRIPLETS, TOPICS, st.randoms(use_true_random=False))
def test_own_subgraphs_have_the_pagerank_of_networkx(triplets, topics, rng):
    graph = graph_of(triplets)
    linked = ids_of(graph, topics)
    m = len(graph.triplets)
    own_ids = [
        np.array(sorted(rng.sample(range(m), rng.randint(0, m))), np.int32)
        for _ in topics
    ]
    cut = cut_subgraphs(graph, linked, own_triplets=own_ids, max_triplets=None)
    for block, own in enumerate(own_ids):
        ids, ppr = rows_of(cut, block)
        assert ids == own.tolist()
        assert_ranks(graph, ids, ppr, linked[block], "both")


def test_questions_without_topics_have_empty_subgraphs():
    graph = graph_of([(0, "r", 1), (1, "r", 2)])
    none = np.empty(0, np.int32)
    cut = cut_subgraphs(graph, [none, graph.find_all(["e0"]), none], hops=1)
    assert cut.sizes_before_cut.tolist() == [0, 1, 0]
    assert cut.offsets.tolist() == [0, 0, 1, 1]
    nobody = cut_subgraphs(graph, [none], hops=2)
    assert len(nobody.triplet_ids) == 0
    assert nobody.ppr.shape == (0, 2)
    assert cut_subgraphs(graph, [], hops=2).n_blocks == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30),
    st.none() | st.integers(1, 6),
)
def test_top_of_block_equals_sorting(rows, k):
    rows = sorted(rows)
    blocks = np.array([block for block, _ in rows], int)
    scores = np.array([score for _, score in rows], float)
    ids = np.arange(len(rows)) * 7 % 31  # distinct, in no order
    expected = np.zeros(len(rows), bool)
    for block in set(blocks.tolist()):
        own = np.flatnonzero(blocks == block)
        best = sorted(own, key=lambda i: (-scores[i], ids[i]))
        expected[best[:k]] = True
    assert top_of_block(blocks, ids, scores, k).tolist() == expected.tolist()
