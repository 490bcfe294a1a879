"""Logits by what a question asks for, beyond the kind of its answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.constrained_logits import (
    FORM_DOUBT,
    NEAR_PENALTY,
    TRUST,
    QuestionConstraints,
)
from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.kind_penalties import DOUBT, PENALTY
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.unsaid_steps import (
    CLAIM_DOUBT,
    CLAUSE_DOUBT,
    COUNT_DOUBT,
    KNOWN_DOUBT,
    NOUN_DOUBT,
)
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.text.value_question_parser import value_question


def test_a_policy_for_any_graph_seldom_answers_with_a_topic():
    named = np.zeros(3, bool)
    constraints = QuestionConstraints(None, None, np.array([1]), named)
    logits, answers = np.zeros(2, np.float32), np.array([0.0, 1.0, 0.5], np.float32)
    of_any = constraints.logits(logits, answers, general=True)
    assert of_any.nodes.tolist() == [0, 1 - DOUBT, 0.5]
    trained = constraints.logits(logits, answers, general=False)
    assert trained.nodes.tolist() == answers.tolist() == [0, 1, 0.5]


OFFICES = [
    ("Ann", "mentored_by", "Bo"),
    ("Bo", "mentored_by", "Cy"),
    ("Ann", "employer", "Acme"),
    ("Acme", "located in", "Bern"),
    ("Bern", "mayor", "Eve"),
    ("Bern", "twinned with", "Ulm"),
    ("Ulm", "mayor", "Fay"),
    ("Acme", "delivery", "42 days"),
    ("Acme", "cargo", "9 kg"),
]
FACTS = [
    ("Ann", "birthPlace", "Bern"),
    ("Ann", "spouse", "Bo"),
    ("Bo", "employer", "Acme"),
    ("Ann", "hasWonPrize", "Cup"),
    ("Ann", "homepage", "ann.org"),
    ("Ann", "counts as", "chemist"),
    ("Dee", "counts as", "poet"),
]


def constrained(question, topic="Ann", facts=FACTS):
    """What each node gains or loses by the question, and its doubts, by its name."""
    around, names = named_graph(facts, [topic])
    no = np.zeros(len(names), bool)
    wanted = question_constraints(question, [topic], None, around, no)
    zeros = np.zeros(len(facts), np.float32), np.zeros(len(names), np.float32)
    found = wanted.logits(*zeros, general=True)
    return (
        dict(zip(names, found.nodes.tolist(), strict=True)),
        dict(zip(names, found.doubts.tolist(), strict=True)),
    )


def test_what_is_of_another_form_is_doubted_where_nothing_better_is_left():
    _, doubts = constrained("When was Ann born?")
    assert doubts["Bern"] >= FORM_DOUBT
    assert (
        constrained("Where was Ann born?")[1]["Bern"] == -TRUST
    )  # said in other words


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
    assert constrained("What is the homepage of Ann?")[1]["ann.org"] == -TRUST
    assert constrained("What is the website of Ann?")[1]["ann.org"] == -TRUST
    assert constrained("What is the pen of Ann?")[1]["ann.org"] == NOUN_DOUBT


def test_a_verb_that_no_relation_says_raises_fewer_doubts():
    assert constrained("What did Ann own?")[1]["Cup"] == CLAUSE_DOUBT
    assert constrained("What did Ann win?")[1]["Cup"] == -TRUST


@pytest.mark.parametrize(
    ("question", "doubted"),
    [
        ("When was Ann born?", True),
        ("In which year did Ann die?", True),
        ("In which year did Ann climb?", False),
    ],
)
def test_a_birth_is_said_by_few_words(question, doubted):
    facts = [("Ann", "first ascent", "2018"), ("Ann", "guide", "Bo")]
    assert (constrained(question, "Ann", facts)[1]["2018"] >= NOUN_DOUBT) == doubted


@pytest.mark.parametrize(
    ("question", "topic", "answer", "doubted"),
    [
        ("Who mentored Ann?", "Ann", "Bo", False),
        ("Who was the mentor of Bo?", "Bo", "Cy", False),
        # Cy mentored Bo: who mentored Cy is not in the graph.
        ("Who mentored Cy?", "Cy", "Bo", True),
        ("Who was Cy's mentor?", "Cy", "Bo", True),
        ("Who is the mayor of Bern?", "Bern", "Eve", False),
        # A firm's mayor is the one of its city, a twin's mayor is another one.
        ("Who is the mayor of Acme?", "Acme", "Eve", False),
        ("Who is the mayor of Acme?", "Acme", "Fay", True),
    ],
)
def test_a_relation_that_others_have_raises_doubts(question, topic, answer, doubted):
    doubts = constrained(question, topic, OFFICES)[1]
    assert (doubts[answer] >= KNOWN_DOUBT) == doubted


@pytest.mark.parametrize(
    ("question", "doubted"),
    [
        ("Is Bern famous?", True),
        ("Is Bern a village?", True),
        ("Do Bern and Ulm have the same mayor?", True),
        ("Does Bern sell water?", True),
        ("Is Bern's mayor tall?", True),
        ("Does Bern have a mayor?", False),
        ("Was Bern governed by a mayor?", False),
        ("Who is the mayor of Bern?", False),
        ("Why is Bern so quiet?", True),
        ("How do I leave Bern?", True),
        ("How can one become mayor of Bern?", False),
        ("How is Bern governed?", False),
    ],
)
def test_a_claim_a_reason_or_a_way_is_answered_by_what_words_say(question, doubted):
    doubts = constrained(question, "Bern", OFFICES)[1]
    assert (doubts["Eve"] >= CLAIM_DOUBT) == doubted


FIRMS = [
    ("Acme", "foundingYear", "1989"),
    ("Bolt", "foundingYear", "1989"),
    ("Bolt", "founder", "Eve"),
    ("Eve", "placeOfDeath", "Bern"),
    ("Bolt", "firstPublicationYear", "1990"),
]


def test_a_relation_of_the_very_name_leaves_its_stem_to_others():
    # Both firms are of 1989, and only one has a founder.
    assert (
        constrained("What is the founder of Bolt?", "Bolt", FIRMS)[1]["Eve"] == -TRUST
    )
    doubts = constrained("What is the founder of Acme?", "Acme", FIRMS)[1]
    assert min(doubts["Eve"], doubts["1989"]) >= KNOWN_DOUBT


@pytest.mark.parametrize(
    ("question", "other"),
    [("Who taught Eve?", "Bolt"), ("What is the cause of death of Eve?", "Bern")],
)
def test_a_relation_elsewhere_in_the_graph_raises_doubts(question, other):
    around, names = named_graph(FIRMS, ["Eve"])
    no = np.zeros(len(names), bool)
    whole = RelationIndex([*around.relations, "taughtBy", "causeOfDeath"])
    zeros = np.zeros(len(FIRMS), np.float32), np.zeros(len(names), np.float32)
    for relations, least, most in ((None, 0, CLAUSE_DOUBT), (whole, KNOWN_DOUBT, 99)):
        known = replace(around, whole=relations)
        wanted = question_constraints(question, ["Eve"], None, known, no)
        doubts = wanted.logits(*zeros, general=True).doubts
        assert least <= doubts[names.index(other)] <= most


def test_those_in_a_place_are_stated_and_their_types_are_not_asked_for():
    places = {"Assizes": "Ohio", "Moot": "Ohio", "Diet": "Bern"}
    facts = [(court, "is located in", place) for court, place in places.items()]
    facts += [(court, "type of court", "trial court") for court in places]
    logits, doubts = constrained("Which courts are in Ohio?", "Ohio", facts)
    assert doubts["Assizes"] == doubts["Moot"] == -TRUST
    assert logits["trial court"] < min(logits["Assizes"], logits["Moot"])
    assert doubts["trial court"] >= FORM_DOUBT
    # In Chur there may be none, or the graph says it otherwise.
    doubts = constrained(
        "Which courts are in Chur?", "Chur", [*facts, ("Cup", "of", "Chur")]
    )[1]
    assert doubts["Cup"] < KNOWN_DOUBT
    asked = constrained("What court is the Moot?", "Moot", facts)[1]
    assert asked["trial court"] < FORM_DOUBT


def test_what_is_based_in_a_country_is_based_in_its_cities():
    facts = [("Ann", "based_in", "Bern"), ("Bo", "based_in", "Rome")]
    facts += [("Bern", "in_country", "Chad"), ("Rome", "in_country", "Peru")]
    doubts = constrained("Who is based in Chad?", "Chad", facts)[1]
    assert doubts["Ann"] < KNOWN_DOUBT <= doubts["Bo"]


def test_a_number_of_somebody_else_is_no_count():
    facts = [("Acme", "owner", "Bolt"), ("Bolt", "number_of_employees", "80 people")]
    for firm, doubt in (("Bolt", 0), ("Acme", KNOWN_DOUBT)):
        question = f"How many employees does {firm} have?"
        assert constrained(question, firm, facts)[1]["80 people"] == doubt


def test_a_topic_is_not_counted_by_what_joins_it_with_another():
    facts = [
        ("Pie", "contains", "eggs"),
        ("Pie", "type", "dish"),
        ("Pie", "eats", "Bo"),
    ]
    for topics, doubted in ((["eggs", "Pie"], True), (["dish", "Pie"], False)):
        around, names = named_graph(facts, topics)
        question, no = f"How many {topics[0]} are for Pie?", np.zeros(len(names), bool)
        found = question_constraints(question, topics, None, around, no)
        assert ((found.unsaid >= CLAIM_DOUBT).all()) == doubted


def test_when_it_was_released_is_said_by_few_words():
    facts = [("Kid A", "label", "Parlophone"), ("OK", "release_date", "1997-05-21")]
    for question, doubted in (
        ("When was Kid A released?", True),
        ("Which label released Kid A?", False),
    ):
        doubts = constrained(question, "Kid A", facts)[1]
        assert (doubts["Parlophone"] >= KNOWN_DOUBT) == doubted


def test_only_what_is_to_be_avoided_answers_what_must_not_be():
    facts = [
        ("Aspirin", "treats", "gout"),
        ("Aspirin", "contraindicated_with", "asthma"),
    ]
    doubts = constrained("What must Aspirin not be given for?", "Aspirin", facts)[1]
    assert doubts["gout"] >= CLAIM_DOUBT > doubts["asthma"]


def test_other_measures_are_no_duration_where_some_have_one():
    facts = [
        ("Soup", "prep_minutes", "40"), ("Stew", "servings", "4"),
        ("Stew", "cuisine", "Greek"), ("Soup", "cuisine", "Greek"),
    ]  # fmt: skip
    assert constrained("How long does Stew take?", "Stew", facts)[1]["4"] >= FORM_DOUBT
    facts = [("Stew", "servings", "4"), ("Stew", "cuisine", "Greek")]
    assert constrained("How long does Stew take?", "Stew", facts)[1]["4"] < FORM_DOUBT


@pytest.mark.parametrize(
    ("question", "relations"),
    [
        ("What is the first publication year of Bolt?", None),
        ("When was Bolt first approved?", ("first_approved", "sold_since")),
    ],
)
def test_the_first_of_a_relations_name_compares_nothing(question, relations):
    facts = FIRMS
    if relations:
        facts = [("Bolt", relations[1], "1990"), ("Nut", relations[0], "1954")]
    around, names = named_graph(facts, ["Bolt"])
    no, compared = np.zeros(len(names), bool), value_question(question, ["Bolt"])
    assert compared is not None
    compared = compared.with_topics(lambda _: names.index("Bolt"))
    assert question_constraints(question, ["Bolt"], compared, around, no).values is None


def test_two_ranks_compare_by_the_relation_that_has_one_in_its_name():
    facts = [("Oak", "contact person", "Ann"), ("Elm", "contact person", "Ann"),
             ("Oak", "first publication year", "1990"),
             ("Elm", "first publication year", "1954")]  # fmt: skip
    around, names = named_graph(facts, ["Ann"])
    question = "What is the first of Ann's trees by first publication year?"
    compared = value_question(question, ["Ann"])
    assert compared is not None
    compared = compared.with_topics(lambda _: names.index("Ann"))
    no = np.zeros(len(names), bool)
    constraints = question_constraints(question, ["Ann"], compared, around, no)
    assert constraints.values is not None


def test_a_property_is_called_so_where_a_graph_has_it():
    doubts = constrained("What currency is used in Bern?", "Bern", OFFICES)[1]
    assert min(doubts.values()) >= NOUN_DOUBT
    doubts = constrained("How long does Acme take?", "Acme", OFFICES)[1]
    assert doubts["42 days"] == 0 and doubts["9 kg"] >= FORM_DOUBT
    doubts = constrained("How many seats does Acme have?", "Acme", OFFICES)[1]
    assert doubts["Bern"] == COUNT_DOUBT


def test_the_year_of_birth_is_not_that_of_death():
    facts = [("Ann", "year_of_birth", "1912"), ("Ann", "year_of_death", "2006")]
    doubts = constrained("In what year did Ann die?", "Ann", facts)[1]
    assert doubts["1912"] >= KNOWN_DOUBT and doubts["2006"] < KNOWN_DOUBT


def test_counted_are_those_of_the_class_that_one_relation_joins_with_the_topic():
    facts = [
        ("No 1", "sold_by", "Ann"),
        ("No 1", "type", "sale"),
        ("No 2", "car_make", "9"),
    ]
    facts += [("Ann", "type", "clerk"), ("Bo", "sale_id", "7 Z")]
    # ``car_make`` shares a word, and no number of Bo's is that of sales.
    doubts = constrained("How many sales did Ann make?", "Ann", facts)[1]
    assert doubts["No 1"] < 0 < doubts["9"]


def test_the_only_relation_to_a_class_is_not_said_by_the_words_for_another():
    facts = [("Heat", "tag", "film"), ("Heat", "directed_by", "Ann")]
    facts += [
        ("Rome", "tag", "city"),
        ("Dune", "type", "film"),
        ("Dune", "tag", "Heat"),
    ]
    question = "Which films share the director of Heat?"
    doubts = constrained(question, "Heat", facts)[1]
    assert doubts["Dune"] >= 0
    assert constrained("Which films mention Heat?", "Heat", facts)[1]["Dune"] < 0


def test_what_joins_a_dish_with_eggs_does_not_count_them():
    facts = [("Stew", "contains", "egg"), ("Stew", "amount", "4 g")]
    doubts = constrained("How many eggs do I need for Stew?", "Stew", facts)[1]
    assert min(doubts.values()) >= CLAIM_DOUBT
    # An amount may be that of anything else.
    doubts = constrained("How much protein does Stew have?", "Stew", facts)[1]
    assert min(doubts.values()) >= NOUN_DOUBT


def test_what_a_noun_names_between_topic_and_answer_is_no_answer():
    around, names = named_graph(OFFICES, ["Acme"])
    no, question = np.zeros(len(names), bool), "Who mentored the people of Acme?"
    wanted = question_constraints(question, ["Acme"], None, around, no)
    zeros = np.zeros(len(OFFICES), np.float32), np.zeros(len(names), np.float32)
    for general, penalty in ((True, NEAR_PENALTY), (False, 0.0)):
        found = wanted.logits(*zeros, general=general)
        without = replace(wanted, near=None).logits(*zeros, general=general)
        lost = dict(zip(names, without.nodes - found.nodes, strict=True))
        near = {name for name, each in lost.items() if each}
        assert near == ({"Ann", "Bern", "42 days", "9 kg"} if general else set())
        assert lost["Ann"] == pytest.approx(penalty)
    wanted = question_constraints("Who mentored Ann?", ["Ann"], None, around, no)
    assert wanted.near is None


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


VISITS = [
    *((f"700{i}", "type", "visit") for i in range(3)),
    *((f"700{i}", "patient_name", name) for i, name in enumerate(["Ann", "Bo", "Cy"])),
    ("7000", "diagnosis", "flu"), ("7001", "diagnosis", "cold"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "stated"),
    [("What was Ann diagnosed with?", "flu"), ("Which visit was that of Ann?", None)],
)
def test_rows_that_only_numbers_name_hold_answers(question, stated):
    around, names = named_graph(VISITS, ["Ann"])
    unnamed = np.zeros(len(names), bool)
    found = question_constraints(question, ["Ann"], None, around, unnamed)
    assert found.unnamed[names.index("7000")] == (stated is not None)
    if stated is not None:
        assert found.stated is not None
        assert np.flatnonzero(found.stated).tolist() == [names.index(stated)]
