"""The arcs of a graph grouped by entity and arc type, for sampling and for following.

An arc type is a relation with a direction: ``r`` from head to tail, ``n_relations + r``
from tail to head. A group is all arcs of one type out of one entity. Groups make the
number of answers of a step known before the step is taken, also at hubs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int, Int32, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.utils.ragged import ranges


@dataclass(frozen=True)
class ArcIndex:
    """Groups of arcs in ascending order of entity, then of arc type."""

    graph: KnowledgeGraph
    keys: Int64[np.ndarray, "g"]
    """entity * n_types + arc type of each group."""
    offsets: Int64[np.ndarray, "g+1"]
    """Where the arcs of each group begin in ``triplets``."""
    triplets: Int32[np.ndarray, "2m"]
    """Triplet ids."""

    @staticmethod
    def of(graph: KnowledgeGraph) -> ArcIndex:
        """The index of a graph: about 40 bytes a triplet."""
        rows, n = graph.triplets, 2 * len(graph.relations)
        m = len(rows)
        keys = np.empty(2 * m, np.int64)
        keys[:m] = rows[:, 0].astype(np.int64) * n + rows[:, 1]
        keys[m:] = rows[:, 2].astype(np.int64) * n + rows[:, 1] + n // 2
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        triplets = np.where(order < m, order, order - m).astype(np.int32)
        return ArcIndex(graph, keys[first], np.append(first, 2 * m), triplets)

    @property
    def n_types(self) -> int:
        """Twice the number of relations."""
        return 2 * len(self.graph.relations)

    @property
    def sizes(self) -> Int64[np.ndarray, "g"]:
        """The number of arcs of each group."""
        return np.diff(self.offsets)

    @cached_property
    def functionality(self) -> Float64[np.ndarray, "r"]:
        """Of each arc type, entities that have it by arcs: 1 if each has one target."""
        types = self.keys % max(self.n_types, 1)
        groups = np.bincount(types, minlength=self.n_types)
        arcs = np.bincount(types, self.sizes, minlength=self.n_types)
        return groups / np.maximum(arcs, 1)

    def inverse(self, types: Int[np.ndarray, "..."]) -> Int64[np.ndarray, "..."]:
        """The arc types in the other direction; -1 stays."""
        half = self.n_types // 2
        turned = np.where(types < half, types + half, types - half)
        return np.where(types < 0, -1, turned)

    def find(
        self, entities: Int64[np.ndarray, "k"], types: Int64[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "k"], Bool[np.ndarray, "k"]]:
        """The group of each (entity, arc type), and whether there is one."""
        wanted = entities * self.n_types + types
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return at, np.zeros(len(at), bool)
        return at, self.keys[at] == wanted

    def groups_of(
        self, entities: Int64[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
        """The first group of each entity, and the number of its groups."""
        low = np.searchsorted(self.keys, entities * self.n_types)
        high = np.searchsorted(self.keys, (entities + 1) * self.n_types)
        return low, high - low

    def arcs(
        self, groups: Int64[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "a"], Int32[np.ndarray, "a"], Int64[np.ndarray, "a"]]:
        """(position in ``groups``, triplet id, entity at the other end) of all arcs."""
        lengths = self.offsets[groups + 1] - self.offsets[groups]
        owner = np.repeat(np.arange(len(groups)), lengths)
        ids = self.triplets[ranges(self.offsets[groups], lengths)]
        return owner, ids, self.other_end(self.keys[groups][owner], ids)

    def random_arc(
        self, groups: Int64[np.ndarray, "k"], rng: np.random.Generator
    ) -> Int64[np.ndarray, "k"]:
        """The entity at the other end of one arc of each group."""
        at = self.offsets[groups] + rng.integers(
            0, self.offsets[groups + 1] - self.offsets[groups]
        )
        return self.other_end(self.keys[groups], self.triplets[at])

    def other_end(
        self, keys: Int64[np.ndarray, "a"], ids: Int32[np.ndarray, "a"]
    ) -> Int64[np.ndarray, "a"]:
        """Where the arcs with these groups' keys and triplet ids lead."""
        rows = self.graph.triplets[ids]
        forward = keys % self.n_types < self.n_types // 2
        return np.where(forward, rows[:, 2], rows[:, 0]).astype(np.int64)
