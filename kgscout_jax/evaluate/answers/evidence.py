"""From rankings to what a reader gets, and to what a person is shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.reason.prompts import Scored
from kgscout_jax.reason.readers.protocol import Evidence
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.retrieve.retrieved_file import retrieved_records
from kgscout_jax.types import Question, entity_key
from kgscout_jax.utils.progress import progress

ANSWER, PATH = 1, 2
"""Marks of a triplet, added up: it holds a gold answer, it lies on a shortest path from
a topic to one (or is labelled as relevant)."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The ranked triplets of one question by one retriever."""

    triplets: tuple[Scored, ...] = ()
    """Best first, as many as the largest K."""
    relation_match: tuple[float, ...] = ()
    """Cosine of the question and each triplet's relation phrase."""
    marks: tuple[int, ...] = ()
    """Per triplet, see ``ANSWER`` and ``PATH``."""
    seconds: float | None = None
    """Time to rank, encoding excluded; None where nobody knows."""

    def evidence(self, info: Question, k: int) -> Evidence:
        """What a reader gets: the ``k`` best."""
        return Evidence(
            id=info.id,
            question=info.text,
            topics=info.topics,
            triplets=self.triplets[:k],
            relation_match=self.relation_match[:k],
        )


def kept_triplets(shards: Shards, split: Split, rankings: Rankings) -> list[Kept]:
    """What was retrieved for each question of the split."""
    matches = relation_matches(shards, split, rankings)
    names = rankings.names or NameSpace.of(shards)
    table = np.asarray(shards.triplets)
    columns = (rankings.heads, rankings.relations, rankings.tails)
    kept = []
    what = f"naming triplets of {rankings.retriever}"
    with progress(len(split), what, "questions") as bar:
        for i, record in enumerate(retrieved_records(shards, split, rankings)):
            info = split.questions[i]
            n = int(rankings.lengths[i])
            ids = zip(*(column[i, :n].tolist() for column in columns), strict=True)
            path = set(map(tuple, table[split.path_triplets["both"][i]].tolist()))
            path |= {names.find_triplet(triplet) for triplet in info.relevant_triplets}
            gold = set(map(entity_key, info.answers + info.answers_in_graph))
            marks = tuple(
                ANSWER * (entity_key(head) in gold or entity_key(tail) in gold)
                + PATH * (triplet in path)
                for (head, _, tail, _), triplet in zip(
                    record.triplets, ids, strict=True
                )
            )
            seconds = float(rankings.seconds[i])
            kept.append(
                Kept(
                    triplets=tuple(record.triplets),
                    relation_match=tuple(matches[i, :n].tolist()),
                    marks=marks,
                    seconds=None if np.isnan(seconds) else seconds,
                )
            )
            bar.update(1)
    return kept


def relation_matches(shards: Shards, split: Split, rankings: Rankings) -> np.ndarray:
    """Cosine of each question and the relation phrase of each of its ranked triplets.

    0 for a relation that the shards don't know, and beyond the rankings' lengths.

    Shapes:
        out: float32[b, k]
    """
    embeddings = np.asarray(shards.relation_embeddings)
    questions = np.asarray(split.question_embeddings, np.float32)
    found = np.zeros(rankings.relations.shape, np.float32)
    for i, relations in enumerate(rankings.relations):
        known = (relations >= 0) & (relations < len(embeddings))
        rows = embeddings[relations[known]].astype(np.float32)
        found[i, known] = rows @ questions[i]
    return found


def closed_book(split: Split) -> list[Kept]:
    """Nothing for every question: the row "none"."""
    return [Kept() for _ in split.questions]


def nothing(split: Split) -> Rankings:
    """Rankings of no triplet at all."""
    empty = np.full((len(split), 1), -1, np.int32)
    return Rankings(
        retriever="none",
        heads=empty,
        relations=empty,
        tails=empty,
        scores=np.zeros((len(split), 1), np.float32),
        lengths=np.zeros(len(split), np.int32),
        seconds=np.full(len(split), np.nan),
    )


def indices_with(marks: Sequence[int], mark: int) -> list[int]:
    """Positions, from 0, of the triplets that carry a mark."""
    return [i for i, each in enumerate(marks) if each & mark]
