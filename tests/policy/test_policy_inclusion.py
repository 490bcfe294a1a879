"""The Poissonised top-k against root finding, finite differences and enumeration."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from kgscout_jax.policy.inclusion import inclusion, presence
from kgscout_jax.policy.sampling import gumbel_top_k

call = jax.jit(inclusion)


@jax.jit
def gradient_of(logits, mask, k, weights):
    """Of the weighted sum of the probabilities, plus 0.1 c where c is finite."""

    def objective(s):
        found = inclusion(s, mask, k)
        finite = jnp.where(mask.sum() > k, found.threshold, 0.0)
        return jnp.sum(found.probability * weights) + 0.1 * finite

    return jax.grad(objective)(logits)


def oracle(logits, k):
    """q by root finding in float64; every entry is real and k < n."""
    s = np.asarray(logits, np.float64)

    def excess(c):
        return -np.expm1(-np.exp(np.minimum(s - c, 500))).sum() - k

    c = brentq(excess, s.min() - 60, s.max() + 60, xtol=1e-13, rtol=1e-14)
    return -np.expm1(-np.exp(s - c)), c


@given(
    n=st.integers(2, 60),
    share=st.floats(0.02, 0.98),
    spread=st.sampled_from([0.0, 0.1, 3.0, 30.0]),
    offset=st.sampled_from([-50.0, 0.0, 50.0]),
    seed=st.integers(0, 1000),
)
def test_probabilities_sum_to_k_and_equal_root_finding(n, share, spread, offset, seed):
    g = np.random.default_rng(seed)
    logits = np.zeros(64, np.float32)
    logits[:n] = offset + spread * g.normal(size=n)
    mask = np.arange(64) < n
    k = np.float32(share * n)
    found = call(logits, mask, k)
    assert float(found.probability.sum()) == pytest.approx(k, rel=1e-3)
    assert not found.probability[n:].any() and not found.intensity[n:].any()
    expected, _ = oracle(logits[:n], float(k))
    np.testing.assert_allclose(found.probability[:n], expected, atol=2e-4)


def test_by_hand():
    """Two equal logits, k = 1: q = 1/2, u = log 2, c = s - log(log 2)."""
    found = call(jnp.array([3.0, 3.0]), jnp.ones(2, bool), 1.0)
    np.testing.assert_allclose(found.probability, 0.5, atol=1e-6)
    np.testing.assert_allclose(found.intensity, np.log(2), atol=1e-6)
    assert float(found.threshold) == pytest.approx(3 - np.log(np.log(2)), abs=1e-5)


@pytest.mark.parametrize("k", [0.5, 3.0, 11.0, 18.5])
@pytest.mark.parametrize("spread", [0.3, 2.0, 6.0])
def test_gradient_equals_finite_differences(k, spread):
    g = np.random.default_rng(1)
    s = spread * g.normal(size=20)
    weights = g.normal(size=20)
    mask = np.arange(24) < 20
    padded = jnp.asarray(np.append(s, np.full(4, -np.inf)), jnp.float32)

    gradient = gradient_of(padded, mask, k, np.append(weights, np.zeros(4)))
    gradient = np.asarray(gradient)
    assert not gradient[20:].any()

    def exact(x):
        q, c = oracle(x, k)
        return (q * weights).sum() + 0.1 * c

    for i in range(20):
        step = np.eye(20)[i] * 1e-5
        slope = (exact(s + step) - exact(s - step)) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=2e-3, abs=2e-5)


def test_the_sum_has_no_gradient():
    """It is k whatever the logits: what one candidate gains, the others lose."""
    logits = jax.random.normal(jax.random.key(0), (50,)) * 3
    mask = jnp.ones(50, bool)
    gradient = gradient_of(logits, mask, 9.0, jnp.ones(50))
    # What is left is that of 0.1 c, whose weights sum to 1.
    assert float(gradient.sum()) == pytest.approx(0.1, abs=1e-4)
    doubled = gradient_of(logits, mask, 9.0, 2 * jnp.ones(50))
    np.testing.assert_allclose(doubled, gradient, atol=1e-5)


@pytest.mark.parametrize("n_real", [0, 1, 4, 10])
def test_all_is_kept_when_there_are_at_most_k(n_real):
    mask = jnp.arange(16) < n_real
    logits = jnp.where(mask, jnp.arange(16.0) * 9, jnp.nan)
    found = call(logits, mask, 10.0)
    np.testing.assert_array_equal(found.probability, np.asarray(mask, np.float32))
    assert np.isneginf(found.threshold)

    assert not gradient_of(logits, mask, 10.0, jnp.arange(16.0)).any()


@pytest.mark.parametrize("k", [1.0, 4.0, 5.0, 6.0, 9.0])
@pytest.mark.parametrize("high", [50.0, 500.0, 1e6])
def test_wide_gaps_give_finite_gradients_and_the_right_sum(k, high):
    """Five candidates far above five others: at k = 5 the sum is flat in c."""
    logits = jnp.array([high, -high] * 5) + 0.1 * jnp.arange(10)
    mask = jnp.ones(10, bool)
    found = call(logits, mask, k)
    assert float(found.probability.sum()) == pytest.approx(k, rel=1e-3)
    top = found.probability[::2]
    assert float(top.sum()) == pytest.approx(min(k, 5.0), rel=1e-3)
    gradient = gradient_of(logits, mask, k, jnp.arange(10.0))
    assert np.isfinite(gradient).all()


def test_infinite_logits_of_real_candidates_are_the_last_to_be_kept():
    logits = jnp.array([0.0, 1.0, -jnp.inf, -jnp.inf])
    mask = jnp.ones(4, bool)
    np.testing.assert_allclose(call(logits, mask, 1.0).probability[2:], 0.0, atol=1e-6)
    found = call(logits, mask, 3.0)
    np.testing.assert_allclose(found.probability, [1, 1, 0.5, 0.5], atol=1e-4)
    gradient = gradient_of(logits, mask, 1.0, jnp.array([1.0, 0.0, 0.0, 0.0]))
    assert np.isfinite(gradient).all()


def plackett_luce_inclusion(logits, k):
    """Exact: the sum over all ordered draws of k."""
    weights = np.exp(np.asarray(logits, np.float64))
    q = np.zeros(len(weights))
    for order in itertools.permutations(range(len(weights)), k):
        left, p = weights.sum(), 1.0
        for i in order:
            p *= weights[i] / left
            left -= weights[i]
        q[list(order)] += p
    return q


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_close_to_plackett_luce_on_small_cases(k):
    """Within 0.08 at n = 7, where the approximation is at its worst, and same order."""
    logits = np.array([1.5, 0.7, 0.2, 0.0, -0.4, -1.0, -2.0], np.float32)
    exact = plackett_luce_inclusion(logits, k)
    found = np.asarray(call(logits, np.ones(7, bool), float(k)).probability)
    assert np.abs(found - exact).max() < 0.08
    assert (np.argsort(-found) == np.argsort(-exact)).all()


@pytest.mark.extended
def test_close_to_gumbel_top_k_at_a_working_size():
    """Within 0.012, Monte Carlo's own error included, at n = 300 and k = 30."""
    logits = 1.5 * jax.random.normal(jax.random.key(2), (300,))
    mask = jnp.ones(300, bool)
    keys = jax.random.split(jax.random.key(3), 20_000)
    indices, _ = jax.jit(
        jax.vmap(gumbel_top_k, (0, None, None, None)), static_argnums=3
    )(keys, logits, mask, 30)
    frequency = np.bincount(np.asarray(indices).ravel(), minlength=300) / 20_000
    found = np.asarray(call(logits, mask, 30.0).probability)
    assert np.abs(found - frequency).max() < 0.012


