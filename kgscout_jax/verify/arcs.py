"""The arcs of an entity: relations with a direction, and through an unnamed entity two.

An arc type is a relation from head to tail (``r``) or from tail to head (``r + R``). A
path is one arc type, or two that meet in an entity without a name, such as Freebase's
mediators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

Path = tuple[int, ...]
"""Arc types from one entity to another."""
MAX_DEGREE = 50_000
"""Triplets of an entity that are looked at."""
MAX_MEDIATORS = 2_000
"""Unnamed neighbours of an entity whose triplets are looked at."""


@dataclass
class Arcs:
    """The paths from one entity, with the entities they lead to and their triplets."""

    targets: dict[Path, dict[int, tuple[int, ...]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Path -> entity -> triplet ids."""


@dataclass(frozen=True)
class ArcFinder:
    """Looks up arcs in a graph, and how functional they are in it."""

    graph: KnowledgeGraph

    @property
    def n_relations(self) -> int:
        """Number of relations; arc types from there on are inverse."""
        return len(self.graph.relations)

    def arcs(self, entity: int) -> Arcs:
        """The paths from an entity."""
        out = Arcs()
        mediators = []
        for arc, triplet, other in self.steps(entity, MAX_DEGREE):
            if self.graph.unnamed_mask[other]:
                mediators.append((arc, triplet, other))
            else:
                out.targets[arc,].setdefault(other, (triplet,))
        for first, triplet, mediator in mediators[:MAX_MEDIATORS]:
            for second, last, other in self.steps(mediator, MAX_MEDIATORS):
                # Back along the same arc is how siblings are joined, not a relation.
                if other != entity and second != self.inverse(first):
                    path = first, second
                    out.targets[path].setdefault(other, (triplet, last))
        return out

    def inverse(self, arc: int) -> int:
        """The arc type in the other direction."""
        half = self.n_relations
        return arc - half if arc >= half else arc + half

    def reverse(self, path: Path) -> Path:
        """The path in the other direction."""
        return tuple(self.inverse(arc) for arc in reversed(path))

    def functionality(self, path: Path) -> float:
        """One over the mean number of entities that a path leads to, from 0 to 1."""
        return float(np.prod([self._functionality[arc] for arc in path]))

    def sources(self, path: Path) -> int:
        """The number of entities that the path starts from."""
        return int(min(self._sources[arc] for arc in path))

    @cached_property
    def _pairs(self) -> tuple[Int64[np.ndarray, "t"], Int64[np.ndarray, "t"]]:
        """Per arc type, the number of distinct sources and of triplets."""
        triplets = np.asarray(self.graph.triplets).astype(np.int64)
        half, n = self.n_relations, len(self.graph.entities)
        sources = np.zeros(2 * half, np.int64)
        for column, start in ((0, 0), (2, half)):
            keys = np.unique(triplets[:, 1] * n + triplets[:, column])
            counts = np.bincount(keys // max(n, 1), minlength=half)
            sources[start : start + half] = counts
        pairs = np.bincount(triplets[:, 1], minlength=half)
        return sources, np.tile(pairs, 2)

    @property
    def _sources(self) -> Int64[np.ndarray, "t"]:
        return self._pairs[0]

    @cached_property
    def _functionality(self) -> Float64[np.ndarray, "t"]:
        sources, pairs = self._pairs
        return sources / np.maximum(pairs, 1)

    def ends(self, entity: int) -> set[int]:
        """The arc types that lead out of an entity: what kind of thing it is."""
        return {arc for arc, _, _ in self.steps(entity, MAX_MEDIATORS)}

    def steps(
        self, entity: int, limit: int, relations: Sequence[int] | None = None
    ) -> list[tuple[int, int, int]]:
        """(arc type, triplet, other end) of an entity's triplets, heads first.

        Args:
            entity: one end of the triplets.
            limit: triplets at most, of those it is the head of and of the others.
            relations: of the triplets; None for any.
        """
        one = np.array([entity])
        steps: list[tuple[int, int, int]] = []
        for adjacency, far, shift in (
            (self.graph.by_head, 2, 0),
            (self.graph.by_tail, 0, self.n_relations),
        ):
            _, ids = adjacency.rows(one)
            if relations is not None:
                ids = ids[np.isin(self.graph.triplets[ids, 1], relations)]
            ids = ids[:limit]
            rows = np.asarray(self.graph.triplets[ids])
            arcs = rows[:, 1] + shift
            steps += zip(
                arcs.tolist(), ids.tolist(), rows[:, far].tolist(), strict=True
            )
        return steps
