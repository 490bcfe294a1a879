"""Every network against its literal oracle; masks, order, dtypes, JSON and shapes."""

import dataclasses
import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from network_inputs import (
    BY_CANDIDATE,
    CONFIGS,
    DUAL_TOWER,
    GAINS,
    MLP,
    WALK,
    WORDS,
    N,
    V,
    full_relations,
    jitted_logits,
    logits_of,
    make_inputs,
    plain_batch,
    plain_outputs,
)
from policy_factory import random_weights

from benchmarks.program_counts import equations
from kgscout_jax.errors import UserError
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import ppr_statistics
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.precision import full_precision
from kgscout_jax.policy.registry import (
    config_from_json,
    config_to_json,
    init_weights,
    needs_topology,
    needs_words,
    policy_logits,
    policy_outputs,
    weight_shapes,
)
from kgscout_jax.policy.topology import DISTANCE_WIDTH
from kgscout_jax.policy.walk_config import PARTS, WalkConfig

every_network = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def weights_of(config, seed=0):
    return random_weights(config, seed, GAINS[config.architecture])


@every_network
@pytest.mark.parametrize("seed", range(3))
def test_logits_equal_those_of_the_literal_network(config, seed):
    weights, inputs = weights_of(config, seed), make_inputs(seed=seed)
    logits = logits_of(weights, config, inputs)
    assert logits.dtype == np.float32
    expected = plain_batch(weights, config, inputs)
    assert np.array_equal(np.isneginf(logits), ~np.asarray(inputs.mask))
    np.testing.assert_allclose(logits, expected, rtol=2e-4, atol=2e-4)
    assert np.std(logits[0]) > 0.2  # not two constants that agree


@every_network
def test_padding_changes_nothing(config):
    weights, inputs = weights_of(config), make_inputs([13] * 4)
    padded = logits_of(weights, config, inputs)

    def same(other):
        logits = logits_of(weights, config, other)[:, :13]
        np.testing.assert_allclose(logits, padded[:, :13], rtol=1e-4, atol=1e-4)

    same(
        inputs._replace(
            **{name: getattr(inputs, name)[:, :13] for name in BY_CANDIDATE}
        )
    )
    # Other garbage there, and in the relations that no real candidate has.
    unused = inputs.relation_counts() == 0
    assert unused.any()
    real = inputs.mask[..., None]
    same(
        inputs._replace(
            relations=jnp.where(unused[..., None], 1e3, inputs.relations),
            relation_index=jnp.where(inputs.mask, inputs.relation_index, 3),
            triplets=jnp.where(real, inputs.triplets, 1e3),
            ppr=jnp.where(real, inputs.ppr, 1e3),
            topics=jnp.pad(inputs.topics, ((0, 0), (0, 9))),
        )
    )


@every_network
def test_numbering_of_nodes_and_order_of_candidates_do_not_matter(config):
    weights, inputs = weights_of(config), make_inputs()
    g = np.random.default_rng(5)
    names, order = g.permutation(V), g.permutation(N)
    shuffled = {name: getattr(inputs, name)[:, order] for name in BY_CANDIDATE}
    shuffled["nodes"] = jnp.asarray(names)[shuffled["nodes"]]
    topics = jnp.zeros_like(inputs.topics).at[:, names].set(inputs.topics)
    np.testing.assert_allclose(
        logits_of(weights, config, inputs._replace(topics=topics, **shuffled)),
        logits_of(weights, config, inputs)[:, order],
        rtol=2e-4,
        atol=2e-4,
    )


@pytest.mark.extended
@every_network
def test_relations_per_candidate_equal_unique_ones(config):
    weights, inputs = weights_of(config), make_inputs()
    full = inputs._replace(
        relations=jnp.asarray(full_relations(inputs)), relation_index=None
    )
    np.testing.assert_allclose(
        logits_of(weights, config, inputs),
        logits_of(weights, config, full),
        rtol=2e-4,
        atol=2e-4,
    )


@pytest.mark.extended
@every_network
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_are_finite_for_any_number_of_candidates(config, dtype):
    config = dataclasses.replace(config, compute_dtype=dtype)
    weights = weights_of(config)

    def loss(weights, inputs):
        outputs = policy_outputs(weights, config, inputs)
        logits = outputs.logits * jnp.cos(jnp.arange(N))[None]
        total = jnp.where(inputs.mask, logits, 0.0).sum()
        if outputs.answers is not None:
            answers = outputs.answers * jnp.cos(jnp.arange(V))[None]
            total += jnp.where(jnp.isfinite(outputs.answers), answers, 0.0).sum()
        return total

    gradient = jax.jit(jax.grad(loss))
    for n_real in ([0] * 4, [1] * 4, [10] * 4, [N] * 4, [0, 1, 10, N]):
        leaves = jax.tree.leaves(gradient(weights, make_inputs(n_real)))
        assert all(np.isfinite(leaf).all() for leaf in leaves)
        if max(n_real) > 1:
            assert all(np.abs(leaf).max() > 0 for leaf in leaves)


