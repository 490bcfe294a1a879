"""Both gradient estimators against enumeration, root finding and hand computation."""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from kgscout_jax.learn.estimators import (
    advantages,
    closed_form,
    cross_entropy,
    reinforce,
)
from kgscout_jax.policy.sampling import greedy_top_k, gumbel_top_k

# --- the closed form

N, NODES = 12, 6
call = jax.jit(closed_form, static_argnums=6)


@jax.jit
def gradient(logits, mask, nodes, answers, on_path, k):
    """Of 2 presence + 3 path, in the logits."""

    def objective(s):
        found = closed_form(s, mask, nodes, answers, on_path, k, NODES)
        return 2 * found.presence + 3 * found.path

    return jax.grad(objective)(logits)


def formula(logits, mask, nodes, answers, on_path, k):
    """Presence and path share in float64: root finding, and a product per answer."""
    real = np.flatnonzero(mask)
    q = np.ones(len(real))
    if len(real) > k:
        s = np.asarray(logits, np.float64)[real]

        def excess(c):
            return -np.expm1(-np.exp(np.minimum(s - c, 500))).sum() - k

        c = brentq(excess, s.min() - 60, s.max() + 60, xtol=1e-13, rtol=1e-14)
        q = -np.expm1(-np.exp(s - c))
    kept = []
    for answer in answers:
        if answer >= 0:
            missed = [1 - p for i, p in zip(real, q, strict=True) if answer in nodes[i]]
            kept.append(1 - math.prod(missed))
    path = [p for i, p in zip(real, q, strict=True) if on_path[i]]
    return np.mean(kept or [0]), np.mean(path or [0])


@st.composite
def questions(draw):
    seed = draw(st.integers(0, 10_000))
    n_real = draw(st.integers(0, N))
    answers = draw(st.lists(st.integers(0, NODES - 1), max_size=3, unique=True))
    g = np.random.default_rng(seed)
    return {
        "logits": (draw(st.sampled_from([0.1, 2.0])) * g.normal(size=N)).astype("f4"),
        "mask": np.arange(N) < n_real,
        "nodes": g.integers(0, NODES, (N, 2)).astype(np.int32),
        "answers": np.array(answers + [-1] * (4 - len(answers)), np.int32),
        "on_path": g.random(N) < draw(st.sampled_from([0.0, 0.4])),
        "k": np.float32(draw(st.floats(1, 8))),
    }


@given(questions())
def test_closed_form_is_its_formula(question):
    found = call(*question.values(), NODES)
    presence, path = formula(**question)
    assert float(found.presence) == pytest.approx(presence, abs=2e-4)
    assert float(found.path) == pytest.approx(path, abs=2e-4)


@given(questions())
def test_its_gradient_is_finite_and_that_of_the_formula(question):
    found = np.asarray(gradient(*question.values()))
    assert np.isfinite(found).all()
    nothing_to_learn = (question["answers"] < 0).all() and not question["on_path"].any()
    if question["mask"].sum() <= question["k"] or nothing_to_learn:
        assert not found.any()
        return
    assert not found[~question["mask"]].any()
    logits = question["logits"].astype(np.float64)
    for i in np.flatnonzero(question["mask"]):
        step = np.zeros(N)
        step[i] = 1e-5
        ends = [
            np.dot([2, 3], formula(**{**question, "logits": logits + sign * step}))
            for sign in (1, -1)
        ]
        assert found[i] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=2e-3)


def test_what_stands_outside_the_mask_is_ignored():
    g = np.random.default_rng(0)
    nodes = g.integers(0, NODES, (N, 2)).astype(np.int32)
    mask = np.arange(N) < 7
    logits = g.normal(size=N).astype(np.float32)
    answers = np.array([1, 2, -1], np.int32)
    on_path = np.ones(N, bool)
    clean = [logits, mask, nodes, answers, on_path, np.float32(3)]
    dirty = [np.where(mask, logits, np.nan).astype(np.float32), *clean[1:]]
    assert float(call(*clean, NODES).path) == float(call(*dirty, NODES).path)
    np.testing.assert_array_equal(gradient(*clean), gradient(*dirty))


def test_a_budget_of_everything_keeps_every_answer():
    mask = np.arange(N) < 4
    nodes = np.array([[0, 1], [1, 2], [2, 3], [3, 0]] + [[5, 5]] * 8, np.int32)
    answers = np.array([1, 3, 4, -1], np.int32)  # no candidate holds 4
    found = call(np.zeros(N, "f4"), mask, nodes, answers, mask, np.float32(4), NODES)
    assert float(found.presence) == pytest.approx(2 / 3, abs=1e-6)
    assert float(found.path) == pytest.approx(1, abs=1e-6)


# --- REINFORCE

LOGITS = jnp.array([0.7, -0.4, 0.1, 1.2, 3.0])
MASK = jnp.array([True, True, True, True, False])
K = 2
REWARD = {(0, 1): 1.0, (0, 2): 4.0, (0, 3): 2.0, (1, 2): 7.0, (1, 3): 0.5, (2, 3): 3.0}


def reward_of(subset) -> float:
    return REWARD[tuple(sorted(int(i) for i in subset))]


def expected_reward(logits):
    """The sum over all ordered draws of two of four, written out."""
    p = jnp.exp(logits[:4])
    total = 0.0
    for first, second in itertools.permutations(range(4), 2):
        chance = p[first] / p.sum() * p[second] / (p.sum() - p[first])
        total = total + chance * reward_of((first, second))
    return total


