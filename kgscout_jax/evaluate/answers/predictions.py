"""``eval.py answers --predictions FILE``: the files that RoG and GNN-RAG publish."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.rules import RULES, Rules, normalize
from kgscout_jax.evaluate.bootstrap import LEVEL, RESAMPLES, estimates
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.checks import type_name
from kgscout_jax.utils.io import read_json_lines, write_json, write_lines

LABELS = {
    "accuracy": "Accuracy",
    "hit": "Hit",
    "hits@1": "Hits@1",
    "f1": "F1",
    "em": "EM",
    "precision": "Precision",
    "recall": "Recall",
    "hallucination": "Hallucination",
    "hallucination_as_written": "Hallucination (as written)",
    "rouge_l": "ROUGE-L",
    "rouge_l_recall": "ROUGE-L recall",
    "rouge_l_precision": "ROUGE-L precision",
}
"""Metric -> how tables write it."""

NOTES = {
    "no_prediction": "no prediction; they count",
    "no_gold": "no gold answer; they count as 0 (RoG's script divides by zero)",
    "repeated_id": "an id that another line has too; every line counts",
    "precision_over_1": (
        "a precision above 1: these rules divide the gold answers found by the number "
        "of predictions, and one prediction can hold several"
    ),
    "empty_gold": (
        "a gold answer that is nothing but punctuation and articles: it matches every "
        "prediction"
    ),
    "repeated_gold": "a gold answer listed twice; each listing counts",
    "repeated_prediction": (
        "a list with a repeated prediction; each counts, as each line of a string does "
        "(RoG's script drops repeats from lists: --rules rog_script)"
    ),
}
"""Note on the input -> what the questions counted have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """One system's answers to one question."""

    id: str
    question: str
    answers: tuple[str, ...]
    """In order; the lines of a prediction that was a string."""
    gold: tuple[str, ...]
    was_list: bool = True
    """Whether the prediction was a list of strings."""


def evaluate_predictions(settings: AnswerSettings) -> dict[str, Any]:
    """The content of ``metrics.json``; prints the figures to ten digits.

    With ``settings.out``: writes ``metrics.json`` and ``questions.jsonl``, a JSON line
    per question with its figures, there.

    Raises:
        UserError: the file is not one of predictions.
    """
    if settings.predictions is None:
        raise UserError("--predictions: none, expected a file")
    predictions = read_predictions(settings.predictions)
    report, columns = prediction_report(
        predictions, RULES[settings.rules], seed=settings.seed
    )
    report = {"predictions": str(settings.predictions), **report}
    for line in report_lines(report, intervals=settings.intervals):
        print(line)
    if settings.out is not None:
        records = (
            {
                "id": prediction.id,
                "question": prediction.question,
                "prediction": list(prediction.answers),
                "ground_truth": list(prediction.gold),
                **{name: float(column[i]) for name, column in columns.items()},
            }
            for i, prediction in enumerate(predictions)
        )
        # JSON allows lone surrogates, UTF-8 does not.
        lines = (
            replace_surrogates(json.dumps(record, ensure_ascii=False))
            for record in records
        )
        write_lines(settings.out / "questions.jsonl", lines)
        write_json(settings.out / "metrics.json", report)
    return report


def read_predictions(path: Path) -> list[Prediction]:
    """The predictions in a file, in its order.

    One JSON object a line with ``prediction`` (a list of strings, or a string),
    ``ground_truth`` (a list of strings, or one string) and, both optional, ``id`` and
    ``question``; other fields are ignored. Ids need not be unique: RoG's script does
    not look at them.

    Raises:
        UserError: a line is not such an object, or there is none.
    """
    predictions = []
    for number, record in read_json_lines(path):
        where = f"{path}:{number}"
        answers = _texts(record, "prediction", where)
        gold = _texts(record, "ground_truth", where)
        id, question = record.get("id", number), record.get("question", "")
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise UserError(
                f"{where}: id: expected a string or a number, got {type_name(id)}"
            )
        if not isinstance(question, str):
            raise UserError(
                f"{where}: question: expected a string, got {type_name(question)}"
            )
        predictions.append(
            Prediction(
                id=str(id),
                question=question,
                answers=tuple(split_prediction(answers)),
                gold=(gold,) if isinstance(gold, str) else tuple(gold),
                was_list=not isinstance(answers, str),
            )
        )
    if not predictions:
        raise UserError(
            f"{path}: no predictions in it, expected one JSON object a line"
        )
    return predictions


