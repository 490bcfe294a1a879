"""A split with fewer candidates a question, for faster training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from kgscout_jax.data.shards import Split
from kgscout_jax.utils.ragged import Ragged

CHUNK = 1024
"""Questions at a time."""


def narrow_split(split: Split, n: int) -> Split:
    """``split`` with at most ``n`` candidates a question, in the order they had.

    Those that stay are the best by the better of two places: that by cosine, which is
    their order, and that by the PageRank of both ends, which keeps what is near the
    topics. Nodes are numbered anew; paths stay as they are, so that a loss still counts
    their triplets that are gone.
    """
    if n >= split.candidates.shape[1]:
        return split
    parts = [
        _narrow(split, np.arange(low, min(low + CHUNK, len(split))), n)
        for low in range(0, len(split), CHUNK)
    ]
    if not parts:
        return split
    candidates, nodes, topics, answers, n_nodes, ppr, hops = zip(*parts, strict=True)
    counts = np.concatenate(n_nodes)
    edges = {
        name: replace(before, values=np.concatenate([part[name] for part in hops]))
        for name, before in split.path_edges.items()
    }
    return replace(
        split,
        candidates=np.concatenate(candidates),
        nodes=np.concatenate(nodes),
        topics=np.concatenate(topics),
        answers=np.concatenate(answers),
        n_nodes=counts,
        node_ppr=Ragged.of_counts(np.concatenate(ppr), counts),
        path_edges=edges,
    )


def best_places(
    split: Split, rows: Int[np.ndarray, "k"], n: int
) -> Int[np.ndarray, "k n"]:
    """Places among the candidates of those that stay, ascending.

    The order is that of ``hybrid_scores``. Rows of equal width are sorted side by side,
    which is four times as fast as blocks of different length.
    """
    width = split.candidates.shape[1]
    real = np.asarray(split.candidates[rows]) >= 0
    ppr = split.ppr_of(rows, width).sum(axis=2)
    order = np.argsort(np.where(real, -ppr, np.inf), axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(width)[None], axis=1)
    better = np.where(real, np.minimum(place, np.arange(width)), width)
    return np.sort(np.argsort(better, axis=1, kind="stable")[:, :n], axis=1)


def _narrow(split: Split, rows: Int[np.ndarray, "k"], n: int) -> tuple:
    """Candidates, nodes, topics, answers, n_nodes, PageRank and hops of some rows."""
    chosen = best_places(split, rows, n)
    candidates = np.take_along_axis(np.asarray(split.candidates[rows]), chosen, axis=1)
    nodes = np.asarray(split.nodes[rows]).astype(np.int32)
    nodes = np.take_along_axis(nodes, chosen[..., None], axis=1)
    real = candidates >= 0
    topics, answers = split.topics[rows], split.answers[rows]
    counts = np.asarray(split.n_nodes[rows])
    hops = {name: edges.rows(rows) for name, edges in split.path_edges.items()}
    keep = np.zeros((len(rows), int(counts.max(initial=0)) + 1), bool)
    at = np.arange(len(rows))[:, None]
    for ids, some in (
        (nodes[..., 0], real),
        (nodes[..., 1], real),
        (topics, topics >= 0),
        (answers, answers >= 0),
    ):
        keep[at, np.where(some, ids, -1)] = True
    for owner, edge in hops.values():
        keep[owner, edge[:, 1]] = keep[owner, edge[:, 2]] = True
    keep[:, -1] = False
    number = (np.cumsum(keep, axis=1) - 1).astype(np.int32)
    is_node = np.arange(keep.shape[1]) < counts[:, None]
    _, ppr = split.node_ppr.rows(rows)
    return (
        candidates,
        np.where(real[..., None], number[at[..., None], nodes], 0),
        np.where(topics >= 0, number[at, topics], -1),
        np.where(answers >= 0, number[at, answers], -1),
        keep.sum(axis=1).astype(np.int32),
        ppr[keep[is_node]],
        {
            name: np.column_stack(
                [edge[:, 0], number[owner[:, None], edge[:, 1:3]], edge[:, 3:]]
            ).astype(np.int32)
            for name, (owner, edge) in hops.items()
        },
    )
