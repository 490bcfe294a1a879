"""The guided walk against one written out with dictionaries, and by hand."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk import guided_walk, keyed_walk
from kgscout_jax.graph.walk.block_ranking import hybrid_scores, places
from kgscout_jax.graph.walk.guide import Guide
from kgscout_jax.graph.walk.guided_walk import walk_subgraphs


def ids(*values):
    return np.array(values, np.int32)


def oracle(triplets, topics, cosines, guide, hops, direction):
    """rank per entity and flow per triplet, by the definition, one step at a time."""
    arcs = {}
    for i, (h, r, t) in enumerate(triplets):
        arcs.setdefault(h, []).append((t, (r, "forward"), i))
        if direction == "both":
            arcs.setdefault(t, []).append((h, (r, "back"), i))

    def probabilities(entity):
        kinds = {kind for _, kind, _ in arcs[entity]}
        weight = {k: math.exp(cosines[k[0]] / guide.temperature) for k in kinds}
        total = sum(weight.values())
        count = {k: sum(kind == k for _, kind, _ in arcs[entity]) for k in kinds}
        return [
            (target, weight[kind] / total / count[kind], i)
            for target, kind, i in arcs[entity]
        ]

    mass = {t: 1 / len(set(topics)) for t in topics}
    rank, expanded = {}, set()
    for step in range(hops):
        expanded |= {
            e
            for e, p in mass.items()
            if p >= guide.threshold
            and e in arcs
            and (step == 0 or p >= guide.per_triplet * len(arcs[e]))
        }
        moved = {}
        for entity, p in mass.items():
            goes = p >= guide.threshold and entity in expanded
            stays = (1 - guide.alpha) * p if goes else p
            rank[entity] = rank.get(entity, 0) + guide.alpha**step * stays
            if goes:
                for target, share, _ in probabilities(entity):
                    moved[target] = moved.get(target, 0) + p * share
        mass = moved
    for entity, p in mass.items():
        rank[entity] = rank.get(entity, 0) + guide.alpha**hops * p
    flow = {}
    for entity in expanded:
        for _, share, i in probabilities(entity):
            flow[i] = flow.get(i, 0) + rank[entity] * share
    return rank, flow


WAYS = (
    {"LISTED": 4},
    {"LISTED": 1 << 30},
    {"LISTED": 1 / 1000},
    {"ARRAY_ENTITIES": 0},
    {"ARRAY_ENTITIES": 0, "ARRAY_TRIPLETS": 0},
)
"""Arrays over entities with listed and with all arcs; keys without and with arrays."""


@st.composite
def graphs(draw):
    n, r = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    end, rel = st.integers(0, n - 1), st.integers(0, r - 1)
    rows = draw(st.lists(st.tuples(end, rel, end), min_size=1, max_size=25))
    graph = KnowledgeGraph.from_triplets(
        (f"e{h}", f"r{k}", f"e{t}") for h, k, t in rows
    )
    entity = st.integers(0, len(graph.entities) - 1)
    b = draw(st.integers(1, 3))
    topics = [ids(*draw(st.lists(entity, max_size=3, unique=True))) for _ in range(b)]
    cosines = np.array(
        [[draw(st.floats(-1, 1, width=32)) for _ in graph.relations] for _ in range(b)]
    )
    return graph, topics, cosines


@given(
    graphs(),
    st.integers(1, 4),
    st.sampled_from(["both", "directed"]),
    st.sampled_from([0.0, 0.02, 0.3]),
    st.sampled_from([0.1, 1.0]),
    st.sampled_from([0.0, 0.05]),
    st.sampled_from(WAYS),
)
def test_rank_and_flow_equal_the_definition(
    made, hops, direction, threshold, temperature, per_triplet, way
):
    graph, topics, cosines = made
    guide = Guide(threshold=threshold, temperature=temperature, per_triplet=per_triplet)
    with patch.multiple(guided_walk, **way):
        found = walk_subgraphs(
            graph, topics, cosines, guide=guide, hops=hops, max_triplets=None,
            direction=direction,
        )  # fmt: skip
    rows = [tuple(map(int, row)) for row in graph.triplets]
    for b, start in enumerate(topics):
        rank, flow = oracle(rows, start.tolist(), cosines[b], guide, hops, direction)
        here = slice(*found.offsets[b : b + 2])
        assert found.triplet_ids[here].tolist() == sorted(flow)
        flows = [flow[i] for i in sorted(flow)]
        np.testing.assert_allclose(found.scores[here], flows, atol=1e-12)
        ends = [[rank.get(rows[i][c], 0) for c in (0, 2)] for i in sorted(flow)]
        expected = np.reshape(ends, (-1, 2))
        np.testing.assert_allclose(found.ppr[here], expected, atol=1e-12)
        assert not len(start) or sum(rank.values()) == pytest.approx(1)


@given(graphs(), st.integers(1, 3), st.sampled_from(["both", "directed"]))
def test_own_triplets_are_walked_like_a_graph_of_their_own(made, hops, direction):
    graph, topics, cosines = made
    every = np.arange(len(graph.triplets), dtype=np.int32)
    options = {"hops": hops, "max_triplets": None, "direction": direction}
    triplets = [every] * len(topics)
    own = walk_subgraphs(graph, topics, cosines, own_triplets=triplets, **options)
    shared = walk_subgraphs(graph, topics, cosines, **options)
    assert own.sizes_before_cut.tolist() == [len(every)] * len(topics)
    m = len(every)
    at = np.searchsorted(
        own.blocks * m + own.triplet_ids, shared.blocks * m + shared.triplet_ids
    )
    np.testing.assert_allclose(own.scores[at], shared.scores, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(own.ppr[at], shared.ppr, rtol=1e-12, atol=1e-15)
    assert not np.delete(own.scores, at).any()


@pytest.mark.parametrize("way", WAYS)
def test_questions_do_not_depend_on_each_other(monkeypatch, way):
    for name, value in way.items():
        monkeypatch.setattr(guided_walk, name, value)
    rng = np.random.default_rng(0)
    graph = KnowledgeGraph.from_triplets(
        (f"e{h}", f"r{r}", f"e{t}")
        for h, r, t in zip(*rng.integers(0, [[60], [5], [60]], (3, 400)), strict=True)
    )
    topics = [ids(*rng.choice(60, 2, replace=False)) for _ in range(9)]
    cosines = rng.uniform(-1, 1, (9, len(graph.relations))).astype(np.float32)

    def walk(low, high):
        return walk_subgraphs(
            graph, topics[low:high], cosines[low:high], hops=3, max_triplets=50
        )

    together = walk(0, 9)
    monkeypatch.setattr(guided_walk, "MAX_BATCH_ARCS", 40)
    monkeypatch.setattr(keyed_walk, "MAX_TABLE_CELLS", 0)
    apart = walk(0, 9)
    alone = walk(4, 5)
    for (
        field
    ) in "blocks triplet_ids ppr scores sizes_before_cut nodes_before_cut".split():
        np.testing.assert_array_equal(getattr(together, field), getattr(apart, field))
    here = together.blocks == 4
    np.testing.assert_array_equal(together.triplet_ids[here], alone.triplet_ids)
    np.testing.assert_array_equal(together.scores[here], alone.scores)
    assert np.bincount(together.blocks, minlength=9).max() <= 50


def test_the_walk_follows_relations_similar_to_the_question():
    graph = KnowledgeGraph.from_triplets(
        [("a", "likes", "b"), ("a", "hates", "c"), ("b", "likes", "d")]
    )
    cosines = np.array([[0.9, -0.9], [-0.9, 0.9]])
    topic = graph.find_all(["a"])
    found = walk_subgraphs(graph, [topic, topic], cosines, hops=2, max_triplets=1)
    best = [graph.triplet(i)[1] for i in found.triplet_ids]
    assert best == ["likes", "hates"]


def test_questions_without_topics_and_thresholds_give_empty_subgraphs():
    graph = KnowledgeGraph.from_triplets([("a", "r", "b"), ("c", "r", "d")])
    none = walk_subgraphs(graph, [ids(), ids()], np.zeros((2, 1)), hops=2)
    assert none.n_blocks == 2 and not len(none.blocks)
    cut = walk_subgraphs(
        graph, [graph.find_all(["a"])], np.zeros((1, 1)), hops=1, ppr_threshold=0.5
    )
    assert not len(cut.blocks)  # b holds 0.8, a only 0.2
    with pytest.raises(UserError, match="temperature: 0"):
        Guide(temperature=0)


def test_small_temperatures_do_not_overflow():
    graph = KnowledgeGraph.from_triplets([("a", "r", "b"), ("a", "s", "c")])
    found = walk_subgraphs(
        graph, [graph.find_all(["a"])], np.array([[1.0, -1.0]]), hops=1,
        guide=Guide(temperature=1e-4),
    )  # fmt: skip
    np.testing.assert_allclose(found.scores, [0.2, 0.0])


def test_hybrid_scores_order_by_the_better_of_two_places():
    blocks, number = ids(0, 0, 0, 1, 1), ids(4, 5, 6, 4, 5)
    first = np.array([0.1, 0.3, 0.3, 1.0, 2.0])
    second = np.array([9.0, 1.0, 2.0, 5.0, 5.0])
    assert places(blocks, number, first).tolist() == [2, 0, 1, 1, 0]
    assert places(blocks, number, second).tolist() == [0, 2, 1, 0, 1]
    mixed = hybrid_scores(blocks, number, first, second)
    assert places(blocks, number, mixed).tolist() == [1, 0, 2, 1, 0]
