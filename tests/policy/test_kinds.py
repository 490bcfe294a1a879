"""The walk policy and the MLP against literal oracles; kinds, shapes and padding."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from plain_walk import plain_mlp_logits, plain_walk_logits

from kgscout_jax.errors import UserError
from kgscout_jax.policy.dual_tower import PolicyConfig, PolicyInputs
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.modules import module_of
from kgscout_jax.policy.registry import (
    config_of,
    count_of,
    fields_of,
    logits_of,
    needs_places,
    shapes_of,
)
from kgscout_jax.policy.walk import WalkConfig

D, N, U, V = 16, 30, 5, 24
WALK = WalkConfig(
    dimension=D,
    width=12,
    hidden=6,
    walkers=3,
    steps=2,
    condition=7,
    ppr_mean=(-8.0, -9.0),
    ppr_std=(2.0, 3.0),
)
MLP = MlpConfig(dimension=D, width=10)


def unit(g, *shape):
    x = g.normal(size=shape)
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)


def make_inputs(n_real=(N, 11, 1, 0), seed=0):
    """Random questions, with parallel edges and self-loops, garbage as padding."""
    g = np.random.default_rng(seed)
    b = len(n_real)
    mask = np.arange(N) < np.array(n_real)[:, None]
    nodes = g.integers(0, V, size=(b, N, 2)).astype(np.int32)
    nodes[:, 3] = nodes[:, 2]
    nodes[:, 4, 1] = nodes[:, 4, 0]
    topics = np.zeros((b, V), bool)
    topics[np.arange(b), nodes[:, 0, 0]] = True
    topics[0, nodes[0, 1, 1]] = True
    ppr = np.where(g.random((b, N, 2)) < 0.2, 0.0, g.random((b, N, 2)) ** 4)
    return PolicyInputs(
        question=jnp.asarray(unit(g, b, D)),
        triplets=jnp.asarray(unit(g, b, N, D)),
        relations=jnp.asarray(unit(g, b, U, D)),
        relation_index=jnp.asarray(g.integers(0, U, size=(b, N)).astype(np.int32)),
        ppr=jnp.asarray(ppr, jnp.float32),
        mask=jnp.asarray(mask),
        nodes=jnp.asarray(nodes),
        topics=jnp.asarray(topics),
    )


def make_policy(config, seed=0):
    """A policy with numpy's parameters: no bias is 0, the temperature is not 1."""
    policy = nnx.eval_shape(lambda: module_of(config, rngs=nnx.Rngs(0)))
    graphdef, state = nnx.split(policy)
    g = np.random.default_rng(seed)
    filled = jax.tree.map(
        lambda leaf: jnp.asarray(g.normal(0, 0.3, leaf.shape), jnp.float32), state
    )
    return nnx.merge(graphdef, filled)


@nnx.jit
def logits_by(policy, inputs):
    return policy(inputs)


def parameters(policy):
    pure = nnx.to_pure_dict(nnx.state(policy, nnx.Param))
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), pure)


def plain(policy, inputs, row):
    """The oracle's logits of the real candidates of one question."""
    real = np.flatnonzero(inputs.mask[row])
    index = np.asarray(inputs.relation_index[row])[real]
    arrays = {
        "question": np.asarray(inputs.question[row], np.float64),
        "triplets": np.asarray(inputs.triplets[row], np.float64)[real],
        "relations": np.asarray(inputs.relations[row], np.float64)[index],
        "edges": np.asarray(inputs.nodes[row])[real].tolist(),
        "topics": set(np.flatnonzero(inputs.topics[row]).tolist()),
        "v": V,
    }
    if isinstance(policy.config, MlpConfig):
        return plain_mlp_logits(parameters(policy), policy.config, **arrays)
    ppr = np.asarray(inputs.ppr[row], np.float64)[real]
    return plain_walk_logits(parameters(policy), policy.config, ppr=ppr, **arrays)


