"""Gradients of weights, which GPUs add up in another order than other platforms."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kgscout_jax.policy.layers import matmul, sum_by_question, sum_by_row

QUESTIONS, CANDIDATES, WIDTH, OUT = 3, 40, 5, 7
SHAPES = [(3, 40), (3, 4, 10), (3,)]


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("batch", SHAPES, ids=str)
def test_sums_by_question_and_by_row_are_those_of_outer_products(batch):
    x, g = normal(0, *batch, WIDTH), normal(1, *batch, OUT)
    exact = sum(np.outer(x[at].astype(np.float64), g[at]) for at in np.ndindex(*batch))
    for total in (sum_by_question, sum_by_row):
        np.testing.assert_allclose(jax.jit(total)(x, g), exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("platform", "by_question"), [("cuda", True), ("cpu", False), ("tpu", False)]
)
def test_only_a_gpu_adds_up_gradients_by_question(platform, by_question):
    x, kernel = normal(0, QUESTIONS, CANDIDATES, WIDTH), normal(1, WIDTH, OUT)

    def loss(kernel):
        return jnp.square(matmul(jnp.asarray(x), kernel, jnp.float32)).sum()

    traced = jax.jit(jax.grad(loss)).trace(kernel)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    shape = f"tensor<{QUESTIONS}x{WIDTH}x{OUT}xf32>"
    assert bool(re.search(f"dot_general.*-> {shape}", text)) == by_question
    assert ("optimization_barrier" in text) == by_question
