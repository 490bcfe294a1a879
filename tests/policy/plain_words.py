"""What words say of paths, written out literally: the oracle of ``word_cover``."""

from __future__ import annotations

import math

import numpy as np

NO_WORD = -1000


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def places_of(distances):
    """[l, 4]: unknown, words after a topic's name, before it, nearness."""
    return np.array(
        [
            [float(x == 0), max(x, 0) / 8, max(-x, 0) / 8, 1 / max(abs(x), 1)]
            for x in distances
        ]
    )


def likeness_of(p, words, relation):
    """[l]: of each word and one relation."""
    d = words.shape[1]
    learned = (words @ p["left"]) @ (relation @ p["right"]) * math.sqrt(d)
    return words @ relation + learned


def plain_readiness(p, words, distances, relation, steps, walkers):
    """[steps, 2, walkers]: what is added to the logits for one relation."""
    out = np.zeros((steps, 2, walkers))
    if not len(words):
        return out
    score = math.sqrt(words.shape[1]) * words @ p["attention"]
    score += places_of(distances) @ p["attention_place"]
    alike = p["slope"] * likeness_of(p, words, relation)
    for i in range(steps * walkers):
        term = softmax(score[:, i]) @ alike * p["gain"][i]
        out[i // walkers, :, i % walkers] = term
    return out


def plain_covers(p, words, distances, relations, edges, topics, v, steps):
    """[v, 3 * steps]: behind the best, reached, growth of the best; see ``covers``."""
    importance = np.zeros(0)
    if len(words):
        score = math.sqrt(words.shape[1]) * words @ p["importance"]
        importance = softmax(score + places_of(distances) @ p["importance_place"])
    matches = [
        1 / (1 + np.exp(-p["slope"] * (likeness_of(p, words, r) - p["point"])))
        for r in relations
    ]
    cover = {node: np.zeros(len(words)) for node in topics}
    behind, reached, growth, last = [], [], [], 0.0
    for _ in range(steps):
        arriving = {}
        for (head, tail), match in zip(edges, matches, strict=True):
            for source, end in ((head, tail), (tail, head)):
                if source in cover:
                    path = np.maximum(cover[source], match)
                    arriving.setdefault(end, []).append(path)
        cover = {}
        for node, paths in arriving.items():
            shares = np.array([path @ importance for path in paths])
            weight = np.exp(np.exp(p["log_sharpness"]) * (shares - shares.max()))
            cover[node] = weight @ np.array(paths) / weight.sum()
        share = {node: c @ importance for node, c in cover.items()}
        best = max([*share.values(), 0.0])
        behind.append([5 * (share[i] - best) if i in share else -2.5 for i in range(v)])
        reached.append([float(i in share) for i in range(v)])
        growth.append([5 * (best - last)] * v)
        last = best
    return np.array([*behind, *reached, *growth]).T
