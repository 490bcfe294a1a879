"""What a fit gained: base, fitted and cosine on the questions of a split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.bootstrap import as_difference, estimates
from kgscout_jax.evaluate.retrieval.evaluation import evaluate_retrieval
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.policy.registry import has_answers
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.retrieve.baselines import Cosine
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.split_answers import SplitAnswers, split_answers
from kgscout_jax.types import Question

KS = (10, 30, 100)
BASE, FITTED, COSINE = "base", "fitted", "cosine"
SHOWN = 3
"""Answers of a question that are shown."""
OUTCOMES = {
    (False, True): "Right by the fitted policy only",
    (True, False): "Right by the base policy only",
    (False, False): "Wrong by both",
    (True, True): "Right by both",
}
EXAMPLES = {(False, True): 6, (True, False): 6, (False, False): 4, (True, True): 4}
"""Questions that are shown of each outcome (base, fitted)."""

Row = dict[str, Any]
"""metric, k, and an estimate for cosine, base, fitted and difference, or None."""


@dataclass(frozen=True)
class Contender:
    """A policy to measure."""

    trained: TrainedPolicy
    scale: AnswerScale | None
    """Probabilities of its answers; None without an answer head."""


def measure(
    shards: Shards,
    split_name: str,
    base: Contender,
    fitted: Contender | None,
    out: Path,
) -> dict[str, Any]:
    """Figures and examples of one split; the full evaluation is written to ``out``.

    Args:
        shards: the questions.
        split_name: not trained on.
        base: the base policy.
        fitted: None where the base policy stays.
        out: folder of metrics.json, questions.jsonl and the rest.

    Returns:
        ``split``, ``questions``, ``rows`` and ``examples``.
    """
    split = shards.split(split_name)
    policies = {BASE: base} if fitted is None else {FITTED: fitted, BASE: base}
    retrievers = [KGScout(one.trained.policy, name) for name, one in policies.items()]
    report = evaluate_retrieval(
        shards, split_name, [*retrievers, Cosine()], KS, out, reference=BASE
    )
    rows: list[Row] = []
    for k in map(str, KS):
        figures = {name: report[name]["answer_hit"][k] for name in (*policies, COSINE)}
        row: Row = {"metric": "answer_hit", "k": int(k), **figures}
        if fitted is not None:
            row["difference"] = report["paired"][FITTED]["answer_hit"][k]
        rows.append(row)
    found: dict[str, SplitAnswers] = {}
    if has_answers(base.trained.policy.config):
        questions = np.arange(len(split))
        for name, one in policies.items():
            found[name] = split_answers(one.trained.policy, shards, split, questions)
        rows.append(hits_row(found))
    scales = {name: one.scale or AnswerScale() for name, one in policies.items()}
    return {
        "split": split_name,
        "questions": len(split),
        "rows": rows,
        "examples": examples(shards, split, found, scales) if found else [],
    }


def is_right(found: SplitAnswers) -> Float64[np.ndarray, "b"]:
    """1 where the best node is an answer, else 0."""
    return np.asarray(found.is_answer[:, :1].any(axis=1), np.float64)


def hits_row(found: Mapping[str, SplitAnswers]) -> Row:
    """The row of Hits@1."""
    columns = {name: is_right(each) for name, each in found.items()}
    if FITTED in columns:
        columns["difference"] = columns[FITTED] - columns[BASE]
    row: Row = {"metric": "hits@1", "k": None, **estimates(columns)}
    if FITTED in columns:
        row["difference"] = as_difference(row["difference"])
    return row


def examples(
    shards: Shards,
    split: Split,
    found: Mapping[str, SplitAnswers],
    scales: Mapping[str, AnswerScale],
) -> list[dict[str, Any]]:
    """Some questions of each outcome, spread evenly over all of it."""
    base = is_right(found[BASE]) > 0
    fitted = is_right(found[FITTED]) > 0 if FITTED in found else base
    groups = []
    for outcome, size in EXAMPLES.items():
        rows = np.flatnonzero((base == outcome[0]) & (fitted == outcome[1]))
        chosen = rows[np.linspace(0, len(rows) - 1, min(size, len(rows))).astype(int)]
        title = OUTCOMES[outcome]
        if FITTED not in found:
            if outcome[0] != outcome[1]:
                continue
            title = "Right" if outcome[0] else "Wrong"
        questions = [
            {
                "question": split.questions[i].text,
                "gold": gold_of(split.questions[i]),
                **{
                    name: answers_of(shards, each, i, scales[name])
                    for name, each in found.items()
                },
            }
            for i in chosen.tolist()
        ]
        group = {"title": title, "count": len(rows), "questions": questions}
        groups.append(group)
    return groups


def gold_of(info: Question) -> list[str]:
    """The gold answers in the graph; of a count what is counted."""
    return list(info.answers_in_graph or info.answers)


def answers_of(
    shards: Shards, found: SplitAnswers, i: int, scale: AnswerScale
) -> list[dict[str, Any]]:
    """The answers to question ``i``: the best node and others from the threshold on."""
    probability = scale.probability(
        found.logits[i, :SHOWN], found.margins[i, :SHOWN], found.doubts[i, :SHOWN]
    )
    least = scale.least(float(probability[0]))
    return [
        {
            "name": shards.entities[entity],
            "probability": round(float(p), 3),
            "right": bool(right),
        }
        for place, (entity, p, right) in enumerate(
            zip(
                found.entities[i, :SHOWN].tolist(),
                probability,
                found.is_answer[i, :SHOWN],
                strict=True,
            )
        )
        if entity >= 0 and (place == 0 or (p >= least and found.of_set[i, place]))
    ]


def cells(row: Row, columns: Sequence[str]) -> list[str]:
    """A row of figures in percent, as text: name, then the columns."""
    name = "Hits@1" if row["k"] is None else f"an answer among {row['k']} triplets"
    return [name, *(percent(row.get(column)) for column in columns)]


def percent(estimate: Mapping[str, Any] | None) -> str:
    """``+3.1 [1.2, 5.0]`` of a difference, ``76.0`` of a value, in percent."""
    if estimate is None:
        return "–"
    if "difference" in estimate:
        if (value := estimate["difference"]) is None:
            return "–"
        low, high = 100 * estimate["low"], 100 * estimate["high"]
        return f"{100 * value:+.1f} [{low:+.1f}, {high:+.1f}]"
    value = estimate["value"]
    return "–" if value is None else f"{100 * value:.1f}"
