"""The content of a batch's ``metrics.json``: figures, differences, failures, costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from kgscout_jax.evaluate.answers.cells import METRICS, Cell, definitions
from kgscout_jax.evaluate.answers.confidence import (
    reliability,
    risk_coverage,
    routing,
    thin,
)
from kgscout_jax.evaluate.answers.evidence import LISTED, GraphAnswers
from kgscout_jax.evaluate.answers.failures import DEFINITIONS, examples, shares
from kgscout_jax.evaluate.answers.rules import RULES
from kgscout_jax.evaluate.bootstrap import LEVEL, RESAMPLES, as_difference, estimates
from kgscout_jax.retrieve.answer_scale import expected_calibration_error

Cells = dict[tuple[str, int], Cell]
"""(retriever, K) -> its cell; "none" has the same one, cut to size, at every K."""
Percentages = Callable[[Mapping[str, Float64[np.ndarray, "b"]]], dict[str, Any]]
"""Columns, nan where a question does not count -> estimates in percent."""
HOP_METRICS = ("hit", "hits@1", "macro_f1", "em")


def answer_report(
    cells: Cells,
    *,
    rules: str,
    settings: Mapping[str, Any],
    context: Mapping[str, Any],
    prices: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> dict[str, Any]:
    """The content of ``metrics.json``; figures are percentages: means times 100.

    Args:
        cells: in the order of the table; every retriever at every K.
        rules: decide what is right, and Hits@1 and Macro-F1.
        settings: of the batch, copied.
        context: what people should know, copied.
        prices: dollars per million tokens, of prompts and of replies.
        seed: of the bootstrap.
        resamples: of the bootstrap.
        level: of the intervals.
    """
    names = list(dict.fromkeys(name for name, _ in cells))
    ks = sorted({k for _, k in cells})
    percentages: Percentages = partial(
        estimates, scale=100, seed=seed, resamples=resamples, level=level
    )
    reference = next((name for name in names if name != "none"), None)

    def differences(name: str, k: int) -> dict[str, Any]:
        assert reference is not None
        ours, theirs = (cells[one, k].columns(rules) for one in (name, reference))
        table = percentages({metric: ours[metric] - theirs[metric] for metric in ours})
        return {metric: as_difference(one) for metric, one in table.items()}

    def nested(figures: Callable[[Cell], Any]) -> dict[str, dict[str, Any]]:
        return {name: {str(k): figures(cells[name, k]) for k in ks} for name in names}

    report: dict[str, Any] = {
        "retrievers": names,
        "ks": ks,
        "n": {str(k): len(cells[names[0], k]) for k in ks},
        "rules": rules,
        "source": RULES[rules].source,
        "reference": reference,
        "metrics": nested(lambda cell: percentages(cell.columns(rules))),
        "paired": {
            name: {str(k): differences(name, k) for k in ks}
            for name in names
            if reference not in (None, name)
        },
        "by_hop": _by_hop(cells, rules, percentages),
        "confidence": _confidence(cells, rules, percentages),
        "routing": _routing(cells, rules),
        "failures": nested(lambda cell: shares(cell.failures(rules))),
        "examples": examples(_wrong_answers(cells, rules)),
        "spending": nested(lambda cell: cell.spending(*prices)),
        "missing": _missing(cells),
        "definitions": definitions(rules),
        "failure_definitions": DEFINITIONS,
        "settings": dict(settings),
        "context": dict(context),
        "level": level,
        "resamples": resamples,
        "seed": seed,
    }
    return {"table": _table(report), **report}


def _by_hop(cells: Cells, rules: str, percentages: Percentages) -> dict[str, Any]:
    """Number of hops -> retriever -> K -> figures of those questions."""
    largest = max(cells.values(), key=len)
    hops = [info.hop for info in largest.infos]
    known = sorted({hop for hop in hops if hop is not None})
    report: dict[str, Any] = {}
    for hop in [*known, *([None] if None in hops else [])]:
        mask = np.array([other == hop for other in hops])
        by_row: dict[str, dict[str, Any]] = {}
        for (name, k), cell in cells.items():
            columns, ours = cell.columns(rules), mask[: len(cell)]
            by_row.setdefault(name, {})[str(k)] = percentages(
                {m: np.where(ours, columns[m], np.nan) for m in HOP_METRICS}
            )
        report["unknown" if hop is None else str(hop)] = by_row
    return report


def _confidence(cells: Cells, rules: str, percentages: Percentages) -> dict[str, Any]:
    """Row -> K -> abstention and calibration of the graph's own answers."""
    report: dict[str, dict[str, Any]] = {}
    for (name, k), cell in cells.items():
        if not cell.graph or cell.graph_row is not None:
            continue
        columns = cell.columns(rules)
        confidence = np.array([one.confidence for one in cell.graph])
        answered = np.array([one.answered for one in cell.graph], bool)
        curve = risk_coverage(confidence, columns["hits@1"])
        some = thin(len(curve.coverage))
        best, listed = _judged(cell.graph, 1), _judged(cell.graph, LISTED)
        report.setdefault(name, {})[str(k)] = {
            "coverage": (100 * curve.coverage[some]).tolist(),
            "accuracy": (100 * curve.accuracy[some]).tolist(),
            "probability": curve.confidence[some].tolist(),
            "area": 100 * curve.area,
            "abstention": {
                "below": [*dict.fromkeys(one.abstention for one in cell.graph)],
                "answered": int(answered.sum()),
                "coverage": 100 * float(answered.mean()) if len(cell) else 0.0,
                **percentages(
                    {
                        metric: np.where(answered, columns[metric], np.nan)
                        for metric in ("hits@1", "macro_f1")
                    }
                ),
            },
            "calibration_error": {
                "best": expected_calibration_error(*best),
                "listed": expected_calibration_error(*listed),
            },
            "reliability": {
                key: value.tolist()
                for key, value in reliability(*best)._asdict().items()
            },
        }
    return report


