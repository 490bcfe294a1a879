"""Whether a noun stands between the topic of a question and its answer."""

import pytest

from kgscout_jax.text.between_noun import has_between_noun


@pytest.mark.parametrize(
    "question",
    [
        "What soils are found in the vineyards of Ann?",
        "Which firms do the pupils of Ann work for?",
        "What was the job of Ann's wife?",
        "Where do Ann's pupils live?",
        "Where are the vineyards of Ann?",
        "When were the films by Ann released?",
        "Who drives vehicles made by Ann?",
        "Who taught the owner of the estate that makes Ann?",
        "Who runs the firm that Ann works for?",
        "How many prizes did the films of Ann win?",
    ],
)
def test_the_answer_lies_beyond_the_noun(question):
    assert has_between_noun(question, ["Ann"])


@pytest.mark.parametrize(
    "question",
    [
        "Who are the pupils of Ann?",
        "Who is Ann's wife?",
        "Which films did Ann direct?",
        "Which films of Ann are there?",
        "Which city is the capital of Ann?",
        "What are the names of the rivers in Ann?",
        "What's the name of Ann's son?",
        "What is the place of birth of Ann?",
        # The city of Ann is Ann.
        "Who is the mayor of the city of Ann?",
        "Who taught Ann and Ann?",
        "",
    ],
)
def test_the_noun_is_what_is_asked_for_or_the_topic(question):
    assert not has_between_noun(question, ["Ann"])
