"""Conflicts of two entities: single values that differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from kgscout_jax.graph.merge.named_graph import Side
from kgscout_jax.utils.ragged import offsets_of, ranges

FUNCTIONAL, LEAST_FACTS = 0.9, 3
"""A relation has one value per entity if so many entities per fact have it, of so many
facts in both graphs."""


@dataclass(frozen=True, eq=False)
class SingleValues:
    """The single values of entities under functional relations, sorted by entity."""

    offsets: Int64[np.ndarray, "e+1"]
    roles: Int64[np.ndarray, "v"]
    values: Int64[np.ndarray, "v"]
    """Entities."""


def conflicts(
    left: Side, right: Side, pairs: Int64[np.ndarray, "p 2"]
) -> Float64[np.ndarray, "p"]:
    """How many single-valued relations lead the entities of each pair elsewhere."""
    tables = single_values(left, right)
    n_roles = 2 * int(max(side.roles.max(initial=0) for side in (left, right))) + 2
    keys, values = [], []
    for i, table in enumerate(tables):
        lengths = np.diff(table.offsets)[pairs[:, i]]
        rows = ranges(table.offsets[pairs[:, i]], lengths)
        owners = np.repeat(np.arange(len(pairs)), lengths)
        keys.append(owners * n_roles + table.roles[rows])
        values.append(table.values[rows])
    # every value on the left beside every one on the right, of a pair and a relation
    at = equal_pairs(keys[0], keys[1])
    a, b = values[0][at[:, 0]], values[1][at[:, 1]]
    key = keys[0][at[:, 0]]
    role = key % n_roles
    agree = (left.near[a] == right.near[b]) | (left.near[a] < 0) | (right.near[b] < 0)
    agree |= _leads_to(tables[0], left.near, a, role, right.near[b])
    agree |= _leads_to(tables[1], right.near, b, role, left.near[a])
    against = np.setdiff1d(key, key[agree])
    return np.bincount(against // n_roles, minlength=len(pairs)).astype(np.float64)


def single_values(left: Side, right: Side) -> list[SingleValues]:
    """The values under relations that have one per entity in both graphs.

    A relation from head to tail has an even number, from tail to head an odd one.
    """
    n = int(max(side.roles.max(initial=0) for side in (left, right))) + 1
    listed, functional = [], np.ones(2 * n, bool)
    facts = np.zeros(2 * n, np.int64)
    for side in (left, right):
        rows = np.asarray(side.graph.triplets).astype(np.int64)
        roles = side.roles[rows[:, 1]]
        owner = np.concatenate([rows[:, 0], rows[:, 2]])
        role = np.concatenate([2 * roles, 2 * roles + 1])
        value = np.concatenate([rows[:, 2], rows[:, 0]])
        pairs = np.bincount(role, minlength=2 * n)
        sources = np.unique(role * len(side.near) + owner) // max(len(side.near), 1)
        functional &= np.bincount(sources, minlength=2 * n) >= FUNCTIONAL * pairs
        functional &= pairs > 0
        facts += pairs
        listed.append((owner, role, value))
    functional &= facts >= LEAST_FACTS
    tables = []
    for side, (owner, role, value) in zip((left, right), listed, strict=True):
        use = np.flatnonzero(functional[role])
        use = use[np.argsort(owner[use], kind="stable")]
        counts = np.bincount(owner[use], minlength=len(side.near))
        tables.append(SingleValues(offsets_of(counts), role[use], value[use]))
    return tables


def _leads_to(
    table: SingleValues,
    near: Int64[np.ndarray, "e"],
    start: Int64[np.ndarray, "k"],
    roles: Int64[np.ndarray, "k"],
    names: Int64[np.ndarray, "k"],
) -> Bool[np.ndarray, "k"]:
    """Whether the same relation leads on from each start to a name."""
    lengths = np.diff(table.offsets)[start]
    rows = ranges(table.offsets[start], lengths)
    owner = np.repeat(np.arange(len(start)), lengths)
    hit = (table.roles[rows] == roles[owner]) & (
        near[table.values[rows]] == names[owner]
    )
    out = np.zeros(len(start), bool)
    out[owner[hit]] = True
    return out


def equal_pairs(
    left: Int64[np.ndarray, "k"],
    right: Int64[np.ndarray, "l"],
    most: int | None = None,
) -> Int64[np.ndarray, "p 2"]:
    """All pairs of positions with equal numbers, but for numbers of over ``most``."""
    order = np.argsort(right, kind="stable")
    low = np.searchsorted(right[order], left, "left")
    counts = np.searchsorted(right[order], left, "right") - low
    if most is not None:
        counts[np.bincount(left, counts, minlength=1)[left] > most] = 0
    found = order[ranges(low, counts)]
    return np.stack([np.repeat(np.arange(len(left)), counts), found], axis=1)
