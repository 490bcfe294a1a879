"""The perturbations of OKGQA-P (section 3.2) on arrays of triplets.

A level perturbs the first triplets of an order that depends on the seed alone: the
triplets that are perturbed at a level are perturbed in the same way at every higher
level. No perturbed triplet equals another triplet, old or new. Triplets for which no
such change exists stay as they are: relation swapping and replacement in a graph of one
relation, rewiring of an entity that neighbours all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float32, Int, Int32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import group_by
from kgscout_jax.utils.progress import ProgressBar

Method = Literal["rs", "rr", "er", "ed"]
METHODS: tuple[Method, ...] = get_args(Method)
"""Relation swapping, relation replacement, edge rewiring, edge deletion."""
ROUNDS = 50
"""Draws for a triplet until it is left as it is."""

Triplets = Int32[np.ndarray, "m 3"]
RelationScores = Callable[[Triplets], Float32[np.ndarray, "m r"]]
"""The score of each pair of entities with each relation."""


def perturb(
    triplets: Triplets,
    method: Method,
    level: float,
    *,
    n_entities: int,
    n_relations: int,
    seed: int = 0,
    scores: RelationScores | None = None,
) -> tuple[Triplets, Bool[np.ndarray, "m"]]:
    """The triplets after a perturbation, row by row, and which of them remain.

    Args:
        triplets: head, relation, tail; each once.
        method: one of METHODS.
        level: share of the triplets, from 0 to 1.
        n_entities: number of entities, those without a triplet included.
        n_relations: number of relations.
        seed: of everything that is drawn.
        scores: of relations, for ``rr``.

    Raises:
        UserError: the level is outside [0, 1].
    """
    check_level(level)
    triplets = np.asarray(triplets, np.int32)
    out, remains = triplets.copy(), np.ones(len(triplets), bool)
    rng = np.random.default_rng([seed, METHODS.index(method)])
    order = rng.permutation(len(triplets))
    count = int(level * len(triplets) + 0.5)
    if not count:
        return out, remains
    keys = RowKeys(triplets, n_entities, n_relations)
    if method == "ed":
        remains[order[:count]] = False
    elif method == "rs":
        pairs = _swaps(triplets, order, keys, rng)[: count // 2]
        out[pairs[:, 0], 1] = triplets[pairs[:, 1], 1]
        out[pairs[:, 1], 1] = triplets[pairs[:, 0], 1]
    elif method == "er":
        tails = _rewired(triplets, order, keys, n_entities, rng)
        out[order[:count], 2] = tails[order[:count]]
    else:
        assert scores is not None, "rr needs the scores of relations"
        rows = order[:count]
        out[rows, 1] = _replacements(triplets, rows, scores, n_relations)
    return out, remains


def check_level(level: float) -> None:
    """Raise UserError unless ``level`` is a share."""
    if not 0 <= level <= 1:
        raise UserError(f"--level: found {level}, expected a number from 0 to 1")


class RowKeys:
    """A number for each triplet, and which of those the graph has."""

    def __init__(self, triplets: Triplets, n_entities: int, n_relations: int) -> None:
        self._e, self._r = max(n_entities, 1), max(n_relations, 1)
        if self._e**2 * self._r >= 2**63:
            raise UserError(
                f"{n_entities:,} entities and {n_relations:,} relations: expected "
                "fewer, their triplets do not fit 64 bits"
            )
        self.old = np.sort(self.of(*triplets.T))

    def of(
        self,
        heads: Int[np.ndarray, "k"],
        relations: Int[np.ndarray, "k"],
        tails: Int[np.ndarray, "k"],
    ) -> Int64[np.ndarray, "k"]:
        """The numbers of triplets."""
        return (heads.astype(np.int64) * self._r + relations) * self._e + tails

    def are_new(
        self, keys: Int64[np.ndarray, "k"], taken: Int64[np.ndarray, "j"]
    ) -> Bool[np.ndarray, "k"]:
        """True at the first of equal keys, where neither old nor ``taken``."""
        new = ~contains(self.old, keys) & ~contains(np.sort(taken), keys)
        first = np.zeros(len(keys), bool)
        first[np.unique(keys, return_index=True)[1]] = True
        return new & first


def contains(
    ascending: Int64[np.ndarray, "n"], values: Int64[np.ndarray, "k"]
) -> Bool[np.ndarray, "k"]:
    """Which ``values`` are among ``ascending``."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return ascending[at] == values


