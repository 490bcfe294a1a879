"""Questions about what a description stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.text.described_topic import described_topic
from kgscout_jax.text.words import name_span

STEPS = [
    ("Who owns the firm that Ann works for?", "Which firm does Ann work for?",
     "Who owns #?"),
    ("Who owns the club Ann used to play for?", "Which club Ann used to play for?",
     "Who owns #?"),
    ("Which topics does the service Ann calls publish?",
     "Which service does Ann call?", "Which topics does # publish?"),
    ("What services use a library that Ann maintains?",
     "Which library does Ann maintain?", "What services use #?"),
    ("Where does the service that produces Ann run?", "Which service produces Ann?",
     "Where does # run?"),
    ("Who directed the films starring Ann?", "Name the films starring Ann.",
     "Who directed #?"),
    ("Name the actors of the movies directed by Ann",
     "Which movies are directed by Ann?", "Name the actors of #"),
    ("Which teams do players from Ann play for?", "Which players are from Ann?",
     "Which teams do # play for?"),
    ("Which city does Ann's manager's manager work from?", "Who is Ann's manager?",
     "Which city does #'s manager work from?"),
    ("Where was Ann's wife born?", "Who is Ann's wife?", "Where was # born?"),
    ("Who first climbed the Ann's parent peak?", "What is the Ann's parent peak?",
     "Who first climbed #?"),
]  # fmt: skip
ONE_STEP = [
    "Who is the composer of Ann?",
    "What is the name of the father of Ann?",
    "What awards did the film Ann win?",
    "Which films by Ann won awards?",
    "Show me wines from Ann",
    "What are the age and the employers of Ann?",
    "Who is Ann's boss?",
    "Where is the head office of Ann?",
    "Ann",
]


@pytest.mark.parametrize(("question", "inner", "outer"), STEPS)
def test_a_description_is_asked_for_first(question, inner, outer):
    span = name_span(question, "Ann")
    assert span is not None
    steps = described_topic(question, span)
    assert steps is not None
    assert (steps.inner, steps.outer("#")) == (inner, outer)


@pytest.mark.parametrize("question", ONE_STEP)
def test_a_question_for_the_description_itself_has_one_step(question):
    span = name_span(question, "Ann")
    assert span is not None
    assert described_topic(question, span) is None


@given(
    st.lists(
        st.sampled_from("who the a of that by owns works films 's , Ann does".split()),
        max_size=12,
    ),
    st.data(),
)
def test_the_steps_of_any_words_have_the_topic_in_the_first_alone(words, data):
    place = data.draw(st.integers(0, len(words)))
    before = "".join(f"{word} " for word in words[:place])
    question = f"{before}Zoe {' '.join(words[place:])}?"
    steps = described_topic(question, (len(before), len(before) + 3))
    if steps is not None:
        assert "Zoe" in steps.inner and "Zoe" not in steps.outer("#")
        assert question.startswith(steps.before) and question.endswith(steps.after)
