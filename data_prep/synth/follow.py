"""Follows the paths of many questions at once: all entities that each path reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int64

from data_prep.synth.arc_index import ArcIndex


class Edges(NamedTuple):
    """The arcs of one step."""

    owner: Int64[np.ndarray, "a"]
    """Position of the question."""
    source: Int64[np.ndarray, "a"]
    triplet: Int64[np.ndarray, "a"]
    target: Int64[np.ndarray, "a"]


@dataclass(frozen=True)
class Trace:
    """What the paths of some questions reach, step by step."""

    n: int
    """Number of entities."""
    lengths: Int64[np.ndarray, "q"]
    """Steps of each path."""
    keys: list[Int64[np.ndarray, "f"]]
    """question * n + entity after each step, ascending; first the topics."""
    edges: list[Edges]
    within: Bool[np.ndarray, "q"]
    """False where a step has more arcs than the limit; that path is not followed on."""

    def after(self, steps: Int64[np.ndarray, "q"]) -> Int64[np.ndarray, "f"]:
        """Keys of the entities after this many steps of each question, ascending."""
        parts = [
            keys[steps[keys // self.n] == step] for step, keys in enumerate(self.keys)
        ]
        return np.sort(np.concatenate(parts))

    def ends(self) -> Int64[np.ndarray, "f"]:
        """Keys of the entities at the ends of the paths."""
        return self.after(self.lengths)

    def sizes(self, keys: Int64[np.ndarray, "f"]) -> Int64[np.ndarray, "q"]:
        """The number of keys of each question."""
        return np.bincount(keys // self.n, minlength=len(self.lengths))

    def relevant(
        self, ends: Int64[np.ndarray, "f"]
    ) -> tuple[Int64[np.ndarray, "t"], Int64[np.ndarray, "t"]]:
        """(question, triplet id) of the triplets on paths to ``ends``; each once."""
        owners, triplets = [], []
        alive = np.empty(0, np.int64)
        for step in range(len(self.edges), 0, -1):
            last = ends[self.lengths[ends // self.n] == step]
            alive = sorted_unique(np.concatenate([alive, last]))
            edges = self.edges[step - 1]
            on_path = np.isin(edges.owner * self.n + edges.target, alive)
            owners.append(edges.owner[on_path])
            triplets.append(edges.triplet[on_path])
            alive = sorted_unique((edges.owner * self.n + edges.source)[on_path])
        if not owners:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return distinct_pairs(np.concatenate(owners), np.concatenate(triplets))


def sorted_unique(values: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "u"]:
    """The distinct values, ascending; several times faster than np.unique here."""
    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=-1) != 0]


def distinct_pairs(
    owner: Int64[np.ndarray, "k"], value: Int64[np.ndarray, "k"]
) -> tuple[Int64[np.ndarray, "u"], Int64[np.ndarray, "u"]]:
    """The distinct pairs of numbers from 0, in ascending order."""
    if not len(owner):
        return owner, value
    width = int(value.max()) + 1
    return np.divmod(sorted_unique(owner * width + value), width)


def follow(
    index: ArcIndex,
    topics: Int64[np.ndarray, "q"],
    paths: Int64[np.ndarray, "q s"],
    limit: int,
    turns: Int64[np.ndarray, "q"] | None = None,
) -> Trace:
    """Everything that each path reaches from its topic.

    Args:
        index: the arcs of the graph.
        topics: one entity a question.
        paths: arc types, -1 behind a path's end.
        limit: most arcs of one step of one question.
        turns: steps after which each path has gone there and back, and its topic is
            left out; 0 for none.
    """
    n = max(len(index.graph.entities), 1)
    within = np.ones(len(topics), bool)
    keys = [np.arange(len(topics)) * n + topics]
    steps = []
    for step in range(paths.shape[1]):
        owner, source = np.divmod(keys[-1], n)
        types = paths[owner, step]
        groups, real = index.find(source, np.maximum(types, 0))
        real &= types >= 0
        owner, source, groups = owner[real], source[real], groups[real]
        counts = index.offsets[groups + 1] - index.offsets[groups]
        total = np.bincount(owner, counts, minlength=len(topics))
        within &= total <= limit
        small = within[owner]
        owner, source, groups = owner[small], source[small], groups[small]
        at, triplets, target = index.arcs(groups)
        owner, source = owner[at], source[at]
        if turns is not None:
            on = (turns[owner] != step + 1) | (target != topics[owner])
            owner, source, triplets, target = (
                each[on] for each in (owner, source, triplets, target)
            )
        edges = Edges(owner, source, triplets.astype(np.int64), target)
        steps.append(edges)
        keys.append(sorted_unique(edges.owner * n + edges.target))
    lengths = (paths >= 0).sum(axis=1)
    return Trace(n, lengths, keys, steps, within)