@every_network
def test_no_gradient_flows_to_the_frozen_embeddings(config):
    weights, inputs = weights_of(config), make_inputs([N] * 4)

    @jax.jit
    def gradient(triplets):
        def total(x):
            return policy_logits(weights, config, inputs._replace(triplets=x)).sum()

        return jax.grad(total)(triplets)

    assert not gradient(inputs.triplets).any()


@pytest.mark.extended
@every_network
def test_float16_tables_and_bfloat16_compute_are_close(config):
    weights, inputs = weights_of(config), make_inputs([N, 25, 3, 1])
    real = np.asarray(inputs.mask)
    exact = logits_of(weights, config, inputs)[real]
    half = inputs._replace(
        triplets=inputs.triplets.astype(jnp.float16),
        relations=inputs.relations.astype(jnp.float16),
    )
    difference = np.abs(logits_of(weights, config, half)[real] - exact)
    assert 0 < difference.max() < 0.01 * np.std(exact)
    rounded = dataclasses.replace(config, compute_dtype="bfloat16")
    logits = logits_of(weights, rounded, half)
    assert logits.dtype == jnp.float32
    difference = np.abs(logits[real] - exact)
    assert 0 < difference.max() < 0.1 * np.std(exact)


def test_relation_counts_are_over_real_candidates():
    inputs = make_inputs([N, 11, 0, 5])
    index, mask = np.asarray(inputs.relation_index), np.asarray(inputs.mask)
    expected = [
        np.bincount(i[m], minlength=7) for i, m in zip(index, mask, strict=True)
    ]
    np.testing.assert_array_equal(inputs.relation_counts(), expected)


@pytest.mark.extended
@every_network
def test_matmuls_have_the_precision_of_their_operands(config):
    weights, inputs = weights_of(config), make_inputs()

    def total(weights):
        return jnp.where(inputs.mask, policy_logits(weights, config, inputs), 0.0).sum()

    program = jax.make_jaxpr(full_precision(jax.grad(total)))(weights)
    matmuls = [
        equation.params["precision"]
        for equation, _ in equations(program.jaxpr)
        if equation.primitive.name == "dot_general"
    ]
    highest = jax.lax.Precision.HIGHEST
    assert len(matmuls) > 5
    assert set(matmuls) == {(highest, highest)}


# --- parameters


@pytest.mark.extended
@every_network
def test_the_module_has_the_parameters_and_logits_of_its_weights(config):
    policy, inputs = Policy.initial(config, seed=3), make_inputs()
    weights = init_weights(jax.random.key(3), config)
    assert jax.tree.structure(policy.weights) == jax.tree.structure(weights)
    assert all(jax.tree.leaves(jax.tree.map(jnp.array_equal, policy.weights, weights)))
    with jax.default_matmul_precision("highest"):
        logits = jax.jit(lambda policy, x: policy(x))(policy, inputs)
    np.testing.assert_array_equal(logits, jitted_logits(weights, config, inputs))
    shapes = jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), weight_shapes(config))
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), weights) == shapes


EARLIER_WALK = dataclasses.replace(
    WALK, steps=2, question_hidden=0, answers=0, return_gates=False
)
INITIAL_PROJECTIONS = {
    DUAL_TOWER: 9.860752232,
    EARLIER_WALK: -0.821195598,
    MLP: -8.759332132,
}
"""Of the parameters that seed 3 started from before there was ``init``."""


@pytest.mark.parametrize("config", INITIAL_PROJECTIONS, ids=["thesis", "walk", "mlp"])
def test_a_seed_starts_from_the_same_parameters_in_every_version(config):
    weights = init_weights(jax.random.key(3), config)
    leaves = [np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(weights)]
    projections = [leaf @ np.cos(np.arange(leaf.size)) for leaf in leaves]
    total = np.dot(projections, np.cos(np.arange(len(leaves))))
    assert total == pytest.approx(INITIAL_PROJECTIONS[config], rel=1e-5)


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (DualTowerConfig(), 1_954_133),
        (WalkConfig(), 470_723),
        (
            WalkConfig(answers=0, question_hidden=0, return_gates=False, word_rank=0),
            341_108,
        ),
        (WalkConfig(word_rank=0), 438_837),
        (WalkConfig(without=("absolute",)), 181_635),
        (MlpConfig(), 446_978),
    ],
    ids=[
        *("thesis", "walk", "walk of earlier versions", "walk without words"),
        *("walk of likenesses", "mlp"),
    ],
)
def test_the_number_of_parameters_is_the_one_that_pages_name(config, count):
    leaves = jax.tree.leaves(weight_shapes(config))
    assert sum(leaf.size for leaf in leaves) == count


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("config", [WALK, WORDS], ids=["walk", "words"])
def test_answers_equal_those_of_the_literal_head(seed, config):
    weights, inputs = weights_of(config, seed), make_inputs(seed=seed)
    with jax.default_matmul_precision("highest"):
        outputs = jax.jit(partial(policy_outputs, config=config))(
            weights, inputs=inputs
        )
    logits, answers = plain_outputs(weights, config, inputs)
    np.testing.assert_allclose(outputs.logits, logits, rtol=2e-4, atol=2e-4)
    assert np.array_equal(np.isneginf(outputs.answers), np.isneginf(answers))
    np.testing.assert_allclose(outputs.answers, answers, rtol=5e-4, atol=5e-4)
    assert np.std(answers[0][np.isfinite(answers[0])]) > 0.2


