"""The strings that are embedded: by hand, and whatever Unicode has."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgscout_jax.text.linearize import linearize, question_text, relation_phrase


@pytest.mark.parametrize(
    ("relation", "phrase"),
    [
        ("people.person.place_of_birth", "people person place of birth"),
        ("STARRED_ACTORS", "starred actors"),
        ("location.location.contains_(2)", "location location contains 2"),
        ("  a__b..c  ", "a b c"),
        ("Größe-über.NN", "größe über nn"),
        ("出生地", "出生地"),
        ("столица/Страна", "столица страна"),
        ("x²_y", "x² y"),  # a superscript digit is alphanumeric
        # Lower-cased first: the dot of the Turkish capital is a character of its own.
        ("İl", "i l"),
        ("birthPlace", "birth place"),
        ("concept:athleteplaysforteam", "concept athlete plays for team"),
        ("wasbornin", "was born in"),
        ("hypernym", "hypernym"),  # no words of the list
        ("mentored_by", "mentored by"),  # a form of one, no "men to red"
        ("worksfor a", "worksfor a"),  # with white space: in words already
        ("people.person.dateOfBirth", "people person date of birth"),
        ("hasISBNNumber", "has isbn number"),
        ("übergeordneteEinheit", "übergeordnete einheit"),
        ("IMDb ID", "imdb id"),  # with white space: in words already
        ("...", ""),
        ("", ""),
    ],
)
def test_a_relation_phrase_is_lower_case_words(relation, phrase):
    assert relation_phrase(relation) == phrase


@given(st.text())
def test_a_phrase_is_alphanumeric_words_between_single_spaces(relation):
    phrase = relation_phrase(relation)
    assert all(c.isalnum() or c == " " for c in phrase)
    assert "  " not in phrase
    assert phrase == phrase.strip()
    assert relation_phrase(phrase) == phrase
    # Nothing is lost: the letters and digits are those of the lower-cased relation.
    kept = [c for c in relation.lower() if c.isalnum()]
    assert phrase.replace(" ", "") == "".join(kept)


@given(st.text(), st.text(), st.text())
@example("Zürich  (City)", "location.contains", " ETH\tZürich")
@example("A", "--", "B")
def test_the_linearised_triplet_is_its_three_parts(head, relation, tail):
    text = linearize((head, relation, tail))
    assert text == " ".join(text.split())
    assert text == text.lower()
    parts = [head.lower(), relation_phrase(relation), tail.lower()]
    assert text.split() == " ".join(parts).split()


def test_a_question_keeps_its_case():
    assert question_text("  Who  is\nTom Hanks? ") == "Who is Tom Hanks?"
