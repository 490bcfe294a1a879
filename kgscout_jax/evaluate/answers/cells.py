"""One cell of the table: what a reader made of one retriever's K best triplets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.evaluate.answers.evidence import Kept
from kgscout_jax.evaluate.answers.failures import failure_of
from kgscout_jax.evaluate.answers.rules import RULES, groundedness
from kgscout_jax.reason.readers.protocol import Reader, Reading
from kgscout_jax.types import Question

HEADLINE = ("rog", "rog_script", "kgscout")
"""Rules that say whether an answer is right, so that a batch can go by them."""

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
    chosen, kg_rag = RULES[rules].definitions, RULES["kg_rag"].definitions
    return {
        "hit": f"Rules {rules}: {chosen['hit']}",
        "hits@1": f"Rules {rules}: {chosen['hits@1']}",
        "macro_f1": f"Rules {rules}: {chosen['f1']}",
        "em": f"KG-RAG, 5.3: {kg_rag['em']}",
        "token_f1": f"KG-RAG, 5.3: {kg_rag['f1']}",
        "accuracy": f"KG-RAG, 5.3: {kg_rag['accuracy']}",
        "hallucination": f"KG-RAG, 5.3: {kg_rag['hallucination']}",
        "rouge_l": f"PG&AKV: {RULES['pg_akv'].definitions['rouge_l']}",
        "groundedness": (
            "Mean share of the answers given that are a head or a tail of the K "
            "triplets kept; over questions with an answer given, retrieval rows only."
        ),
    }


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A retriever at one K, its questions in the order of the batch."""

    retriever: str
    k: int
    """0 for the row without triplets."""
    infos: Sequence[Question]
    kept: Sequence[Kept]
    readings: Sequence[Reading]
    causes: Sequence[str]
    """What a wrong answer would be due to."""
    in_prompt: Sequence[int | None]
    """How many of the K triplets fitted into the prompt; None: there was none."""
    _columns: dict[str, dict[str, Float64[np.ndarray, "b"]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Rules -> figures, once they are worked out."""

    def __len__(self) -> int:
        return len(self.readings)

    def first(self, n: int) -> Cell:
        """The same cell over the first ``n`` questions."""
        fields = ("infos", "kept", "readings", "causes", "in_prompt")
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
        if rules in self._columns:
            return self._columns[rules]
        columns = {name: np.full(len(self), np.nan) for name in METRICS}
        for i, (info, reading) in enumerate(
            zip(self.infos, self.readings, strict=True)
        ):
            given, gold = reading.answers, info.answers
            chosen = RULES[rules].score(given, gold)
            kg_rag = RULES["kg_rag"].score(given, gold)
            figures = {
                "hit": chosen["hit"],
                "hits@1": chosen["hits@1"],
                "macro_f1": chosen["f1"],
                "em": kg_rag["em"],
                "token_f1": kg_rag["f1"],
                "accuracy": kg_rag["accuracy"],
                "hallucination": kg_rag["hallucination"],
                "rouge_l": RULES["pg_akv"].score(given, gold)["rouge_l"],
            }
            if self.k:
                kept = [(h, r, t) for h, r, t, _ in self.kept[i].triplets[: self.k]]
                held = groundedness(given, kept)
                figures["groundedness"] = np.nan if held is None else held
            for name, figure in figures.items():
                columns[name][i] = figure
        self._columns[rules] = columns
        return columns

    def failures(self, hit: Float64[np.ndarray, "b"]) -> list[str | None]:
        """The failure of each question, None where it is right."""
        return [
            failure_of(cause, right=right > 0, missing=reading.error is not None)
            for cause, right, reading in zip(
                self.causes, hit, self.readings, strict=True
            )
        ]

    def spending(self, input_price: float, output_price: float) -> dict[str, Any]:
        """Tokens, seconds and dollars, as when each reply came; per question: means.

        Also how many replies are missing, and how many are unread: nothing could be
        made of them.

        Args:
            input_price: dollars per million prompt tokens.
            output_price: dollars per million tokens of replies.
        """
        came = [one for one in self.readings if one.error is None]
        n = len(came)
        sent = sum(one.prompt_tokens for one in came)
        got = sum(one.reply_tokens for one in came)
        spent = sum(one.seconds for one in came)
        cost = (sent * input_price + got * output_price) / 1e6
        ranking = [one.seconds for one in self.kept if one.seconds is not None]

        def each(total: float) -> float | None:
            return total / n if n else None

        return {
            "replies": n,
            "missing": len(self) - n,
            "unread": sum(one.failed for one in came),
            "from_cache": sum(one.cached for one in came),
            "prompt_tokens": sent,
            "reply_tokens": got,
            "seconds": spent,
            "cost": cost,
            "per_question": {
                "prompt_tokens": each(sent),
                "reply_tokens": each(got),
                "seconds": each(spent),
                "cost": each(cost),
                "seconds_to_rank": float(np.mean(ranking)) if ranking else None,
            },
            "outcomes": dict(Counter(one.outcome for one in self.readings)),
        }


def read_cell(
    reader: Reader,
    retriever: str,
    k: int,
    infos: Sequence[Question],
    kept: Sequence[Kept],
    causes: Sequence[str],
) -> Cell:
    """A cell, after asking the reader about every question.

    Args:
        reader: whom to ask.
        retriever: whose triplets these are.
        k: how many of them to hand over.
        infos: the questions.
        kept: their triplets.
        causes: see ``Cell``.
    """
    pairs = zip(infos, kept, strict=True)
    found = reader.read([each.evidence(info, k) for info, each in pairs])
    return Cell(
        retriever=retriever,
        k=k,
        infos=infos,
        kept=kept,
        # prompts are long, and what they say is in the record already
        readings=[replace(reading, prompt=None) for reading in found],
        causes=causes,
        in_prompt=[one.prompt.n_triplets if one.prompt else None for one in found],
    )


def server_is_gone(cell: Cell) -> bool:
    """Whether the server stopped answering while this cell was read."""
    errors = [one.error for one in cell.readings if one.error is not None]
    answered = any(one.error is None and not one.cached for one in cell.readings)
    return any(error.startswith(GONE[0]) for error in errors) or (
        bool(errors) and not answered and all(e.startswith(GONE[1]) for e in errors)
    )