@pytest.mark.parametrize("config", [WALK, MLP])
@pytest.mark.parametrize("seed", range(3))
def test_network_is_what_it_says(config, seed):
    policy, inputs = make_policy(config, seed), make_inputs(seed=seed)
    with jax.default_matmul_precision("highest"):
        logits = np.asarray(logits_by(policy, inputs))
    assert logits.dtype == np.float32
    assert np.array_equal(np.isneginf(logits), ~np.asarray(inputs.mask))
    for row in range(3):
        real = np.asarray(inputs.mask[row])
        expected = plain(policy, inputs, row)
        np.testing.assert_allclose(logits[row, real], expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("config", [WALK, MLP])
def test_padding_changes_nothing(config):
    policy, inputs = make_policy(config), make_inputs()
    few = 11
    alone = inputs._replace(
        **{
            name: getattr(inputs, name)[1:2, :few]
            for name in ("triplets", "relation_index", "ppr", "mask", "nodes")
        },
        question=inputs.question[1:2],
        relations=inputs.relations[1:2],
        topics=inputs.topics[1:2],
    )
    whole = np.asarray(logits_by(policy, inputs))[1, :few]
    np.testing.assert_allclose(
        np.asarray(logits_by(policy, alone))[0], whole, rtol=1e-4, atol=1e-4
    )
    more_nodes = alone._replace(topics=jnp.pad(alone.topics, ((0, 0), (0, 9))))
    np.testing.assert_allclose(
        np.asarray(logits_by(policy, more_nodes))[0], whole, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("config", [WALK, MLP])
def test_numbering_of_nodes_and_order_of_candidates_do_not_matter(config):
    policy, inputs = make_policy(config), make_inputs()
    g = np.random.default_rng(5)
    names, order = g.permutation(V), g.permutation(N)
    shuffled = inputs._replace(
        **{
            name: getattr(inputs, name)[:, order]
            for name in ("triplets", "relation_index", "ppr", "mask")
        },
        nodes=jnp.asarray(names)[inputs.nodes][:, order],
        topics=jnp.zeros_like(inputs.topics).at[:, names].set(inputs.topics),
    )
    np.testing.assert_allclose(
        np.asarray(logits_by(policy, shuffled)),
        np.asarray(logits_by(policy, inputs))[:, order],
        rtol=2e-4,
        atol=2e-4,
    )


@pytest.mark.parametrize("config", [WALK, MLP])
def test_gradients_are_finite_with_empty_questions(config):
    policy, inputs = make_policy(config), make_inputs()
    graphdef, params = nnx.split(policy, nnx.Param)

    def loss(params):
        logits = nnx.merge(graphdef, params)(inputs)
        return jnp.where(inputs.mask, logits, 0.0).sum()

    gradient = jax.jit(jax.grad(loss))(params)
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(gradient)]
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    assert all(np.abs(leaf).max() > 0 for leaf in leaves)


@pytest.mark.parametrize("config", [WALK, MLP])
def test_bfloat16_is_close(config):
    policy, inputs = make_policy(config), make_inputs()
    half = logits_of(
        policy.weights, dataclasses.replace(config, compute_dtype="bfloat16"), inputs
    )
    real = np.asarray(inputs.mask)
    full = np.asarray(logits_by(policy, inputs))[real]
    off = np.abs(np.asarray(half)[real] - full).max()
    assert 0 < off < 0.05 * np.abs(full).max() + 0.05


@pytest.mark.parametrize("config", [WALK, MLP, PolicyConfig(dimension=D)])
def test_config_survives_json_and_shapes_fit_the_module(config):
    fields = json.loads(json.dumps(fields_of(config)))
    assert config_of(fields) == config
    assert ("kind" in fields) == (config.kind != "thesis")
    weights = module_of(config, rngs=nnx.Rngs(0)).weights
    wanted = jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), shapes_of(config))
    found = jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), weights)
    assert found == wanted
    assert needs_places(config) == (config.kind != "thesis")


def test_the_default_walk_policy_is_small():
    assert count_of(WalkConfig()) < 500_000


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"kind": "forest"},
            r"policy.kind: 'forest', expected one of thesis, walk, mlp",
        ),
        ({**fields_of(WALK), "walkers": 0}, "policy.walkers: 0, expected a whole"),
        ({**fields_of(WALK), "depth": 3}, "policy.depth: unknown field"),
        ({**fields_of(MLP), "compute_dtype": "int8"}, "policy.compute_dtype: 'int8'"),
        ({"kind": "mlp", "dimension": 8}, "policy.compute_dtype: missing"),
    ],
)
def test_a_bad_config_is_told(fields, told):
    with pytest.raises(UserError, match=told):
        config_of(fields)


@pytest.mark.parametrize("config", [WALK, MLP])
def test_missing_places_are_an_error(config):
    with pytest.raises(ValueError, match="needs nodes and topics"):
        make_policy(config)(make_inputs()._replace(nodes=None))
