"""EM, F1, accuracy and both readings of hallucination, by hand."""

from __future__ import annotations

import pytest

from kgscout_jax.evaluate.span_scores import SpanScore, span_score

SORRY = "I am sorry, I could not find an answer to your question."


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("The Paris.", ["Paris"], SpanScore(1, 1, 1, 0, 0)),
        ("Paris", ["Rome", "paris"], SpanScore(1, 1, 1, 0, 0)),
        ("Michael", ["Michael Wilding"], SpanScore(0, 2 / 3, 1, 0, 0)),
        ("Paris Texas", ["Paris"], SpanScore(0, 2 / 3, 1, 1, 0)),
        ("Rome", ["Paris"], SpanScore(0, 0, 0, 1, 0)),
        (SORRY, ["Paris"], SpanScore(0, 0, 0, 0, 1)),
        ("", ["Paris"], SpanScore(0, 0, 0, 1, 0)),
    ],
)
def test_an_answer_is_measured_against_the_gold_one_it_fits_best(
    answer: str, gold: list[str], expected: SpanScore
):
    assert span_score(answer, gold) == expected
