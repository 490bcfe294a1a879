"""What a question names as compared, where it asks for something else."""

import pytest

from kgscout_jax.text.compared_phrase import compared_phrase
from kgscout_jax.text.value_question_parser import value_question

KEYS = frozenset({"popul", "downl", "found"})


@pytest.mark.parametrize(
    ("question", "inner", "outer"),
    [
        (
            "Who is the mayor of the town with the largest population?",
            "Which town is the town with the largest population?",
            "Who is the mayor of Elm?",
        ),
        (
            "Who is the mayor of the largest town?",
            "Which town is the largest town?",
            "Who is the mayor of Elm?",
        ),
        (
            "Who maintains the most downloaded package?",
            "Which package is the most downloaded package?",
            "Who maintains Elm?",
        ),
        (
            "What license does the package with the most downloads have?",
            "Which package is the package with the most downloads?",
            "What license does Elm have?",
        ),
        (
            "Which lake does the largest town drink from?",
            "Which town is the largest town?",
            "Which lake does Elm drink from?",
        ),
        (
            "Where was the most downloaded package written?",
            "Which package is the most downloaded package?",
            "Where was Elm written?",
        ),
        (
            "In which country is the largest town?",
            "Which town is the largest town?",
            "In which country is Elm?",
        ),
    ],
)
def test_what_is_compared_is_not_what_is_asked_for(question, inner, outer):
    asked = value_question(question, [])
    assert asked is not None
    phrase = compared_phrase(question, asked, KEYS)
    assert phrase is not None
    assert (phrase.inner(question), phrase.outer(question, "Elm")) == (inner, outer)


def test_nor_are_those_within_a_limit():
    for rest in ("founded in 1990", "with a population over 600"):
        question = f"Who is the mayor of the towns {rest}?"
        asked = value_question(question, [])
        assert asked is not None
        phrase = compared_phrase(question, asked, KEYS)
        assert phrase is not None and phrase.noun == "towns"


@pytest.mark.parametrize(
    "question",
    [
        "Which town has the largest population?",
        "What is the town with the largest population?",
        "What is the name of the town with the largest population?",
        "What is the largest town?",
        "Show me the largest town.",
        "Which place is the largest town?",
        "Of all the towns, which has the largest population?",
        "Which town of the lake has the largest population?",
        "Which towns were founded in 1990?",
        "How many of the towns were founded in 1990?",
        "Which is the largest?",
    ],
)
def test_what_is_compared_is_asked_for(question):
    asked = value_question(question, [])
    assert asked is not None and compared_phrase(question, asked, KEYS) is None
