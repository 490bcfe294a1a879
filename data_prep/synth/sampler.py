"""Random links out of entities, for many questions at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from data_prep.synth.arc_index import ArcIndex

TRIES = 6
"""Random groups of an entity that are tried for one step."""


@dataclass
class Sampler:
    """Samples links: one relation, or two through an entity without a name."""

    index: ArcIndex
    weights: Float64[np.ndarray, "types"]
    """Weight of each arc type as the first of a path."""
    meaning: Float64[np.ndarray, "types"]
    """Probability to accept an arc type as a further step."""
    named: Bool[np.ndarray, "e"]
    most: int
    """Arcs of a step at most."""
    rng: np.random.Generator

    def __post_init__(self) -> None:
        index = self.index
        types = index.keys % max(index.n_types, 1)
        usable = (index.sizes <= self.most) & (self.weights[types] > 0)
        usable &= np.asarray(self.named)[index.keys // max(index.n_types, 1)]
        groups = np.flatnonzero(usable)
        order = np.argsort(types[groups], kind="stable")
        self._groups = groups[order]
        bounds = np.arange(index.n_types + 1)
        self._bounds = np.searchsorted(types[groups][order], bounds)

    @property
    def is_empty(self) -> bool:
        """Whether no question can start anywhere."""
        return not len(self._groups)

    def groups_of_type(self, arc_type: int) -> Int64[np.ndarray, "g"]:
        """The groups of an arc type that questions can start from."""
        return self._groups[self._bounds[arc_type] : self._bounds[arc_type + 1]]

    def starts(self, n: int) -> Int64[np.ndarray, "n"]:
        """Groups: arc types by weight, then any of their named entities."""
        counts = np.diff(self._bounds)
        weights = np.where(counts > 0, self.weights, 0.0)
        types = self.rng.choice(len(weights), n, p=weights / weights.sum())
        return self._groups[self._bounds[types] + self.rng.integers(0, counts[types])]

    def first_links(
        self, n: int
    ) -> tuple[
        Int64[np.ndarray, "n"], Int64[np.ndarray, "n 2"], Int64[np.ndarray, "n"]
    ]:
        """(topic, arc types, an entity reached) of n links; -1 where a link fails."""
        groups = self.starts(n)
        topics, types = np.divmod(self.index.keys[groups], self.index.n_types)
        reached = self.index.random_arc(groups, self.rng)
        return topics, *self._completed(types, reached)

    def links(
        self, entities: Int64[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "k 2"], Int64[np.ndarray, "k"]]:
        """(arc types, an entity reached) of a random link out of each entity.

        Failed links are -1: of entities that are -1, and where no step is accepted.
        """
        types, reached = self.step(entities)
        return self._completed(types, reached)

    def _completed(
        self, types: Int64[np.ndarray, "k"], reached: Int64[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "k 2"], Int64[np.ndarray, "k"]]:
        """Steps to unnamed entities go one step further."""
        unnamed = (reached >= 0) & ~np.asarray(self.named)[np.maximum(reached, 0)]
        second, beyond = self.step(np.where(unnamed, reached, -1))
        reached = np.where(unnamed, beyond, reached)
        reached[(reached >= 0) & ~np.asarray(self.named)[np.maximum(reached, 0)]] = -1
        both = np.stack([types, np.where(unnamed, second, -1)], axis=1)
        both[reached < 0] = -1
        return both, reached

    def step(
        self,
        entities: Int64[np.ndarray, "k"],
        weights: Float64[np.ndarray, "types"] | None = None,
    ) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
        """(arc type, an entity reached) of one random arc out of each entity."""
        accept = self.meaning if weights is None else weights
        low, counts = self.index.groups_of(np.maximum(entities, 0))
        chosen = np.full(len(entities), -1, np.int64)
        open_ = (entities >= 0) & (counts > 0)
        for _ in range(TRIES):
            group = low + self.rng.integers(0, np.maximum(counts, 1))
            group = np.minimum(group, len(self.index.keys) - 1)
            types = self.index.keys[group] % self.index.n_types
            sizes = self.index.offsets[group + 1] - self.index.offsets[group]
            draw = self.rng.random(len(entities))
            good = open_ & (draw < accept[types]) & (sizes <= self.most)
            chosen[good & (chosen < 0)] = group[good & (chosen < 0)]
        real = chosen >= 0
        types, reached = np.full((2, len(entities)), -1, np.int64)
        types[real] = self.index.keys[chosen[real]] % self.index.n_types
        reached[real] = self.index.random_arc(chosen[real], self.rng)
        return types, reached


def joint_path(paths: list[Int64[np.ndarray, "k 2"]]) -> Int64[np.ndarray, "k s"]:
    """The links of paths one behind the other, -1 only at the ends."""
    together = np.concatenate(paths, axis=1)
    order = np.argsort(together < 0, axis=1, kind="stable")
    return np.take_along_axis(together, order, axis=1)
