"""The folded network against the plain one, and what masks and dtypes must not do."""

import dataclasses
import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from plain_policy import plain_logits

from kgscout_jax.errors import UserError
from kgscout_jax.policy.dual_tower_module import (
    PolicyConfig,
    PolicyInputs,
    ScoutPolicy,
    ppr_statistics,
)

CONFIG = PolicyConfig(
    dimension=24,
    heads=4,
    tower_hidden=(32, 12),
    gate_hidden=20,
    combiner_hidden=8,
    ppr_mean=(-8.0, -9.0),
    ppr_std=(2.0, 3.0),
)


def unit(generator, *shape):
    x = generator.normal(size=shape)
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)


def make_inputs(n_real, *, n=40, u=7, d=24, seed=0):
    """Random inputs, one question per entry of n_real, garbage in the padding."""
    g = np.random.default_rng(seed)
    b = len(n_real)
    mask = np.arange(n) < np.array(n_real)[:, None]
    # Skewed, so that multiplicities differ and the last relation is often unused.
    index = np.minimum(g.geometric(0.4, size=(b, n)) - 1, u - 1).astype(np.int32)
    ppr = np.where(g.random((b, n, 2)) < 0.2, 0.0, g.random((b, n, 2)) ** 4)
    return PolicyInputs(
        jnp.asarray(unit(g, b, d)),
        jnp.asarray(unit(g, b, n, d)),
        jnp.asarray(unit(g, b, u, d)),
        jnp.asarray(index),
        jnp.asarray(ppr, jnp.float32),
        jnp.asarray(mask),
    )


def make_policy(config=CONFIG, seed=0):
    """A policy with numpy's parameters: no bias is 0, the temperature is not 1."""
    policy = nnx.eval_shape(lambda: ScoutPolicy(config, rngs=nnx.Rngs(0)))
    graphdef, state = nnx.split(policy)
    g = np.random.default_rng(seed)

    def draw(leaf):
        size = 2 * leaf.shape[0] ** -0.5 if len(leaf.shape) == 2 else 0.3
        return jnp.asarray(size * g.normal(size=leaf.shape), jnp.float32)

    return nnx.merge(graphdef, jax.tree.map(draw, state))


@partial(jax.jit, static_argnums=0)
def apply(graphdef, state, inputs):
    return nnx.merge(graphdef, state)(inputs)


def logits_of(policy, inputs):
    """Jitted, and compiled once for all tests of the same shapes."""
    return np.asarray(apply(*nnx.split(policy), inputs))


def weighted_sum(graphdef, state, inputs):
    logits = nnx.merge(graphdef, state)(inputs)
    weights = jnp.cos(jnp.arange(logits.size)).reshape(logits.shape)
    return jnp.sum(jnp.where(inputs.mask, logits, 0.0) * weights)


value_and_grad = jax.jit(jax.value_and_grad(weighted_sum, argnums=1), static_argnums=0)


def full_relations(inputs):
    rows = np.arange(len(inputs.mask))[:, None]
    return np.asarray(inputs.relations)[rows, np.asarray(inputs.relation_index)]


def plain_batch(policy, inputs, key_bias=0.0):
    parameters = nnx.to_pure_dict(nnx.state(policy, nnx.Param))
    relations = full_relations(inputs)
    out = np.full(inputs.mask.shape, -np.inf)
    for i, real in enumerate(np.asarray(inputs.mask)):
        if real.any():
            out[i, real] = plain_logits(
                parameters,
                policy.config,
                inputs.question[i],
                np.asarray(inputs.triplets)[i, real],
                relations[i, real],
                np.asarray(inputs.ppr)[i, real],
                key_bias,
            )
    return out


@pytest.mark.parametrize("hidden", [(32, 12), (16,)])
def test_folded_equals_plain(hidden):
    policy = make_policy(dataclasses.replace(CONFIG, tower_hidden=hidden))
    inputs = make_inputs([40, 23, 1, 2])
    folded = logits_of(policy, inputs)
    np.testing.assert_allclose(folded, plain_batch(policy, inputs), atol=1e-4)
    assert np.std(folded[0]) > 0.2  # not two constants that agree


def test_folded_equals_plain_at_the_real_size():
    config = PolicyConfig(ppr_mean=(-7.0, -7.0))
    policy = make_policy(config)
    inputs = make_inputs([100, 64], n=100, u=30, d=384)
    np.testing.assert_allclose(
        logits_of(policy, inputs), plain_batch(policy, inputs), atol=1e-4
    )


def test_initial_parameters_keep_the_variance():
    policy = ScoutPolicy(CONFIG, rngs=nnx.Rngs(0))
    expected = {
        "tower_a": (2 / (3 * 24 + 2)) ** 0.5,
        "gate": (2 / (3 * 24)) ** 0.5,
    }
    for name, std in expected.items():
        first = getattr(policy, name).hidden[0]
        assert np.std(first.kernel[...]) == pytest.approx(std, rel=0.05)
        assert not first.bias[...].any()
    assert float(policy.log_temperature[...]) == 0.0
    kernels = policy.triplet_attention.key_kernel, policy.relation_attention.key_kernel
    assert not np.allclose(kernels[0][...], kernels[1][...])


