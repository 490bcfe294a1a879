"""The records that travel between the rooms: names, questions, retrieved triplets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Triplet = tuple[str, str, str]
"""Head, relation, tail, as people read them."""


def display_name(text: str) -> str:
    """The spelling that is shown: as written, white space collapsed."""
    return " ".join(text.split())


def entity_key(text: str) -> str:
    """The identity of an entity: lower-cased, white space collapsed."""
    return " ".join(text.lower().split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One question, as its source gives it."""

    id: str
    """Unique within a split."""
    text: str
    topics: tuple[str, ...] = ()
    """Topic entities, by name."""
    find_topics: bool = False
    """Whether no topics are given, and they are to be found in the text."""
    answers: tuple[str, ...] = ()
    """Gold answers, by name; empty where a source has none."""
    answer_entities: tuple[str, ...] | None = None
    """The answers as the graph spells them, where a source says so; else None."""
    relevant: tuple[Triplet, ...] = ()
    """Triplets that somebody labelled as relevant; may be empty."""
    hop: int | None = None
    """Number of hops, where a source states it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieved:
    """Ranked triplets of one question: one line of ``retrieved.jsonl``."""

    id: str
    question: str
    retriever: str
    triplets: Sequence[tuple[str, str, str, float]]
    """(head, relation, tail, score), display spellings, best first."""
    answers: tuple[str, ...] = ()
    seconds: float = 0.0
    """Time to rank, encoding excluded."""
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """This record as one JSON line, without the line end."""
        return json.dumps(
            {
                "id": self.id,
                "question": self.question,
                "retriever": self.retriever,
                "triplets": [[h, r, t, float(s)] for h, r, t, s in self.triplets],
                "answers": list(self.answers),
                "seconds": round(float(self.seconds), 6),
                **self.extra,
            },
            ensure_ascii=False,
        )
