"""Every metric against a plain loop over networkx graphs, and by hand."""

import dataclasses
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import shards_of
from split_factory import Case

from kgscout_jax.evaluate.retrieval import metrics as metrics_module
from kgscout_jax.evaluate.retrieval.metrics import (
    DEFINITIONS,
    VARIANT,
    definitions,
    retrieval_metrics,
)
from kgscout_jax.retrieve.baselines import Ceiling
from kgscout_jax.retrieve.protocol import rank_candidates
from kgscout_jax.types import entity_key

NAMES = [f"e{i}" for i in range(7)]
names = st.sampled_from(NAMES)
triplets = st.tuples(names, st.sampled_from(["r", "s"]), names)
KS = (1, 2, 4, 9)


@st.composite
def worlds(draw):
    """Labelled cases: parallel edges, loops, lost topics, topics that are answers."""
    cases, relevant = [], []
    for _ in range(draw(st.integers(1, 4))):
        rows = sorted(set(draw(st.lists(triplets, max_size=12))))
        order = draw(st.permutations(range(len(rows))))
        lost = draw(st.integers(0, 2))
        case = Case(
            triplets=rows,
            topics=draw(st.lists(names, max_size=3, unique=True)),
            answers=draw(st.lists(names, max_size=3, unique=True)),
            candidates=order[: max(0, len(rows) - lost)],
        )
        cases.append(case)
        relevant.append(draw(st.lists(triplets, max_size=4)))
    return cases, relevant, draw(st.integers(0, 99))


def oracle(case, info, kept):
    """Metric -> value of one question, one pair at a time, None where it counts not."""
    directed = nx.MultiDiGraph((h, t) for h, _, t in kept)
    undirected = directed.to_undirected()
    held = set(directed)
    gold = set(info.answers) | set(info.answers_in_graph)

    def connected(graph):
        return float(
            any(
                nx.has_path(graph, topic, answer)
                for topic in info.topics
                for answer in gold
                if topic in graph and answer in graph
            )
        )

    def share(wanted, having):
        wanted = set(wanted)
        return len(wanted & set(having)) / len(wanted) if wanted else None

    return {
        "answer_hit": float(bool(held & gold)),
        "answer_recall": share(info.answers_in_subgraph, held),
        "answer_recall_kg": share(info.answers_in_graph, held),
        "path_hit": connected(directed),
        "path_hit_undirected": connected(undirected),
        "triplet_recall": share(info.relevant_triplets, kept),
        "path_triplet_recall": share(path_triplets(case), kept),
    }


def path_triplets(case):
    """Triplets between neighbours on any shortest topic-answer path, both ways."""
    whole = nx.MultiGraph((h, t) for h, _, t in case.triplets)
    hops = set()
    for topic in case.topics:
        for answer in case.answers:
            if topic in whole and answer in whole and nx.has_path(whole, topic, answer):
                for path in nx.all_shortest_paths(whole, topic, answer):
                    hops |= {frozenset(hop) for hop in nx.utils.pairwise(path)}
    return [row for row in case.triplets if frozenset((row[0], row[2])) in hops]


def kept_by_name(shards, rankings, i, k):
    ids = zip(
        rankings.heads[i, :k].tolist(),
        rankings.relations[i, :k].tolist(),
        rankings.tails[i, :k].tolist(),
        strict=True,
    )
    return [
        (shards.entities[h], shards.relations[r], shards.entities[t])
        for h, r, t in ids
        if h >= 0
    ]


