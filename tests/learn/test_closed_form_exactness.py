"""Where the closed form is exact, and that the oracle which says so is right.

Brute force: every subset under Poisson sampling, every ordered draw under
Plackett-Luce.
"""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.plackett_luce import kept_probability
from kgscout_jax.learn.estimators import closed_form
from kgscout_jax.policy.inclusion import inclusion

NODES = 5
WIDTH = 7


def value(kept, nodes, answers, on_path):
    """Presence, hit and path share of one subset, from their definitions."""
    ends = {int(node) for i in kept for node in nodes[i]}
    gold = [int(a) for a in answers if a >= 0]
    hit = bool(ends & set(gold))
    path = [i for i in range(len(on_path)) if on_path[i]]
    return np.array(
        [
            sum(a in ends for a in gold) / max(len(gold), 1),
            hit,
            sum(i in kept for i in path) / max(len(path), 1),
        ],
        np.float64,
    )


def under_poisson(q, *about):
    """Expectations when each candidate is kept with its q, all subsets."""
    total = np.zeros(3)
    for flags in itertools.product([0, 1], repeat=len(q)):
        chance = math.prod(p if f else 1 - p for p, f in zip(q, flags, strict=True))
        total += chance * value({i for i, f in enumerate(flags) if f}, *about)
    return total


def under_plackett_luce(logits, k, *about):
    """Expectations over all ordered draws of k without replacement, and gradients.

    The gradient of a draw's chance is the chance times the sum over its steps of
    (one-hot of what is drawn - softmax of what is left).
    """
    rate = np.exp(np.asarray(logits, np.float64))
    total, slope = np.zeros(3), np.zeros((3, len(rate)))
    for order in itertools.permutations(range(len(rate)), k):
        left, chance, score = rate.copy(), 1.0, np.zeros(len(rate))
        for i in order:
            share = left / left.sum()
            chance *= share[i]
            score -= share
            score[i] += 1
            left[i] = 0.0
        found = value(set(order), *about)
        total += chance * found
        slope += chance * found[:, None] * score
    return total, slope


@st.composite
def questions(draw):
    g = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(3, WIDTH))
    answers = draw(st.lists(st.integers(0, NODES - 1), max_size=2, unique=True))
    return (
        (draw(st.sampled_from([0.3, 1.0, 3.0])) * g.normal(size=n)).astype("f4"),
        draw(st.integers(1, n - 1)),
        g.integers(0, NODES, (n, 2)).astype(np.int32),
        np.array(answers + [-1] * (3 - len(answers)), np.int32),
        g.random(n) < 0.4,
    )


included = jax.jit(inclusion)


@jax.jit
def closed(logits, mask, nodes, answers, on_path, k):
    found = closed_form(logits, mask, nodes, answers, on_path, k, NODES)
    return jnp.stack([found.presence, found.hit, found.path])


def padded(logits, nodes, on_path):
    """The same with candidates outside the mask, so that one width is compiled."""
    more = WIDTH - len(logits)
    mask = np.arange(WIDTH) < len(logits)
    return (
        np.pad(logits, (0, more)),
        mask,
        np.pad(nodes, ((0, more), (0, 0))),
        np.pad(on_path, (0, more)),
    )


@given(questions())
def test_exact_for_poisson_sampling(question):
    logits, k, nodes, answers, on_path = question
    wide, mask, wide_nodes, wide_path = padded(logits, nodes, on_path)
    found = closed(wide, mask, wide_nodes, answers, wide_path, np.float32(k))
    chance = included(wide, mask, np.float32(k)).probability
    q = np.asarray(chance, np.float64)
    exact = under_poisson(q[mask], nodes, answers, on_path)
    np.testing.assert_allclose(found, exact, atol=2e-6)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_the_oracle_is_plackett_luce(k, scale):
    """The quadrature against all ordered draws, and its gradient."""
    g = np.random.default_rng(k)
    logits = jnp.asarray(scale * g.normal(size=6), jnp.float32)
    nodes = g.integers(0, NODES, (6, 2))
    gold = np.array([2, -1])
    sets = (nodes == 2).any(axis=1)[None]
    mask = np.ones(6, bool)
    about = (nodes, gold, np.zeros(6, bool))

    assert sets.any()
    exact, slope = under_plackett_luce(logits, k, *about)
    found, gradient = jax.value_and_grad(
        lambda s: kept_probability(s, mask, sets, k)[0]
    )(logits)
    assert float(found) == pytest.approx(exact[1], abs=1e-5)
    np.testing.assert_allclose(gradient, slope[1], atol=2e-5)


def test_the_oracle_s_padding_and_empty_sets():
    logits = np.array([1.0, 0.0, 2.0, np.nan, 9.0], np.float32)
    mask = np.array([True, True, True, False, False])
    sets = np.array([[1, 0, 0, 1, 1], [0, 0, 0, 1, 0], [1, 1, 1, 0, 0]], bool)
    found = kept_probability(jnp.asarray(logits), mask, sets, 2)
    p = np.exp([1.0, 0.0, 2.0])
    missed = sum(p[i] / p.sum() * p[j] / (p.sum() - p[i]) for i, j in ((1, 2), (2, 1)))
    np.testing.assert_allclose(found, [1 - missed, 0.0, 1.0], atol=2e-5)


def test_the_oracle_survives_any_logits():
    logits = jnp.array([200.0, 1.0, 0.0, -300.0])
    sets = jnp.eye(4, dtype=bool)
    mask = np.ones(4, bool)
    found = kept_probability(logits, mask, sets, 2)
    e = math.exp(1.0)
    np.testing.assert_allclose(found, [1, e / (e + 1), 1 / (e + 1), 0], atol=2e-5)
    slope = jax.jacrev(lambda s: kept_probability(s, mask, sets, 2))(logits)
    assert np.isfinite(slope).all()


def test_plackett_luce_is_only_approached():
    """Of few candidates the two differ, and everybody should know by how much."""
    logits = np.array([2.0, 1.0, 0.0, -1.0], np.float32)
    nodes = np.array([[0, 1], [2, 1], [3, 1], [4, 1]], np.int32)
    answers, on_path = np.array([3, -1], np.int32), np.zeros(4, bool)
    found = closed(logits, np.ones(4, bool), nodes, answers, on_path, np.float32(2))
    exact, _ = under_plackett_luce(logits, 2, nodes, answers, on_path)
    gap = np.abs(np.asarray(found) - exact).max()
    assert 1e-3 < gap < 0.1


def test_exact_where_everything_is_kept():
    nodes = np.array([[0, 1], [2, 1], [3, 1]], np.int32)
    logits, on_path = np.zeros(3, np.float32), np.array([True, False, True])
    answers = np.array([3, 4], np.int32)
    found = closed(logits, np.ones(3, bool), nodes, answers, on_path, np.float32(3))
    np.testing.assert_allclose(found, value({0, 1, 2}, nodes, answers, on_path))


def test_one_of_equals_is_exact():
    """Equal logits: a single candidate is kept with k / n under both."""
    n, k = 7, 3
    nodes = np.stack([np.arange(n) % NODES, np.full(n, 4)], axis=1).astype(np.int32)
    on_path = np.arange(n) == 2
    found = closed(
        np.zeros(n, np.float32), np.ones(n, bool), nodes, np.array([-1]), on_path,
        np.float32(k),
    )  # fmt: skip
    assert float(found[2]) == pytest.approx(k / n, abs=1e-6)
