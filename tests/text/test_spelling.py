"""Misspelt words of questions: what they are read as, and where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.text.spelling import (
    Correction,
    corrected,
    corrections,
    original_place,
)

RELATIONS = ["hasProfession", "developed_by", "harbour"]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("what is the proffesion of Ann", "what is the profession of Ann"),
        ("wich firm devloped it", "which firm developed it"),
        ("Wich drugs are used agianst it?", "Which drugs are used against it?"),
        ("who is maried to Ann", "who is married to Ann"),
        ("who met Zorblaxx in the harbour", None),  # a name, and a word of the graph
        ("who pollinates kalanchoes", None),  # no usual words, but right ones
        ("teh", "the"),
        ("wer are the drugs maid agianst it?", "wer are the drugs maid against it?"),
        ("who is the auther of la dolce", "who is the author of la dolce"),
        # other languages
        ("Wie tief ist das Seebad?", None),
        ("Wann wurde das Seebad eröffnet?", None),
        ("Wann wurde es in Betrieb genommen?", None),
        ("Welche Badestellen haben einen Kiosk?", None),
        ("Quelle est la puissance du véhicule?", None),
        ("Combien de véhicules sont à Nantes?", None),
        ("¿Quién dirige la empresa?", None),
        ("Qual è la capitale della regione?", None),
        ("Wat is de hoofdstad van het land?", None),
        ("Vilka servrar har mest minne?", None),
    ],
)
def test_a_word_that_is_no_english_one_is_read_as_the_nearest(question, right):
    found = corrections(question, [], RELATIONS)
    assert corrected(question, found) == (right or question)


def test_names_are_no_misspelt_words():
    question = "who wrote emmaa"
    assert corrections(question, [], RELATIONS)
    assert not corrections(question, [(10, 15)], RELATIONS)


WORDS = st.text("abc", min_size=1, max_size=4)


@given(st.lists(st.tuples(WORDS, WORDS, st.booleans()), min_size=1, max_size=6))
def test_places_lead_back_to_the_question(words):
    text, found, places, place = "", [], [], 0
    for old, new, wrong in words:
        if wrong:
            found.append(Correction(len(text), old, new))
        places.append((len(text), place))
        text += old + " "
        place += len(new if wrong else old) + 1
    assert corrected(text, found).count(" ") == len(words)
    for before, after in places:
        assert original_place(after, found) == before
