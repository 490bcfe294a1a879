"""A question with misspelt words is answered, and the result says how it was read."""

from __future__ import annotations

import pytest

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.text.idioms import idioms

GRAPH = KnowledgeGraph.from_triplets([
    ("Emma", "author", "Jane Austen"), ("Emma", "type", "book"),
    ("Persuasion", "author", "Jane Austen"), ("Persuasion", "type", "book"),
    ("Jane Austen", "birthplace", "Steventon"), ("Ulysses", "author", "James Joyce"),
])  # fmt: skip


def test_misspelt_words_are_read_as_they_are_meant_and_said():
    scout = Scout.from_pretrained()
    asked, right = "who is the auther of the novell Emma", "who is the author of Emma"
    result, plain = scout.retrieve_many([asked, right], GRAPH)
    assert [each.name for each in result.answers] == ["Jane Austen"]
    assert result.question == asked
    assert result.read_as == "who is the author of the novel Emma"
    assert result.to_dict()["read_as"] == result.read_as
    (link,) = result.links
    assert asked[link.start : link.stop] == "Emma"
    assert not plain.read_as and "read_as" not in plain.to_dict()


def test_topics_that_are_given_keep_their_names():
    graph = KnowledgeGraph.from_triplets([("Emmaa", "author", "Ann")])
    result = Scout.from_pretrained().retrieve("author of emmaa", graph, topics="Emmaa")
    assert not result.read_as


def test_idioms_are_read_in_plain_words():
    graph = KnowledgeGraph.from_triplets(
        [("Bo", "reports to", "Ann"), ("Ann", "office", "Bern")]
    )
    result = Scout.from_pretrained().retrieve("who works directly under Ann?", graph)
    assert result.read_as == "who reports to Ann?"
    assert [each.name for each in result.answers] == ["Bo"]


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Where does Ann lie buried?", "where is Ann buried?"),
        ("Who stood as godparent to Ann?", "Who is the godparent to Ann?"),
        ("How many people can Rex Hall hold?", "what is the capacity of Rex Hall?"),
        ("How long do kites live?", "what is the lifespan of kites?"),
        ("Tell me what Ann does for a living", "Tell me what is the occupation of Ann"),
        ("Who supervised Ann's doctoral thesis?", "Who supervised Ann?"),
        (
            "Which moths were first described by Ann?",
            "Which moths were described by Ann?",
        ),
        ("How large is the endowment of Rex?", "what is the endowment of Rex?"),
    ],
)
def test_what_people_say_of_life_and_places_is_read_in_plain_words(question, read):
    text = question
    for start, word, plain in reversed(idioms(question)):
        text = text[:start] + plain + text[start + len(word) :]
    assert text == read


def test_a_topic_that_the_question_does_not_name_hides_no_word():
    topic = "Emma (a novel by Jane Austen)"
    graph = KnowledgeGraph.from_triplets([(topic, "author", "Jane Austen")])
    result = Scout.from_pretrained().retrieve("who is the auther", graph, topics=topic)
    assert result.read_as == "who is the author"
