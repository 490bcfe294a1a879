"""``eval.py answers --predictions FILE``: judge a file of predictions."""

from __future__ import annotations

import json
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.metrics import LABELS, NOTES, report
from kgscout_jax.evaluate.answers.prediction_file import read_predictions
from kgscout_jax.evaluate.answers.rules import RULES
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.utils.io import write_json, write_lines


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
    value, columns = report(predictions, RULES[settings.rules], seed=settings.seed)
    value = {"predictions": str(settings.predictions), **value}
    for line in lines_of(value, intervals=settings.intervals):
        print(line)
    if settings.out is not None:
        write_json(settings.out / "metrics.json", value)
        write_lines(
            settings.out / "questions.jsonl",
            (
                json.dumps(
                    {
                        "id": prediction.id,
                        "question": prediction.question,
                        "prediction": list(prediction.given),
                        "ground_truth": list(prediction.gold),
                        **{name: float(column[i]) for name, column in columns.items()},
                    },
                    ensure_ascii=False,
                )
                for i, prediction in enumerate(predictions)
            ),
        )
    return value


def lines_of(value: dict[str, Any], *, intervals: bool = False) -> list[str]:
    """The report for a terminal: a figure a line to ten digits, then n and notes."""
    metrics = value["metrics"]
    width = max(len(LABELS[name]) for name in metrics) + 1
    lines = []
    for name, entry in metrics.items():
        line = f"{LABELS[name] + ':':<{width}} {entry['value']:15.10f}"
        if intervals:
            line += f"  [{entry['low']:.2f}, {entry['high']:.2f}]"
        lines.append(line)
    lines.append(f"{'n:':<{width}} {value['n']:15d}")
    lines.append(f"rules {value['rules']}: {value['source']}")
    for name, count in value["oddities"].items():
        lines.append(f"note: {count} of {value['n']} questions with {NOTES[name]}")
    return lines