def test_a_key_bias_would_change_nothing():
    policy, inputs = make_policy(), make_inputs([17] * 4)
    key_bias = np.random.default_rng(3).normal(size=24) * 5
    biased = plain_batch(policy, inputs, key_bias)
    np.testing.assert_allclose(biased, plain_batch(policy, inputs), atol=1e-9)


def test_relations_per_candidate_equal_unique_ones():
    policy, inputs = make_policy(), make_inputs([40, 11, 0, 5])
    full = PolicyInputs.from_full(
        inputs.question,
        inputs.triplets,
        jnp.asarray(full_relations(inputs)),
        inputs.ppr,
        inputs.mask,
    )
    np.testing.assert_allclose(
        logits_of(policy, inputs), logits_of(policy, full), atol=1e-5
    )


def test_relation_counts_are_over_real_candidates():
    inputs = make_inputs([40, 11, 0, 5])
    expected = [
        np.bincount(index[mask], minlength=7)
        for index, mask in zip(
            np.asarray(inputs.relation_index), np.asarray(inputs.mask), strict=True
        )
    ]
    np.testing.assert_array_equal(inputs.relation_counts(), expected)


def test_padding_changes_nothing():
    policy, inputs = make_policy(), make_inputs([13] * 4)
    padded = logits_of(policy, inputs)
    cut = inputs._replace(
        triplets=inputs.triplets[:, :13],
        relation_index=inputs.relation_index[:, :13],
        ppr=inputs.ppr[:, :13],
        mask=inputs.mask[:, :13],
    )
    np.testing.assert_allclose(padded[:, :13], logits_of(policy, cut), atol=1e-5)
    assert np.isneginf(padded[:, 13:]).all()
    # Other garbage there, and in the relations that no real candidate has.
    unused = inputs.relation_counts() == 0
    assert unused.any()
    more = inputs._replace(
        relations=jnp.where(unused[..., None], 1e3, inputs.relations),
        relation_index=jnp.where(inputs.mask, inputs.relation_index, 3),
        triplets=jnp.where(inputs.mask[..., None], inputs.triplets, 1e3),
        ppr=jnp.where(inputs.mask[..., None], inputs.ppr, 1e3),
    )
    np.testing.assert_allclose(logits_of(policy, more), padded, atol=1e-5)


def test_permutation_of_candidates_permutes_logits():
    policy, inputs = make_policy(), make_inputs([40, 25, 3, 1])
    order = np.random.default_rng(5).permutation(40)
    shuffled = PolicyInputs(
        inputs.question,
        inputs.triplets[:, order],
        inputs.relations,
        inputs.relation_index[:, order],
        inputs.ppr[:, order],
        inputs.mask[:, order],
    )
    expected = logits_of(policy, inputs)[:, order]
    np.testing.assert_allclose(logits_of(policy, shuffled), expected, atol=1e-5)


def test_float16_tables_and_bfloat16_compute_are_close():
    policy, inputs = make_policy(), make_inputs([40, 25, 3, 1])
    exact = logits_of(policy, inputs)
    real = np.asarray(inputs.mask)
    half = inputs._replace(
        triplets=inputs.triplets.astype(jnp.float16),
        relations=inputs.relations.astype(jnp.float16),
    )
    spread = np.std(exact[real])
    difference = np.abs(logits_of(policy, half)[real] - exact[real])
    assert 0 < difference.max() < 0.01 * spread
    config = dataclasses.replace(CONFIG, compute_dtype="bfloat16")
    rounded = make_policy(config)
    logits = logits_of(rounded, half)
    assert logits.dtype == jnp.float32
    difference = np.abs(logits[real] - exact[real])
    assert 0 < difference.max() < 0.1 * spread


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_are_finite_for_any_number_of_candidates(dtype):
    policy = make_policy(dataclasses.replace(CONFIG, compute_dtype=dtype))
    for n_real in ([0] * 4, [1] * 4, [10] * 4, [40] * 4, [0, 1, 10, 40]):
        value, gradient = value_and_grad(*nnx.split(policy), make_inputs(n_real))
        leaves = jax.tree.leaves(gradient)
        assert np.isfinite(value)
        assert all(np.isfinite(leaf).all() for leaf in leaves)
        if max(n_real) > 1:
            assert all(np.abs(leaf).max() > 0 for leaf in leaves)


