"""The words of questions and their distances from the topic's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.text.most_counted import most_counted
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.without_test import without_test
from kgscout_jax.text.words import WORDS, distinct_words, folded, question_words
from kgscout_jax.types import Question

QUESTIONS = {
    (
        "What is the capital of the country of Rockhampton Airport?",
        "Rockhampton Airport",
    ): [
        ("capital", -5),
        ("country", -2),
    ],
    ("jackie robinson played for which team", "Jackie Robinson"): [
        ("played", 1),
        ("team", 4),
    ],
    # A particle inside the name belongs to it, another does not.
    ("when did the battle of waterloo occur", "Battle of Waterloo"): [("occur", 1)],
    ("the father of ulysses_s_grant_jr 's spouse", "ulysses_s_grant_jr"): [
        ("father", -2),
        ("spouse", 2),
    ],
    # Nobody named: places are unknown.
    ("who directed it", "Heat"): [("directed", 0)],
    ("Heat", "Heat"): [],
    ("", "Heat"): [],
}


@pytest.mark.parametrize(("question", "words"), QUESTIONS.items())
def test_words_stand_at_their_distance_from_the_nearest_word_of_the_name(
    question, words
):
    text, topic = question
    assert question_words(text, [topic]) == words


def test_long_questions_keep_their_first_words():
    text = " ".join(f"word{i}" for i in range(40))
    words = question_words(text, [])
    assert [word.text for word in words] == [f"word{i}" for i in range(WORDS)]


def test_distinct_words_are_those_of_all_questions():
    rows = [
        Question(id=str(i), text=text, topics=("Heat",), answers=())
        for i, text in enumerate(["who directed Heat", "who directed or wrote Heat"])
    ]
    assert distinct_words(rows) == {"directed", "wrote"}


@given(st.text())
def test_a_folded_text_keeps_the_places_of_its_characters(text):
    assert len(folded(text)) == len(text)


def test_places_in_a_question_are_those_of_the_question():
    question = "Which Großstadt has the largest area in Italy?"
    asked = value_question(question, ["Italy"])
    assert asked is not None
    assert without_test(question, asked, ["Italy"]).startswith(
        "Which Großstadt has the"
    )
    assert "larea" not in without_test(question, asked, ["Italy"])
    assert most_counted("Most of all, which city has the most bridges?") is None
