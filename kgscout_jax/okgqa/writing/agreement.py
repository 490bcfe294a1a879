"""Agreement of scores: Pearson's correlation and Cohen's kappa (OKGQA, tables 3, 4)."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import open_text

Scores = Mapping[str, Mapping[str, float]]
"""Question id -> metric -> score from 1 to 10."""


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation; None below two pairs, or where one side is constant.

    >>> round(pearson([1, 2, 3], [1, 3, 2]), 3)
    0.5
    """
    from scipy.stats import pearsonr

    if len(first) < 2 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    result: Any = pearsonr(first, second)
    return float(result.statistic)


def cohens_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Cohen's kappa of two raters' categories, (p_o - p_e) / (1 - p_e).

    None without a pair, or where chance alone makes them agree (both always the same).

    >>> cohens_kappa([1, 1, 2, 2], [1, 1, 2, 1])
    0.5
    """
    if not len(first):
        return None
    categories, codes = np.unique([*first, *second], return_inverse=True)
    n, k = len(first), len(categories)
    table: Float64[np.ndarray, "k k"] = np.zeros((k, k))
    np.add.at(table, (codes[:n], codes[n:]), 1 / n)
    observed = float(np.trace(table))
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if 1 - expected < 1e-12 else (observed - expected) / (1 - expected)


def read_human(path: Path, metrics: Sequence[str]) -> dict[str, Scores]:
    """Evaluator -> their scores.

    Args:
        path: CSV with the columns ``id``, ``evaluator`` and the metrics; an empty cell
            is no score.
        metrics: the columns.

    Raises:
        UserError: a column is missing, a score is no number from 1 to 10, an evaluator
            scores a question twice.
    """
    scores: dict[str, Any] = {}
    with open_text(path) as file:
        rows = csv.DictReader(file)
        missing = [
            x for x in ("id", "evaluator", *metrics) if x not in (rows.fieldnames or ())
        ]
        if missing:
            found = ", ".join(rows.fieldnames or ()) or "nothing"
            raise UserError(
                f"{path}: columns {found}, expected {missing[0]} among them"
            )
        for number, row in enumerate(rows, start=2):
            where, who, id = f"{path}:{number}", row["evaluator"], row["id"]
            of_who = scores.setdefault(who, {})
            if id in of_who:
                raise UserError(f"{where}: {who} scores {id!r} twice, expected once")
            of_who[id] = {
                metric: _score(row[metric], f"{where}: {metric}")
                for metric in metrics
                if (row[metric] or "").strip()
            }
    if not scores:
        raise UserError(f"{path}: no scores in it, expected at least one row")
    return scores


def _score(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 1 <= value <= 10:
        raise UserError(f"{where}: found {text!r}, expected a number from 1 to 10")
    return value


def mean_scores(human: Mapping[str, Scores]) -> Scores:
    """The mean of the evaluators' scores."""
    lists: dict[str, dict[str, list[float]]] = {}
    for of_who in human.values():
        for id, by_metric in of_who.items():
            for metric, score in by_metric.items():
                lists.setdefault(id, {}).setdefault(metric, []).append(score)
    return {
        id: {metric: sum(each) / len(each) for metric, each in by_metric.items()}
        for id, by_metric in lists.items()
    }


def pairs(
    first: Scores, second: Scores, metric: str
) -> tuple[list[float], list[float]]:
    """The scores that both have, question by question."""
    ids = [
        id for id in first if metric in first[id] and metric in second.get(id, ())
    ]  # fmt: skip
    return [first[id][metric] for id in ids], [second[id][metric] for id in ids]


def gap(auto: Scores, human: Scores, metrics: Sequence[str]) -> dict[str, Any]:
    """Metric -> Pearson's correlation, mean absolute difference, and their number."""
    out = {}
    for metric in metrics:
        ours, theirs = pairs(auto, human, metric)
        differences = np.abs(np.subtract(ours, theirs))
        out[metric] = {
            "pearson": pearson(ours, theirs),
            "mean_absolute_difference": float(differences.mean()) if ours else None,
            "n": len(ours),
        }
    return out


def kappas(human: Mapping[str, Scores], metrics: Sequence[str]) -> dict[str, Any]:
    """``A & B`` -> metric -> Cohen's kappa, for every two evaluators."""
    return {
        f"{a} & {b}": {
            metric: cohens_kappa(*pairs(human[a], human[b], metric))
            for metric in metrics
        }
        for a, b in itertools.combinations(human, 2)
    }
