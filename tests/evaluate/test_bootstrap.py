"""Intervals against a loop of numpy resamples."""

import numpy as np
import pytest

from kgscout_jax.evaluate import bootstrap as bootstrap_module
from kgscout_jax.evaluate.bootstrap import (
    bootstrap_means,
    estimates,
    relative_gain,
)


def bootstrap_mean(values, **options):
    (estimate,) = bootstrap_means(values[:, None], **options)
    return estimate


def loop(values, seed, resamples):
    rng = np.random.default_rng(seed)
    means = [
        values[rng.integers(0, len(values), len(values))].mean()
        for _ in range(resamples)
    ]
    return np.percentile(means, [2.5, 97.5])


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_intervals_equal_a_loop_of_resamples(monkeypatch, chunk):
    monkeypatch.setattr(bootstrap_module, "CHUNK", chunk)
    rng = np.random.default_rng(1)
    columns = rng.random((37, 4))
    columns[rng.random((37, 4)) < 0.3] = np.nan
    columns[:, 3] = columns[:, 1]
    estimates = bootstrap_means(columns, seed=5, resamples=200)
    for column, estimate in zip(columns.T, estimates, strict=True):
        values = column[~np.isnan(column)]
        assert estimate.n == len(values)
        np.testing.assert_allclose(estimate.value, values.mean())
        expected = loop(values, 5, 200)
        np.testing.assert_allclose([estimate.low, estimate.high], expected)
    assert estimates[1] == estimates[3]


def test_the_seed_decides_the_interval():
    values = np.arange(20.0)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, seed=1)
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)


def test_without_a_question_everything_is_none():
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    assert estimates({"x": np.full(3, np.nan)}) == {"x": nothing}


def test_relative_gain_by_hand():
    better, base = np.array([1.0, 0.5, np.nan]), np.array([0.5, 0.5, 1.0])
    assert relative_gain(better, base) == pytest.approx(0.5)
    assert relative_gain(better, np.zeros(3)) is None
    assert relative_gain(np.full(3, np.nan), base) is None


@pytest.mark.parametrize("bad", [{"resamples": 0}, {"level": 0.0}, {"level": 1.0}])
def test_impossible_options_are_refused(bad):
    with pytest.raises(ValueError, match="resamples"):
        bootstrap_mean(np.ones(3), **bad)
