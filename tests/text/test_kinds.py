"""What relations say of their ends, and what questions ask for."""

from __future__ import annotations

import pytest

from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import base_noun, base_verb, end_nouns, noun_kind


@pytest.mark.parametrize(
    ("relation", "heads", "tails"),
    [
        ("directed_by", {"film"}, {"director"}),
        ("directed", {"director"}, {"film"}),
        ("people.person.place_of_birth", {"person"}, {"place", "place of birth"}),
        ("birthPlace", {"person"}, {"place", "birth place"}),
        ("capitalOf", {"capital", "country"}, set()),
        ("location.country.languages_spoken", {"country"}, {"language"}),
        ("in_language", set(), {"language"}),
        ("has_genre", {"work"}, {"genre"}),
        ("depends on", set(), set()),
        ("P131", set(), {"p131"}),
        ("", set(), set()),
    ],
)
def test_names_of_relations_say_what_their_ends_are_called(relation, heads, tails):
    assert tuple(map(set, end_nouns(relation))) == (heads, tails)


@pytest.mark.parametrize(
    ("noun", "singular"),
    [
        ("movies", "movie"), ("countries", "country"), ("people", "person"),
        ("boxes", "box"), ("bus", "bus"), ("series", "series"), ("glass", "glass"),
    ],
)  # fmt: skip
def test_nouns_have_a_singular(noun, singular):
    assert base_noun(noun) == singular


def test_kinds_of_nouns_and_forms_of_verbs():
    kinds = [noun_kind(noun) for noun in ("actors", "city", "release year", "genre")]
    assert kinds == ["person", "place", "time", "thing"]
    forms = [base_verb(word) for word in ("wrote", "composed", "writes", "write", "by")]
    assert forms == ["write", "compose", "write", None, None]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who directed Alien?", "person"),
        ("By whom was Alien directed?", "person"),
        ("the films of Mann starred who", "person"),
        ("who is the director of Alien", "person"),
        ("Who is the religion of Alien?", "thing"),
        ("When did the films of Mann come out?", "time"),
        ("In which year was Alien released?", "time"),
        ("the films of Mann were released in which years", "time"),
        ("Where was Mann born?", "place"),
        ("What capital has the country of Alien?", "place"),
        ("Name the actors of Alien.", "person"),
        ("What did Mann direct?", None),
        ("what kind of film is Alien", None),
        ("Alien cast", None),
        ("", None),
    ],
)
def test_words_of_a_question_say_what_it_asks_for(question, kind):
    asked = asked_kind(question, ["Alien", "Mann"])
    assert (asked and asked.kind) == kind


def test_a_thing_is_asked_for_by_all_its_names():
    asked = asked_kind("Which movies did Mann direct?", ["Mann"])
    assert asked is not None and {"movie", "film"} <= asked.nouns
    genre = asked_kind("What film genre is Alien?", ["Alien"])
    assert genre is not None and {"genre", "film genre"} <= genre.nouns
    assert not asked.number
    many = asked_kind("How many people live there?", [])
    assert many is not None and many.number


def test_words_of_topics_are_no_nouns_of_the_question():
    assert asked_kind("What is Heat Films?", ["Heat Films"]) is None
    assert asked_kind("What films has Heat Films?", ["Heat"]) is not None
