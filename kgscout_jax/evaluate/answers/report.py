"""The content of a batch's ``metrics.json``: figures, differences, failures, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kgscout_jax.evaluate.answers.cells import METRICS, Cell, definitions
from kgscout_jax.evaluate.answers.evidence import ANSWER, PATH, indices_with
from kgscout_jax.evaluate.answers.failures import DEFINITIONS, examples, shares
from kgscout_jax.evaluate.answers.rules import RULES
from kgscout_jax.evaluate.bootstrap import LEVEL, RESAMPLES, bootstrap_means

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
        cells: what was read, in the order of the table; every retriever at every K.
        rules: what is right, and Hits@1 and Macro-F1.
        settings: kept as they are.
        context: what people should know, kept as it is.
        prices: dollars per million tokens, of prompts and of replies.
        seed: of the bootstrap.
        resamples: of the bootstrap.
        level: of the intervals.
    """
    names = list(dict.fromkeys(name for name, _ in cells))
    ks = sorted({k for _, k in cells})
    columns = {key: cell.columns(rules) for key, cell in cells.items()}

    def figures(table: Mapping[str, np.ndarray]) -> dict[str, Any]:
        stacked = 100 * np.stack(list(table.values()), axis=1)
        found = bootstrap_means(stacked, seed=seed, resamples=resamples, level=level)
        pairs = zip(table, found, strict=True)
        return {metric: estimate.to_json() for metric, estimate in pairs}

    reference = next((name for name in names if name != "none"), None)
    paired: dict[str, Any] = {}
    for name in names:
        if reference is None or name == reference:
            continue
        paired[name] = {}
        for k in ks:
            ours, theirs = columns[name, k], columns[reference, k]
            found = figures({metric: ours[metric] - theirs[metric] for metric in ours})
            paired[name][str(k)] = {
                metric: {
                    "difference" if key == "value" else key: value
                    for key, value in entry.items()
                }
                for metric, entry in found.items()
            }

    def nested(make: Any) -> dict[str, dict[str, Any]]:
        return {
            name: {str(k): make(cells[name, k], columns[name, k]) for k in ks}
            for name in names
        }

    report: dict[str, Any] = {
        "retrievers": names,
        "ks": ks,
        "n": {str(k): len(cells[names[0], k]) for k in ks},
        "rules": rules,
        "source": RULES[rules].source,
        "reference": reference,
        "metrics": nested(lambda _, table: figures(table)),
        "paired": paired,
        "failures": nested(lambda cell, table: shares(cell.failures(table["hit"]))),
        "examples": examples(_wrong(cells, rules)),
        "spending": nested(lambda cell, _: cell.spending(*prices)),
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


def _wrong(cells: Cells, rules: str) -> Iterator[tuple[str, int, str, Any, Any]]:
    """Wrong answers as ``examples`` takes them.

    The largest K and the last retriever first; those without any triplet last.
    """
    order = list(cells.items())[::-1]
    order.sort(key=lambda each: not each[1].k)
    for (name, k), cell in order:
        failures = cell.failures(cell.columns(rules)["hit"])
        for i, failure in enumerate(failures):
            if failure is not None:
                yield name, k, failure, cell.infos[i], cell.readings[i].answers


def _missing(cells: Cells) -> list[dict[str, Any]]:
    """Questions without a reply: where, which, and why; each reply once."""
    found: dict[tuple[str, int, str], dict[str, Any]] = {}
    for cell in cells.values():
        for i in cell.missing:
            reading = cell.readings[i]
            found[cell.retriever, cell.k, reading.id] = {
                "retriever": cell.retriever,
                "k": cell.k,
                "id": reading.id,
                "error": reading.error,
            }
    return list(found.values())


def _table(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One flat row per retriever and K, for a spreadsheet."""
    rows = []
    for k in map(str, report["ks"]):
        for name in report["retrievers"]:
            figures, spent = report["metrics"][name][k], report["spending"][name][k]
            row: dict[str, Any] = {
                "retriever": name,
                "k": int(k),
                "n": report["n"][k],
                "missing": spent["missing"],
                "unread": spent["unread"],
            }
            for metric in METRICS:
                entry = figures[metric]
                row[metric] = entry["value"]
                if metric in ("hit", "macro_f1"):
                    row |= {f"{metric}_{end}": entry[end] for end in ("low", "high")}
            rows.append({**row, **spent["per_question"]})
    return rows


def question_records(
    cell: Cell, columns: Mapping[str, np.ndarray]
) -> Sequence[dict[str, Any]]:
    """One JSON object per question: everything that is known about its answer."""
    failures = cell.failures(columns["hit"])
    records = []
    for i, (info, kept, reading) in enumerate(
        zip(cell.infos, cell.kept, cell.readings, strict=True)
    ):
        marks = kept.marks[: cell.k]
        record = {
            "id": info.id,
            "question": info.text,
            "retriever": cell.retriever,
            "k": cell.k,
            "hop": info.hop,
            "topics": list(info.topics),
            "gold": list(info.answers),
            "triplets": [[h, r, t, s] for h, r, t, s in kept.triplets[: cell.k]],
            "holds_answer": indices_with(marks, ANSWER),
            "on_path": indices_with(marks, PATH),
            "prompt_hash": reading.prompt_hash,
            "triplets_in_prompt": cell.in_prompt[i],
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
        if reading.samples:
            record["samples"] = list(reading.samples)
        if reading.error is not None:
            record["error"] = reading.error
        records.append(record)
    return records
