"""Choices and yes or no by values, and values that candidates leave out."""

from __future__ import annotations

import numpy as np
import pytest
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.selection import SelectionConfig

TOWNS = {"Rome": 2800, "Milan": 1300, "Turin": 600, "Pisa": 90}
GRAPH = KnowledgeGraph.from_triplets([
    *((town, "population", str(size)) for town, size in TOWNS.items()),
    *((town, "town_of", "Italy") for town in TOWNS),
    # Neighbours enough to fill the cut.
    *((town, "twin_of", f"{town} twin {i}") for town in TOWNS for i in range(30)),
])  # fmt: skip


@pytest.fixture(scope="module")
def scout(kgscout_cache):
    return shared_world("general").scout


@pytest.mark.parametrize(
    ("question", "kind", "answer"),
    [
        ("Which is larger, Milan or Turin?", "set", "Milan"),
        ("Which of Milan or Turin has the smaller population?", "set", "Turin"),
        ("Is Milan larger than Turin?", "yes_no", "yes"),
        ("Is the population of Turin above that of Milan?", "yes_no", "no"),
        ("Does Turin have a population of at least 600?", "yes_no", "yes"),
    ],
)
def test_the_two_that_are_named_are_compared(scout, question, kind, answer):
    topics = [name for name in ("Milan", "Turin") if name in question]
    result = scout.retrieve(question, GRAPH, topics=topics, k=8)
    assert (result.kind, result.answers[0].name) == (kind, answer)
    path = set(result.answers[0].path)
    assert path == {(town, "population", str(TOWNS[town])) for town in topics}
    assert path <= set(result.triplets)


def test_a_choice_is_not_answered_without_values(scout):
    graph = KnowledgeGraph.from_triplets(
        [("Rome", "in", "Italy"), ("Pisa", "in", "Rome")]
    )
    any_at_all = SelectionConfig(min_probability=0.0)

    def abstained(question):
        topics = ["Rome", "Pisa"]
        found = scout.retrieve(question, graph, topics=topics, selection=any_at_all)
        return found.abstained

    assert abstained("Which is larger, Rome or Pisa?")
    assert abstained("Is Rome larger than Pisa?")
    assert not abstained("Who is in Rome or Pisa?")
    assert not abstained("Which town of Rome is larger than Pisa?")


def test_yes_or_no_beyond_the_cut_goes_to_the_network_where_a_value_is_missing(scout):
    """Values that join the candidates must not, as the network takes no more."""
    towns = ("Milan", "Turin")
    graph = KnowledgeGraph.from_triplets([
        *(("Milan", "population", str(size)) for size in range(50)),
        *((town, "twin_of", f"{town} twin {i}") for town in towns for i in range(40)),
    ])  # fmt: skip
    result = scout.retrieve("Is Milan larger than Turin?", graph, topics=towns, k=8)
    assert result.abstained and result.n_candidates == scout.cut.candidates


def test_a_policy_without_answers_reads_the_whole_question():
    scout = shared_world("thesis").scout
    question = "Which town of Italy has the largest population?"
    (search,) = scout._searcher.searches(
        [question], [GRAPH], ["Italy"], None, scout.link
    )
    assert search.compared is None
    assert np.array_equal(search.vectors.whole, scout.encode([question])[0])


def test_guesses_at_the_answer_count_beside_the_clause_that_is_left_out(scout):
    question = "Which town of Italy has the largest population?"

    def whole(text, guesses):
        hypotheses = [guesses]
        found = scout._searcher.searches(
            [text], [GRAPH], ["Italy"], hypotheses, scout.link
        )
        return found[0].vectors.whole

    guesses = ["Rome has many people."]
    assert np.array_equal(
        whole(question, guesses), whole("Which town of Italy", guesses)
    )
    assert not np.array_equal(whole(question, guesses), whole(question, []))


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which town has the largest population?", {"Rome"}),
        ("What is the town with the lowest population?", {"Pisa"}),
        ("Which towns have a population over 600?", {"Rome", "Milan"}),
        ("How many towns have a population over 600?", {"2"}),
        ("Which towns have a larger population than Turin?", {"Rome", "Milan"}),
    ],
)
def test_without_a_topic_the_values_of_the_whole_graph_are_compared(
    scout, question, answers
):
    result = scout.retrieve(question, GRAPH, k=20)
    assert {answer.name for answer in result.answers} == answers
    assert not result.topics
    for answer in result.support or result.answers:
        own = (answer.name, "population", str(TOWNS[answer.name]))
        assert own in answer.path and own in result.triplets


@pytest.mark.parametrize("question", [
    "Which town ruled by Zorro has the largest population?",
    "Which town has the largest population and a zoo?",
])  # fmt: skip
def test_words_that_values_do_not_explain_are_not_passed_over(scout, question):
    result = scout.retrieve(question, GRAPH, k=20)
    assert result.topics or result.abstained
    named = scout.retrieve("Which town has the largest population?", GRAPH, topics="Oz")
    assert named.abstained and named.topics_not_found == ("Oz",)


def test_two_relations_that_disagree_are_no_answer(scout):
    graph = KnowledgeGraph.from_triplets([
        *((name, "height", size) for name, size in (("Rotwand", "9"), ("Alm", "5"))),
        *((name, "altitude", size) for name, size in (("Rotwand", "5"), ("Hut", "9"))),
    ])  # fmt: skip
    assert scout.retrieve("What is the highest?", graph).abstained
    assert not scout.retrieve("What has the highest altitude?", graph).abstained


def test_values_beyond_the_cut_join_the_candidates(scout):
    question = "Which town of Italy has the largest population?"
    plain, valued = (
        scout.retrieve(text, GRAPH, topics="Italy", k=100)
        for text in ("Which town is of Italy?", question)
    )
    sizes = {t for t in valued.triplets if t[1] == "population"}
    assert sizes == {(town, "population", str(size)) for town, size in TOWNS.items()}
    assert len({*valued.triplet_ids.tolist()}) == len(valued.triplets)
    assert valued.n_candidates <= plain.n_candidates + len(sizes)
    best = (*valued.answers, *valued.best_guesses)[0]
    assert best.name == "Rome" and best.path[-1] == ("Rome", "population", "2800")
    assert np.isfinite(valued.scores).all()
