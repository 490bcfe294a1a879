"""One cell of the table: a reader's answers to the questions of one row at one K."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.evaluate.answers.evidence import (
    ANSWER,
    PATH,
    GraphAnswers,
    Ranking,
)
from kgscout_jax.evaluate.answers.rules import RULES, groundedness
from kgscout_jax.reason.readers.protocol import Reader, Reading
from kgscout_jax.types import Answer, Question
from kgscout_jax.utils.io import write_lines

HEADLINE = ("rog", "rog_script", "kgscout")
"""Rules that say whether an answer is right: a batch goes by one of them."""

METRICS = {
    "hit": "Hit",
    "hits@1": "Hits@1",
    "macro_f1": "Macro-F1",
    "em": "EM",
    "token_f1": "Token F1",
    "accuracy": "Accuracy",
    "hallucination": "Hallucination",
    "rouge_l": "ROUGE-L",
    "groundedness": "Groundedness",
}
"""Metric -> how tables write it."""

GONE = ("not asked:", "no connection")
"""How the errors of a server that answers nothing at all begin."""


def definitions(rules: str) -> dict[str, str]:
    """Metric -> the sentence that defines it; the first three go by ``rules``."""
    headline, kg_rag = RULES[rules].definitions, RULES["kg_rag"].definitions
    return {
        "hit": f"Rules {rules}: {headline['hit']}",
        "hits@1": f"Rules {rules}: {headline['hits@1']}",
        "macro_f1": f"Rules {rules}: {headline['f1']}",
        "em": f"KG-RAG, 5.3: {kg_rag['em']}",
        "token_f1": f"KG-RAG, 5.3: {kg_rag['f1']}",
        "accuracy": f"KG-RAG, 5.3: {kg_rag['accuracy']}",
        "hallucination": f"KG-RAG, 5.3: {kg_rag['hallucination']}",
        "rouge_l": f"PG&AKV: {RULES['pg_akv'].definitions['rouge_l']}",
        "groundedness": (
            "Mean share of the answers given that are a head or a tail of the triplets "
            "that they were read from: the K kept, or all candidates of a question; "
            "over questions with an answer given, retrieval rows only."
        ),
    }


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A retriever at one K, its questions in the order of the batch."""

    retriever: str
    k: int
    """0 for the row without triplets."""
    infos: Sequence[Question]
    rankings: Sequence[Ranking]
    readings: Sequence[Reading]
    causes: Sequence[str]
    """What a wrong answer would be due to."""
    in_prompt: Sequence[int | None]
    """How many of the K triplets fitted into the prompt; None: there was none."""
    graph: Sequence[GraphAnswers] = ()
    """The answers of the graph itself, where they took part; () where not."""
    graph_row: str | None = None
    """Of a route: the row with the graph's own answers."""
    asked: Sequence[bool] = ()
    """Of a route: True at questions that the model answers."""
    read_whole: Sequence[bool] = ()
    """True at questions answered from all their candidates, not from K; () for none."""
    _columns: dict[str, dict[str, Float64[np.ndarray, "b"]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Rules -> figures, once they are computed."""

    def __len__(self) -> int:
        return len(self.readings)

    def first(self, n: int) -> Cell:
        """The same cell over the first ``n`` questions."""
        fields = (
            "infos", "rankings", "readings", "causes", "in_prompt", "graph", "asked",
            "read_whole",
        )  # fmt: skip
        return replace(self, **{name: getattr(self, name)[:n] for name in fields})

    @property
    def missing(self) -> list[int]:
        """Questions without a reply."""
        return [i for i, one in enumerate(self.readings) if one.error is not None]

    def columns(self, rules: str) -> dict[str, Float64[np.ndarray, "b"]]:
        """Metric -> a figure per question in [0, 1] (or more, by rog's precision).

        A question without a reply is scored as one without an answer. Groundedness is
        nan where there is nothing to be grounded, or nothing to be grounded in.
        """
        if rules not in self._columns:
            figures = [self._figures(i, rules) for i in range(len(self))]
            self._columns[rules] = {
                name: np.array([figure[name] for figure in figures], float)
                for name in METRICS
            }
        return self._columns[rules]

    def _figures(self, i: int, rules: str) -> dict[str, float]:
        """Metric -> the figure of one question."""
        answers, gold = self.readings[i].answers, self.infos[i].answers
        headline = RULES[rules].score(answers, gold)
        kg_rag = RULES["kg_rag"].score(answers, gold)
        triplets = [triplet[:3] for triplet in self.rankings[i].triplets[: self.k]]
        grounded = groundedness(answers, triplets) if self.k else None
        if grounded is not None and self.read_whole and self.read_whole[i]:
            grounded = 1.0  # the answer head chooses among the candidates' ends
        return {
            "hit": headline["hit"],
            "hits@1": headline["hits@1"],
            "macro_f1": headline["f1"],
            "em": kg_rag["em"],
            "token_f1": kg_rag["f1"],
            "accuracy": kg_rag["accuracy"],
            "hallucination": kg_rag["hallucination"],
            "rouge_l": RULES["pg_akv"].score(answers, gold)["rouge_l"],
            "groundedness": np.nan if grounded is None else grounded,
        }

    def failures(self, rules: str) -> list[str | None]:
        """The failure of each question, None where it is right."""
        rows = zip(self.readings, self.columns(rules)["hit"], self.causes, strict=True)
        return [
            "no_reply" if reading.error is not None else None if hit > 0 else cause
            for reading, hit, cause in rows
        ]

    def spending(self, input_price: float, output_price: float) -> dict[str, Any]:
        """Tokens, seconds and dollars, as when each reply came; per question: means.

        Also how many replies are missing, and how many are unread: they hold no answer.

        Args:
            input_price: dollars per million prompt tokens.
            output_price: dollars per million tokens of replies.
        """
        replies = [one for one in self.readings if one.error is None]
        n = len(replies)
        prompt_tokens = sum(one.prompt_tokens for one in replies)
        reply_tokens = sum(one.reply_tokens for one in replies)
        totals = {
            "prompt_tokens": prompt_tokens,
            "reply_tokens": reply_tokens,
            "seconds": sum(one.seconds for one in replies),
            "cost": (prompt_tokens * input_price + reply_tokens * output_price) / 1e6,
        }
        seconds = [one.seconds for one in self.rankings if one.seconds is not None]
        return {
            "replies": n,
            "missing": len(self) - n,
            "unread": sum(one.failed for one in replies),
            "from_cache": sum(one.cached for one in replies),
            **totals,
            "per_question": {
                **{name: total / n if n else None for name, total in totals.items()},
                "seconds_to_rank": float(np.mean(seconds)) if seconds else None,
            },
            "outcomes": dict(Counter(one.outcome for one in self.readings)),
        }

    def records(self, rules: str) -> list[dict[str, Any]]:
        """One JSON object per question: everything that is known about its answer."""
        columns, failures = self.columns(rules), self.failures(rules)
        records = []
        for i, (info, ranking, reading) in enumerate(
            zip(self.infos, self.rankings, self.readings, strict=True)
        ):
            record = {
                "id": info.id,
                "question": info.text,
                "retriever": self.retriever,
                "k": self.k,
                "hop": info.hop,
                "topics": list(info.topics),
                "gold": list(info.answers),
                "triplets": [list(triplet) for triplet in ranking.triplets[: self.k]],
                "holds_answer": ranking.flagged(ANSWER, self.k),
                "on_path": ranking.flagged(PATH, self.k),
                "prompt_hash": reading.prompt_hash,
                "triplets_in_prompt": self.in_prompt[i],
                "reply": reading.raw,
                "answers": list(reading.answers),
                "outcome": reading.outcome,
                "right": failures[i] is None,
                "failure": failures[i],
                "metrics": {
                    name: None if np.isnan(column[i]) else float(column[i])
                    for name, column in columns.items()
                },
                "prompt_tokens": reading.prompt_tokens,
                "reply_tokens": reading.reply_tokens,
                "seconds": round(reading.seconds, 6),
            }
            if self.graph:
                record |= self._evidence(i)
            if reading.samples:
                record["samples"] = list(reading.samples)
            if reading.error is not None:
                record["error"] = reading.error
            records.append(record)
        return records

    def _evidence(self, i: int) -> dict[str, Any]:
        """What the graph says of a question: its confidence, and of its own answers."""
        reading, graph = self.readings[i], self.graph[i]
        own = graph.best if reading.outcome == "graph" else ()
        own = own[: len(reading.answers)]
        return {
            "confidence": round(graph.confidence, 6),
            "answered": graph.answered,
            "probabilities": [round(one.probability, 6) for one in own],
            "paths": [[list(triplet) for triplet in one.path] for one in own],
        }

    def write(self, folder: Path, rules: str) -> Path:
        """The file with a JSON line per question, ``questions-RETRIEVER-kK.jsonl``."""
        name = re.sub(r"[^\w.-]+", "_", self.retriever) + f"-k{self.k}" * bool(self.k)
        path = folder / f"questions-{name}.jsonl"
        records = self.records(rules)
        write_lines(path, (json.dumps(one, ensure_ascii=False) for one in records))
        return path


def read_cell(
    reader: Reader,
    retriever: str,
    k: int,
    infos: Sequence[Question],
    rankings: Sequence[Ranking],
    causes: Sequence[str],
    *,
    likely: Sequence[Sequence[Answer]] = (),
) -> Cell:
    """A cell, after the reader has read every question.

    Args:
        reader: the reader.
        retriever: the name of the row.
        k: how many triplets the reader gets.
        infos: the questions.
        rankings: their triplets.
        causes: see ``Cell``.
        likely: answers of the graph itself to each question, for the prompts.
    """
    given = likely or [()] * len(infos)
    readings = reader.read(
        [
            ranking.evidence(info, k, answers)
            for info, ranking, answers in zip(infos, rankings, given, strict=True)
        ]
    )
    return Cell(
        retriever=retriever,
        k=k,
        infos=infos,
        rankings=rankings,
        # prompts are long, and what they say is in the record already
        readings=[replace(reading, prompt=None) for reading in readings],
        causes=causes,
        in_prompt=[one.prompt.n_triplets if one.prompt else None for one in readings],
    )


def server_is_gone(cell: Cell) -> bool:
    """Whether the server stopped answering while this cell was read."""
    errors = [one.error for one in cell.readings if one.error is not None]
    answered = any(one.error is None and not one.cached for one in cell.readings)
    return any(error.startswith(GONE[0]) for error in errors) or (
        bool(errors) and not answered and all(e.startswith(GONE[1]) for e in errors)
    )
