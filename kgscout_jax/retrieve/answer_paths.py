"""The path that the walkers took to an answer, as candidates from topic to answer.

A walker at a node chooses among the candidates that meet there, along or against the
edge, in proportion to its weights: the candidates' probabilities there sum to 1. The
path to an answer is the most probable one of any walker and any number of steps. Hubs
cost as much as a random walk would lose there, so a walker that follows everything
explains little, and one that follows the relation that is asked for explains most.
A walker may come back to a node or to a topic: ``without_loops`` leaves that out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from kgscout_jax.utils.stable_order import stable_argsort

LEAST = 1e-30
"""Floor of probabilities before the logarithm."""


def answer_paths(
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    follow: Float[np.ndarray, "u f"],
    topics: Int[np.ndarray, "t"],
    targets: Sequence[int],
    walkers: int,
    *,
    allowed: Bool[np.ndarray, "n"] | None = None,
) -> list[tuple[int, ...]]:
    """The most probable path to each target, as positions of candidates in order.

    () for a target that is a topic or that no walk of ``steps`` candidates reaches.

    Args:
        nodes: local node ids of head and tail of one question's candidates.
        relation_index: row of ``follow`` of each candidate.
        follow: the walkers' weights, f = steps * 2 * walkers, along edges first.
        topics: nodes that the walkers start from.
        targets: the answers' nodes.
        walkers: their number.
        allowed: candidates that a path may use; None for all.
    """
    n = len(nodes)
    used = np.arange(n) if allowed is None else np.flatnonzero(allowed)
    if not len(used) or not len(topics):
        return [() for _ in targets]
    steps = follow.shape[1] // (2 * walkers)
    weights = follow.reshape(len(follow), steps, 2, walkers)[relation_index[used]]
    # Arcs in order of their target: all candidates along their edge, then against it.
    heads, tails = nodes[used].T
    source, target = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    order = stable_argsort(target)
    source, target = source[order], target[order]
    candidate = np.concatenate([used, used])[order]
    v = int(max(nodes.max(), np.max(topics), max(targets, default=0))) + 1
    by_source = stable_argsort(source)
    starts = source[by_source]
    group = np.flatnonzero(np.diff(starts, prepend=-1))
    count = np.bincount(target, minlength=v)
    first = np.cumsum(count) - count
    reached = np.flatnonzero(count)
    best = np.full((v, walkers), -np.inf)
    best[topics] = 0.0
    levels, terms = [best], []
    for step in range(steps):
        weight = np.concatenate([weights[:, step, 0], weights[:, step, 1]])[order]
        outflow = np.zeros((v, walkers))
        outflow[starts[group]] = np.add.reduceat(weight[by_source], group, axis=0)
        share = np.log(weight + LEAST) - np.log(outflow[source] + LEAST)
        value = best[source] + share
        best = np.full((v, walkers), -np.inf)
        best[reached] = np.maximum.reduceat(value, first[reached], axis=0)
        levels.append(best)
        terms.append(value)
    is_topic = np.zeros(v, bool)
    is_topic[topics] = True
    return [
        ()
        if is_topic[node]
        else _path(node, levels, terms, source, candidate, first, count)
        for node in targets
    ]


def _path(
    node: int,
    levels: list[Float[np.ndarray, "v c"]],
    terms: list[Float[np.ndarray, "a c"]],
    source: Int[np.ndarray, "a"],
    candidate: Int[np.ndarray, "a"],
    first: Int[np.ndarray, "v"],
    count: Int[np.ndarray, "v"],
) -> tuple[int, ...]:
    """The candidates of the best path to ``node``, from a topic on."""
    table = np.stack([level[node] for level in levels[1:]])
    length, walker = np.unravel_index(int(table.argmax()), table.shape)
    if not np.isfinite(table[length, walker]):
        return ()
    path = []
    for step in range(int(length), -1, -1):
        arcs = slice(first[node], first[node] + count[node])
        arc = first[node] + int(terms[step][arcs, walker].argmax())
        path.append(int(candidate[arc]))
        node = int(source[arc])
    return tuple(reversed(path))


def without_loops(
    path: Sequence[int],
    nodes: Int[np.ndarray, "n 2"],
    topics: Int[np.ndarray, "t"],
    target: int,
) -> tuple[int, ...]:
    """The path from its last topic on, without what leads back to one of its nodes.

    Args:
        path: positions of candidates in order.
        nodes: local node ids of head and tail of the candidates.
        topics: nodes that paths start from.
        target: the node in which the path ends.
    """
    visited = [target]
    for candidate in reversed(path):
        head, tail = nodes[candidate].tolist()
        visited.append(head if tail == visited[-1] else tail)
    order, starts = visited[::-1], set(topics.tolist())
    visited, out = order[:1], []
    for candidate, node in zip(path, order[1:], strict=True):
        if node in starts:
            visited, out = [node], []
        elif node in visited:
            place = visited.index(node)
            visited, out = visited[: place + 1], out[:place]
        else:
            visited, out = [*visited, node], [*out, candidate]
    return tuple(out)
