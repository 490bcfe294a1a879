"""Drops questions whose words also fit other relations with other answers.

``film.actor.film`` and ``film.director.film`` share the words "film". A path is
ambiguous if it reaches something else when each relation is widened to all relations of
the same words and direction. Where the dotted name's type tells the relations apart,
the wording must say it. A question that leaves out steps is ambiguous if something
nearer to its topic, or as near, has the relation that it says first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int64

from data_prep.synth.arc_index import ArcIndex
from data_prep.synth.draft import Draft, Leg
from data_prep.synth.follow import follow
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.relation_words import domain, relation_words
from kgscout_jax.utils.ragged import ranges

LIMIT = 20_000
"""Arcs of a step at most; wider ones count as ambiguous."""


class Ambiguity:
    """Which drafts are ambiguous in a graph."""

    def __init__(self, index: ArcIndex) -> None:
        self.index = index
        relations = index.graph.relations
        phrases = [" ".join(relation_words(name)) for name in relations]
        names, self.phrase = np.unique(phrases, return_inverse=True)
        self.shared = np.bincount(self.phrase)[self.phrase] > 1
        self._wide = None
        if self.shared.any():
            rows = np.array(index.graph.triplets)
            rows[:, 1] = self.phrase[rows[:, 1]]
            self._wide = ArcIndex.of(
                KnowledgeGraph(index.graph.entities, names.tolist(), rows)
            )

    def without_ambiguous(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts with clear words; ``typed`` where types must help."""
        legs = [leg for draft in drafts for leg in draft.legs]
        ambiguous = dict(zip(map(id, legs), self._ambiguous(legs), strict=True))
        kept = []
        for draft in drafts:
            unclear = [leg for leg in draft.legs if ambiguous[id(leg)]]
            if draft.implied and unclear:
                continue
            if all(map(self._types_help, unclear)):
                kept.append(replace(draft, typed=bool(unclear)))
        nearer = self._nearer([draft for draft in kept if draft.implied])
        return [draft for draft in kept if draft.key not in nearer]

    def _types_help(self, leg: Leg) -> bool:
        """Whether the type of the topic or of the targets tells the relations apart."""
        half = len(self.index.graph.relations)
        for i, link in enumerate(leg.links):
            for arc in link:
                if self.shared[arc % half] and not (
                    domain(self.index.graph.relations[arc % half])
                    and (arc >= half or (i == 0 and arc == link[0]))
                ):
                    return False
        return True

    def _nearer(self, drafts: Sequence[Draft]) -> set[object]:
        """Keys of the drafts whose first relation said starts elsewhere as near."""
        index = self._wide or self.index
        legs = [draft.legs[0] for draft in drafts]
        said = [
            leg.links[draft.implied][0] for draft, leg in zip(drafts, legs, strict=True)
        ]
        types = self._widened(np.array(said, np.int64))
        steps = np.array(
            [
                sum(map(len, leg.links[: draft.implied]))
                for draft, leg in zip(drafts, legs, strict=True)
            ],
            np.int64,
        )
        # Where the path itself is when the relation is said.
        n = len(index.graph.entities)
        implied = [leg.path[:step] for leg, step in zip(legs, steps, strict=True)]
        topics = np.array([leg.topic for leg in legs], np.int64)
        own = follow(self.index, topics, path_array(implied), LIMIT)
        places = own.ends()
        nearer = ~own.within
        # A path that is back at its topic leaves nothing out.
        nearer |= np.isin(np.arange(len(drafts)) * n + topics, places)
        owner, entity = np.arange(len(drafts)), topics
        for step in range(int(steps.max(initial=0)) + 1):
            elsewhere = ~np.isin(owner * n + entity, places)
            has = index.find(entity, types[owner])[1]
            nearer[owner[has & elsewhere]] = True
            owner, entity = owner[steps[owner] > step], entity[steps[owner] > step]
            owner, entity, wide = _neighbours(index, owner, entity, len(drafts))
            nearer |= wide
        return {
            draft.key for draft, one in zip(drafts, nearer.tolist(), strict=True) if one
        }

    def _widened(self, types: Int64[np.ndarray, "..."]) -> Int64[np.ndarray, "..."]:
        """The arc types of the same words; -1 stays."""
        if self._wide is None:
            return types
        half = len(self.index.graph.relations)
        phrase = self.phrase[types % half]
        wide = np.where(types < half, phrase, phrase + self._wide.n_types // 2)
        return np.where(types < 0, -1, wide)

    def _ambiguous(self, legs: Sequence[Leg]) -> Bool[np.ndarray, "legs"]:
        """Whether the widened path of each leg reaches more."""
        if self._wide is None or not legs:
            return np.zeros(len(legs), bool)
        paths = path_array([leg.path for leg in legs])
        wide = self._widened(paths)
        topics = np.array([leg.topic for leg in legs], np.int64)
        out = np.zeros(len(legs), bool)
        for low in range(0, len(legs), 4096):
            part = slice(low, low + 4096)
            own = follow(self.index, topics[part], paths[part], LIMIT)
            more = follow(self._wide, topics[part], wide[part], LIMIT)
            # The own path is within the widened one: equal sizes, equal sets.
            differs = own.sizes(own.ends()) != more.sizes(more.ends())
            out[part] = differs | ~more.within
        return out


def _neighbours(
    index: ArcIndex,
    owner: Int64[np.ndarray, "k"],
    entities: Int64[np.ndarray, "k"],
    n_owners: int,
) -> tuple[Int64[np.ndarray, "m"], Int64[np.ndarray, "m"], Bool[np.ndarray, "o"]]:
    """Each (owner, neighbour) once, and which owners have more than ``LIMIT`` arcs."""
    low, counts = index.groups_of(entities)
    groups = ranges(low, counts)
    group_owner = np.repeat(owner, counts)
    arcs = np.bincount(group_owner, index.sizes[groups], minlength=n_owners)
    wide = arcs > LIMIT
    within = ~wide[group_owner]
    groups, group_owner = groups[within], group_owner[within]
    position, _, other = index.arcs(groups)
    n = len(index.graph.entities)
    both = np.unique(group_owner[position] * n + other)
    return both // n, both % n, wide


def path_array(paths: Sequence[tuple[int, ...]]) -> Int64[np.ndarray, "q s"]:
    """Paths as rows, -1 behind their ends."""
    out = np.full((len(paths), max(map(len, paths), default=1)), -1, np.int64)
    for i, path in enumerate(paths):
        out[i, : len(path)] = path
    return out
