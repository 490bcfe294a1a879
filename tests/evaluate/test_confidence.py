"""Curves of confidence: abstention, calibration and routing, against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kgscout_jax.evaluate.answers.confidence import (
    reliability,
    risk_coverage,
    routing,
    thin,
)
from kgscout_jax.retrieve.answer_scale import BINS, expected_calibration_error

N = st.shared(st.integers(1, 30), key="n")
CONFIDENCE = arrays(float, N, elements=st.sampled_from([0.0, 0.1, 0.5, 0.51, 0.9, 1.0]))
FIGURES = arrays(float, N, elements=st.sampled_from([0.0, 0.5, 1.0]))


def test_risk_coverage_by_hand():
    curve = risk_coverage(np.array([0.2, 0.9, 0.5, 0.5]), np.array([0, 1, 1.0, 0]))
    assert curve.coverage.tolist() == [0.25, 0.75, 1]
    assert curve.accuracy.tolist() == pytest.approx([1, 2 / 3, 1 / 2])
    assert curve.confidence.tolist() == [0.9, 0.5, 0.2]
    # the two of equal confidence count a half each
    assert curve.area == pytest.approx((1 + 1.5 / 2 + 2 / 3 + 2 / 4) / 4)


@given(CONFIDENCE, FIGURES)
def test_risk_coverage_is_the_mean_of_those_answered(confidence, right):
    curve = risk_coverage(confidence, right)
    thresholds = sorted(set(confidence), reverse=True)
    assert curve.confidence.tolist() == thresholds
    for at, threshold in enumerate(thresholds):
        answered = confidence >= threshold
        assert curve.coverage[at] == pytest.approx(answered.mean())
        assert curve.accuracy[at] == pytest.approx(right[answered].mean())
    # the mean over orders of the areas, each a mean over numbers of questions
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(400):
        order = np.lexsort((rng.random(len(right)), -confidence))
        areas.append((np.cumsum(right[order]) / np.arange(1, len(right) + 1)).mean())
    assert curve.area == pytest.approx(np.mean(areas), abs=0.06)


def test_routing_by_hand():
    confidence = np.array([0.9, 0.1, 0.4, 0.4])
    graph, model = np.array([1, 0, 1.0, 0]), np.array([0, 1, 0.0, 1])
    curve = routing(confidence, graph, model)
    assert curve.share.tolist() == [0, 0.25, 0.75, 1]
    assert curve.accuracy.tolist() == [0.5, 0.75, 0.75, 0.5]
    assert curve.below.tolist() == [-1, 0.1, 0.4, 0.9]
    # one of the two at 0.4 was not asked: the curve ends before them
    curve = routing(confidence, graph, np.array([np.nan, 1, np.nan, 1]))
    assert curve.share.tolist() == [0, 0.25] and curve.accuracy.tolist() == [0.5, 0.75]


@given(CONFIDENCE, FIGURES, FIGURES)
def test_routing_is_the_mean_of_whoever_answers(confidence, graph, model):
    curve = routing(confidence, graph, model)
    for share, accuracy, below in zip(*curve, strict=True):
        asked = confidence <= below
        assert share == pytest.approx(asked.mean())
        assert accuracy == pytest.approx(np.where(asked, model, graph).mean())
    assert curve.below.tolist() == [-1, *sorted(set(confidence))]


@given(
    arrays(float, N, elements=st.floats(0, 1)), arrays(bool, N, elements=st.booleans())
)
def test_calibration_error_is_that_of_the_bins(probability, is_right):
    bins = [[] for _ in range(BINS)]
    for p, right in zip(probability, is_right, strict=True):
        bins[min(int(p * BINS), BINS - 1)].append((p, right))
    full = [np.array(one, float) for one in bins if one]
    found = reliability(probability, is_right)
    np.testing.assert_allclose(found.probability, [one[:, 0].mean() for one in full])
    np.testing.assert_allclose(found.share, [one[:, 1].mean() for one in full])
    assert found.size.tolist() == [len(one) for one in full]
    gaps = [abs(one[:, 0].mean() - one[:, 1].mean()) * len(one) for one in full]
    error = expected_calibration_error(probability, is_right)
    assert error == pytest.approx(sum(gaps) / len(probability), abs=1e-9)


def test_thin_keeps_both_ends():
    assert thin(3).tolist() == [0, 1, 2] and thin(0).tolist() == []
    few = thin(1000, 7)
    assert len(few) == 7 and few[0] == 0 and few[-1] == 999