def test_gradient_equals_finite_differences_of_the_plain_network():
    """Every custom rule at once: the derivative along a random direction."""
    policy, inputs = make_policy(), make_inputs([40, 23, 1, 10])
    graphdef, state = nnx.split(policy)
    _, gradient = value_and_grad(graphdef, state, inputs)
    real = np.asarray(inputs.mask)
    weights = np.cos(np.arange(real.size)).reshape(real.shape)

    def plain_loss(state):
        out = plain_batch(nnx.merge(graphdef, state), inputs)
        return float((out[real] * weights[real]).sum())

    leaves, tree = jax.tree.flatten(state)
    for i, leaf in enumerate(leaves):
        direction = np.random.default_rng(i).normal(size=leaf.shape)
        slope = float(np.sum(jax.tree.leaves(gradient)[i] * direction))

        def moved(step, i=i, direction=direction):
            there = [np.asarray(x, np.float64) for x in leaves]
            there[i] = there[i] + step * direction
            return plain_loss(jax.tree.unflatten(tree, there))

        expected = (moved(1e-4) - moved(-1e-4)) / 2e-4
        assert slope == pytest.approx(expected, rel=2e-3, abs=2e-3)


def test_no_gradient_flows_to_the_frozen_embeddings():
    policy, inputs = make_policy(), make_inputs([40])

    @jax.jit
    def gradient(triplets):
        return jax.grad(lambda x: policy(inputs._replace(triplets=x)).sum())(triplets)

    assert not gradient(inputs.triplets).any()


def test_nothing_of_the_plain_input_width_is_built():
    """No array of n rows and 3d (+ 2) columns, forwards or backwards."""
    policy, inputs = make_policy(), make_inputs([40] * 4)
    text = value_and_grad.lower(*nnx.split(policy), inputs).as_text()
    assert "4x40x24x" in text  # the embeddings: this is how shapes are spelt
    assert not any(f"40x{width}x" in text for width in (48, 49, 50, 72, 74))


def test_exports_with_symbolic_batch_and_candidates():
    policy = make_policy()
    b, n = jax.export.symbolic_shape("b, n")
    shapes = [(b, 24), (b, n, 24), (b, n, 24), (b, n, 2)]
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    arguments.append(jax.ShapeDtypeStruct((b, n), jnp.bool_))
    call = jax.jit(lambda *x: policy(PolicyInputs.from_full(*x)))
    exported = jax.export.export(call)(*arguments)
    inputs = make_inputs([40, 9, 0, 5])
    full = (inputs.question, inputs.triplets, jnp.asarray(full_relations(inputs)))
    logits = exported.call(*full, inputs.ppr, inputs.mask)
    np.testing.assert_allclose(logits, logits_of(policy, inputs), atol=1e-5)


def test_config_round_trips_through_json():
    assert PolicyConfig.from_dict(json.loads(json.dumps(CONFIG.to_dict()))) == CONFIG
    assert PolicyConfig().scale == pytest.approx(384**0.5)
    assert PolicyConfig(input_scale=1.0).scale == 1.0


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"dimension": 0}, "dimension"),
        ({"heads": 5}, "heads"),
        ({"tower_hidden": ()}, "tower_hidden"),
        ({"tower_hidden": (8, -1)}, "tower_hidden"),
        ({"gate_hidden": 1.5}, "gate_hidden"),
        ({"ppr_std": (1.0, 0.0)}, "ppr_std"),
        ({"ppr_mean": (1.0, float("nan"))}, "ppr_mean"),
        ({"ppr_mean": (1.0,)}, "ppr_mean"),
        ({"input_scale": -1.0}, "input_scale"),
        ({"compute_dtype": "float16"}, "compute_dtype"),
    ],
)
def test_a_bad_config_names_its_field(fields, name):
    with pytest.raises(UserError, match=rf"policy\.{name}") as caught:
        PolicyConfig(**fields)
    assert "\n" not in str(caught.value)


def test_unknown_and_missing_fields_are_named():
    with pytest.raises(UserError, match=r"policy\.depth: unknown"):
        PolicyConfig.from_dict({**CONFIG.to_dict(), "depth": 3})
    fields = CONFIG.to_dict()
    del fields["heads"]
    with pytest.raises(UserError, match=r"policy\.heads: missing"):
        PolicyConfig.from_dict(fields)


def test_wrong_shapes_are_named():
    inputs = make_inputs([4])
    with pytest.raises(ValueError, match="ppr"):
        make_policy()(inputs._replace(ppr=inputs.ppr[..., :1]))
    with pytest.raises(ValueError, match="relations"):
        make_policy()(inputs._replace(relation_index=None))


def test_ppr_statistics_standardise_the_real_candidates():
    g = np.random.default_rng(0)
    ppr = g.random((3, 20, 2)).astype(np.float32) ** 6
    mask = np.arange(20) < np.array([20, 5, 0])[:, None]
    mean, std = ppr_statistics(ppr, mask)
    features = (np.log(ppr[mask].astype(np.float64) + 1e-8) - mean) / std
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(features.std(axis=0), 1, atol=1e-9)
    assert ppr_statistics(ppr, np.zeros_like(mask)) == ((0.0, 0.0), (1.0, 1.0))
    assert ppr_statistics(np.ones_like(ppr), mask)[1] == (1.0, 1.0)
