"""The prize retrievers of OKGQA against brute force on small graphs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import shards_of
from split_factory import Case

from kgscout_jax.retrieve.prizes.graph import PrizeGraph, rank_prizes, triplet_order
from kgscout_jax.retrieve.prizes.paths import path_order, prize_paths
from kgscout_jax.retrieve.prizes.retrievers import (
    FORMS,
    PrizeRetriever,
    PrizeSettings,
    cosine_relevance,
    cosine_source,
    logit_relevance,
)
from kgscout_jax.retrieve.prizes.subgraph import steiner_edges
from kgscout_jax.retrieve.protocol import Retriever


def prize_graph(seed, top=3):
    """A random multigraph of up to 8 nodes and 13 edges, self-loops included."""
    rng = np.random.default_rng(seed)
    v, n = rng.integers(1, 9), rng.integers(1, 14)
    edges = rng.random(n)
    return PrizeGraph(
        nodes=rng.integers(0, v, (n, 2)),
        ids=rng.permutation(50)[:n],
        node_prizes=rank_prizes(rng.random(v), top),
        edge_prizes=rank_prizes(edges, top),
        edge_scores=edges,
    )


def test_prizes_fall_from_top_to_1_by_rank():
    scores = np.array([0.1, 0.9, 0.9, -np.inf, np.nan, 0.5])
    assert rank_prizes(scores, 3).tolist() == [0, 3, 2, 0, 0, 1]
    assert rank_prizes(scores, 9).tolist() == [6, 9, 8, 0, 0, 7]


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_triplets_have_the_largest_total_prizes(seed, k):
    graph = prize_graph(seed)
    totals = [
        graph.node_prizes[h] + graph.node_prizes[t] + graph.edge_prizes[i]
        for i, (h, t) in enumerate(graph.nodes)
    ]
    order, scores = triplet_order(graph, k)
    assert scores.tolist() == sorted(totals, reverse=True)[:k]
    assert [totals[i] for i in order] == scores.tolist()


def every_path(graph, starts, length, cost):
    """Edges of every path that ends as the paper says -> its score."""
    prizes = graph.node_prizes
    roots = sorted(range(len(prizes)), key=lambda i: -prizes[i])[:starts]
    paths = {}

    def walk(nodes, edges, score):
        steps = [
            (edge, (int(t) if h == nodes[-1] else int(h)))
            for edge, (h, t) in enumerate(graph.nodes)
            if h != t and nodes[-1] in (h, t)
        ]
        steps = [(edge, node) for edge, node in steps if node not in nodes]
        if edges and (len(edges) == length or not steps):
            paths[frozenset(edges)] = score
            return
        for edge, node in steps:
            gain = prizes[node] + graph.edge_prizes[edge] - cost
            walk((*nodes, node), (*edges, edge), score + gain)

    for root in roots:
        if prizes[root] > 0:
            walk((root,), (), prizes[root])
    return paths


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 5), st.integers(1, 5))
def test_paths_are_the_best_of_all_simple_paths(seed, length, number, starts):
    graph = prize_graph(seed)
    expected = every_path(graph, starts, length, cost=1.0)
    found = prize_paths(graph, starts=starts, length=length, number=number)
    scores = [path.score for path in found]
    assert scores == sorted(expected.values(), reverse=True)[:number]
    for path in found:
        assert len(set(path.edges)) == len(path.edges) <= length
        assert expected[frozenset(path.edges)] == path.score
    order, _ = path_order(
        graph, 100, starts=starts, length=length, number=number, cost=1.0
    )
    assert set(order) == {edge for path in found for edge in path.edges}


def best_subgraph(graph, cost):
    """The largest score of a connected subgraph, over all sets of nodes."""
    net = graph.edge_prizes - cost
    best = 0.0
    v = len(graph.node_prizes)
    for size in range(1, v + 1):
        for nodes in itertools.combinations(range(v), size):
            inside = np.flatnonzero(np.isin(graph.nodes, nodes).all(axis=1))
            group = {node: {node} for node in nodes}
            score = graph.node_prizes[list(nodes)].sum()
            for edge in sorted(inside, key=lambda i: -net[i]):
                head, tail = map(int, graph.nodes[edge])
                apart = group[head] is not group[tail]
                if net[edge] >= 0 or apart:
                    score += net[edge]
                if apart:
                    group[head] |= group[tail]
                    group |= dict.fromkeys(group[head], group[head])
            if len(group[nodes[0]]) == size:
                best = max(best, score)
    return best


@pytest.mark.parametrize("seed", range(120))
def test_the_subgraph_has_the_score_of_the_best_one(seed):
    graph = prize_graph(seed, top=1 + seed % 4)
    kept = steiner_edges(graph, 1.0)
    nodes = np.unique(graph.nodes[kept])
    if not len(nodes):
        nodes = np.array([graph.node_prizes.argmax()])
    score = graph.node_prizes[nodes].sum() + (graph.edge_prizes[kept] - 1).sum()
    assert score == best_subgraph(graph, 1.0)
    group = {nodes[0]}
    for _ in nodes:
        group |= {n for h, t in graph.nodes[kept] if {h, t} & group for n in (h, t)}
    assert group == set(nodes)


CHAIN = [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "d"), ("a", "s", "d")]
STAR = [("x", "r", "y"), ("x", "r", "z")]


@pytest.mark.parametrize("form", FORMS)
def test_rankings_hold_candidates_of_the_question_once(form):
    cases = [Case(triplets=CHAIN, topics=["a"]), Case(triplets=STAR, topics=["x"])]
    shards, split = shards_of([*cases, Case(triplets=[])])
    retriever = PrizeRetriever(form, settings=PrizeSettings(top=2, starts=2))
    assert isinstance(retriever, Retriever)
    rankings = retriever.rank(shards, split, 3)
    again = retriever.rank(shards, split, 3)
    np.testing.assert_array_equal(rankings.tails, again.tails)
    assert rankings.lengths[2] == 0 and (rankings.lengths[:2] > 0).all()
    for i, n in enumerate(rankings.lengths):
        columns = rankings.heads, rankings.relations, rankings.tails
        rows = list(zip(*(column[i, :n].tolist() for column in columns), strict=True))
        own = split.candidates[i][split.candidates[i] >= 0]
        assert set(rows) <= set(map(tuple, shards.triplets[own].tolist()))
        assert len(set(rows)) == n


def test_a_node_is_as_relevant_as_the_mean_of_its_triplets():
    shards, split = shards_of([Case(triplets=CHAIN, topics=["a"])])
    (found,) = cosine_source(shards, split)
    question = np.asarray(split.question_embeddings[0], np.float64)
    rows = np.asarray(shards.triplet_vectors(split.candidates[0]), np.float64)
    for node in range(int(split.n_nodes[0])):
        own = rows[(split.nodes[0] == node).any(axis=1)]
        mean = own.mean(axis=0)
        expected = question @ mean / np.linalg.norm(mean)
        assert found.nodes[node] == pytest.approx(expected, abs=1e-5)
    lonely = cosine_relevance(question, rows[:1], np.array([[0, 1]]), 3)
    assert lonely.nodes[2] == -np.inf


def test_without_an_answer_head_a_node_has_its_best_logit():
    nodes = np.array([[0, 1], [1, 2]])
    found = logit_relevance(np.array([0.5, 2.0]), None, nodes, 4)
    assert found.nodes.tolist() == [0.5, 2.0, 2.0, -np.inf]
    own = logit_relevance(np.array([0.5, 2.0]), np.arange(9.0), nodes, 4)
    assert own.nodes.tolist() == [0, 1, 2, 3]
