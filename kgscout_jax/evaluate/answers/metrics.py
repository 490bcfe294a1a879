"""Answer metrics over questions: columns, intervals, and what is odd about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.evaluate.answers.prediction_file import Prediction, repeated_ids
from kgscout_jax.evaluate.answers.rules import Rules, normalize
from kgscout_jax.evaluate.bootstrap import (
    LEVEL,
    RESAMPLES,
    Estimate,
    bootstrap_means,
)

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


def definitions(rules: Rules) -> dict[str, str]:
    """Metric -> the sentence that defines it, in the order of the tables."""
    return dict(rules.definitions)


def answer_metrics(
    predictions: Sequence[Prediction], rules: Rules
) -> dict[str, Float64[np.ndarray, "b"]]:
    """Metric -> one figure per question, in the order given; no question is left out.

    Figures lie in [0, 1], save ``rog``'s precision.
    """
    columns = {name: np.zeros(len(predictions)) for name in rules.definitions}
    for i, prediction in enumerate(predictions):
        for name, figure in rules.score(prediction.given, prediction.gold).items():
            columns[name][i] = figure
    return columns


def estimates(
    columns: Mapping[str, Float64[np.ndarray, "b"]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> dict[str, Estimate]:
    """Metric -> its mean times 100 with its bootstrap interval over questions."""
    table = 100 * np.stack(list(columns.values()), axis=1)
    found = bootstrap_means(table, seed=seed, resamples=resamples, level=level)
    return dict(zip(columns, found, strict=True))


def oddities(
    predictions: Sequence[Prediction],
    rules: Rules,
    columns: Mapping[str, Float64[np.ndarray, "b"]],
) -> dict[str, int]:
    """What of the input a reader of the figures should know, where there is any of it.

    Counts of questions; see ``NOTES`` for what each means.
    """
    substring = rules.name in ("rog", "rog_script")
    counts = {
        "no_prediction": sum(not any(map(str.strip, p.given)) for p in predictions),
        "no_gold": sum(not p.gold for p in predictions),
        "repeated_id": sum(repeated_ids(list(predictions)).values()),
        "precision_over_1": int((columns["precision"] > 1).sum()) if substring else 0,
        "empty_gold": sum(
            any(not normalize(answer) for answer in p.gold) for p in predictions
        )
        if substring
        else 0,
        "repeated_gold": sum(len(set(p.gold)) < len(p.gold) for p in predictions)
        if substring
        else 0,
        "repeated_prediction": sum(
            p.was_list and len(set(p.given)) < len(p.given) for p in predictions
        )
        if rules.name == "rog"
        else 0,
    }
    return {name: count for name, count in counts.items() if count}


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
"""Oddity -> what the questions counted have."""


def report(
    predictions: Sequence[Prediction],
    rules: Rules,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[dict[str, Any], dict[str, Float64[np.ndarray, "b"]]]:
    """The content of ``metrics.json``, and the figures of each question.

    Values are percentages: means times 100.
    """
    columns = answer_metrics(predictions, rules)
    figures = estimates(columns, seed=seed, resamples=resamples, level=level)
    value = {
        "rules": rules.name,
        "source": rules.source,
        "n": len(predictions),
        "metrics": {name: figure.to_json() for name, figure in figures.items()},
        "oddities": oddities(predictions, rules, columns),
        "definitions": definitions(rules),
        "level": level,
        "resamples": resamples,
        "seed": seed,
    }
    return value, columns
