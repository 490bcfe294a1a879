"""A scorer of triplets trained on a graph for link prediction (Li et al. 2016).

The bilinear model of "Commonsense knowledge base completion": a term is the mean of its
words' vectors v, u = tanh(W v + b), and s(t1, r, t2) = sigmoid(u1^T M_r u2). It is
trained to tell triplets of the graph from those with a random head, relation or tail.
Word vectors are those of the sentence encoder's word pieces. Positives and negatives
weigh the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Float32, Int, Int32

from kgscout_jax.utils.progress import ProgressBar

WIDTH = 32
"""Dimension of u."""
BATCH = 1024
"""Triplets of the graph per step; each has three false ones."""
EPOCHS, MIN_STEPS, MAX_STEPS = 20, 300, 1500
RATE = 0.01
L2 = 1e-6
BLOCK = 1 << 13
"""Triplets that are scored at once."""


class Weights(NamedTuple):
    """The parameters."""

    projection: Float[Array, "d w"]
    bias: Float[Array, "w"]
    relations: Float[Array, "r w w"]


@dataclass(frozen=True)
class LinkScorer:
    """A trained scorer: u of every entity, M of every relation."""

    entities: Float32[np.ndarray, "e w"]
    relations: Float32[np.ndarray, "r w w"]

    def scores(self, triplets: Int32[np.ndarray, "m 3"]) -> Float32[np.ndarray, "m"]:
        """How likely each triplet is in the graph, from 0 to 1."""
        out = np.empty(len(triplets), np.float32)
        for low in range(0, len(triplets), BLOCK):
            h, r, t = np.asarray(triplets[low : low + BLOCK]).T
            rows = self.entities[h][:, None, :] @ self.relations[r]
            out[low : low + len(h)] = (rows[:, 0] * self.entities[t]).sum(axis=1)
        return _sigmoid(out)

    def relation_scores(
        self, triplets: Int32[np.ndarray, "m 3"]
    ) -> Float32[np.ndarray, "m r"]:
        """How likely the entities of each triplet are linked by each relation."""
        heads, tails = self.entities[triplets[:, 0]], self.entities[triplets[:, 2]]
        products = (heads[:, :, None] * tails[:, None, :]).reshape(len(triplets), -1)
        return _sigmoid(products @ self.relations.reshape(len(self.relations), -1).T)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * x))


def train_scorer(
    triplets: Int32[np.ndarray, "m 3"],
    vectors: Float[np.ndarray, "e d"],
    n_relations: int,
    *,
    seed: int = 0,
) -> LinkScorer:
    """The scorer of a graph.

    Args:
        triplets: all triplets of the graph; without any, nothing is learnt.
        vectors: of the names of all entities.
        n_relations: number of relations.
        seed: of the first weights, the batches and the false triplets.
    """
    mean = vectors.mean(axis=0, dtype=np.float32) if len(vectors) else 0.0
    scale = 1 / max(float(np.std(vectors[:4096].astype(np.float32))), 1e-6)
    d = vectors.shape[1]
    weights = _initial(jax.random.key(seed), d, n_relations)
    optimizer = optax.adam(RATE)
    state = optimizer.init(weights)

    @jax.jit
    def step(weights, state, ends, relations, truth):
        gradient = jax.grad(_loss)(weights, ends, relations, truth)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(weights, updates), state

    rng = np.random.default_rng(seed)
    batch = min(BATCH, len(triplets))
    steps = 0
    if batch:
        steps = int(np.clip(EPOCHS * len(triplets) // batch, MIN_STEPS, MAX_STEPS))
    truth = np.repeat(np.array([1.0, 0, 0, 0], np.float32), batch)
    with ProgressBar(steps, "training the scorer of triplets", "steps") as bar:
        for _ in range(steps):
            rows = triplets[rng.integers(0, len(triplets), batch)]
            rows = _with_false(rows, len(vectors), n_relations, rng)
            ends = (vectors[rows[:, [0, 2]]].astype(np.float32) - mean) * scale
            weights, state = step(weights, state, ends, rows[:, 1], truth)
            bar.update(1)
    projection, bias, relations = map(np.asarray, weights)
    entities = np.empty((len(vectors), WIDTH), np.float32)
    for low in range(0, len(vectors), BLOCK):
        block = (vectors[low : low + BLOCK].astype(np.float32) - mean) * scale
        entities[low : low + BLOCK] = np.tanh(block @ projection + bias)
    return LinkScorer(entities, relations)


def _initial(key: Array, d: int, n_relations: int) -> Weights:
    one, two = jax.random.split(key)
    return Weights(
        projection=jax.random.normal(one, (d, WIDTH)) / np.sqrt(d),
        bias=jnp.zeros(WIDTH),
        relations=jax.random.normal(two, (n_relations, WIDTH, WIDTH)) / WIDTH,
    )


def _loss(
    weights: Weights,
    ends: Float[Array, "b 2 d"],
    relations: Int[Array, "b"],
    truth: Float[Array, "b"],
) -> Float[Array, ""]:
    u = jnp.tanh(ends @ weights.projection + weights.bias[None, None])
    matrices = weights.relations[relations]
    logits = jnp.einsum("bi,bij,bj->b", u[:, 0], matrices, u[:, 1])
    losses = optax.sigmoid_binary_cross_entropy(logits, truth)
    share = truth / truth.sum() + (1 - truth) / (1 - truth).sum()
    decay = L2 * sum(jnp.sum(leaf**2) for leaf in weights)
    return (losses * share).sum() / 2 + decay


def _with_false(
    rows: Int32[np.ndarray, "b 3"],
    n_entities: int,
    n_relations: int,
    rng: np.random.Generator,
) -> Int32[np.ndarray, "4*b 3"]:
    """The rows, then with another head, another relation, another tail."""
    out = np.tile(rows, (4, 1))
    b = len(rows)
    for i, (column, n) in enumerate(
        ((0, n_entities), (1, n_relations), (2, n_entities))
    ):
        out[(i + 1) * b : (i + 2) * b, column] = rng.integers(0, n, b)
    return out