def _swaps(
    triplets: Triplets,
    order: Int64[np.ndarray, "m"],
    keys: RowKeys,
    rng: np.random.Generator,
) -> Int64[np.ndarray, "p 2"]:
    """Disjoint pairs of rows whose relations can be swapped."""
    free, pairs, taken = order, [], np.empty(0, np.int64)
    for turn in range(ROUNDS):
        if len(free) < 2:
            break
        if turn:
            free = rng.permutation(free)
        half = len(free) // 2
        one, two = free[:half], free[half : 2 * half]
        h, r, t = triplets[one].T
        h2, r2, t2 = triplets[two].T
        both = np.concatenate([keys.of(h, r2, t), keys.of(h2, r, t2)])
        new = keys.are_new(both, taken).reshape(2, half).all(axis=0) & (r != r2)
        pairs.append(np.stack([one, two], axis=1)[new])
        taken = np.concatenate([taken, both.reshape(2, half)[:, new].ravel()])
        free = np.concatenate([one[~new], two[~new], free[2 * half :]])
        if len(np.unique(triplets[free, 1])) < 2:
            break
    return np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)


def _rewired(
    triplets: Triplets,
    order: Int64[np.ndarray, "m"],
    keys: RowKeys,
    n_entities: int,
    rng: np.random.Generator,
) -> Int32[np.ndarray, "m"]:
    """The new tail of each row: no neighbour of its head, either way, nor itself."""
    tails = triplets[:, 2].copy()
    h, t = triplets[:, 0].astype(np.int64), triplets[:, 2].astype(np.int64)
    pairs = np.unique(np.concatenate([h * n_entities + t, t * n_entities + h]))
    free, taken = order, np.empty(0, np.int64)
    for _ in range(ROUNDS):
        if not len(free):
            break
        head, relation = triplets[free, 0].astype(np.int64), triplets[free, 1]
        drawn = rng.integers(0, n_entities, len(free))
        found = keys.of(head, relation, drawn)
        good = (drawn != head) & ~contains(pairs, head * n_entities + drawn)
        good[good] = keys.are_new(found[good], taken)
        tails[free[good]] = drawn[good]
        taken = np.concatenate([taken, found[good]])
        free = free[~good]
    return tails


CELLS = 1 << 24
"""Scores of pairs with relations that are in memory at once."""


def _replacements(
    triplets: Triplets,
    rows: Int64[np.ndarray, "k"],
    scores: RelationScores,
    n_relations: int,
) -> Int32[np.ndarray, "k"]:
    """For each row the relation of the lowest score that its entities have not yet.

    Rows of the same two entities take different relations, in the order of ``rows``.
    """
    _, owner = np.unique(triplets[:, [0, 2]], axis=0, return_inverse=True)
    owner = owner.ravel()
    by_pair = group_by(owner.astype(np.int32), int(owner.max()) + 1)
    order = np.argsort(owner[rows], kind="stable")
    ranked = owner[rows[order]]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    sizes = np.diff(np.append(starts, len(ranked)))
    turn = np.arange(len(ranked)) - np.repeat(starts, sizes)
    out = triplets[rows, 1].copy()
    size = max(1, CELLS // max(1, n_relations))
    with ProgressBar(len(starts), "replacing relations", "pairs") as bar:
        for low in range(0, len(starts), size):
            first = starts[low : low + size]
            n = len(first)
            table = np.array(scores(triplets[rows[order[first]]]), np.float32)
            place, own = by_pair.rows(ranked[first])
            table[place, triplets[own, 1]] = np.inf
            block = slice(int(first[0]), int(first[-1] + sizes[low + n - 1]))
            local = np.repeat(np.arange(n), sizes[low : low + n])
            for i in range(int(sizes[low : low + n].max())):
                here = np.flatnonzero(turn[block] == i)
                best = table[local[here]].argmin(axis=1)
                possible = np.isfinite(table[local[here], best])
                out[order[block][here[possible]]] = best[possible]
                table[local[here], best] = np.inf
            bar.update(n)
    return out
