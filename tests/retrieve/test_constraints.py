"""Logits by what a question asks for, beyond the kind of its answers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.constraints import (
    FORM_DOUBT,
    QuestionConstraints,
    question_constraints,
)
from kgscout_jax.retrieve.kind_mask import DOUBT, PENALTY
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.unsaid_steps import CLAUSE_DOUBT, NOUN_DOUBT


def test_a_policy_for_any_graph_seldom_answers_with_a_topic():
    named = np.zeros(3, bool)
    constraints = QuestionConstraints(None, None, np.array([1]), named)
    logits, answers = np.zeros(2, np.float32), np.array([0.0, 1.0, 0.5], np.float32)
    of_any = constraints.logits(logits, answers, general=True)
    assert of_any.nodes.tolist() == [0, 1 - DOUBT, 0.5]
    trained = constraints.logits(logits, answers, general=False)
    assert trained.nodes.tolist() == answers.tolist() == [0, 1, 0.5]


FACTS = [
    ("Ann", "birthPlace", "Bern"),
    ("Ann", "spouse", "Bo"),
    ("Bo", "employer", "Acme"),
    ("Ann", "hasWonPrize", "Cup"),
    ("Ann", "homepage", "ann.org"),
    ("Ann", "counts as", "chemist"),
    ("Dee", "counts as", "poet"),
]


def constrained(question, topic="Ann"):
    """What each node gains or loses by the question, and its doubts, by its name."""
    around, names = named_graph(FACTS, [topic])
    no = np.zeros(len(names), bool)
    wanted = question_constraints(question, [topic], None, around, no)
    zeros = np.zeros(len(FACTS), np.float32), np.zeros(len(names), np.float32)
    found = wanted.logits(*zeros, general=True)
    return (
        dict(zip(names, found.nodes.tolist(), strict=True)),
        dict(zip(names, found.doubts.tolist(), strict=True)),
    )


def test_what_is_of_another_form_is_doubted_where_nothing_better_is_left():
    _, doubts = constrained("When was Ann born?")
    assert doubts["Bern"] >= FORM_DOUBT
    assert constrained("Where was Ann born?")[1]["Bern"] == 0


@pytest.mark.parametrize(
    ("question", "doubted"),
    [
        ("What is the salary of Ann?", True),
        ("What is Ann's salary?", True),
        ("What is the birth place of Ann?", False),
        ("Who is the wife of Ann?", False),
        ("In short, tell me of Ann?", False),
    ],
)
def test_a_noun_that_no_relation_says_raises_doubts(question, doubted):
    nodes, doubts = constrained(question)
    answer = "Bo" if "wife" in question else "Bern"
    assert (doubts[answer] >= NOUN_DOUBT) == doubted
    assert nodes[answer] >= nodes["Cup"]


def test_a_word_of_a_question_may_be_two_of_a_relation():
    assert constrained("What is the homepage of Ann?")[1]["ann.org"] == 0
    assert constrained("What is the website of Ann?")[1]["ann.org"] == 0


def test_a_verb_that_no_relation_says_raises_fewer_doubts():
    assert constrained("What did Ann own?")[1]["Cup"] == CLAUSE_DOUBT
    assert constrained("What did Ann win?")[1]["Cup"] == 0


def test_a_class_is_an_answer_only_where_it_is_asked_for():
    nodes, doubts = constrained("Which prize did Ann win?")
    assert nodes["chemist"] <= nodes["Cup"] - PENALTY
    assert doubts["chemist"] >= FORM_DOUBT
    for question in ("What kind of person is Ann?", "What is Ann?"):
        nodes, doubts = constrained(question)
        assert (nodes["chemist"], doubts["chemist"]) == (nodes["Cup"], doubts["Cup"])


@pytest.mark.parametrize("general", [False, True])
def test_nobody_asks_for_a_node_without_a_name(general):
    unnamed = np.array([False, True, True])
    constraints = QuestionConstraints(None, None, np.array([0]), unnamed)
    logits, answers = np.zeros(2, np.float32), np.array([-5.0, 1.0, 0.5], np.float32)
    nodes = constraints.logits(logits, answers, general=general).nodes
    assert nodes.tolist() == [-5 - DOUBT * general, 1 - PENALTY, 0.5 - PENALTY]


def test_a_graph_without_names_is_answered_all_the_same():
    unnamed = np.array([False, True, True])
    constraints = QuestionConstraints(None, None, np.array([0]), unnamed)
    logits, answers = np.zeros(2, np.float32), np.array([-20, 1, 0.5], np.float32)
    nodes = constraints.logits(logits, answers, general=True).nodes
    assert nodes.tolist() == [-20 - DOUBT, 1, 0.5]


def test_a_question_without_candidates_has_no_logits():
    none, no_answers = np.zeros(0, int), np.zeros(0, np.float32)
    constraints = QuestionConstraints(None, None, none, np.zeros(0, bool))
    assert len(constraints.logits(no_answers, no_answers, general=True).nodes) == 0


@pytest.mark.parametrize(
    ("question", "best"),
    [("What did Vermeer paint?", 1), ("Which picture shows Vermeer?", 2)],
)
def test_a_picture_is_an_answer_only_where_it_is_asked_for(question, best):
    names = ["Vermeer", "The Milkmaid", "Johannes Vermeer 1656.jpg"]
    nodes = np.array([[1, 0], [0, 2]])
    around = LocalGraph(
        ["creator", "image"], np.arange(2), nodes, [np.array([0])],
        partial(texts_of, names),
    )  # fmt: skip
    unnamed = np.zeros(3, bool)
    asked = question_constraints(question, ["Vermeer"], None, around, unnamed)
    logits, answers = np.zeros(2, np.float32), np.array([-9, 1, 2], np.float32)
    assert np.argmax(asked.logits(logits, answers, general=True).nodes) == best
