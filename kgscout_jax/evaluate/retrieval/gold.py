"""The gold entities and triplets as sorted (question, id) pairs in a name space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.types import entity_key


@dataclass(frozen=True, kw_only=True)
class Entities:
    """A set of entities per question."""

    keys: Int64[np.ndarray, "p"]
    """question * n_entities + entity, ascending, each once; only those with an id."""
    questions: Int64[np.ndarray, "p"]
    totals: Int64[np.ndarray, "b"]
    """How many distinct names each question has, with an id or not."""


@dataclass(frozen=True, kw_only=True)
class Triplets:
    """A set of triplets per question."""

    rows: Int64[np.ndarray, "p 4"]
    """(question, head, relation, tail), ascending, each once; only those with ids."""
    totals: Int64[np.ndarray, "b"]
    """How many distinct triplets each question has, with ids or not."""


@dataclass(frozen=True, kw_only=True)
class Gold:
    """Everything the metrics compare with; two names with one key are one entity."""

    n_entities: int
    topics: Entities
    answers: Entities
    """Every gold answer: as the source names it and as the graph does."""
    answers_in_graph: Entities
    answers_in_subgraph: Entities
    relevant: Triplets
    """The labelled ones."""
    path: Triplets
    """Those on shortest topic-answer paths of the subgraph after the cut, edges walked
    both ways, parallel triplets included."""


def gold_of(shards: Shards, split: Split, names: NameSpace) -> Gold:
    """The gold of a split in ``names``, which must hold every name retrieved."""
    infos = split.questions
    path = split.path_triplets["both"]
    ids = np.asarray(path.values)
    owner = np.repeat(np.arange(len(split)), np.diff(path.offsets))
    path_rows = np.empty((len(ids), 4), np.int64)
    path_rows[:, 0] = owner
    path_rows[:, 1:] = np.asarray(shards.triplets)[ids]

    def entities(sets: Iterable[tuple[str, ...]]) -> Entities:
        return _entities(names, sets, len(split))

    return Gold(
        n_entities=len(names.entities),
        topics=entities(info.topics for info in infos),
        answers=entities(info.answers + info.answers_in_graph for info in infos),
        answers_in_graph=entities(info.answers_in_graph for info in infos),
        answers_in_subgraph=entities(info.answers_in_subgraph for info in infos),
        relevant=_labelled(names, split),
        path=_triplets(path_rows, len(split)),
    )


def _entities(
    names: NameSpace, sets: Iterable[tuple[str, ...]], n_questions: int
) -> Entities:
    totals = np.zeros(n_questions, np.int64)
    keys: list[int] = []
    n = len(names.entities)
    for i, members in enumerate(sets):
        distinct = dict.fromkeys(map(entity_key, members))
        totals[i] = len(distinct)
        ids = map(names.entities.find, distinct)
        keys += [i * n + number for number in ids if number >= 0]
    unique = np.unique(np.array(keys, np.int64))
    return Entities(keys=unique, questions=unique // max(1, n), totals=totals)


def _labelled(names: NameSpace, split: Split) -> Triplets:
    rows: list[tuple[int, int, int, int]] = []
    without_id = np.zeros(len(split), np.int64)
    for i, info in enumerate(split.questions):
        unknown = set()
        for triplet in info.relevant_triplets:
            ids = names.find_triplet(triplet)
            if min(ids) >= 0:
                rows.append((i, *ids))
            else:
                unknown.add(tuple(map(entity_key, triplet)))
        without_id[i] = len(unknown)
    known = _triplets(np.array(rows, np.int64).reshape(-1, 4), len(split))
    return Triplets(rows=known.rows, totals=known.totals + without_id)


def _triplets(rows: Int64[np.ndarray, "p 4"], n_questions: int) -> Triplets:
    rows = _unique_rows(rows)
    return Triplets(rows=rows, totals=np.bincount(rows[:, 0], minlength=n_questions))


def _unique_rows(rows: Int64[np.ndarray, "p c"]) -> Int64[np.ndarray, "q c"]:
    """The rows in ascending order, each once."""
    rows = rows[np.lexsort(rows.T[::-1])]
    new: Bool[np.ndarray, "p"] = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[new]
