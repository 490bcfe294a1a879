"""Small extracts of metrics.json files: what the tables of pages are made of.

An extract holds one data set's figures of one or more seeds:

    {"kind": "retrieval" | "answers" | "robustness" | "open", "source", "split",
     "questions", "ks", "rows", "reference", "commands": [...],
     "seeds": [{"step", "figures", "by_hop": {HOPS: figures}, "paired": figures}]}

with figures as ROW -> METRIC -> K -> [value, low, high, n], shares (also those of
answers), five digits. Of answers, ``failures`` has the causes of wrong ones, ROW -> K
-> CAUSE -> number. Of robustness, K is "METHOD LEVEL", ``paired`` is the difference
from the lowest level, ``against`` that from the row ``compared_with``. Of open
questions, K is the number of triplets of a prompt, and ``paired`` is the difference
from the same prompt without triplets. Of judges there are ``judges`` instead of
``seeds``. ``--folds N`` pools N results each: their questions together are one seed,
and intervals are bootstrapped over all of them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.bootstrap import estimates
from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS
from kgscout_jax.utils.io import read_json, read_json_lines

Figures = dict[str, dict[str, dict[str, list[float | int | None]]]]
"""Row -> metric -> K -> [value, low, high, n]."""

ANSWER_METRICS = ("hit", "hits@1", "macro_f1", "em")
OPEN_METRICS = (
    "context_relevance",
    "comprehensiveness",
    "correctness",
    "empowerment",
    "factscore",
    "safe",
)
ERRORS = {"ece_best": "best", "ece_listed": "listed"}
"""Calibration errors of answers, by their names in metrics.json; no intervals."""


def extract(
    results: Sequence[Path], *, folds: int = 1, names: dict[str, str] | None = None
) -> dict[str, Any]:
    """The extract of results of one data set: a seed each, or ``folds`` of them each.

    Args:
        results: folders that ``eval.py`` retrieval, answers or robustness wrote.
        folds: results in turn that are the folds of one seed.
        names: other names of rows, by those in the results.

    Raises:
        UserError: a file is missing, or the results are not of the same measurement.
    """
    if len(results) == 1 and (file := results[0] / "judge.json").is_file():
        return judge_extract(read_json(file))
    if not results or len(results) % folds:
        raise UserError(
            f"found {len(results)} results, expected a multiple of {folds}, the folds"
        )
    reports = [read_report(path) for path in results]
    shared = [description(report) for report in reports]
    for path, one in zip(results, shared, strict=True):
        for key, value in one.items():
            if value != shared[0][key] and not (folds > 1 and key == "questions"):
                raise UserError(
                    f"{path}: {key} is {value}, expected {shared[0][key]} as in "
                    f"{results[0]}"
                )
    seeds = []
    for low in range(0, len(results), folds):
        part = slice(low, low + folds)
        one = (
            seed_of(reports[low])
            if folds == 1
            else pooled(results[part], reports[part], shared[0]["reference"])
        )
        seeds.append(renamed(one, names or {}))
    questions = sum(one["questions"] for one in shared[:folds])
    rows = list(dict.fromkeys(row for seed in seeds for row in seed["figures"]))
    reference = shared[0]["reference"]
    return {
        **shared[0],
        "questions": questions,
        "folds": folds,
        "reference": (names or {}).get(reference, reference),
        "rows": rows,
        "commands": list(dict.fromkeys(all_commands(reports))),
        "seeds": seeds,
    }


def appended(earlier: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """An extract with the seeds of both, in this order.

    Raises:
        UserError: they are not of the same measurement.
    """
    for key in ("kind", "source", "split", "questions", "ks", "reference", "folds"):
        if earlier[key] != more[key]:
            raise UserError(
                f"--append: {key} is {more[key]}, expected {earlier[key]} as in the "
                "extract"
            )
    return {
        **earlier,
        "rows": list(dict.fromkeys([*earlier["rows"], *more["rows"]])),
        "commands": list(dict.fromkeys([*earlier["commands"], *more["commands"]])),
        "seeds": [*earlier["seeds"], *more["seeds"]],
    }


def read_report(path: Path) -> dict[str, Any]:
    """The metrics.json in a folder of results, or the file itself."""
    file = path / "metrics.json" if path.is_dir() else path
    report = read_json(file)
    if not isinstance(report, dict) or "context" not in report:
        raise UserError(f"{file}: not the metrics.json of an evaluation")
    return report


def description(report: dict[str, Any]) -> dict[str, Any]:
    """What all results of an extract have in common."""
    context = report["context"]
    if "methods" in report:
        points = [f"{m} {x}" for m in report["methods"] for x in report["levels"]]
        return {
            "kind": "robustness",
            "source": context.get("measured_on"),
            "split": report["split"],
            "questions": context["questions"],
            "ks": points,
            "reference": f"K = {report['k']}",
        }
    if "cells" in report:
        return {
            "kind": "open",
            "source": Path(report["settings"]["questions"]).name,
            "split": "open",
            "questions": report["n"],
            "ks": [report["settings"]["k"]],
            "reference": "the prompt alone",
        }
    is_answers = "rules" in report
    # Of a sample (--limit), the most that were answered at any K.
    questions = (
        max(report["n"].values(), default=0)
        if is_answers
        else report["counts"]["questions"]
    )
    return {
        "kind": "answers" if is_answers else "retrieval",
        "source": context.get("measured_on"),
        "split": context["split"] if is_answers else report["split"],
        "questions": questions,
        "ks": [int(k) for k in report["ks"]],
        "reference": report["reference"],
    }


def seed_of(report: dict[str, Any]) -> dict[str, Any]:
    """The figures of one report."""
    if "methods" in report:
        return {
            "step": report["context"].get("step"),
            "figures": by_point(report["figures"]),
            "by_hop": {},
            "paired": by_point(report["paired"]),
            "against": by_point(report.get("against", {})),
            "compared_with": report.get("reference"),
        }
    if "cells" in report:
        return open_seed(report)
    if "rules" not in report:
        names = report["retrievers"]
        return {
            "step": report["context"].get("step"),
            "figures": rounded({name: report[name] for name in names}),
            "by_hop": {
                hop: rounded({name: figures[name] for name in names})
                for hop, figures in report["by_hop"].items()
            },
            "paired": rounded(report["paired"]),
        }
    figures = rounded(report["metrics"], scale=0.01)
    for name, by_k in report.get("confidence", {}).items():
        for k, one in by_k.items():
            for metric, key in ERRORS.items():
                value = one.get("calibration_error", {}).get(key)
                if value is not None:
                    of_k = figures[name].setdefault(metric, {})
                    of_k[k] = [round(value, 5), None, None, figures[name]["hit"][k][3]]
    return {
        "step": report["context"].get("step"),
        "figures": figures,
        "by_hop": {
            hop: rounded(one, scale=0.01)
            for hop, one in report.get("by_hop", {}).items()
        },
        "paired": rounded(report["paired"], scale=0.01),
        "failures": {
            row: {k: failure_counts(one) for k, one in by_k.items()}
            for row, by_k in report.get("failures", {}).items()
        },
    }


def failure_counts(one: dict[str, Any]) -> dict[str, int]:
    """The numbers of questions, of wrong answers, and of those by cause."""
    causes = {name: found["count"] for name, found in one["causes"].items()}
    return {"n": one["n"], "wrong": one["wrong"], **causes}


def judge_extract(report: dict[str, Any]) -> dict[str, Any]:
    """What ``okgqa_judge.py`` measured, without the answers."""
    keys = ("altered", "judged", "flagged", "precision", "recall")
    found = {
        name: {key: rounded_rate(one[key]) for key in keys}
        for name, one in report.items()
        if isinstance(one, dict) and "precision" in one
    }
    return {
        "kind": "judges",
        "source": "planted facts",
        "questions": len(report["answers"]),
        "judges": found,
        "rows": list(found),
        "seeds": [],
        "commands": [],
    }


def rounded_rate(value: Any) -> Any:
    """A count, or the ends and the value of a rate to five digits."""
    if not isinstance(value, dict):
        return value
    return {key: None if x is None else round(x, 5) for key, x in value.items()}


def open_seed(report: dict[str, Any]) -> dict[str, Any]:
    """The figures of open questions: a row is a way to prompt, ``cot/ppr/paths``."""
    k = str(report["settings"]["k"])
    cells = {cell["name"]: cell for cell in report["cells"]}
    figures = rounded(
        {name: {k: cell["metrics"]} for name, cell in cells.items()}, scale=0.01
    )
    for name, cell in cells.items():
        of_row = figures.setdefault(name, {})
        for fact in ("answers", "words"):
            of_row[fact] = {k: [cell[fact], None, None, report["n"]]}
    differences = {
        name: {k: cell["against_closed_book"]}
        for name, cell in cells.items()
        if cell["against_closed_book"]
    }
    return {
        "step": None,
        "figures": figures,
        "by_hop": {},
        "paired": rounded(differences, scale=0.01),
    }


def by_point(figures: dict[str, Any]) -> Figures:
    """The figures of robustness: metric -> row -> method -> level there."""
    out: Figures = {}
    for metric, rows in figures.items():
        for name, methods in rows.items():
            for method, levels in methods.items():
                points = {f"{method} {x}": one for x, one in levels.items()}
                found = rounded({name: {metric: points}}).get(name, {})
                for key, by_k in found.items():
                    out.setdefault(name, {}).setdefault(key, {}).update(by_k)
    return out


def rounded(report: dict[str, Any], scale: float = 1.0) -> Figures:
    """Row -> metric -> K -> [value, low, high, n] of a part of a report.

    Answers have their K before their metrics there.
    """
    out: Figures = {}
    for name, outer in report.items():
        for key, inner in outer.items():
            for other, one in inner.items():
                by_k = key.isdecimal()
                metric, k = (other, key) if by_k else (key, other)
                if metric not in (*DEFINITIONS, *ANSWER_METRICS, *OPEN_METRICS):
                    continue
                value = one.get("value", one.get("difference"))
                numbers = [value, one.get("low"), one.get("high")]
                out.setdefault(name, {}).setdefault(metric, {})[k] = [
                    *(None if x is None else round(scale * x, 5) for x in numbers),
                    one["n"],
                ]
    return out


def pooled(
    results: Sequence[Path], reports: Sequence[dict[str, Any]], reference: str
) -> dict[str, Any]:
    """The figures of all folds' questions together."""
    columns: dict[tuple[str, str, str], list[float]] = {}
    hops: dict[tuple[str, str, str], list[str]] = {}
    seen: set[tuple[str, ...]] = set()
    for path in results:
        for row, identity, hop, metrics in question_rows(path):
            if (*row, identity) in seen:
                raise UserError(f"{path}: question {identity!r} is in two folds")
            seen.add((*row, identity))
            for key, value in metrics.items():
                columns.setdefault(key, []).append(value)
                hops.setdefault(key, []).append(hop)
    arrays = {key: np.array(values, float) for key, values in columns.items()}
    known = sorted({hop for of_key in hops.values() for hop in of_key})
    differences = {
        key: values - arrays[reference, *key[1:]]
        for key, values in arrays.items()
        if key[0] != reference and (reference, *key[1:]) in arrays
    }
    return {
        "step": [report["context"].get("step") for report in reports],
        "figures": measured(arrays),
        "by_hop": {
            hop: measured(
                {
                    key: values[np.array(hops[key]) == hop]
                    for key, values in arrays.items()
                }
            )
            for hop in known
        },
        "paired": measured(differences),
    }


