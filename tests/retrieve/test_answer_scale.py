"""Probabilities of answers: the fit, the threshold, the calibration error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.answer_scale import (
    BINS,
    DOUBT,
    AnswerScale,
    best_limits,
    expected_calibration_error,
    fit_answer_scale,
    mean_f1,
)


def sampled(slope, margin, intercept, questions=4000, nodes=6, seed=0):
    """Logits, margins, and answers drawn with the probability of a scale."""
    g = np.random.default_rng(seed)
    logits = -np.sort(-g.normal(0, 3, (questions, nodes)).astype(np.float32), axis=1)
    margins = g.uniform(-8, 8, logits.shape).astype(np.float32)
    chance = 1 / (1 + np.exp(-(slope * logits + margin * margins + intercept)))
    return logits, margins, g.random(logits.shape) < chance


def test_the_fit_recovers_the_scale_that_drew_the_answers():
    logits, margins, is_answer = sampled(0.6, 0.2, -1.0)
    counts = is_answer.sum(axis=1)
    scale = fit_answer_scale(logits, margins, is_answer, counts, split="dev")
    assert scale.slope == pytest.approx(0.6, abs=0.03)
    assert scale.margin == pytest.approx(0.2, abs=0.02)
    assert scale.intercept == pytest.approx(-1.0, abs=0.06)
    *held, right = sampled(0.6, 0.2, -1.0, seed=1)
    error = expected_calibration_error(scale.probability(*held).ravel(), right.ravel())
    assert error < 0.02
    raw = expected_calibration_error(
        AnswerScale().probability(*held).ravel(), right.ravel()
    )
    assert raw > 0.1
    assert AnswerScale.from_dict(scale.to_dict()) == scale


def test_doubts_have_a_weight_of_their_own():
    logits, margins, is_answer = sampled(0.6, 0.2, -1.0)
    g = np.random.default_rng(2)
    doubts = g.choice([0.0, 4.0], logits.shape)
    keep = g.random(logits.shape) < 1 / (1 + np.exp(DOUBT * doubts - 3))
    doubted = is_answer & keep  # fewer answers where there are doubts
    counts = doubted.sum(axis=1)
    plain, scale = (
        fit_answer_scale(logits, margins, doubted, counts, split="dev", doubts=each)
        for each in (None, doubts)
    )
    assert scale.intercept > plain.intercept  # what doubts explain is left to them
    odds = [
        np.log(p / (1 - p))
        for p in (
            scale.probability(logits[0], margins[0], each) for each in (0.0, doubts[0])
        )
    ]
    np.testing.assert_allclose(odds[0] - odds[1], DOUBT * doubts[0], atol=1e-6)


def test_probability_of_padding_is_zero():
    assert AnswerScale(intercept=5.0, margin=1.0).probability(
        np.array([-np.inf]), np.array([8.0])
    ) == [0.0]


def test_a_split_without_answers_cannot_calibrate():
    with pytest.raises(UserError, match="no question of split 'dev'"):
        fit_answer_scale(
            *np.zeros((2, 2, 3)), np.zeros((2, 3), bool), np.ones(2), split="dev"
        )


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_equals_the_sum_over_bins(values):
    probability, right = map(np.array, zip(*values, strict=True))
    total = 0.0
    for low in range(BINS):
        inside = np.minimum(np.floor(probability * BINS), BINS - 1) == low
        if inside.any():
            gap = probability[inside].mean() - right[inside].mean()
            total += inside.sum() * abs(gap)
    error = expected_calibration_error(probability, right)
    assert error == pytest.approx(total / len(values), abs=1e-12)


def test_mean_f1_by_hand():
    probability = np.array([[0.9, 0.6, 0.1], [0.3, 0.2, 0.0]])
    is_answer = np.array([[True, False, True], [True, False, False]])
    counts = np.array([2.0, 4.0])
    # 0.5: {1 of 2 right, 2 gold} = 1/2; the best alone, 1 of 4 gold = 2/5.
    assert mean_f1(probability, is_answer, counts, 0.5) == pytest.approx(0.45)
    # 0.1: {2 of 3, 2 gold} = 4/5; {1 of 2, 4 gold} = 1/3.
    expected = (4 / 5 + 1 / 3) / 2
    assert mean_f1(probability, is_answer, counts, 0.1) == pytest.approx(expected)
    # From half of the best on: {2, 2 gold} = 1/2 of right; {2 of 2, 4 gold} = 1/3.
    half = mean_f1(probability, is_answer, counts, 0.1, 0.5)
    assert half == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert best_limits(probability, is_answer, counts) == (0.02, 0.0)


def test_limits_leave_out_what_is_far_behind_the_best():
    probability = np.array([[0.9, 0.4], [0.5, 0.4]])
    is_answer = np.array([[True, False], [True, True]])
    threshold, share = best_limits(probability, is_answer, np.array([1.0, 2.0]))
    assert threshold <= 0.4 and 4 / 9 < share <= 0.8