SAMPLES, GROUP = 20_000, 4
slope = jax.jit(jax.grad(reinforce))
slopes = jax.jit(jax.vmap(jax.grad(reinforce), in_axes=(None, None, 0, 0, 0)))


def by_group(array):
    """The samples in groups, as those of one question."""
    return array.reshape(-1, GROUP, *array.shape[1:])


@pytest.fixture(scope="module")
def sampled():
    keys = jax.random.split(jax.random.key(0), SAMPLES)
    draw = jax.jit(
        jax.vmap(gumbel_top_k, in_axes=(0, None, None, None)), static_argnums=3
    )
    indices, selected = draw(keys, LOGITS, MASK, K)
    rewards = np.array([reward_of(row) for row in np.asarray(indices)], np.float32)
    return indices, selected, rewards


@pytest.mark.parametrize("baseline", ["greedy", "moving_average", "leave_one_out"])
def test_reinforce_is_unbiased_whatever_the_baseline(sampled, baseline):
    indices, selected, rewards = sampled
    grouped = by_group(rewards)
    best, _ = greedy_top_k(LOGITS, MASK, K)
    advantage = advantages(
        grouped,
        np.ones(len(grouped), np.float32),
        baseline=baseline,
        greedy=np.full(len(grouped), reward_of(best), np.float32),
        average=2.9,
        normalise=False,
    )
    each = np.asarray(
        slopes(LOGITS, MASK, by_group(indices), by_group(selected), advantage)
    )
    mean = each.mean(axis=0)
    error = each.std(axis=0) / math.sqrt(len(each))
    exact = np.asarray(jax.jit(jax.grad(expected_reward))(LOGITS))
    assert (np.abs(mean - exact) <= 4 * error + 1e-6).all()
    assert (4 * error < 0.5 * np.abs(exact).max()).all()  # the test can fail
    assert mean[4] == exact[4] == 0  # not a real candidate


def test_a_baseline_lowers_the_variance(sampled):
    indices, selected, rewards = sampled
    spread = []
    for average in (0.0, float(rewards.mean())):
        advantage = by_group(rewards - np.float32(average))
        each = slopes(LOGITS, MASK, by_group(indices), by_group(selected), advantage)
        spread.append(float(np.asarray(each).var(axis=0).sum()))
    assert spread[1] < spread[0]


def test_no_gradient_flows_through_the_advantage():
    indices, selected = jnp.array([[0, 1]]), jnp.ones((1, 2), bool)

    def of_logits(logits):
        return reinforce(logits, MASK, indices, selected, logits[:1] * 5)

    constant = slope(LOGITS, MASK, indices, selected, LOGITS[:1] * 5)
    np.testing.assert_array_equal(jax.jit(jax.grad(of_logits))(LOGITS), constant)


def test_fewer_candidates_than_the_budget_carry_no_gradient():
    mask = jnp.array([True, True, False, False, False])
    indices, selected = gumbel_top_k(jax.random.key(1), LOGITS, mask, 2)
    found = slope(LOGITS, mask, indices[None], selected[None], jnp.array([3.0]))
    # An order of everything still has a probability; advantage 0 is what silences it.
    assert np.isfinite(found).all()
    silent = slope(LOGITS, mask, indices[None], selected[None], jnp.zeros(1))
    assert not np.asarray(silent).any()


# --- advantages by hand

REWARDS = np.array([[1.0, 3.0], [4.0, 8.0], [9.0, 9.0]], np.float32)
WEIGHT = np.array([1.0, 1.0, 0.0], np.float32)


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [
        ("greedy", [[-1, 1], [-1, 3], [0, 0]]),
        ("moving_average", [[-3, -1], [0, 4], [0, 0]]),
        ("leave_one_out", [[-2, 2], [-4, 4], [0, 0]]),
    ],
)
def test_advantages(baseline, expected):
    options = {"baseline": baseline, "greedy": np.array([2.0, 5, 1]), "average": 4.0}
    plain = advantages(REWARDS, WEIGHT, normalise=False, **options)
    assert plain.tolist() == expected
    assert plain.dtype == np.float32
    # Over the four samples that count, not over the six that there are.
    scale = math.sqrt(sum(x * x for row in expected for x in row) / 4)
    scaled = advantages(REWARDS, WEIGHT, normalise=True, **options)
    np.testing.assert_allclose(scaled, np.array(expected) / scale, rtol=1e-6)


def test_advantages_of_nothing_to_learn():
    nobody = np.zeros(3, np.float32)
    assert not advantages(REWARDS, nobody, baseline="leave_one_out").any()
    same = np.full((2, 3), 5.0, np.float32)
    assert not advantages(same, np.ones(2), baseline="leave_one_out").any()


def test_leave_one_out_of_three_samples():
    found = advantages(
        np.array([[0.0, 3.0, 6.0]]), np.ones(1), baseline="leave_one_out",
        normalise=False,
    )  # fmt: skip
    assert found.tolist() == [[-4.5, 0.0, 4.5]]


def test_candidates_on_paths_are_the_positives_of_cross_entropy():
    # Two candidates, one on a path.
    logits = np.array([2.0, -1.0, -np.inf], np.float32)
    mask, wanted = np.array([True, True, False]), np.array([True, False, False])
    expected = (np.log1p(np.exp(-2.0)) + np.log1p(np.exp(-1.0))) / 2
    assert float(cross_entropy(logits, mask, wanted)) == pytest.approx(expected)
