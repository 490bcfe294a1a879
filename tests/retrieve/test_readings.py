"""How far nodes are ahead of other readings, against a slow account of the same."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.retrieve.readings import (
    MARGIN,
    STEPS,
    answer_margins,
    answer_set,
    node_readings,
    topic_steps,
)


@st.composite
def questions(draw):
    """Candidates of a question with distinct logits, and logits of its nodes."""
    v = draw(st.integers(2, 9))
    n = draw(st.integers(1, 14))
    g = np.random.default_rng(draw(st.integers(0, 10**6)))
    nodes = g.integers(0, v, (n, 2))
    answers = g.normal(0, 4, v).astype(np.float32)
    answers[np.setdiff1d(np.arange(v), nodes)] = -np.inf
    logits = g.permutation(n).astype(np.float32)
    topics = np.unique(g.integers(0, v, 2))
    return answers, logits, nodes, g.integers(0, 3, n), topics


def slow_reading(node, logits, nodes, relations, topics):
    """(relation, end, distance) of a node by a loop and networkx."""
    touching = [i for i in range(len(nodes)) if node in nodes[i]]
    if not touching:
        return None
    best = max(touching, key=lambda i: logits[i])
    end = int(nodes[best, 1] == node)
    graph = nx.Graph(nodes.tolist())
    steps = [
        nx.shortest_path_length(graph, topic, node)
        for topic in topics.tolist()
        if topic in graph and nx.has_path(graph, topic, node)
    ]
    return relations[best], end, min([STEPS + 1, *steps])


@given(questions())
def test_margins_equal_a_loop_over_nodes(question):
    answers, logits, nodes, relations, topics = question
    margins = answer_margins(answers, logits, nodes, relations, topics)
    readings = [
        slow_reading(node, logits, nodes, relations, topics)
        for node in range(len(answers))
    ]
    for node, value in enumerate(answers):
        if value == -np.inf:
            assert margins[node] == -MARGIN
            continue
        rivals = [
            answers[other]
            for other in range(len(answers))
            if readings[other] not in (readings[node], None)
        ]
        expected = min(value - max(rivals, default=-np.inf), MARGIN)
        assert margins[node] == pytest.approx(max(expected, -MARGIN), abs=1e-5)


def test_members_of_a_set_are_one_reading():
    # 0 is the topic; 1 and 2 are two answers by one relation, 3 by another.
    nodes = np.array([[0, 1], [0, 2], [0, 3]])
    relations = np.array([0, 0, 1])
    logits = np.array([2.0, 1.5, 0.0], np.float32)
    readings = node_readings(logits, nodes, relations, np.array([0]), 4)
    assert readings[1] == readings[2] != readings[3]
    answers = np.array([-9.0, 3.0, 2.5, 1.0], np.float32)
    margins = answer_margins(answers, logits, nodes, relations, np.array([0]))
    np.testing.assert_allclose(margins, [-MARGIN, 2.0, 1.5, -2.0])


def test_answers_beside_the_best_one_stand_at_the_same_end_or_are_stated_too():
    # 1 and 2 are at one end of a relation, 3 is at the other, and 4 at another one.
    nodes = np.array([[0, 1], [0, 2], [3, 0], [0, 4]])
    walk = np.array([3.0, 1.0, 2.0, 2.5], np.float32), nodes, np.array([0, 0, 0, 1])

    def found(best, topics, stated=None):
        return np.flatnonzero(
            answer_set(best, *walk, np.array(topics), stated, 6)
        ).tolist()

    assert found(1, [5]) == [0, 1, 2]  # 0 is the tail of 3's triplet
    stated = np.array([False, True, False, False, True, False])
    assert found(1, [5], stated) == [0, 1, 2, 4]
    assert found(2, [5], stated) == [0, 1, 2]
    assert found(5, [4]) == [5]
    assert found(1, [0]) == [1, 2]  # what the topic has by that relation


def test_one_relation_twice_is_another_reading_than_once():
    nodes = np.array([[0, 1], [1, 2]])
    readings = node_readings(np.ones(2), nodes, np.zeros(2, int), np.array([0]), 3)
    assert len(set(readings.tolist())) == 3


def test_steps_beyond_the_last_share_a_distance():
    chain = np.array([[i, i + 1] for i in range(8)])
    steps = topic_steps(chain, np.array([0]), 10)
    assert steps.tolist() == [0, 1, 2, 3, 4, 5, 5, 5, 5, 5]


def test_without_candidates_no_node_is_ahead():
    margins = answer_margins(
        np.full(2, -np.inf, np.float32),
        np.empty(0, np.float32),
        np.empty((0, 2), int),
        np.empty(0, int),
        np.array([0]),
    )
    assert (margins == -MARGIN).all()