def test_a_policy_without_a_head_has_the_same_logits():
    """Files of earlier versions lack the head's settings: they mean none."""
    weights, inputs = weights_of(WALK), make_inputs()
    fields = config_to_json(EARLIER_WALK)
    del fields["answers"], fields["question_hidden"], fields["return_gates"]
    assert config_from_json(fields) == EARLIER_WALK
    no_head = dataclasses.replace(WALK, answers=0)
    outputs = jax.jit(partial(policy_outputs, config=no_head))(
        dataclasses.replace(weights, answers=None), inputs=inputs
    )
    assert outputs.answers is None and outputs.follow is None
    np.testing.assert_array_equal(outputs.logits, logits_of(weights, WALK, inputs))


# --- configurations and inputs


@every_network
def test_a_config_survives_json(config):
    fields = json.loads(json.dumps(config_to_json(config)))
    assert config_from_json(fields) == config
    assert ("kind" in fields) == needs_topology(config) == (config != DUAL_TOWER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"kind": "forest"},
            r"policy.kind: 'forest', expected one of thesis, walk, mlp",
        ),
        ({"walkers": 0}, "policy.walkers: 0, expected a whole"),
        ({"depth": 3}, "policy.depth: unknown field"),
        ({"compute_dtype": "int8"}, "policy.compute_dtype: 'int8'"),
        ({"walkers": None}, "policy.walkers: missing"),
    ],
)
def test_a_bad_field_of_json_is_named(change, message):
    fields = {**config_to_json(WALK), **change}
    fields = {name: value for name, value in fields.items() if value is not None}
    with pytest.raises(UserError, match=message):
        config_from_json(fields)


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
        DualTowerConfig(**fields)
    assert "\n" not in str(caught.value)


def test_embeddings_are_scaled_to_unit_variance_by_default():
    assert DualTowerConfig().scale == pytest.approx(384**0.5)
    assert DualTowerConfig(input_scale=1.0).scale == 1.0


@every_network
def test_missing_and_misshapen_inputs_are_named(config):
    weights, inputs = weights_of(config), make_inputs([4])
    with pytest.raises(ValueError, match="ppr"):
        policy_logits(weights, config, inputs._replace(ppr=inputs.ppr[..., :1]))
    with pytest.raises(ValueError, match="relations"):
        policy_logits(weights, config, inputs._replace(relation_index=None))
    if needs_topology(config):
        with pytest.raises(ValueError, match="needs nodes and topics"):
            policy_logits(weights, config, inputs._replace(nodes=None))
    if needs_words(config):
        with pytest.raises(UserError, match="prepare them again"):
            policy_logits(weights, config, inputs._replace(words=None))
        short = inputs._replace(words=inputs.words[:, :2])
        with pytest.raises(ValueError, match="word_places"):
            policy_logits(weights, config, short)


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


@pytest.mark.extended
@pytest.mark.parametrize("part", PARTS)
def test_a_network_without_a_part_does_not_learn_from_it(part):
    config = dataclasses.replace(WALK, without=(part,))
    inputs = make_inputs()

    def total(weights):
        out = policy_outputs(weights, config, inputs)
        both = (out.logits, out.answers)
        return sum(jnp.where(jnp.isfinite(x), jnp.sin(x), 0.0).sum() for x in both)

    slopes = jax.jit(jax.grad(total))(weights_of(config))
    walkers = jax.tree.leaves(slopes.walkers)
    distances = slopes.features.kernel[:DISTANCE_WIDTH]
    products = [slopes.triplet_product, slopes.relation_product]
    absolute = [slopes.triplet, slopes.relation, slopes.question]
    absolute += [slopes.walkers.relation, slopes.walkers.question]
    absolute += [slopes.answers.question, slopes.answers.gate]
    still = {
        "absolute": absolute,
        "walks": walkers,
        "distances": [distances],
        "products": [*products, slopes.walkers.product],
        "residual": [slopes.cosines],
    }
    for name, leaves in still.items():
        silent = not any(leaf is not None and np.asarray(leaf).any() for leaf in leaves)
        assert silent == (name == part), name


def test_parts_left_out_are_in_the_json_only_where_there_are_some():
    assert "without" not in config_to_json(WALK)
    config = dataclasses.replace(WALK, without=("walks", "products"))
    fields = json.loads(json.dumps(config_to_json(config)))
    assert fields["without"] == ["walks", "products"]
    assert config_from_json(fields) == config
    with pytest.raises(UserError, match=r"policy\.without"):
        dataclasses.replace(WALK, without=("flow",))