def test_one_compilation_serves_every_budget():
    traces = []

    def counted(logits, mask, k):
        traces.append(1)
        return inclusion(logits, mask, k)

    batched = jax.jit(jax.vmap(counted, (0, 0, None)))
    logits = jax.random.normal(jax.random.key(0), (3, 80))
    mask = jnp.arange(80)[None] < jnp.array([80, 25, 0])[:, None]
    for k in (5.0, 10.0, 40.0, 77.5):
        sums = batched(logits, mask, jnp.float32(k)).probability.sum(axis=1)
        np.testing.assert_allclose(sums, [k, min(k, 25), 0], rtol=1e-3)
    assert len(traces) == 1


def test_presence_is_one_minus_the_chance_that_nothing_holds_the_node():
    g = np.random.default_rng(4)
    n, nodes = 60, 12
    head, tail = g.integers(0, nodes - 1, (2, n))
    head[:5] = tail[:5]  # self-loops
    head[5:8], tail[5:8] = 3, 4  # parallel edges
    mask = np.arange(n) < 50
    found = call(2 * g.normal(size=n).astype(np.float32), mask, 7.0)
    ends = jnp.asarray(head), jnp.asarray(tail)
    kept = presence(found.intensity, *ends, jnp.asarray(mask), nodes)
    q = np.asarray(found.probability, np.float64)
    for node in range(nodes):
        holds = mask & ((head == node) | (tail == node))
        assert float(kept[node]) == pytest.approx(1 - np.prod(1 - q[holds]), abs=1e-5)
    assert kept[nodes - 1] == 0  # held by nothing


def test_presence_by_hand_with_a_self_loop_and_a_mask():
    intensity = jnp.array([0.5, 1.0, 9.0])
    ends = jnp.array([0, 0, 1]), jnp.array([0, 1, 1])
    kept = presence(intensity, *ends, jnp.array([True, True, False]), 3)
    np.testing.assert_allclose(kept, 1 - np.exp([-1.5, -1.0, 0.0]), atol=1e-6)


def test_presence_has_gradients_for_certain_nodes_and_vmaps():
    logits = jnp.array([[40.0, 0.0, -40.0, -80.0]] * 2)
    mask = jnp.array([[True] * 4, [True, True, False, False]])
    ends = jnp.array([[0, 1, 2, 3]] * 2)

    def objective(s):
        u = jax.vmap(inclusion, (0, 0, None))(s, mask, 2.0).intensity
        kept = jax.vmap(presence, (0, 0, 0, 0, None))(u, ends, ends, mask, 4)
        return jnp.sum(kept * jnp.arange(4.0)[None])

    value, gradient = jax.jit(jax.value_and_grad(objective))(logits)
    assert np.isfinite(value) and np.isfinite(gradient).all()
    assert not gradient[1].any()
