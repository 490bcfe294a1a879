"""The walk policy and the MLP written out literally, one candidate after the other.

Float64 numpy, Python loops over candidates and nodes: the oracle of the tests.
"""

from __future__ import annotations

import math

import numpy as np
from plain_policy import gelu
from plain_words import plain_covers, plain_readiness


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


def plain_walk(follow, edges, topics, v, steps, walkers, returns):
    """What walkers carry over edges, and hold at nodes after each step.

    [n, 2 * walkers * (steps + 1)] and [v, steps * walkers]; follow [n, steps, 2, c].
    """
    held = np.zeros((v, walkers))
    held[list(topics)] = 1.0
    columns, at_nodes = [], []
    for step in range(steps):
        moving = held.copy()
        if step and returns is not None:
            moving[list(topics)] *= sigmoid(returns)
        along = np.zeros((len(edges), walkers))
        against = np.zeros_like(along)
        arrived = np.zeros_like(held)
        for i, (h, t) in enumerate(edges):
            along[i] = moving[h] * follow[i, step, 0]
            against[i] = moving[t] * follow[i, step, 1]
            arrived[t] += along[i]
            arrived[h] += against[i]
        columns += [along, against]
        others = arrived.copy()
        if returns is not None:
            others[list(topics)] = 0.0
        held = arrived / (others.max(axis=0) + 1e-6)
        if returns is not None:
            held = np.minimum(held, 1.0)
        at_nodes.append(held)
    columns += [held[[h for h, _ in edges]], held[[t for _, t in edges]]]
    both = columns, at_nodes
    return tuple(1 + np.log(np.concatenate(each, axis=1) + 1e-4) / 4 for each in both)


def plain_walk_logits(
    p, config, question, triplets, relations, ppr, edges, topics, v, words
):
    """Logits [n] and answers [v] of one question; -inf at nodes without a candidate.

    Every candidate brings its relation embedding; words: embeddings and distances.
    """
    d, scale = config.dimension, math.sqrt(config.dimension)
    q, t, r = question * scale, triplets * scale, relations * scale
    n, w = len(t), p["walkers"]
    follow = np.zeros((n, config.steps, 2, config.walkers))
    for i in range(n):
        row = q @ w["question"]
        if w["hidden"] is not None:
            layer = gelu(q @ w["hidden"]["kernel"] + w["hidden"]["bias"])
            row = row + layer @ w["hidden_output"]
        hidden = gelu(
            row + r[i] @ w["relation"] + (r[i] * q) @ w["product"] / 1.5 + w["bias"]
        )
        out = hidden @ w["output"]["kernel"] + w["output"]["bias"]
        out = out.reshape(config.steps, 2, config.walkers)
        if p["cover"] is not None:
            sizes = config.steps, config.walkers
            out = out + plain_readiness(p["cover"], *words, relations[i], *sizes)
        follow[i] = sigmoid(out - 1)
    sizes = config.steps, config.walkers, p["walkers"]["returns"]
    carried, held = plain_walk(follow, edges, topics, v, *sizes)
    distances = plain_distances(edges, topics, v)
    explained = np.zeros((v, 0))
    if p["cover"] is not None:
        graph = relations, edges, topics, v, config.steps
        explained = plain_covers(p["cover"], *words, *graph)
        held = np.concatenate([held, explained], axis=1)
    scores, hidden_states = np.zeros(n), np.zeros((n, config.hidden))
    logs_of = (np.log(ppr + 1e-8) - config.ppr_mean) / config.ppr_std
    for i, (head, tail) in enumerate(edges):
        logs = logs_of[i]
        cosines = np.array([t[i] @ q, r[i] @ q]) / d
        features = np.concatenate(
            [
                *(distances[head], distances[tail], carried[i], logs, 5 * cosines),
                *(explained[head], explained[tail]),
            ]
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
        scores[i] = score[0] + 5 * cosines @ p["cosines"]
        hidden_states[i] = second
    logits = scores / np.exp(p["log_temperature"])
    if p["answers"] is None:
        return logits, None
    nodes = held, distances, logs_of
    return logits, plain_answers(p["answers"], q, nodes, edges, scores, hidden_states)


def plain_answers(p, q, nodes, edges, scores, hidden):
    """Logits [v] of the nodes, -inf where no candidate touches them."""
    held, distances, logs = nodes
    share = scores - np.log(np.exp(scores - scores.max()).sum()) - scores.max()
    messages = hidden @ p["message"]["kernel"] + p["message"]["bias"]
    width = messages.shape[1] // 2
    out = np.full(len(held), -np.inf)
    for node in range(len(held)):
        says, shares, counts, ppr = [], [], [], []
        for end in (1, 0):  # candidates that end there, then those that start there
            mine = [i for i, edge in enumerate(edges) if edge[end] == node]
            counts.append(len(mine))
            columns = slice(0, width) if end else slice(width, None)
            if not mine:
                says.append(np.zeros(width))
                shares.append(-40.0)
                continue
            weights = np.exp(share[mine])
            shares.append(np.log(weights.sum()))
            says.append(weights @ messages[mine, columns] / weights.sum())
            ppr.append(np.mean(logs[mine, end]))
        if not sum(counts):
            continue
        place = [*distances[node], *(0.5 * np.log1p(counts)), max(ppr)]
        features = np.concatenate([held[node], place, 0.25 * np.array(shares), *says])
        layer = (features @ p["features"]["kernel"]) * (1 + q @ p["gate"])
        layer = gelu(layer + q @ p["question"] + p["features"]["bias"])
        layer = gelu(layer @ p["second"]["kernel"] + p["second"]["bias"])
        by_flow = q @ p["flow"]["kernel"] + p["flow"]["bias"]
        logit = layer @ p["output"]["kernel"] + p["output"]["bias"]
        out[node] = logit[0] + held[node] @ by_flow
    return out


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
