"""The two steps of questions about the one that values choose beside a topic."""

import pytest

from kgscout_jax.text.nested_question import nested_question

KEYS = frozenset({"popul"})


def steps(question, topic):
    start = question.index(topic)
    found = nested_question(question, (start, start + len(topic)), KEYS)
    return found and (found.inner, found.outer("Elm"))


@pytest.mark.parametrize(
    ("question", "topic", "inner", "outer"),
    [
        (
            "What is the capital of the largest country in Africa?",
            "Africa",
            "Which country is the largest country in Africa?",
            "What is the capital of Elm?",
        ),
        (
            "Which currency does the most populous country in Africa use?",
            "Africa",
            "Which country is the most populous country in Africa?",
            "Which currency does Elm use?",
        ),
        (
            "Who directed the latest film that Ann Lee acted in?",
            "Ann Lee",
            "Which film is the latest film that Ann Lee acted in?",
            "Who directed Elm?",
        ),
        (
            "Where was the youngest player of Ajax born?",
            "Ajax",
            "Which player is the youngest player of Ajax?",
            "Where was Elm born?",
        ),
        (
            "What is the capital of the country in Africa with the largest population?",
            "Africa",
            "Which country is the country in Africa with the largest population?",
            "What is the capital of Elm?",
        ),
        (
            "What is the job of the youngest baker in series 4?",
            "4",
            "Which baker is the youngest baker in series 4?",
            "What is the job of Elm?",
        ),
    ],
)
def test_the_first_step_asks_for_what_is_compared(question, topic, inner, outer):
    assert steps(question, topic) == (inner, outer)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What is the largest country in Africa?", "Africa"),
        ("Which country in Africa has the largest population?", "Africa"),
        ("Who won the most awards in 1990?", "1990"),
        ("Among the firms that have Peru as home, which is the oldest firm?", "Peru"),
        ("What year did the head of the Bloc first win a seat?", "Bloc"),
        ("What is the capital of Chad?", "Chad"),
        ("Is Chad the largest country?", "Chad"),
    ],
)
def test_other_questions_have_one_step(question, topic):
    assert steps(question, topic) is None
