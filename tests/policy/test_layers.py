"""Gradients of weights, which GPUs add up in another order than other platforms."""

from __future__ import annotations

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kgscout_jax.policy.layers import matmul, product, sum_by_question, sum_by_row

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


@pytest.mark.parametrize("multiply", [partial(matmul, dtype=jnp.float32), product])
@pytest.mark.parametrize(
    ("platform", "by_question"), [("cuda", True), ("cpu", False), ("tpu", False)]
)
def test_only_a_gpu_adds_up_gradients_by_question(platform, by_question, multiply):
    x, kernel = normal(0, QUESTIONS, CANDIDATES, WIDTH), normal(1, WIDTH, OUT)

    def loss(kernel):
        return jnp.square(multiply(jnp.asarray(x), kernel)).sum()

    traced = jax.jit(jax.grad(loss)).trace(kernel)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    shape = f"tensor<{QUESTIONS}x{WIDTH}x{OUT}xf32>"
    assert bool(re.search(f"dot_general.*-> {shape}", text)) == by_question
    assert ("optimization_barrier" in text) == by_question


@pytest.mark.parametrize(
    "kernel", [normal(1, WIDTH, OUT), normal(1, WIDTH)], ids=["matrix", "vector"]
)
def test_a_product_has_the_bits_of_the_operator_on_a_cpu(kernel):
    x = jnp.asarray(normal(0, QUESTIONS, CANDIDATES, WIDTH))

    def gradients(multiply):
        return jax.jit(
            jax.value_and_grad(lambda x, k: jnp.sin(multiply(x, k)).sum(), (0, 1))
        )(x, kernel)

    ours, derived = gradients(product), gradients(jnp.matmul)
    assert all(jax.tree.leaves(jax.tree.map(np.array_equal, ours, derived)))
