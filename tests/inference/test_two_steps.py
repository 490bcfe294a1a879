"""Superlatives beside a topic, and questions about the one that is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax import Scout
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.class_topics import without_own_classes
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.whole_graph import (
    compared_entities,
    whole_graph_choice,
    whole_graph_comparison,
)

TOWNS = {"Rome": 2800, "Milan": 1300, "Turin": 600, "Lyon": 520, "Paris": 2100}
FRENCH = ("Lyon", "Paris")
GRAPH = KnowledgeGraph.from_triplets([
    *((town, "type", "town") for town in TOWNS),
    *((town, "population", str(size)) for town, size in TOWNS.items()),
    *((town, "lies in", "France" if town in FRENCH else "Italy") for town in TOWNS),
    *((town, "mayor", f"mayor of {town}") for town in TOWNS),
    ("Rhone", "lies in", "France"), ("Rhone", "length", "812"),
    ("Rhone", "type", "river"), ("Nancy", "type", "town"), ("Nancy", "population", "9"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which is the largest town in France?", {"Paris"}),
        ("What is the town in Italy with the smallest population?", {"Turin"}),
        ("Which Italian town has the largest population?", {"Rome"}),
        ("What are the two largest towns in Italy?", {"Rome", "Milan"}),
    ],
)
def test_all_that_one_relation_joins_to_the_topic_is_compared(
    general_scout, question, answers
):
    result = general_scout.retrieve(question, GRAPH, k=20)
    assert {answer.name for answer in result.answers} == answers


@pytest.mark.parametrize("topics", [None, ["France"]])
def test_the_rest_of_the_question_is_about_the_one_that_is_found(general_scout, topics):
    question = "Who is the mayor of the largest town in France?"
    result = general_scout.retrieve(question, GRAPH, k=20, topics=topics)
    assert result.question == question and result.topics == ("Paris",)
    best = (result.answers or result.best_guesses)[0]
    assert best.name == "mayor of Paris"
    direct = general_scout.retrieve(
        "Who is the mayor of Paris?", GRAPH, k=20, topics=["Paris"]
    )
    sure = (direct.answers or direct.best_guesses)[0].probability
    first = general_scout.retrieve(
        "Which town is the largest town in France?", GRAPH, k=20
    )
    assert best.probability == pytest.approx(sure * first.answers[0].probability)


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("When was the town Milan built?", ["Milan"]),
        ("When was the town called Milan built?", ["Milan"]),
        ("When was the town Rhone built?", ["town", "Rhone"]),  # it is none
        ("Is there a town like Milan?", ["town", "Milan"]),
        ("What is the town population beside Milan?", ["Milan"]),
        ("Who is the mayor of the town of Milan?", ["Milan"]),
        ("Is Milan a town in France?", ["Milan", "France"]),
        ("Is Milan a town?", ["town", "Milan"]),
        ("What kind of town is Milan?", ["Milan"]),
    ],
)
def test_a_class_before_what_is_of_it_is_no_topic_beside_it(question, kept):
    def link(name):
        at = question.index(name)
        entity = GRAPH.find(name)
        assert entity is not None
        where = {"start": at, "stop": at + len(name)}
        return Link(entity=entity, name=name, score=1, how="exact", **where)

    names = [n for n in ("town", "Milan", "Rhone", "France") if n in question]
    links = [link(name) for name in names]
    found = without_own_classes(question, links, GRAPH)
    assert [each.name for each in found] == kept


def test_two_steps_that_are_likely_may_together_be_unlikely(general_scout):
    question = "Who is the mayor of the largest town in France?"
    sure = SelectionConfig(min_probability=0.0)
    likely = (
        general_scout.retrieve(question, GRAPH, k=9, selection=sure)
        .answers[0]
        .probability
    )
    above = SelectionConfig(min_probability=likely + 0.001)
    result = general_scout.retrieve(question, GRAPH, k=9, selection=above)
    assert result.abstained and not result.answers
    assert result.best_guesses[0].probability == likely


def choice(triplets, topic, question):
    graph = KnowledgeGraph.from_triplets(triplets)
    entity = graph.find(topic)
    assert entity is not None
    start = SearchStart(np.array([entity], np.int32), (), ())
    asked = compared_entities(question, graph, start)
    assert asked is not None
    compared = whole_graph_comparison(question, graph, start, asked)
    found = compared and whole_graph_choice(compared)
    return found and [graph.entities[i] for i in found.choice]


def test_what_two_relations_join_is_not_compared():
    towns = [(t, "population", str(n)) for t, n in TOWNS.items()]
    lies = [(t, "lies in", "Italy") for t in ("Rome", "Milan")]
    question = "Which is the largest town in Italy?"
    assert choice(towns + lies, "Italy", question) == ["Rome", "Milan"]
    ruled = [("Paris", "ruled by", "Italy")]
    assert choice(towns + lies + ruled, "Italy", question) is None


def test_the_word_before_a_number_says_its_relation():
    bakers = {"Ann": (4, 31), "Bob": (4, 20), "Cid": (3, 4), "Dee": (2, 19)}
    triplets = [(b, "series", str(s)) for b, (s, _) in bakers.items()]
    triplets += [(b, "age", str(a)) for b, (_, a) in bakers.items()]
    question = "Who is the youngest baker in series 4?"
    assert choice(triplets, "4", question) == ["Bob", "Ann"]


@given(
    st.dictionaries(
        st.integers(0, 30), st.tuples(st.integers(1, 50), st.booleans()), min_size=1
    )
)
def test_the_largest_beside_a_topic_is_that_of_brute_force(towns):
    triplets = [("Italy", "capital", "Rome")]
    for name, (size, is_in) in towns.items():
        triplets.append((f"t{name}", "population", str(size)))
        triplets.append((f"t{name}", "lies in", "Italy" if is_in else "France"))
    sizes = {f"t{name}": size for name, (size, is_in) in towns.items() if is_in}
    found = choice(triplets, "Italy", "Which town in Italy has the largest population?")
    if not sizes:
        assert found is None
        return
    best = max(sizes.values())
    winners = {name for name, size in sizes.items() if size == best}
    assert found is not None and winners == set(found[: len(winners)])


def test_size_is_the_area_of_a_country_and_the_people_of_a_city():
    triplets = [
        ("Chad", "area", "12"), ("Chad", "population", "3"),
        ("Mali", "area", "9"), ("Mali", "population", "7"),
    ]  # fmt: skip
    triplets += [(country, "continent", "Africa") for country in ("Chad", "Mali")]

    def first(noun):
        found = choice(triplets, "Africa", f"What is the largest {noun} in Africa?")
        return found and found[0]

    assert (first("country"), first("city")) == ("Chad", "Mali")


POSTS = KnowledgeGraph.from_triplets([
    *(fact for name, title, salary, office in (
        ("Ann", "Chief Executive", "300", "Bern"), ("Bo", "Cook", "90", "Rome"),
        ("Cy", "Clerk", "70", "Rome"), ("Di", "Clerk", "60", "Bern"),
    ) for fact in (
        (name, "title", title), (name, "salary", salary), (name, "office", office),
    )),
])  # fmt: skip


def test_who_has_a_post_takes_its_place():
    general_scout = Scout.from_pretrained()
    result = general_scout.retrieve(
        "What is the salary of the Chief Executive?", POSTS, k=20
    )
    assert result.topics == ("Ann",)
    assert (result.answers or result.best_guesses)[0].name == "300"
    # Not one clerk, and who has the post is asked for itself.
    for question, topic in (
        ("What is the salary of the Clerk?", "Clerk"),
        ("Who is the Cook?", "Cook"),
    ):
        assert general_scout.retrieve(question, POSTS, k=20).topics == (topic,)