@given(worlds(), st.booleans(), st.sampled_from([1, 1 << 21]))
def test_metrics_equal_a_loop_over_networkx(world, everything, block):
    cases, relevant, seed = world
    shards, split = shards_of(cases, relevant=relevant)
    scores = np.random.default_rng(seed).integers(0, 3, split.candidates.shape)
    rankings = rank_candidates("random", shards, split, scores.astype(float), max(KS))
    if everything:
        rankings = Ceiling().rank(shards, split, max(KS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics_module, "BLOCK", block)
        found = retrieval_metrics(rankings, shards, split, KS)
    for k in KS:
        for i, (case, info) in enumerate(zip(cases, split.questions, strict=True)):
            size = 10**6 if everything else k
            expected = oracle(case, info, kept_by_name(shards, rankings, i, size))
            for name, value in expected.items():
                value = math.nan if value is None else value
                np.testing.assert_allclose(found[name][k][i], value, err_msg=name)
                only = value if split.n_real[i] > k else math.nan
                np.testing.assert_allclose(found[name + VARIANT][k][i], only)


def corfu():
    """Corfu -> Greece -> Greek, a parallel edge, and a detour; two gold answers."""
    rows = [
        ("Corfu", "located in", "Greece"),
        ("Corfu", "part of", "Greece"),
        ("Greece", "language", "Greek"),
        ("Cyprus", "language", "Greek"),
        ("Athens", "capital of", "Greece"),
    ]
    return Case(triplets=rows, topics=["Corfu"], answers=["Greek", "English"])


def ranked(shards, split, order):
    """Rankings that put named triplets in this order, those not named never."""
    scores = np.full(split.candidates.shape, np.nan)
    for rank, (head, relation, tail) in enumerate(order):
        for slot, number in enumerate(split.candidates[0]):
            h, r, t = shards.triplets[number]
            if (shards.entities[h], shards.relations[r], shards.entities[t]) == (
                *(head, relation, tail),
            ):
                scores[0, slot] = -rank
    return rank_candidates("hand", shards, split, scores, len(order))


def test_values_by_hand():
    labels = [("corfu", "located in", "GREECE"), ("Greece", "language", "Greek")]
    shards, split = shards_of([corfu()], relevant=[[*labels, ("x", "y", "z")]])
    order = [
        ("Cyprus", "language", "Greek"),
        ("Corfu", "part of", "Greece"),
        ("Greece", "language", "Greek"),
        ("Corfu", "located in", "Greece"),
    ]
    found = retrieval_metrics(
        ranked(shards, split, order), shards, split, [1, 2, 3, 4, 5]
    )

    def row(name):
        return [float(found[name][k][0]) for k in (1, 2, 3, 4, 5)]

    assert row("answer_hit") == [1, 1, 1, 1, 1]
    # English is nowhere in the graph: one gold answer is left to be found.
    assert row("answer_recall") == [1, 1, 1, 1, 1]
    assert row("answer_recall_kg") == [1, 1, 1, 1, 1]
    # Cyprus -> Greek alone does not lead from Corfu; both ways neither, at K = 2.
    assert row("path_hit") == [0, 0, 1, 1, 1]
    assert row("path_hit_undirected") == [0, 0, 1, 1, 1]
    # The label (x, y, z) is not even in the graph: it can't be found, but it counts.
    np.testing.assert_allclose(row("triplet_recall"), [0, 0, 1 / 3, 2 / 3, 2 / 3])
    # On a path: both Corfu-Greece triplets and Greece-Greek.
    np.testing.assert_allclose(row("path_triplet_recall"), [0, 1 / 3, 2 / 3, 1, 1])
    assert np.isnan(found["answer_hit" + VARIANT][5][0])
    assert found["answer_hit" + VARIANT][4][0] == 1


def test_topic_that_is_an_answer_counts_only_when_kept():
    case = Case(
        triplets=[("a", "r", "b"), ("c", "r", "d")], topics=["a"], answers=["a"]
    )
    shards, split = shards_of([case])
    order = [("c", "r", "d"), ("a", "r", "b")]
    found = retrieval_metrics(ranked(shards, split, order), shards, split, [1, 2])
    assert [found["path_hit"][k][0] for k in (1, 2)] == [0, 1]
    assert [found["path_hit_undirected"][k][0] for k in (1, 2)] == [0, 1]


def test_two_spellings_are_one_answer():
    case = Case(triplets=[("a", "r", "b")], topics=["a"], answers=["b"])
    shards, split = shards_of([case])
    info = split.questions[0]
    spelled = dataclasses.replace(
        info,
        topics=("  A ",),
        answers=("B", " b", "nowhere"),
        answers_in_graph=("b", "B", "nowhere"),
    )
    split = dataclasses.replace(split, questions=[spelled])
    found = retrieval_metrics(Ceiling().rank(shards, split, 1), shards, split, [1])
    assert found["answer_recall_kg"][1][0] == 0.5
    assert found["path_hit"][1][0] == 1


def test_many_parallel_edges_connect():
    """More than 255 of them: a count of edges in a byte would wrap round to none."""
    rows = [("a", f"r{i}", "b") for i in range(256)]
    case = Case(triplets=rows, topics=["b"], answers=["a"])
    shards, split = shards_of([case])
    rankings = Ceiling().rank(shards, split, 1)
    found = retrieval_metrics(rankings, shards, split, [10])
    assert found["path_hit_undirected"][10][0] == 1


def test_without_candidates_every_metric_is_zero():
    case = Case(triplets=[("a", "r", "b")], topics=["a"], answers=["b"], candidates=[])
    shards, split = shards_of([case])
    for rankings in (
        Ceiling().rank(shards, split, 3),
        rank_candidates("none", shards, split, np.zeros((1, 1)), 3),
    ):
        assert rankings.lengths.tolist() == [0]
        found = retrieval_metrics(rankings, shards, split, [3])
        for name in set(DEFINITIONS) - {"triplet_recall"}:
            assert found[name][3][0] == 0, name


def test_every_key_is_defined():
    shards, split = shards_of([corfu()])
    found = retrieval_metrics(Ceiling().rank(shards, split, 1), shards, split, [1])
    assert list(found) == list(definitions())
    assert all(entity_key(text) for text in definitions().values())


def test_rankings_of_another_split_are_refused():
    shards, split = shards_of([corfu()])
    _, two = shards_of([corfu(), corfu()])
    with pytest.raises(ValueError, match="1 rankings for 2 questions"):
        retrieval_metrics(Ceiling().rank(shards, split, 1), shards, two, [1])
