"""All of a kind that a topic has: which nodes a question means that says no more."""

from __future__ import annotations

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.kind_mask import kind_mask
from kgscout_jax.retrieve.member_nodes import alike_nodes, lone_nodes, member_nodes
from kgscout_jax.text.asked_kind import question_tokens

COUNTRIES = [
    *((name, "type", "country") for name in ("Chad", "Mali", "Togo", "Peru")),
    *((name, "continent", "Africa") for name in ("Chad", "Mali", "Togo")),
    ("Chad", "borders", "Mali"), ("Mali", "borders", "Chad"), ("Nile", "in", "Africa"),
    ("Peru", "continent", "America"), ("Acme", "serves", "Africa"),
]  # fmt: skip
ACME = [
    ("Ann", "type", "engineer"), ("Bo", "type", "engineer"), ("Acme", "type", "firm"),
    ("Ann", "works_for", "Acme"), ("Acme", "founded_by", "Bo"),
]  # fmt: skip


def members(triplets, question, topic):
    around, names = named_graph(triplets, [topic])
    kind = kind_mask(question, [topic], around, np.zeros(len(names), bool))
    if kind is None:
        return None
    found = member_nodes(question_tokens(question, [topic]), around, kind.called)
    return None if found is None else {names[i] for i in np.flatnonzero(found)}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which countries are in Africa?", {"Chad", "Mali", "Togo"}),
        ("How many countries are there in Africa?", {"Chad", "Mali", "Togo"}),
        ("Africa countries", {"Chad", "Mali", "Togo"}),
        ("Which countries are not in Africa?", None),
        ("Which countries does Acme serve in Africa?", None),
        ("Which rivers are in Africa?", None),  # nothing is called a river
    ],
)
def test_whatever_joins_the_members_of_a_class_with_the_topic(question, expected):
    assert members(COUNTRIES, question, "Africa") == expected


def test_two_relations_leave_open_which_is_meant():
    assert members(ACME, "Which engineers does Acme have?", "Acme") is None
    assert members(ACME[:-1], "Which engineers does Acme have?", "Acme") == {"Ann"}
    # The termini of a line are among its stations.
    line = [
        *((name, "type", "station") for name in ("North", "South", "East")),
        *((name, "lines", "L1") for name in ("North", "South", "East")),
        ("L1", "terminus", "North"), ("L1", "terminus", "South"), ("L2", "in", "Bern"),
    ]  # fmt: skip
    stations = {"North", "South", "East"}
    assert members(line, "Which stations are on L1?", "L1") == stations


HOSTS = [
    ("web-1", "located_in", "Dublin"), ("web-2", "located_in", "Dublin"),
    ("web-1", "operating_system", "Debian"), ("Ann", "born_in", "Cork"),
    ("Dublin", "region", "Leinster"), ("api", "runs_on", "web-1"),
    ("Chad", "currency", "Franc"), ("Mali", "currency", "Franc"),
]  # fmt: skip


def alike(question, topic):
    around, names = named_graph(HOSTS, [topic])
    possible = np.ones(len(names), bool)
    found = alike_nodes(question_tokens(question, [topic]), around, possible)
    return None if found is None else {names[i] for i in np.flatnonzero(found)}


def test_nodes_that_no_word_tells_apart():
    assert alike("hosts in Dublin", "Dublin") == {"web-1", "web-2"}
    assert alike("Which states use the Franc?", "Franc") == {"Chad", "Mali"}
    assert alike("Which states do not use the Franc?", "Franc") is None
    # Another relation of the town may be meant, and one node is no set.
    assert alike("Which hosts run near Dublin?", "Dublin") is None
    assert alike("people in Cork", "Cork") is None


def lone(triplets, question):
    around, names = named_graph(triplets, ["Acme"])
    words = question_tokens(question, ["Acme"])
    called, possible = np.isin(names, ["Ann", "Bo"]), ~np.isin(names, ["Dora"])
    found = lone_nodes(words, around, called, possible)
    return None if found is None else {names[i] for i in np.flatnonzero(found.nodes)}


def test_the_only_relation_to_what_is_asked_for_needs_no_word():
    triplets = [*ACME[:-1], ("Acme", "based_in", "Bern")]
    assert lone(triplets, "Which engineers sit at Acme?") == {"Ann"}
    others = [("Cy", "works_for", "Acme"), ("Dora", "works_for", "Acme")]
    question = "Which engineers sit at Acme?"
    assert lone([*triplets, *others], question) == {"Ann", "Cy"}
    assert lone(triplets, "Which engineers sit not at Acme?") is None
    assert lone(triplets, "Who sits at Acme?") is None
    # "Who is the" takes a relation that says so, or has such a type.
    assert lone(triplets, "Who is the engineer of Acme?") is None
    typed = [("Ann", "/film/director/film", "Acme"), ("Bo", "owns", "Bern")]
    assert lone(typed, "Who is the director of Acme?") == {"Ann"}
    # Another relation of the firm leads to engineers as well.
    assert lone(ACME, "Which engineers sit at Acme?") is None