def split_prediction(prediction: str | list[str]) -> list[str]:
    """The answers in a prediction: a list as it is, a string stripped, line by line.

    Only line feeds end a line, an empty line counts, and an empty string is one empty
    prediction: so do the scripts of RoG and GNN-RAG.
    """
    if isinstance(prediction, str):
        return prediction.strip().split("\n")
    return list(prediction)


def prediction_report(
    predictions: Sequence[Prediction],
    rules: Rules,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[dict[str, Any], dict[str, Float64[np.ndarray, "b"]]]:
    """The content of ``metrics.json``, and metric -> the figure of each question.

    No question is left out. Figures of questions lie in [0, 1], save ``rog``'s
    precision; values in the report are percentages: means times 100.
    """
    figures = [rules.score(one.answers, one.gold) for one in predictions]
    columns = {
        name: np.array([figure[name] for figure in figures], float)
        for name in rules.definitions
    }
    report = {
        "rules": rules.name,
        "source": rules.source,
        "n": len(predictions),
        "metrics": estimates(
            columns, scale=100, seed=seed, resamples=resamples, level=level
        ),
        "oddities": input_notes(predictions, rules, columns),
        "definitions": dict(rules.definitions),
        "level": level,
        "resamples": resamples,
        "seed": seed,
    }
    return report, columns


def input_notes(
    predictions: Sequence[Prediction],
    rules: Rules,
    columns: Mapping[str, Float64[np.ndarray, "b"]],
) -> dict[str, int]:
    """Counts of questions whose input affects the figures, by a key of ``NOTES``."""
    ids = Counter(prediction.id for prediction in predictions)
    counts = {
        "no_prediction": sum(not any(map(str.strip, p.answers)) for p in predictions),
        "no_gold": sum(not p.gold for p in predictions),
        "repeated_id": sum(count for count in ids.values() if count > 1),
    }
    if rules.name in ("rog", "rog_script"):
        counts |= {
            "precision_over_1": int((columns["precision"] > 1).sum()),
            "empty_gold": sum(not all(map(normalize, p.gold)) for p in predictions),
            "repeated_gold": sum(len(set(p.gold)) < len(p.gold) for p in predictions),
        }
    if rules.name == "rog":
        counts["repeated_prediction"] = sum(
            p.was_list and len(set(p.answers)) < len(p.answers) for p in predictions
        )
    return {name: count for name, count in counts.items() if count}


def report_lines(report: Mapping[str, Any], *, intervals: bool = False) -> list[str]:
    """The report for a terminal: a figure a line to ten digits, then n and notes."""
    metrics = report["metrics"]
    width = max(len(LABELS[name]) for name in metrics) + 1
    lines = []
    for name, estimate in metrics.items():
        line = f"{LABELS[name] + ':':<{width}} {estimate['value']:15.10f}"
        if intervals:
            line += f"  [{estimate['low']:.2f}, {estimate['high']:.2f}]"
        lines.append(line)
    lines.append(f"{'n:':<{width}} {report['n']:15d}")
    lines.append(f"rules {report['rules']}: {report['source']}")
    for name, count in report["oddities"].items():
        lines.append(f"note: {count} of {report['n']} questions with {NOTES[name]}")
    return lines


def _texts(record: dict[str, Any], name: str, where: str) -> str | list[str]:
    if name not in record:
        raise UserError(
            f"{where}: no field {name!r}, expected id, question, prediction and "
            f"ground_truth, found {', '.join(map(repr, record)) or 'none'}"
        )
    value = record[name]
    if not isinstance(value, str | list):
        raise UserError(
            f"{where}: {name}: expected a string or a list of strings, got "
            f"{type_name(value)}"
        )
    for i, item in enumerate(value):
        if not isinstance(item, str):
            raise UserError(
                f"{where}: {name}[{i}]: expected a string, got {type_name(item)}"
            )
    return value
