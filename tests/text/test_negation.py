"""Which words negate a question, and which belong to a name, an idiom or a relation."""

from __future__ import annotations

import pytest

from kgscout_jax.text.negation import negation_of


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who doesn't work at Acme?", "doesn't"),
        ("Who doesn’t work at Acme?", "doesn’t"),
        ("Isn't Ann married to Cid?", "Isn't"),
        ("Is Ann not married to Cid?", "not"),
        ("Who has NOT worked at Acme?", "NOT"),
        ("Which birds cannot fly?", "cannot"),
        ("Who never worked at Acme?", "never"),
        ("Which films without Pacino did Mann direct?", "without"),
        ("Who no longer works at Acme?", "no"),
        ("Which of them is neither a drama nor a comedy?", "neither"),
        ("Who earns no more than 1000?", "no"),
        ("Who said “I do not know” and is not in Oslo?", "not"),
    ],
)
def test_a_question_is_negated(question, word):
    assert negation_of(question, [], []) == word


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the most notable novel of Norway?",
        "Who directed a film called No Exit?",
        "Who recorded Won't Stop?",
        'Who said "I am not a crook"?',
        "Is Ann married to Cid or not?",
        "Whether or not Ann lives here, who does?",
        "Ann lives in Oslo, doesn't she?",
        "I don't know who directed Heat, do you?",
        "Who lives at No. 7 of the street?",
        "What medicine should not be taken together with aspirin?",
        "Which towns are not only in Norway?",
        "Does Ann work here, yes or no?",
    ],
)
def test_a_question_is_not_negated(question):
    assert negation_of(question, [], []) == ""


def test_words_of_names_and_of_negated_relations_do_not_negate():
    question = "who likes never mind?"
    at = question.index("never")
    assert negation_of(question, [(at, at + 10)], []) == ""
    assert negation_of(question, [], []) == "never"
    asked = "Which drugs do not mix with aspirin?"
    assert negation_of(asked, [], ["does_not_mix_with"]) == ""
    assert negation_of(asked, [], ["mixes_with", "noted_for"]) == "not"
