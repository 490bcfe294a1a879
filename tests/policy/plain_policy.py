"""The policy network written out literally, in float64 numpy: the oracle of the tests.

Everything that the folded network avoids is here: x_A and x_B of 3d + 2 columns for
every candidate, n query rows through multi-head attention with a key bias, and one
relation embedding per candidate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def affine(layer, x):
    return x @ layer["kernel"] + layer["bias"]


def mlp(parameters, x):
    for layer in parameters["hidden"]:
        x = gelu(affine(layer, x))
    return affine(parameters["output"], x)[..., 0]


def attention(parameters, queries, memory, heads, key_bias):
    """Multi-head attention of n query rows over the m rows of memory: [n, d]."""
    query = affine(parameters["query"], queries)
    key = memory @ parameters["key_kernel"] + key_bias
    value = affine(parameters["value"], memory)
    size = query.shape[1] // heads
    parts = []
    for h in range(heads):
        columns = slice(h * size, (h + 1) * size)
        scores = query[:, columns] @ key[:, columns].T / math.sqrt(size)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        parts.append(weights @ value[:, columns])
    return affine(parameters["output"], np.concatenate(parts, axis=1))


def plain_logits(
    p: dict[str, Any], config, question, triplets, relations, ppr, key_bias=0.0
):
    """Logits [n] of one question; every candidate is real and has its own relation."""
    n = len(triplets)
    q, t, r = (x * config.scale for x in (question, triplets, relations))
    queries = np.repeat(q[None], n, axis=0)
    q_trip = attention(p["triplet_attention"], queries, t, config.heads, key_bias)
    q_rel = attention(p["relation_attention"], queries, r, config.heads, key_bias)
    features = np.log(ppr + 1e-8)
    features = (features - np.array(config.ppr_mean)) / np.array(config.ppr_std)
    x_a = np.concatenate([t, q_trip, queries, features], axis=1)
    x_b = np.concatenate([r, q_rel, queries, features], axis=1)
    assert x_a.shape == x_b.shape == (n, 3 * config.dimension + 2)
    gate = mlp(p["gate"], np.concatenate([t, r, queries], axis=1))
    gate = 1 / (1 + np.exp(-gate))
    z = np.stack([mlp(p["tower_a"], x_a), mlp(p["tower_b"], x_b), gate], axis=1)
    return mlp(p["combiner"], z) / np.exp(p["log_temperature"])
