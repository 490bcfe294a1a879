"""The records that travel between the rooms: names, questions, retrieved triplets."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Triplet = tuple[str, str, str]
"""Head, relation, tail, as people read them."""


_WITHOUT_WIDTH = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad"))
"""Zero-width space, word joiner, byte-order mark and soft hyphen."""


ROLES = ("head", "relation", "tail")
"""The parts of a triplet, in order."""


def display_name(text: str) -> str:
    """The spelling that is shown: as written, white space collapsed."""
    return " ".join(text.split())


def replace_surrogates(text: str) -> str:
    """The text with "?" for lone surrogates, which no UTF-8 file and tokenizer take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def entity_key(text: str) -> str:
    """The identity of an entity: lower-cased, white space collapsed.

    Of text beyond ASCII, characters are composed (NFC) and those without width left
    out: "é" may be written as one character or as two.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        shown = text.translate(_WITHOUT_WIDTH)
        text = shown if shown.strip() else text
    return " ".join(text.lower().split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One question of a dataset: what its source gives, then what preparation adds."""

    id: str
    """Unique within a split."""
    text: str
    topics: tuple[str, ...] = ()
    """Topic entities as the source names them, in the graph or not."""
    answers: tuple[str, ...] = ()
    """Gold answers as the source names them; empty where it has none."""
    hop: int | None = None
    """As the source states; in shards else the shortest topic-answer distance."""
    relevant_triplets: tuple[Triplet, ...] = ()
    """Labelled relevant triplets, where a source has them."""
    # --- of sources only
    find_topics: bool = False
    """Whether the source gives no topics: they are linked from the text."""
    answer_entities: tuple[str, ...] | None = None
    """The answers as the graph spells them, where a source says so; else None."""
    # --- of shards only
    answers_in_graph: tuple[str, ...] = ()
    """Gold answers that are anywhere in the knowledge graph (display names)."""
    answers_in_subgraph: tuple[str, ...] = ()
    """Those in the question's subgraph after the cut."""
    ball_triplets: int = 0
    """Triplets of the ball, or of the source's subgraph, before the cut."""
    answers_in_ball: int = 0
    """Gold answers in the ball, before the cut."""
    subgraph_triplets: int = 0
    """Triplets after the cut."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer from the graph itself, with its evidence."""

    name: str
    """The entity, as the graph shows it."""
    probability: float
    """Calibrated P(answer)."""
    path: tuple[Triplet, ...] = ()
    """Triplets that lead from a topic to the entity, in order; () for none."""


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
