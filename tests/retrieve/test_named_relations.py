"""Relations that a question names, and the ways to nodes along them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgscout_jax.retrieve.constrained_logits import LACK_DOUBT
from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import (
    CENTRE,
    DETOUR_DOUBT,
    DETOUR_WEIGHT,
    WEIGHT,
    NamedRelations,
    NamedWays,
    detours,
    named_relations,
    named_ways,
    way_logits,
)
from kgscout_jax.retrieve.readings import STEPS
from kgscout_jax.text import relation_phrases


@pytest.mark.parametrize(
    ("question", "named", "unknown"),
    [
        ("Who directed Heat?", ["directed_by"], 0),
        ("Who are the directors of Heat?", ["directed_by"], 0),
        ("Where was the writer of Heat born?", ["written by", "placeOfBirth"], 0),
        ("Who is the director's wife?", ["directed_by", "people.person.spouse_s"], 0),
        ("Which novel is Heat from?", ["written by"], 0),
        ("What is Heat rated?", [], 1),
        # The noun that a clause asks for says no step.
        ("Which rival outshone Heat?", [], 1),
        ("Which rival of the sequel of Heat won?", [], 3),
    ],
)
def test_relations_are_named_by_words_in_any_form_and_by_other_or_related_words(
    question, named, unknown
):
    relations = [
        *("directed_by", "written by", "placeOfBirth", "people.person.spouse_s"),
        "located in",
    ]
    found = named_relations(question, ["Heat"], relations)
    assert [
        r for r, is_named in zip(relations, found.named, strict=True) if is_named
    ] == named
    assert found.unknown == unknown


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who leads Renal?", [True, False, False]),
        ("Who is the deputy of Renal?", [False, True, False]),
        ("Who is the former lead of Renal?", [True, False, True]),
    ],
)
def test_a_deputy_and_a_former_one_are_named_by_these_words_alone(question, named):
    relations = ["lead", "deputy_lead", "formerLead"]
    assert named_relations(question, ["Renal"], relations).named.tolist() == named


def test_a_relation_that_says_less_than_another_one_is_not_the_best():
    relations = ["birth year", "death year", "spouse"]
    found = named_relations(
        "In what year did the spouse of Ann die?", ["Ann"], relations
    )
    assert found.named.all() and found.best.tolist() == [False, True, True]
    assert named_relations("Which year?", [], relations[:2]).best.all()
    assert not len(named_relations("Which year?", [], []).best)


def test_words_of_a_topic_name_no_relation():
    found = named_relations("Who saw The Director?", ["The Director"], ["director"])
    assert not found.named.any()


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
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_ways_say_the_most_of_all_shortest_paths(triplets, named, implied):
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(9))
    graph.add_edges_from((h, t, r) for h, r, t in triplets)
    arcs = {(h, t, r) for h, r, t in triplets}
    found = NamedRelations(
        *map(np.array, (named, [False] * len(named), named, implied)), 0
    )
    ways = named_ways(found, local_graph(triplets, [0]), 9)

    away = nx.single_source_shortest_path_length(graph, 0)
    inside = {0}
    for node in sorted(away, key=away.__getitem__):
        lies_in = ((h, r) for h, t, r in arcs if t == node and node in inside)
        inside |= {h for h, r in lies_in if implied[r] and away[h] == away[node] + 1}

    def is_said(relation, u, v):
        # What lies where the topic does is named, and what lies in it need not be.
        forward = (u, v, relation) in arcs or u in inside
        return named[relation] or (implied[relation] and forward)

    for node in range(9):
        steps = (
            nx.shortest_path_length(graph, 0, node)
            if nx.has_path(graph, 0, node)
            else 99
        )
        if not 0 < steps <= STEPS:
            assert ways.named[node] == ways.said[node] == 0
            continue
        assert ways.steps[node] == steps
        paths = list(nx.all_shortest_paths(graph, 0, node))
        named_steps, said_steps = (
            [
                sum(any(says(r, u, v) for r in graph[u][v]) for u, v in pairwise(path))
                for path in paths
            ]
            for says in (lambda r, *_: named[r], is_said)
        )
        assert ways.named[node] == max(named_steps)
        assert ways.said[node] == max(said_steps)


@pytest.mark.parametrize(
    ("steps", "said", "unknown", "extra"),
    [
        (1, 0, 0, 0),  # "Where is Rome": a single step needs no word
        (2, 1, 0, 1),  # "Who directed Heat": not the director of its sequel
        (2, 1, 1, 0),  # "Who directed the sequel of Heat"
        (3, 1, 1, 1),
        (2, 2, 0, 0),
        (STEPS + 1, 0, 0, 0),
    ],
)
def test_steps_that_the_question_has_no_words_for_are_detours(
    steps, said, unknown, extra
):
    ways = NamedWays(np.array([steps]), np.array([0]), np.array([said]))
    assert detours(ways, unknown).tolist() == [extra]


def test_nodes_gain_by_the_share_of_named_relations_on_their_ways():
    ways = NamedWays(np.array([0, 1, 2, STEPS + 1]), np.array([0, 1, 1, 0]), None)
    gains = way_logits(ways) / WEIGHT
    np.testing.assert_allclose(gains, [0, 1 - CENTRE, 0.5 - CENTRE, 0], atol=1e-6)


def test_places_need_no_word():
    found = named_relations(
        "What do they speak in Bern?",
        ["Bern"],
        ["located in", "in", "language", "place of birth", "based on"],
    )
    assert found.implied.tolist() == [True, True, False, False, False]
    assert found.named.tolist() == [False, False, True, False, False]


def test_detours_lower_logits_and_raise_doubts_of_policies_for_any_graph():
    # "Who directed Heat": 0 - written by - 1 - written by - 2 - directed by - 3.
    around = local_graph(
        [(0, 0, 1), (2, 0, 1), (2, 1, 3)], [0], ("written by", "directed by")
    )
    asked = question_constraints(
        "Who directed Heat?", ["Heat"], None, around, np.zeros(4, bool)
    )
    assert asked.detours is not None and asked.detours.tolist() == [0, 0, 2, 2]
    logits, answers = np.zeros(3, np.float32), np.zeros(4, np.float32)
    found = asked.logits(logits, answers, general=True)
    assert asked.unsaid is not None
    assert asked.lacking  # nothing says who directed Heat
    of_detours = found.doubts - asked.unsaid - np.float32(LACK_DOUBT)
    assert of_detours.tolist() == [0, 0, 2 * DETOUR_DOUBT, 2 * DETOUR_DOUBT]
    assert not asked.logits(logits, answers, general=False).doubts.any()
    without = replace(asked, detours=None).logits(logits, answers, general=True)
    lost = without.nodes - found.nodes
    np.testing.assert_allclose(lost, DETOUR_WEIGHT * np.array([0, 0, 2, 2]), atol=1e-5)


def test_only_policies_for_any_graph_prefer_what_named_relations_lead_to():
    around = local_graph([(0, 0, 1), (0, 1, 2)], [0], ("directed_by", "filmed in"))
    asked = question_constraints(
        "directors of Heat", ["Heat"], None, around, np.zeros(3, bool)
    )
    asked = replace(asked, kind=None, shared=None)
    logits, answers = np.zeros(2, np.float32), np.zeros(3, np.float32)
    nodes = asked.logits(logits, answers, general=True).nodes
    assert nodes[1] - nodes[2] == pytest.approx(WEIGHT)
    nodes = asked.logits(logits, answers, general=False).nodes
    assert nodes[1] == nodes[2]


def test_groups_of_related_words_go_by_different_words_and_say_each_word_once():
    file = Path(relation_phrases.__file__).with_name("related_words.txt")
    groups = [line.split() for line in file.read_text("utf-8").splitlines()]
    firsts = [words[0] for words in groups]
    assert len({*firsts}) == len(firsts)
    for words in groups:
        assert len({*words}) == len(words) > 1
        assert all(word == word.casefold() for word in words)