def question_rows(
    path: Path,
) -> Iterator[tuple[tuple[str, ...], str, str, dict[tuple[str, str, str], float]]]:
    """(row, id, hops, {(row, metric, K): value}) of each line of a result."""
    files = sorted(path.glob("questions*.jsonl"))
    if not files:
        raise UserError(f"{path}: no questions.jsonl, expected one to pool folds")
    for file in files:
        for _, line in read_json_lines(file):
            found = line["metrics"]
            if "retriever" in line:
                row = line["retriever"], str(line["k"])
                metrics = {
                    (row[0], metric, row[1]): found[metric]
                    for metric in ANSWER_METRICS
                    if metric in found
                }
            else:
                row = ("",)
                metrics = {
                    (name, metric, k): value
                    for name, by_metric in found.items()
                    for metric, by_k in by_metric.items()
                    for k, value in by_k.items()
                }
            values = {
                key: np.nan if value is None else float(value)
                for key, value in metrics.items()
            }
            hop = "unknown" if line.get("hop") is None else str(line["hop"])
            yield row, line["id"], hop, values


def measured(arrays: dict[tuple[str, str, str], np.ndarray]) -> Figures:
    """Means with intervals, in the form of an extract; none of no arrays."""
    nested: dict[str, Any] = {}
    for (name, metric, k), one in (estimates(arrays) if arrays else {}).items():
        nested.setdefault(name, {}).setdefault(metric, {})[k] = one
    return rounded(nested)


