"""Nodes that relations lead to which the question names."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import (
    CENTRE,
    WEIGHT,
    named_relations,
    named_shares,
)
from kgscout_jax.retrieve.readings import STEPS


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who directed Heat?", ["directed_by"]),
        ("Who are the directors of Heat?", ["directed_by"]),
        ("Where was the writer of Heat born?", ["written by", "placeOfBirth"]),
        ("Who is the director's wife?", ["directed_by", "people.person.spouse_s"]),
        ("What is Heat about?", []),
    ],
)
def test_relations_are_named_by_their_words_in_any_form_and_by_other_phrases(
    question, named
):
    relations = [
        *("directed_by", "written by", "placeOfBirth", "people.person.spouse_s"),
        "located in",
    ]
    found = named_relations(question, ["Heat"], relations)
    assert [
        r for r, is_named in zip(relations, found, strict=True) if is_named
    ] == named


def test_words_of_a_topic_name_no_relation():
    assert not named_relations("Who made The Director?", ["The Director"], ["director"])


def local_graph(triplets, starts, relations=("a", "b", "c")):
    return LocalGraph(
        list(relations),
        np.array([r for _, r, _ in triplets]),
        np.array([[h, t] for h, _, t in triplets]),
        [np.array([start]) for start in starts],
        lambda nodes: [f"node {node}" for node in nodes.tolist()],
    )


arcs = st.tuples(st.integers(0, 8), st.integers(0, 2), st.integers(0, 8))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(arcs, min_size=1, max_size=16, unique=True),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_share_is_the_largest_over_all_shortest_paths(triplets, named):
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(9))
    graph.add_edges_from((h, t, r) for h, r, t in triplets)
    shares = named_shares(np.array(named), local_graph(triplets, [0]), 9)
    for node in range(9):
        steps = (
            nx.shortest_path_length(graph, 0, node)
            if nx.has_path(graph, 0, node)
            else 99
        )
        if not 0 < steps <= STEPS:
            assert shares[node] == np.float32(CENTRE)
            continue
        counts = [
            sum(any(named[r] for r in graph[u][v]) for u, v in pairwise(path))
            for path in nx.all_shortest_paths(graph, 0, node)
        ]
        assert shares[node] == pytest.approx(max(counts) / steps)


def test_only_policies_for_any_graph_prefer_what_named_relations_lead_to():
    around = local_graph([(0, 0, 1), (0, 1, 2)], [0], ("directed_by", "filmed in"))
    asked = question_constraints(
        "directors of Heat", ["Heat"], None, around, np.zeros(3, bool)
    )
    asked = replace(asked, kind=None)
    logits, answers = np.zeros(2, np.float32), np.zeros(3, np.float32)
    nodes = asked.logits(logits, answers, general=True).nodes
    assert nodes[1] - nodes[2] == pytest.approx(WEIGHT)
    nodes = asked.logits(logits, answers, general=False).nodes
    assert nodes[1] == nodes[2]
