"""Networks, inputs and oracles that the tests of the policy networks share."""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from plain_policy import plain_logits
from plain_walk import plain_mlp_logits, plain_walk_logits

from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.registry import policy_logits
from kgscout_jax.policy.walk_config import WalkConfig

D, N, U, V = 24, 40, 7, 24
PPR = {"ppr_mean": (-8.0, -9.0), "ppr_std": (2.0, 3.0)}
DUAL_TOWER = DualTowerConfig(
    dimension=D,
    heads=4,
    tower_hidden=(32, 12),
    gate_hidden=20,
    combiner_hidden=8,
    **PPR,
)
WALK = WalkConfig(
    dimension=D,
    width=12,
    hidden=6,
    walkers=3,
    steps=3,
    condition=7,
    question_hidden=4,
    answers=5,
    word_rank=0,
    **PPR,
)
MLP = MlpConfig(dimension=D, width=10)
WORDS = dataclasses.replace(WALK, word_rank=2)
"""The walk policy that also reads the words of the question."""
CONFIGS = {"thesis": DUAL_TOWER, "walk": WALK, "words": WORDS, "mlp": MLP}
GAINS = {"thesis": 2.0, "walk": 1.5, "mlp": 1.5}
"""With these the logits of random parameters vary."""
BY_CANDIDATE = ("triplets", "relation_index", "ppr", "mask", "nodes")


def unit(g, *shape):
    x = g.normal(size=shape)
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)


def make_inputs(n_real=(N, 11, 1, 0), *, n=N, u=U, d=D, seed=0) -> PolicyInputs:
    """Random questions, with parallel edges and self-loops, garbage as padding."""
    g = np.random.default_rng(seed)
    b = len(n_real)
    mask = np.arange(n) < np.array(n_real)[:, None]
    # Skewed, so that multiplicities differ and the last relation is often unused.
    index = np.minimum(g.geometric(0.4, size=(b, n)) - 1, u - 1).astype(np.int32)
    nodes = g.integers(0, V, size=(b, n, 2)).astype(np.int32)
    nodes[:, 3] = nodes[:, 2]
    nodes[:, 4, 1] = nodes[:, 4, 0]
    topics = np.zeros((b, V), bool)
    topics[np.arange(b), nodes[:, 0, 0]] = True
    topics[0, nodes[0, 1, 1]] = True
    ppr = np.where(g.random((b, n, 2)) < 0.2, 0.0, g.random((b, n, 2)) ** 4)
    arrays = PolicyInputs(
        question=unit(g, b, d),
        triplets=unit(g, b, n, d),
        relations=unit(g, b, u, d),
        relation_index=index,
        ppr=ppr.astype(np.float32),
        mask=mask,
        nodes=nodes,
        topics=topics,
        words=unit(g, b, 4, d),
        word_places=np.array([[-2, 0, 1, NO_WORD]] * b)[:, g.permutation(4)],
    )
    return jax.tree.map(jnp.asarray, arrays)


@partial(jax.jit, static_argnums=1)
def jitted_logits(weights, config, inputs):
    with jax.default_matmul_precision("highest"):
        return policy_logits(weights, config, inputs)


def logits_of(weights, config, inputs) -> np.ndarray:
    """Logits, compiled once for all tests of the same shapes."""
    return np.asarray(jitted_logits(weights, config, inputs))


def full_relations(inputs) -> np.ndarray:
    rows = np.arange(len(inputs.mask))[:, None]
    return np.asarray(inputs.relations)[rows, np.asarray(inputs.relation_index)]


def plain_batch(weights, config, inputs, key_bias=0.0) -> np.ndarray:
    """The oracle's logits, -inf outside the mask."""
    return plain_outputs(weights, config, inputs, key_bias)[0]


def plain_outputs(weights, config, inputs, key_bias=0.0):
    """The oracle's logits, and its answers where there is a head; -inf outside."""
    inputs = inputs._replace(relations=full_relations(inputs))
    inputs = jax.tree.map(np.asarray, inputs)
    as_float64 = partial(np.asarray, dtype=np.float64)
    parameters = dataclasses.asdict(jax.tree.map(as_float64, weights))
    out = np.full(inputs.mask.shape, -np.inf)
    answers = np.full(inputs.topics.shape, -np.inf)
    for i, real in enumerate(inputs.mask):
        if not real.any():
            continue
        texts = map(
            as_float64,
            (inputs.question[i], inputs.triplets[i, real], inputs.relations[i, real]),
        )
        ppr = as_float64(inputs.ppr[i, real])
        if config.architecture == "thesis":
            out[i, real] = plain_logits(parameters, config, *texts, ppr, key_bias)
            continue
        graph = {
            "edges": inputs.nodes[i, real].tolist(),
            "topics": set(np.flatnonzero(inputs.topics[i]).tolist()),
            "v": inputs.topics.shape[1],
        }
        if config.architecture == "mlp":
            out[i, real] = plain_mlp_logits(parameters, config, *texts, **graph)
            continue
        known = inputs.word_places[i] != NO_WORD
        graph["words"] = (
            as_float64(inputs.words[i, known]),
            inputs.word_places[i, known],
        )
        both = plain_walk_logits(parameters, config, *texts, ppr=ppr, **graph)
        out[i, real], answers[i] = both
    return out, answers
