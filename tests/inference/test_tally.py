"""Those that have the most, against counts by hand and by brute force."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.tally import MAX_WINNERS, tally_of

FILMS = [
    ("Alien", "directed_by", "Scott"), ("Gladiator", "directed_by", "Scott"),
    ("Heat", "directed_by", "Mann"), ("Alien", "genre", "horror"),
    ("Heat", "genre", "crime"), ("Gladiator", "genre", "drama"),
    ("Heat", "genre", "drama"), ("Heat", "sequel", "Alien"),
    *((film, "type", "film") for film in ("Alien", "Gladiator", "Heat")),
    ("Jaws", "type", "book"), ("Jaws", "genre", "horror"), ("It", "genre", "horror"),
    ("It", "type", "book"), ("Ghosts", "genre", "horror"), ("Ghosts", "type", "book"),
]  # fmt: skip


def names(question, triplets):
    graph = KnowledgeGraph.from_triplets(triplets)
    found = tally_of(question, graph)
    return found and {graph.entities[i] for i in found.entities.tolist()}


@pytest.mark.parametrize(
    ("question", "winners"),
    [
        ("Who directed the most films?", {"Scott"}),
        ("Which film has the most genres?", {"Heat"}),
        ("Which genre has the most films?", {"drama"}),  # books are no films
        ("Which genre has the most books?", {"horror"}),
        ("What is the genre with the most films?", {"drama"}),
        # nothing says it, nobody has two, or it names more
        ("Which actor has the most films?", None),
        ("Which film has the most sequels?", None),
        ("Which genre has the most horror films?", None),
        ("Which film of Mann has the most genres?", None),
        ("Which film has the most beautiful genre?", None),
    ],
)
def test_counts_worked_out_by_hand(question, winners):
    assert names(question, FILMS) == winners


def test_conditions_and_doers_are_not_counted():
    triplets = [
        *(
            (f"p{i}", "plays_for_country", "Peru" if i < 4 else "Mali")
            for i in range(6)
        ),
        *((f"p{i}", "plays_position", "keeper" if i < 2 else "back") for i in range(6)),
    ]
    assert names("Which country has the most players?", triplets) == {"Peru"}
    assert names("Which country has the most keepers?", triplets) is None


def test_two_relations_that_may_be_meant_are_not_chosen_from():
    triplets = [
        *((f"bug {i}", "assignee", "Ann") for i in range(3)),
        *((f"bug {i}", "reporter", "Bo") for i in range(3)),
        *((f"bug {i}", "type", "bug") for i in range(3)),
    ]
    assert names("Who has the most bugs?", triplets) is None
    assert names("Who reported the most bugs?", triplets) == {"Bo"}


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(6, 16)), min_size=1))
def test_counts_equal_brute_force(pairs):
    has = defaultdict(set)
    for person, prize in pairs:
        has[f"p{person}"].add(f"w{prize}")
    most = max(map(len, has.values()))
    expected = {person for person, prizes in has.items() if len(prizes) == most}
    triplets = [(f"p{a}", "award", f"w{b}") for a, b in sorted(pairs)]
    found = names("Who has the most awards?", triplets)
    assert found == (expected if most > 1 and len(expected) <= MAX_WINNERS else None)


def test_what_is_counted_is_the_evidence(kgscout_cache):
    scout = shared_world("general").scout
    result = scout.retrieve(
        "Who directed the most films?", KnowledgeGraph.from_triplets(FILMS), k=5
    )
    assert [answer.name for answer in result.answers] == ["Scott"]
    assert not result.topics
    assert {*result.answers[0].path} == {*FILMS[:2]} == {*result.triplets[:2]}


def test_topics_of_the_caller_are_not_passed_over(kgscout_cache):
    scout = shared_world("general").scout
    graph, question = (
        KnowledgeGraph.from_triplets(FILMS),
        "Which genre has the most films?",
    )
    assert scout.retrieve(question, graph).answers[0].name == "drama"
    assert scout.retrieve(question, graph, topics="Mann").topics == ("Mann",)


def test_a_number_that_nothing_says_is_no_answer(kgscout_cache):
    scout = shared_world("general").scout
    graph = KnowledgeGraph.from_triplets(FILMS)
    assert scout.retrieve("Which film by Mann won the most Oscars?", graph).abstained
