"""The knowledge graph: interned names, int32 triplets, CSR indices by both ends."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.records import Triplet, display_name, entity_key


@dataclass(frozen=True)
class Adjacency:
    """Triplet ids grouped by one of their ends (CSR).

    The triplets of entity ``e`` are ``triplet_ids[offsets[e]:offsets[e + 1]]``.
    """

    offsets: Int64[np.ndarray, "e+1"]
    triplet_ids: Int32[np.ndarray, "m"]

    def of(self, entities: Int32[np.ndarray, "k"]) -> Int32[np.ndarray, "j"]:
        """Ids of all triplets of ``entities``, in the order of ``entities``."""
        starts = self.offsets[entities]
        lengths = self.offsets[entities + 1] - starts
        total = int(lengths.sum())
        if total == 0:
            return np.empty(0, np.int32)
        before = np.cumsum(lengths) - lengths
        index = np.arange(total) + np.repeat(starts - before, lengths)
        return self.triplet_ids[index]


def group_by(ends: Int32[np.ndarray, "m"], n_entities: int) -> Adjacency:
    """Adjacency over one column of the triplets; ids ascend within an entity."""
    counts = np.bincount(ends, minlength=n_entities)
    offsets = np.zeros(n_entities + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return Adjacency(offsets, np.argsort(ends, kind="stable").astype(np.int32))


@dataclass(frozen=True)
class KnowledgeGraph:
    """Interned entities and relations with their triplets in canonical order.

    Canonical order is ascending (head, relation, tail) id, each row once; ids are
    handed out in order of first appearance. Parallel edges and self-loops are kept.
    """

    entities: Sequence[str]
    """Display names; the position is the id."""
    relations: Sequence[str]
    triplets: Int32[np.ndarray, "m 3"]
    duplicates: int = 0
    """How many exact repetitions were dropped while building."""

    @cached_property
    def entity_ids(self) -> dict[str, int]:
        """Identity key -> id."""
        return {entity_key(name): i for i, name in enumerate(self.entities)}

    @cached_property
    def by_head(self) -> Adjacency:
        return group_by(self.triplets[:, 0], len(self.entities))

    @cached_property
    def by_tail(self) -> Adjacency:
        return group_by(self.triplets[:, 2], len(self.entities))

    def find(self, name: str) -> int | None:
        """The id of the entity with this name, in any spelling of its identity."""
        return self.entity_ids.get(entity_key(name))

    def find_all(self, names: Iterable[str]) -> Int32[np.ndarray, "k"]:
        """Ids of those names that are in the graph, each once, in the order given."""
        found = dict.fromkeys(i for i in map(self.find, names) if i is not None)
        return np.fromiter(found, np.int32, len(found))

    def triplet(self, triplet_id: int) -> Triplet:
        """One triplet by name."""
        head, relation, tail = map(int, self.triplets[triplet_id])
        return self.entities[head], self.relations[relation], self.entities[tail]

    @staticmethod
    def from_triplets(triplets: Iterable[Triplet]) -> KnowledgeGraph:
        """A graph of named triplets."""
        builder = GraphBuilder()
        builder.add(triplets)
        return builder.build()[0]


class GraphBuilder:
    """Interns triplets as they stream by, in as many pieces as one likes.

    A piece is a whole graph, or the subgraph that a question brings; ``build`` gives
    the graph of all pieces and, per piece, the ids of its triplets.
    """

    def __init__(self) -> None:
        self._entities: dict[str, int] = {}
        self._names: list[str] = []
        self._relations: dict[str, int] = {}
        self._pieces: list[Int32[np.ndarray, "m 3"]] = []

    def add(self, triplets: Iterable[Triplet]) -> int:
        """Add one piece and return its number. Names must not be empty (UserError)."""
        # Spelling -> id within this piece: names repeat, and looking one up is several
        # times cheaper than deriving its identity again.
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
        self._pieces.append(np.array(rows, np.int32).reshape(-1, 3))
        return len(self._pieces) - 1

    def _entity_id(self, name: str, triplet: Triplet) -> int:
        """The id of an entity, new if need be; ``triplet`` is for the error."""
        key = entity_key(name)
        number = self._entities.get(key)
        if number is None:
            if not key:
                raise UserError(f"triplet {triplet!r}: an entity is empty")
            number = self._entities[key] = len(self._names)
            self._names.append(display_name(name))
        return number

    def _relation_id(self, relation: str, triplet: Triplet) -> int:
        """The id of a relation, new if need be; ``triplet`` is for the error."""
        phrase = display_name(relation)
        if not phrase:
            raise UserError(f"triplet {triplet!r}: the relation is empty")
        return self._relations.setdefault(phrase, len(self._relations))

    def build(self) -> tuple[KnowledgeGraph, list[Int32[np.ndarray, "m"]]]:
        """The graph, and for each piece its triplet ids (ascending, each once)."""
        rows = np.concatenate(self._pieces or [np.empty((0, 3), np.int32)])
        order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
        ranked = rows[order]
        new = np.ones(len(rows), bool)
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
        ids = np.empty(len(rows), np.int32)
        ids[order] = np.cumsum(new) - 1
        bounds = np.cumsum([0] + [len(piece) for piece in self._pieces])
        pieces = [np.unique(ids[a:b]) for a, b in itertools.pairwise(bounds)]
        repeats = len(rows) - int(sum(len(piece) for piece in pieces))
        graph = KnowledgeGraph(
            self._names, list(self._relations), ranked[new], duplicates=repeats
        )
        return graph, pieces
