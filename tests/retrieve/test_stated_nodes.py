"""Nodes that a question of one clause asks for, on a graph by hand."""

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.lacking import lacks_attribute
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.stated_nodes import (
    compared_nodes,
    stated_ends,
    stated_nodes,
)
from kgscout_jax.text.asked_kind import question_tokens

NAMES = ["Ann", "Bo", "Cy", "Di"]
RELATIONS = ["mentored_by", "likes"]
# Bo was mentored by Ann, Ann by Cy; Ann likes Di.
NODES = np.array([[1, 0], [0, 2], [0, 3]])


def around_of(*topics):
    return LocalGraph(
        RELATIONS,
        np.array([0, 0, 1]),
        NODES,
        [np.array([NAMES.index(topic)]) for topic in topics],
        lambda ids: [NAMES[i] for i in ids],
    )


def stated(question, impossible=(), topics=("Ann",)):
    around = around_of(*topics)
    possible = ~np.isin(np.arange(len(NAMES)), list(impossible))
    found = stated_nodes(
        stated_ends(question_tokens(question, topics), around), around, possible
    )
    return None if found is None else np.flatnonzero(found).tolist()


def test_the_nodes_at_the_end_that_is_asked_for_are_stated():
    assert stated("Who mentored Ann?") == [2]
    assert stated("Who was mentored by Ann?") == [1]
    assert stated("Who does Ann like?") == [3]


@pytest.mark.parametrize(
    "question",
    [
        "Who are the mentor and the likes of Ann?",
        "Ann's likes and mentor",
        "Ann mentor, likes",
    ],
)
def test_several_things_of_one_topic_are_stated_together(question):
    assert stated(question) == [2, 3]


def test_other_phrases_and_subclasses_are_stated():
    # A flu has a cough, is a virus disease, and has a subtype.
    around = LocalGraph(
        ["has_phenotype", "is_a"],
        np.array([0, 1, 1]),
        np.array([[0, 1], [0, 2], [3, 0]]),
        [np.array([0])],
        lambda ids: [("flu", "cough", "virus disease", "bird flu")[i] for i in ids],
    )

    def found(question):
        ends = stated_ends(question_tokens(question, ["flu"]), around)
        nodes = stated_nodes(ends, around, np.ones(4, bool))
        return None if nodes is None else np.flatnonzero(nodes).tolist()

    assert found("What are the symptoms of flu?") == [1]
    assert found("What are the types of flu?") == [3]
    assert found("What kind of disease is flu?") == [2]
    assert found("What are the causes of flu?") is None


def test_several_things_are_stated_only_where_each_is():
    assert stated("Ann's mentor and salary") is None


@pytest.mark.parametrize(
    "question",
    [
        "Ann mentor",
        "mentor of Ann",
        "What's Ann's mentor?",
        "Which mentors does Ann have?",
        "Does Ann have a mentor?",
    ],
)
def test_a_noun_beside_the_topic_states_a_relation(question):
    assert stated(question) == [2]


@pytest.mark.parametrize(
    "question",
    ["Who has the mentor Ann?", "Whose mentor is Ann?", "Who has Ann as mentor?"],
)
def test_what_the_topic_is_to_the_answer_states_a_relation(question):
    assert stated(question) == [1]


def test_the_relation_that_defines_the_topic_is_stated_by_what_is():
    facts = [("vim", "used for", "editing"), ("vim", "description", "an editor")]
    around, names = named_graph(facts, ["vim"])
    found = question_constraints(
        "What is vim?", ["vim"], None, around, np.zeros(3, bool), "description"
    )
    assert found.stated is not None
    assert np.flatnonzero(found.stated).tolist() == [names.index("an editor")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which of those that Ann likes is the oldest?", [3]),
        ("Who is the oldest of the mentors of Ann?", [2]),
        ("Of people that have Ann as mentor, who is the oldest?", [1]),
        ("Who is the oldest?", None),
        # What people's films win is another step.
        ("Which prize of the films of people with Ann as mentor is the oldest?", None),
        ("Who is the oldest of the friends of Ann?", None),
    ],
)
def test_what_is_compared_is_what_the_words_beside_the_topic_say(question, expected):
    words = question_tokens(question, ["Ann"])
    found = compared_nodes(words, around_of("Ann"), np.ones(len(NAMES), bool))
    assert (None if found is None else np.flatnonzero(found).tolist()) == expected


def test_those_with_the_same_as_the_topic_are_compared():
    employers = {"Ann": "Acme", "Bo": "Acme", "Cy": "Bolt"}
    facts = [(name, "employer", firm) for name, firm in employers.items()]
    around, names = named_graph(facts, ["Ann"])
    question = "Which person with the same employer as Ann is the oldest?"
    words = question_tokens(question, ["Ann"])
    found = compared_nodes(words, around, np.ones(5, bool))
    assert found is not None
    assert np.flatnonzero(found).tolist() == [names.index("Bo")]


def test_what_a_relation_is_called_is_of_the_kind_that_is_asked_for():
    facts = [("Tin", "period", "period 5"), ("Tin", "discovery year", "1789")]
    around, names = named_graph(facts, ["Tin"])
    unnamed, period = np.zeros(3, bool), names.index("period 5")
    found = question_constraints("What's Tin's period?", ["Tin"], None, around, unnamed)
    assert found.kind is None or not found.kind.wrong[period]
    assert found.shared is not None
    assert np.flatnonzero(found.shared).tolist() == [period]


def test_nothing_is_stated_by_other_words_of_two_topics_or_of_impossible_nodes():
    assert stated("Who taught Ann?") is None
    assert stated("Who mentored Ann?", impossible=[2]) is None
    assert stated("Who mentored Ann?", topics=("Ann", "Bo")) is None


@pytest.mark.parametrize(("topic", "lacks"), [("Ortler", True), ("Eiger", False)])
def test_what_others_of_its_class_have_may_be_lacking(topic, lacks):
    ascents = [("Eiger", "type", "ascent"), ("Ortler", "type", "ascent"),
               ("Eiger", "hut", "Mittellegi"), ("Eiger", "leader", "Ann"),
               ("Ortler", "leader", "Ann")]  # fmt: skip
    around, names = named_graph(ascents, [topic])
    unnamed = np.zeros(len(names), bool)
    assert lacks_attribute(frozenset(["hut"]), around, unnamed) is lacks


def test_another_name_of_a_stated_relation_is_stated_as_well():
    # Oncology is housed in the wing, Surgery located in it.
    wards = [("Oncology", "is housed in", "Wing"), ("Surgery", "located_in", "Wing"),
             ("Bo", "works at", "Wing")]  # fmt: skip
    around, names = named_graph(wards, ["Wing"])
    ends = stated_ends(question_tokens("Which wards are in Wing?", ["Wing"]), around)
    nodes = stated_nodes(ends, around, np.ones(len(names), bool))
    assert {names[i] for i in np.flatnonzero(nodes)} == {"Oncology", "Surgery"}


def test_how_many_live_somewhere_is_its_population_where_the_graph_has_it():
    homes = [("Ann", "home", "Bern"), ("Bern", "population", "340")]
    around, names = named_graph(homes, ["Bern"])
    question = "How many people live in Bern?"
    ends = stated_ends(question_tokens(question, ["Bern"]), around)
    nodes = stated_nodes(ends, around, np.ones(len(names), bool))
    assert [names[i] for i in np.flatnonzero(nodes)] == ["340"]
