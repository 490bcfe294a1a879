"""What the folded dual tower saves over the network of the thesis, and keeps."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from network_inputs import DUAL_TOWER, D, logits_of, make_inputs, plain_batch
from policy_factory import random_weights

from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.registry import init_weights, policy_logits

WEIGHTS = random_weights(DUAL_TOWER, gain=2.0)


@pytest.mark.parametrize(
    ("config", "inputs"),
    [
        (dataclasses.replace(DUAL_TOWER, tower_hidden=(16,)), make_inputs()),
        (
            DualTowerConfig(ppr_mean=(-7.0, -7.0)),
            make_inputs([100, 64], n=100, u=30, d=384),
        ),
    ],
    ids=["one hidden layer", "the real size"],
)
def test_folded_equals_plain_at_other_sizes(config, inputs):
    weights = random_weights(config, gain=2.0)
    folded = logits_of(weights, config, inputs)
    expected = plain_batch(weights, config, inputs)
    np.testing.assert_allclose(folded, expected, atol=1e-4)


@pytest.mark.extended
def test_initial_parameters_keep_the_variance():
    weights = init_weights(jax.random.key(0), DUAL_TOWER)
    for mlp, inputs in ((weights.tower_a, 3 * D + 2), (weights.gate, 3 * D)):
        first = mlp.hidden[0]
        assert np.std(first.kernel) == pytest.approx((2 / inputs) ** 0.5, rel=0.05)
        assert not first.bias.any()
    assert weights.log_temperature == 0.0


def test_a_key_bias_would_change_nothing():
    inputs = make_inputs([17] * 4)
    key_bias = np.random.default_rng(3).normal(size=D) * 5
    biased = plain_batch(WEIGHTS, DUAL_TOWER, inputs, key_bias)
    unbiased = plain_batch(WEIGHTS, DUAL_TOWER, inputs)
    np.testing.assert_allclose(biased, unbiased, atol=1e-9)


def weighted_sum(weights, inputs):
    logits = policy_logits(weights, DUAL_TOWER, inputs)
    factors = jnp.cos(jnp.arange(logits.size)).reshape(logits.shape)
    return jnp.sum(jnp.where(inputs.mask, logits, 0.0) * factors)


def test_gradient_equals_finite_differences_of_the_plain_network():
    """Every custom rule at once: the derivative along a random direction."""
    inputs = make_inputs([40, 23, 1, 10])
    real = np.asarray(inputs.mask)
    factors = np.cos(np.arange(real.size)).reshape(real.shape)
    gradient = jax.tree.leaves(jax.jit(jax.grad(weighted_sum))(WEIGHTS, inputs))
    leaves, tree = jax.tree.flatten(WEIGHTS)

    def moved(i, direction, step):
        there = [np.asarray(x, np.float64) for x in leaves]
        there[i] = there[i] + step * direction
        out = plain_batch(jax.tree.unflatten(tree, there), DUAL_TOWER, inputs)
        return float((out[real] * factors[real]).sum())

    for i, leaf in enumerate(leaves):
        direction = np.random.default_rng(i).normal(size=leaf.shape)
        difference = partial(moved, i, direction)
        expected = (difference(1e-4) - difference(-1e-4)) / 2e-4
        slope = float(np.sum(gradient[i] * direction))
        assert slope == pytest.approx(expected, rel=2e-3, abs=2e-3)


def test_nothing_of_the_plain_input_width_is_built():
    """No array of n rows and 3d (+ 2) columns, forwards or backwards."""
    value_and_grad = jax.jit(jax.value_and_grad(weighted_sum))
    text = value_and_grad.lower(WEIGHTS, make_inputs([40] * 4)).as_text()
    assert "4x40x24x" in text  # the embeddings: this is how shapes are spelt
    assert not any(f"40x{width}x" in text for width in (48, 49, 50, 72, 74))
