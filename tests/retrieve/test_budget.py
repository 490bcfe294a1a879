"""Budgets per question: the chain rule by brute force, the fit on known hazards."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.budget import (
    PIVOT,
    Calibration,
    budgets,
    cross_fitted_presence,
    fit_calibration,
    thresholds,
    truncate_rankings,
)
from kgscout_jax.retrieve.protocol import Rankings

MAP = Calibration(
    intercept=-1.0, log_rank=-0.4, log_intensity=0.8, questions=3, split="dev"
)


def hazards(logits, c, calibration=MAP):
    """h_r of one question, written out."""
    a, b, d = calibration.intercept, calibration.log_rank, calibration.log_intensity
    return [expit(a + b * np.log(r) + d * (s - c)) for r, s in enumerate(logits, 1)]


def test_thresholds_are_roots_of_the_expected_budget():
    g = np.random.default_rng(0)
    logits = np.full((70, 50), -np.inf, np.float32)
    sizes = g.integers(1, 51, 70)
    for row, n in zip(logits, sizes, strict=True):
        row[g.permutation(50)[:n]] = 3 * g.normal(size=n)
    found = thresholds(logits)
    for row, n, c in zip(logits, sizes, found, strict=True):
        s = row[np.isfinite(row)].astype(np.float64)
        k = min(PIVOT, n / 2)
        root = brentq(lambda x: -np.expm1(-np.exp(s - x)).sum() - k, -40, 40)  # noqa: B023
        assert c == pytest.approx(root, abs=1e-3)
    assert thresholds(np.full((1, 4), -np.inf, np.float32)).tolist() == [0.0]
    np.testing.assert_allclose(thresholds(logits[3:4]), found[3:4], atol=1e-5)


def test_presence_is_the_chain_rule():
    logits = np.array([[2.0, 1.0, -1.0, 9.0], [0.5, 0.0, 0.0, 0.0]])
    lengths, c = np.array([3, 1]), np.array([0.3, -0.2])
    found = MAP.presence(logits, c, lengths)
    for row, s, n, threshold in zip(found, logits, lengths, c, strict=True):
        missed = np.cumprod([1 - h for h in hazards(s[:n], threshold)])
        np.testing.assert_allclose(row[:n], 1 - missed, rtol=1e-12)
        assert (row[n:] == row[n - 1]).all()  # padding adds nothing


def test_presence_is_finite_for_huge_logits():
    logits = np.array([[1e30, 0.0, -1e30]])
    found = MAP.presence(logits, np.zeros(1), np.array([3]))
    assert np.isfinite(found).all() and (np.diff(found) >= 0).all()
    assert MAP.presence(np.empty((1, 0)), np.zeros(1), np.array([0])).shape == (1, 0)


def drawn(n_questions, seed, k=60):
    """Questions whose first answers come by the hazards of MAP."""
    g = np.random.default_rng(seed)
    logits = -np.sort(-g.normal(size=(n_questions, k)) * 1.5, axis=1)
    c = g.normal(size=n_questions) * 0.5
    chance = np.array([hazards(s, t) for s, t in zip(logits, c, strict=True)])
    lengths = g.integers(5, k + 1, n_questions)
    return logits, c, lengths, g.random(logits.shape) < chance


def test_the_fit_recovers_the_true_map():
    fitted = fit_calibration(*drawn(8000, 1), split="dev")
    for name in ("intercept", "log_rank", "log_intensity"):
        assert getattr(fitted, name) == pytest.approx(getattr(MAP, name), abs=0.12)
    assert (fitted.questions, fitted.split) == (8000, "dev")


def test_budgets_reach_their_target_as_often_as_predicted():
    """On fresh questions, whatever the target, as often as promised."""
    fitted = fit_calibration(*drawn(4000, 2), split="dev")
    logits, c, lengths, holds = drawn(4000, 3)
    holds &= np.arange(logits.shape[1]) < lengths[:, None]
    presence = fitted.presence(logits, c, lengths)
    last = -1
    for target in (0.5, 0.7, 0.9):
        k = budgets(presence, lengths, target)
        promised = presence[np.arange(len(k)), k - 1].mean()
        reached = (holds & (np.arange(holds.shape[1]) < k[:, None])).any(axis=1).mean()
        assert reached == pytest.approx(promised, abs=0.02)
        assert k.mean() > last
        last = k.mean()
    data = logits, c, lengths, holds
    crossed = cross_fitted_presence(*data, split="dev")
    assert np.abs(crossed - presence).max() < 0.1
    one_half = fit_calibration(*(each[1::2] for each in data), split="dev")
    expected = one_half.presence(*(each[::2] for each in data[:3]))
    np.testing.assert_array_equal(crossed[::2], expected)


def test_budgets_equal_those_worked_out_by_hand():
    presence = np.array([[0.2, 0.5, 0.9], [0.1, 0.2, 0.3], [0.95, 0.95, 0.95]])
    assert budgets(presence, np.array([3, 3, 3]), 0.5).tolist() == [2, 3, 1]
    assert budgets(presence, np.array([1, 2, 0]), 0.5).tolist() == [1, 2, 0]


def test_truncated_rankings_are_padded():
    ids, lengths = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([3, 2])
    rankings = Rankings(
        retriever="x", heads=ids, relations=ids, tails=ids, lengths=lengths,
        scores=np.ones((2, 3), np.float32), seconds=np.zeros(2),
    )  # fmt: skip
    cut = truncate_rankings(rankings, np.array([1, 3]))
    assert cut.heads.tolist() == [[0, -1, -1], [3, 4, -1]]
    assert cut.lengths.tolist() == [1, 2] and cut.scores.sum() == 3
    assert rankings.lengths.tolist() == [3, 2]


FIELDS = MAP.to_dict()
NO_SPLIT = {name: FIELDS[name] for name in FIELDS if name != "split"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (FIELDS | {"log_rank": None}, "c: log_rank: expected `float`, found `null`"),
        (FIELDS | {"log_rank": float("nan")}, "c: log_rank: expected `float` >="),
        (FIELDS | {"questions": 0}, "c: questions: expected `int` >= 1"),
        (FIELDS | {"split": 3}, "c: split: expected `str`, found `int`"),
        (FIELDS | {"more": 1}, "c: Object contains unknown field `more`"),
        (NO_SPLIT, "c: Object missing required field `split`"),
        (3, "c: expected `object`, found `int`"),
    ],
)
def test_a_damaged_calibration_names_the_field(fields, message):
    assert Calibration.from_dict(FIELDS) == MAP
    with pytest.raises(UserError, match=message):
        Calibration.from_dict(fields, "c")


def test_invalid_targets_and_splits_without_answers_are_refused():
    for target in (0.0, 1.0, 90.0, float("nan")):
        with pytest.raises(UserError, match=r"--target: .*, expected a number between"):
            budgets(np.zeros((1, 1)), np.ones(1, int), target)
    with pytest.raises(UserError, match="no question of split 'dev' has an answer"):
        zeros = np.zeros((2, 3))
        fit_calibration(zeros, zeros[:, 0], np.full(2, 3), zeros > 0, split="dev")
