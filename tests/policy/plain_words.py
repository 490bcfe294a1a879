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
    alike = np.exp(p["log_slope"]) * likeness_of(p, words, relation)
    for i in range(steps * walkers):
        term = softmax(score[:, i]) @ alike * p["gain"][i]
        out[i // walkers, :, i % walkers] = term
    return out


def plain_covers(p, words, distances, relations, edges, topics, v, steps):
    """[v, 5 * steps - 1]: see ``covers``."""
    alike = np.array([likeness_of(p, words, r) for r in relations])
    importance, matches = np.zeros(0), np.zeros((len(relations), 0))
    if len(words):
        best = alike.max(axis=0)
        slope, rivalry = np.exp(p["log_slope"]), np.exp(p["log_rivalry"])
        matches = 1 / (1 + np.exp(-slope * (alike - p["point"])))
        score = math.sqrt(words.shape[1]) * words @ p["importance"]
        score += places_of(distances) @ p["importance_place"]
        importance = softmax(score + np.log(matches.max(axis=0) + 1e-3))
        matches = matches * np.exp(-rivalry * (best - alike))
    cover = {node: np.zeros(len(words)) for node in topics}
    shares, gains = [], []
    for _ in range(steps):
        arriving, leaving = {}, {}
        for (head, tail), match in zip(edges, matches, strict=True):
            for source, end in ((head, tail), (tail, head)):
                if source in cover:
                    path = np.maximum(cover[source], match)
                    more = (path - cover[source]) @ importance
                    arriving.setdefault(end, []).append(path)
                    leaving.setdefault(source, []).append(more)
        gain = {}
        for node, values in leaving.items():
            weight = np.exp(30 * (np.array(values) - max(values)))
            gain[node] = weight @ values / weight.sum()
        gains.append([5 * gain.get(i, 0.0) for i in range(v)])
        cover = {}
        for node, paths in arriving.items():
            of_paths = np.array([path @ importance for path in paths])
            weight = np.exp(np.exp(p["log_sharpness"]) * (of_paths - of_paths.max()))
            cover[node] = weight @ np.array(paths) / weight.sum()
        shares.append({node: c @ importance for node, c in cover.items()})
    best = [max([*share.values(), 0.0]) for share in shares]

    def beside(share, value):
        return [5 * (share[i] - value) if i in share else -2.5 for i in range(v)]

    behind = [beside(share, b) for share, b in zip(shares, best, strict=True)]
    reached = [[float(i in share) for i in range(v)] for share in shares]
    growth = [[5 * x] * v for x in np.diff([0.0, *best])]
    short = [beside(share, max(best)) for share in shares]
    return np.array([*behind, *reached, *growth, *short, *gains[1:]]).T
