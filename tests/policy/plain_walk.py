"""The walk policy and the MLP written out literally, one candidate after the other.

Float64 numpy, Python loops over candidates and nodes: the oracle of the tests.
"""

from __future__ import annotations

import math

import numpy as np
from plain_policy import gelu


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def plain_distances(edges, topics, v):
    """Per node [v, 5]: is it a topic; two rounds along edges; two against them."""

    def spread(state, pairs):
        out = np.zeros(v)
        for node in range(v):
            sources = [state[a] for a, b in pairs if b == node]
            out[node] = np.mean(sources) if sources else 0.0
        return out

    start = np.array([float(i in topics) for i in range(v)])
    along = [(h, t) for h, t in edges]
    against = [(t, h) for h, t in edges]
    one, other = spread(start, along), spread(start, against)
    return np.stack(
        [start, one, spread(one, along), other, spread(other, against)], axis=1
    )


def plain_walk(follow, edges, topics, v, steps, walkers):
    """[n, 2 * walkers * (steps + 1)]: what walkers carry; follow [n, steps, 2, c]."""
    held = np.zeros((v, walkers))
    held[list(topics)] = 1.0
    columns = []
    for step in range(steps):
        along = np.zeros((len(edges), walkers))
        against = np.zeros_like(along)
        arrived = np.zeros_like(held)
        for i, (h, t) in enumerate(edges):
            along[i] = held[h] * follow[i, step, 0]
            against[i] = held[t] * follow[i, step, 1]
            arrived[t] += along[i]
            arrived[h] += against[i]
        columns += [along, against]
        held = arrived / (arrived.max(axis=0) + 1e-6)
    columns += [held[[h for h, _ in edges]], held[[t for _, t in edges]]]
    return 1 + np.log(np.concatenate(columns, axis=1) + 1e-4) / 4


def plain_walk_logits(p, config, question, triplets, relations, ppr, edges, topics, v):
    """Logits [n] of one question; every candidate brings its relation embedding."""
    d, scale = config.dimension, math.sqrt(config.dimension)
    q, t, r = question * scale, triplets * scale, relations * scale
    n, w = len(t), p["walkers"]
    follow = np.zeros((n, config.steps, 2, config.walkers))
    for i in range(n):
        hidden = gelu(
            q @ w["question"]
            + r[i] @ w["relation"]
            + (r[i] * q) @ w["product"] / 1.5
            + w["bias"]
        )
        out = hidden @ w["output"]["kernel"] + w["output"]["bias"]
        follow[i] = sigmoid(out - 1).reshape(config.steps, 2, config.walkers)
    carried = plain_walk(follow, edges, topics, v, config.steps, config.walkers)
    distances = plain_distances(edges, topics, v)
    logits = np.zeros(n)
    for i, (head, tail) in enumerate(edges):
        logs = (np.log(ppr[i] + 1e-8) - config.ppr_mean) / config.ppr_std
        cosines = np.array([t[i] @ q, r[i] @ q]) / d
        features = np.concatenate(
            [distances[head], distances[tail], carried[i], logs, 5 * cosines]
        )
        first = gelu(
            q @ p["question"]
            + t[i] @ p["triplet"]
            + (t[i] * q) @ p["triplet_product"] / 1.5
            + r[i] @ p["relation"]
            + (r[i] * q) @ p["relation_product"] / 1.5
            + features @ p["features"]["kernel"]
            + p["features"]["bias"]
        )
        second = gelu(first @ p["second"]["kernel"] + p["second"]["bias"])
        score = second @ p["output"]["kernel"] + p["output"]["bias"]
        logits[i] = score[0] + 5 * cosines @ p["cosines"]
    return logits / np.exp(p["log_temperature"])


def plain_mlp_logits(p, config, question, triplets, relations, edges, topics, v):
    """Logits [n] of one question."""
    scale = math.sqrt(config.dimension)
    distances = plain_distances(edges, topics, v)
    logits = np.zeros(len(triplets))
    for i, (head, tail) in enumerate(edges):
        first = (
            scale * question @ p["question"]
            + scale * triplets[i] @ p["triplet"]
            + scale * relations[i] @ p["relation"]
            + np.concatenate([distances[head], distances[tail]])
            @ p["distances"]["kernel"]
            + p["distances"]["bias"]
        )
        hidden = np.maximum(first, 0)
        logits[i] = (hidden @ p["output"]["kernel"] + p["output"]["bias"])[0]
    return logits / np.exp(p["log_temperature"])