def _judged(
    graph: Sequence[GraphAnswers], most: int
) -> tuple[Float64[np.ndarray, "c"], Bool[np.ndarray, "c"]]:
    """Probability of the best nodes of all questions, and whether each is an answer."""
    nodes = [
        (answer.probability, right)
        for one in graph
        for answer, right in zip(one.best[:most], one.is_answer[:most], strict=True)
    ]
    probability, right = zip(*nodes, strict=True) if nodes else ((), ())
    return np.array(probability, np.float64), np.array(right, bool)


def _routing(cells: Cells, rules: str) -> dict[str, Any]:
    """Row -> K -> accuracy against the share of questions that the model answers."""
    report: dict[str, dict[str, Any]] = {}
    for (name, k), cell in cells.items():
        if cell.graph_row is None:
            continue
        asked = np.array(cell.asked, bool)
        model = np.where(asked, cell.columns(rules)["hits@1"], np.nan)
        curve = routing(
            np.array([one.confidence for one in cell.graph]),
            cells[cell.graph_row, k].columns(rules)["hits@1"],
            model,
        )
        some = thin(len(curve.share))
        report.setdefault(name, {})[str(k)] = {
            "graph": cell.graph_row,
            "asked": int(asked.sum()),
            "share": (100 * curve.share[some]).tolist(),
            "hits@1": (100 * curve.accuracy[some]).tolist(),
            "up_to": curve.below[some].tolist(),
        }
    return report


def _wrong_answers(
    cells: Cells, rules: str
) -> Iterator[tuple[str, int, str, Any, Any]]:
    """Wrong answers as ``examples`` takes them.

    The largest K and the last retriever first; those without any triplet last.
    """
    order = list(cells.items())[::-1]
    order.sort(key=lambda pair: not pair[1].k)
    for (name, k), cell in order:
        for i, failure in enumerate(cell.failures(rules)):
            if failure is not None:
                yield name, k, failure, cell.infos[i], cell.readings[i].answers


def _missing(cells: Cells) -> list[dict[str, Any]]:
    """Questions without a reply: where, which, and why; each reply once."""
    missing = {
        (cell.retriever, cell.k, cell.readings[i].id): cell.readings[i].error
        for cell in cells.values()
        for i in cell.missing
    }
    return [
        {"retriever": retriever, "k": k, "id": id, "error": error}
        for (retriever, k, id), error in missing.items()
    ]


def _table(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One flat row per retriever and K, for a spreadsheet."""
    rows = []
    for k in map(str, report["ks"]):
        for name in report["retrievers"]:
            figures, spending = report["metrics"][name][k], report["spending"][name][k]
            row: dict[str, Any] = {
                "retriever": name,
                "k": int(k),
                "n": report["n"][k],
                "missing": spending["missing"],
                "unread": spending["unread"],
            }
            for metric in METRICS:
                row[metric] = figures[metric]["value"]
                if metric in ("hit", "macro_f1"):
                    for end in ("low", "high"):
                        row[f"{metric}_{end}"] = figures[metric][end]
            rows.append({**row, **spending["per_question"]})
    return rows
