"""The arrays that all graph modules share: triplets and adjacency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float64, Int, Int32, Int64

from kgscout_jax.utils.ragged import offsets_of, ranges


class NamedTriplets(Protocol):
    """Names and id triplets: everything that the embedded texts depend on."""

    @property
    def entities(self) -> Sequence[str]: ...
    @property
    def relations(self) -> Sequence[str]: ...
    @property
    def triplets(self) -> Int32[np.ndarray, "m 3"]: ...


@dataclass(frozen=True)
class Adjacency:
    """Triplet ids grouped by head or by tail (CSR).

    The triplets of entity ``e`` are ``triplet_ids[offsets[e]:offsets[e + 1]]``. Without
    ``triplet_ids`` they are the ids from ``offsets[e]`` to ``offsets[e + 1]``, because
    the canonical order is already grouped by head.
    """

    offsets: Int64[np.ndarray, "e+1"]
    triplet_ids: Int32[np.ndarray, "m"] | None = None

    def degrees(self, entities: Int[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        """The number of triplets of each entity."""
        return self.offsets[entities + 1] - self.offsets[entities]

    def rows(
        self, entities: Int[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "j"], Int32[np.ndarray, "j"]]:
        """All triplets of ``entities``: position in ``entities``, and triplet id."""
        lengths = self.degrees(entities)
        index = ranges(self.offsets[entities], lengths)
        owner = np.repeat(np.arange(len(entities)), lengths)
        if self.triplet_ids is None:
            return owner, index.astype(np.int32)
        return owner, self.triplet_ids[index]


def group_by(ends: Int32[np.ndarray, "m"], n_entities: int) -> Adjacency:
    """Adjacency over one column of the triplets; ids ascend within an entity."""
    offsets = offsets_of(np.bincount(ends, minlength=n_entities))
    return Adjacency(offsets, np.argsort(ends, kind="stable").astype(np.int32))


def group_sums(
    values: Float64[np.ndarray, "n"], groups: Int[np.ndarray, "n"], n_groups: int
) -> Float64[np.ndarray, "g"]:
    """The sum of each group's values; ``groups`` has the group of each value."""
    # numpy's counts of no values are integers.
    return np.bincount(groups, values, n_groups).astype(np.float64, copy=False)


def match_rows(
    old: Int32[np.ndarray, "m 3"], new: Int32[np.ndarray, "n 3"]
) -> Int64[np.ndarray, "n"]:
    """The row of ``old`` that equals each row of ``new``, or -1; both ascending."""
    if not len(old) or not len(new):
        return np.full(len(new), -1, np.int64)
    n_relations = int(max(old[:, 1].max(), new[:, 1].max())) + 1
    n_tails = int(max(old[:, 2].max(), new[:, 2].max())) + 1
    old_pairs = old[:, 0].astype(np.int64) * n_relations + old[:, 1]
    new_pairs = new[:, 0].astype(np.int64) * n_relations + new[:, 1]
    # Three ids do not fit 64 bits. The rank of (head, relation) in ``old`` and the
    # tail do.
    first = np.diff(old_pairs, prepend=-1) != 0
    pairs = old_pairs[first]
    rank = np.minimum(np.searchsorted(pairs, new_pairs), len(pairs) - 1)
    old_keys = (np.cumsum(first) - 1) * n_tails + old[:, 2]
    new_keys = rank * n_tails + new[:, 2]
    rows = np.minimum(np.searchsorted(old_keys, new_keys), len(old) - 1)
    equal = (pairs[rank] == new_pairs) & (old_keys[rows] == new_keys)
    return np.where(equal, rows, -1)
