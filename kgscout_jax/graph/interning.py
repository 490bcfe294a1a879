"""Interning: a stream of named triplets as ids, in any number of chunks."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32

from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet, display_name, entity_key


class InternedTriplets(NamedTuple):
    """Names and the triplets of all chunks, in canonical order."""

    entities: Sequence[str]
    """Display names; the position is the id."""
    relations: Sequence[str]
    triplets: Int32[np.ndarray, "m 3"]
    duplicates: int
    """Number of exact repetitions that were dropped."""
    chunks: list[Int32[np.ndarray, "k"]]
    """Triplet ids of each chunk, ascending, each once."""
    ids: Sequence[str] | None = None
    """How the files spell the entities, where names are labels; None: as named."""


class Interner:
    """Assigns ids to the names of triplets, in the order of first appearance.

    A chunk is a whole graph or the subgraph of one question.
    """

    def __init__(self) -> None:
        self._entities: dict[str, int] = {}
        self._names: list[str] = []
        self._relations: dict[str, int] = {}
        self._chunks: list[Int32[np.ndarray, "m 3"]] = []

    def start_with(
        self,
        names: Sequence[str],
        ids: Sequence[str],
        relations: Sequence[str],
        triplets: Int32[np.ndarray, "m 3"],
    ) -> None:
        """Hold a graph's names and triplets as the first chunk.

        Args:
            names: of its entities.
            ids: see ``KnowledgeGraph.ids``.
            relations: of the graph.
            triplets: of the graph.
        """
        self._names = list(names)
        self._entities = {entity_key(name): i for i, name in enumerate(ids)}
        self._relations = {name: i for i, name in enumerate(relations)}
        self._chunks = [np.asarray(triplets)]

    def add(self, triplets: Iterable[Triplet]) -> int:
        """Add one chunk and return its number; raises UserError for an empty name."""
        # Spelling -> id within this chunk. Names repeat, and a look-up is several times
        # cheaper than deriving the identity again.
        ends: dict[str, int] = {}
        phrases: dict[str, int] = {}
        rows = array("i")
        end, append = ends.get, rows.append
        for head, relation, tail in triplets:
            h = end(head)
            if h is None:
                h = ends[head] = self._entity_id(head, (head, relation, tail))
            t = end(tail)
            if t is None:
                t = ends[tail] = self._entity_id(tail, (head, relation, tail))
            r = phrases.get(relation)
            if r is None:
                r = self._relation_id(relation, (head, relation, tail))
                phrases[relation] = r
            append(h)
            append(r)
            append(t)
        self._chunks.append(np.array(rows, np.int32).reshape(-1, 3))
        return len(self._chunks) - 1

    def _entity_id(self, name: str, triplet: Triplet) -> int:
        """The id of an entity, assigned on first use; ``triplet`` is for the error."""
        key = entity_key(name)
        number = self._entities.get(key)
        if number is None:
            if not key:
                raise UserError(f"triplet {triplet!r}: an entity is empty")
            number = self._entities[key] = len(self._names)
            self._names.append(display_name(name))
        return number

    def _relation_id(self, relation: str, triplet: Triplet) -> int:
        """The id of a relation, assigned on first use; ``triplet`` is for the error."""
        phrase = display_name(relation)
        if not phrase:
            raise UserError(f"triplet {triplet!r}: the relation is empty")
        return self._relations.setdefault(phrase, len(self._relations))

    def interned(self) -> InternedTriplets:
        """The triplets of all chunks."""
        rows = np.concatenate(self._chunks or [np.empty((0, 3), np.int32)])
        order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
        ranked = rows[order]
        new = np.ones(len(rows), bool)
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
        ids = np.empty(len(rows), np.int32)
        ids[order] = np.cumsum(new) - 1
        bounds = np.cumsum([0] + [len(chunk) for chunk in self._chunks])
        chunks = [np.unique(ids[a:b]) for a, b in itertools.pairwise(bounds)]
        return InternedTriplets(
            self._names,
            list(self._relations),
            ranked[new],
            duplicates=len(rows) - sum(map(len, chunks)),
            chunks=chunks,
        )
