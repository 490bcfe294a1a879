"""Gumbel-top-k and Plackett-Luce against enumeration."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2

from kgscout_jax.policy.sampling import (
    categorical_entropy,
    greedy_top_k,
    gumbel_top_k,
    plackett_luce_log_prob,
)

LOGITS = jnp.array([0.3, -1.0, 1.6, 0.9, -0.1, 7.0, -3.0])
MASK = jnp.array([True, True, True, True, True, False, False])
log_prob = jax.jit(plackett_luce_log_prob)
log_prob_and_gradient = jax.jit(jax.value_and_grad(plackett_luce_log_prob))
log_prob_batch = jax.jit(jax.vmap(plackett_luce_log_prob, (None, None, 0, 0)))
entropy_and_gradient = jax.jit(jax.value_and_grad(categorical_entropy))
top_k = jax.jit(gumbel_top_k, static_argnums=3)

ORDERED = list(itertools.permutations(range(5), 3))


def brute_force(logits, order):
    """log-probability of drawing ``order`` one by one, from the definition."""
    left, total = dict(enumerate(logits)), 0.0
    for i in order:
        total += left[i] - np.logaddexp.reduce(list(left.values()))
        del left[i]
    return total


def log_probs(logits, mask, orders):
    indices = jnp.array(orders, jnp.int32)
    real = jnp.ones(indices.shape, bool)
    return np.asarray(log_prob_batch(logits, mask, indices, real), np.float64)


def test_log_prob_by_hand():
    logits = jnp.log(jnp.array([1.0, 2.0, 3.0]))
    value = log_probs(logits, jnp.ones(3, bool), [(2, 0)])
    assert value[0] == pytest.approx(math.log(3 / 6 * 1 / 3), abs=1e-6)


def test_log_prob_equals_enumeration_and_sums_to_one():
    values = log_probs(LOGITS, MASK, ORDERED)
    expected = [brute_force(np.asarray(LOGITS[:5], np.float64), o) for o in ORDERED]
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert np.exp(values).sum() == pytest.approx(1.0, abs=1e-5)


def test_sampling_frequencies_match_the_log_prob():
    samples = 40_000
    keys = jax.random.split(jax.random.key(7), samples)
    draw = jax.jit(jax.vmap(lambda key: gumbel_top_k(key, LOGITS, MASK, 3)))
    indices, selected_mask = draw(keys)
    assert selected_mask.all()
    codes = np.asarray(indices) @ np.array([25, 5, 1])
    counts = np.bincount(codes, minlength=125)
    wanted = [25 * a + 5 * b + c for a, b, c in ORDERED]
    assert counts.sum() == counts[wanted].sum()  # no repeats, nothing masked
    expected = samples * np.exp(log_probs(LOGITS, MASK, ORDERED))
    assert expected.min() > 5  # what the chi-square approximation asks for
    statistic = ((counts[wanted] - expected) ** 2 / expected).sum()
    assert statistic < chi2.ppf(0.999, len(expected) - 1)


def test_vmaps_over_questions_and_samples():
    logits = jax.random.normal(jax.random.key(0), (4, 30))
    mask = jnp.arange(30)[None] < jnp.array([30, 8, 1, 0])[:, None]
    keys = jax.random.split(jax.random.key(1), (4, 6))
    draw = jax.vmap(jax.vmap(gumbel_top_k, (0, None, None, None)), (0, 0, 0, None))
    indices, real = jax.jit(draw, static_argnums=3)(keys, logits, mask, 10)
    assert indices.shape == real.shape == (4, 6, 10)
    np.testing.assert_array_equal(
        real.sum(axis=-1), np.repeat([[10], [8], [1], [0]], 6, axis=1)
    )
    score = jax.vmap(jax.vmap(plackett_luce_log_prob, (None, None, 0, 0)))
    values = jax.jit(score)(logits, mask, indices, real)
    assert np.isfinite(values).all()
    assert (values[0] < 0).all() and (values[3] == 0).all()


def test_fewer_real_candidates_than_k():
    mask = jnp.array([False, True, False, True, True, False, False])
    for k in (3, 5, 7, 11):
        indices, real = top_k(jax.random.key(k), LOGITS, mask, k)
        assert indices.shape == real.shape == (k,)
        assert indices.dtype == jnp.int32
        assert real.tolist() == [True] * 3 + [False] * (k - 3)
        assert sorted(indices[:3].tolist()) == [1, 3, 4]
        assert (indices >= 0).all() and (indices < 7).all()
        value = log_prob(LOGITS, mask, indices, real)
        order = [[1, 3, 4].index(i) for i in indices[:3].tolist()]
        expected = brute_force(np.asarray(LOGITS, np.float64)[[1, 3, 4]], order)
        assert float(value) == pytest.approx(expected, abs=1e-5)


def test_a_surplus_index_that_repeats_a_drawn_one_is_harmless():
    mask = jnp.array([True, True, False])
    logits = jnp.array([1.0, 0.0, 5.0])
    value = log_prob(
        logits, mask, jnp.array([1, 1, 1]), jnp.array([True, False, False])
    )
    assert float(value) == pytest.approx(-math.log(1 + math.e), abs=1e-6)


def test_greedy_is_descending_with_ties_by_position():
    logits = jnp.array([1.0, 3.0, 3.0, 2.0, 9.0])
    mask = jnp.array([True, True, True, True, False])
    indices, real = greedy_top_k(logits, mask, 3)
    assert indices.tolist() == [1, 2, 3] and real.all()


def test_gradient_equals_the_numeric_one_and_stays_inside_the_mask():
    order = jnp.array([3, 0, 4, 0], jnp.int32)
    real = jnp.array([True, True, True, False])
    gradient = log_prob_and_gradient(LOGITS, MASK, order, real)[1]
    base = np.asarray(LOGITS[:5], np.float64)
    for i in range(5):
        step = np.eye(5)[i] * 1e-5
        plus = brute_force(base + step, [3, 0, 4])
        minus = brute_force(base - step, [3, 0, 4])
        assert float(gradient[i]) == pytest.approx((plus - minus) / 2e-5, abs=1e-4)
    assert not gradient[5:].any()


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e8])
def test_extreme_logits_give_finite_values_and_gradients(scale):
    logits = scale * jnp.array([1.0, -1.0, 0.5, 0.0, 1.0])
    mask = jnp.ones(5, bool)
    for order in ([0, 4, 2], [1, 3, 2], [1, 0, 4]):
        picks = jnp.array(order, jnp.int32)
        value, gradient = log_prob_and_gradient(logits, mask, picks, jnp.ones(3, bool))
        expected = brute_force(np.asarray(logits, np.float64), order)
        assert float(value) == pytest.approx(
            expected, rel=1e-5, abs=1e-5 + 2e-7 * scale
        )
        assert np.isfinite(gradient).all()


def test_a_likely_first_draw_keeps_the_digits_of_the_rest():
    """Subtracting the drawn mass from a total would leave 0 here."""
    logits = jnp.array([60.0, 0.0, -1.0])
    value = log_probs(logits, jnp.ones(3, bool), [(0, 1)])[0]
    assert value == pytest.approx(-math.log(1 + math.exp(-1)), abs=1e-6)


def test_infinite_logits_outside_and_inside_the_mask():
    logits = jnp.array([-jnp.inf, 1.0, 0.0, -jnp.inf, jnp.nan])
    mask = jnp.array([False, True, True, True, False])
    indices, real = top_k(jax.random.key(0), logits, mask, 4)
    assert real.tolist() == [True, True, True, False]
    assert indices[2] == 3  # of probability zero: last, not lost
    value, gradient = log_prob_and_gradient(logits, mask, indices[:2], real[:2])
    assert np.isfinite(value) and np.isfinite(gradient).all()
    entropy, gradient = entropy_and_gradient(logits, mask)
    p = 1 / (1 + math.e)
    expected = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert float(entropy) == pytest.approx(expected, abs=1e-6)
    assert np.isfinite(gradient).all()


def test_entropy():
    mask = jnp.arange(10) < 4
    value, _ = entropy_and_gradient(jnp.zeros(10), mask)
    assert float(value) == pytest.approx(math.log(4), abs=1e-6)
    value, gradient = entropy_and_gradient(jnp.zeros(10), jnp.zeros(10, bool))
    assert float(value) == 0.0 and not gradient.any()
    peaked = jnp.where(jnp.arange(10) == 0, 500.0, 0.0)
    value, gradient = entropy_and_gradient(peaked, mask)
    assert float(value) == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite(gradient).all()


def test_entropy_gradient_equals_the_numeric_one():
    def entropy(x):
        log_p = x - np.logaddexp.reduce(x)
        return -(np.exp(log_p) * log_p).sum()

    gradient = entropy_and_gradient(LOGITS, MASK)[1]
    base = np.asarray(LOGITS[:5], np.float64)
    for i in range(5):
        step = np.eye(5)[i] * 1e-5
        slope = (entropy(base + step) - entropy(base - step)) / 2e-5
        assert float(gradient[i]) == pytest.approx(slope, abs=1e-5)
    assert not gradient[5:].any()