def renamed(seed: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The same with other names of rows."""

    def rows(figures: Figures) -> Figures:
        return {names.get(name, name): values for name, values in figures.items()}

    found = {
        "step": seed["step"],
        "figures": rows(seed["figures"]),
        "by_hop": {hop: rows(figures) for hop, figures in seed["by_hop"].items()},
        "paired": rows(seed["paired"]),
    }
    if seed.get("failures"):
        found["failures"] = rows(seed["failures"])
    if seed.get("against"):
        found["against"] = rows(seed["against"])
        found["compared_with"] = names.get(seed["compared_with"], seed["compared_with"])
    return found


def all_commands(reports: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The commands of all reports; folders are named without what is above them."""
    for report in reports:
        context = report["context"]
        for command in context.get("commands", [context.get("command", "")]):
            words = [
                re.sub(r"(^|=)/(?:[^/]+/)*([^/]+)/?$", r"\1\2", word)
                for word in shlex.split(command)
            ]
            yield shlex.join(words)


def extract_text(value: dict[str, Any]) -> str:
    """An extract as JSON, a row of figures a line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    # Numbers of a figure side by side: [value, low, high, n].
    return (
        re.sub(
            r"\[\s+([-\d.null,\s]+?)\s+\]",
            lambda m: "[" + re.sub(r",\s+", ", ", m[1]) + "]",
            text,
        )
        + "\n"
    )
