"""The content of a batch's ``metrics.json``: figures, differences, failures, costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from kgscout_jax.evaluate.answers.cells import METRICS, Cell, definitions
from kgscout_jax.evaluate.answers.failures import DEFINITIONS, examples, shares
from kgscout_jax.evaluate.answers.rules import RULES
from kgscout_jax.evaluate.bootstrap import LEVEL, RESAMPLES, as_difference, estimates

Cells = dict[tuple[str, int], Cell]
"""(retriever, K) -> its cell; "none" has the same one, cut to size, at every K."""


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
    percentages = partial(
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
