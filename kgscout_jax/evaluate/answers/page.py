"""The batch as one HTML page that a person reads: tables, plot, every question.

One file, no network: styles, script and data are inside. The tables and the plot are
plain HTML (``templates/report.html``); the questions are data that the script shows a
screenful at a time, so that thousands of them open at once. Whatever comes from a graph
or a model is escaped by the template or set as text by the script, never as markup.

``scripts`` may bring further code. If it defines ``window.kgscoutDraw``, that function
is called with an empty element and a question whenever one with triplets is opened, for
a drawing of them; its result is called when the question is closed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kgscout_jax.evaluate.answers import tables
from kgscout_jax.evaluate.answers.cells import METRICS, Cell
from kgscout_jax.evaluate.answers.evidence import GraphAnswers
from kgscout_jax.evaluate.answers.failures import FAILURES
from kgscout_jax.evaluate.answers.rules import contains
from kgscout_jax.show import report_page
from kgscout_jax.types import entity_key

LISTED = 5000
"""Questions that a page lists; with more, a browser would hardly open it."""

FOLDER = Path(__file__).parents[1] / "templates"


class Plot(NamedTuple):
    """A figure of the page."""

    title: str
    """What it shows, for those who do not see it."""
    svg: bytes


def report_html(
    report: Mapping[str, Any],
    cells: Mapping[tuple[str, int], Cell],
    *,
    plots: Sequence[Plot],
    scripts: Sequence[str] = (),
    listed: int = LISTED,
) -> str:
    """The page.

    Args:
        report: the content of ``metrics.json``.
        cells: (retriever, K) -> its cell, as ``answer_report`` takes them.
        plots: the first stands with the results, others with confidence.
        scripts: more JavaScript, see above.
        listed: how many questions to list at most; figures are of all.
    """
    script = (FOLDER / "report.js").read_text(encoding="utf-8")
    cut = {key: cell.first(listed) for key, cell in cells.items()}
    return report_page(
        FOLDER / "report.html",
        title=tables.title(report),
        style=FOLDER / "report.css",
        report=report,
        tables=tables,
        failures=FAILURES,
        metrics=METRICS,
        bars=list(_bars(report)),
        listed=listed,
        questions=max(map(len, cells.values())),
        plots=[(one.title, base64.b64encode(one.svg).decode()) for one in plots],
        scripts=[_script(code) for code in (*scripts, script)],
        data=_data_json(page_data(report, cut)),
    )


def page_data(
    report: Mapping[str, Any], cells: Mapping[tuple[str, int], Cell]
) -> dict[str, Any]:
    """What the script of the page reads; names once, triplets once per retriever.

    ``lists[retriever][question]`` is [ids, scores, flags]: ids are head, relation, tail
    of the best triplet, then of the next, as numbers into ``names``. ``traces`` has the
    text of each question, of the retrievers that give one.
    """
    names: dict[str, int] = {}
    largest = max(cells.values(), key=len)
    lists: dict[str, list[Any]] = {}
    traces: dict[str, list[str]] = {}
    depth: dict[tuple[str, int], int] = {}
    for (name, k), cell in cells.items():
        for i in range(len(cell)):
            depth[name, i] = max(k, depth.get((name, i), 0))
    for name in dict.fromkeys(name for name, _ in cells):
        cell = max((c for (n, _), c in cells.items() if n == name), key=len)
        lists[name] = []
        for i, ranking in enumerate(cell.rankings):
            best = ranking.triplets[: depth[name, i]]
            ids = [
                names.setdefault(text, len(names))
                for triplet in best
                for text in triplet[:3]
            ]
            scores = [round(float(triplet[3]), 4) for triplet in best]
            lists[name].append([ids, scores, list(ranking.flags[: len(best)])])
        if any(ranking.trace for ranking in cell.rankings):
            traces[name] = [ranking.trace for ranking in cell.rankings]
    return {
        "metrics": METRICS,
        "failures": FAILURES,
        "questions": [
            {
                "id": info.id,
                "text": info.text,
                "hop": info.hop,
                "topics": list(info.topics),
                "gold": list(info.answers),
            }
            for info in largest.infos
        ],
        "cells": [
            {"retriever": name, "k": k, "rows": _rows(cell, report["rules"])}
            for (name, k), cell in cells.items()
        ],
        "lists": lists,
        "traces": traces,
        "names": list(names),
    }


def _rows(cell: Cell, rules: str) -> list[list[Any]]:
    """Per question what the script names at its top, in that order."""
    equal = _equality(rules)
    failures = cell.failures(rules)
    figures = [
        [None if value != value else round(float(value), 3) for value in column]
        for column in cell.columns(rules).values()
    ]
    rows = []
    for i, (info, reading) in enumerate(zip(cell.infos, cell.readings, strict=True)):
        answers, gold = reading.answers, info.answers
        rows.append(
            [
                list(answers),
                [int(any(equal(one, other) for other in gold)) for one in answers],
                [int(any(equal(one, other) for one in answers)) for other in gold],
                reading.raw,
                reading.error,
                failures[i],
                reading.outcome,
                [column[i] for column in figures],
                [
                    reading.prompt_tokens,
                    reading.reply_tokens,
                    round(reading.seconds, 3),
                ],
                reading.prompt_hash,
                _graph_answers(cell.graph[i]) if cell.graph else None,
            ]
        )
    return rows


def _graph_answers(graph: GraphAnswers) -> list[Any]:
    """The graph's own answers: abstention, then name, probability, right, path."""
    return [
        None if graph.answered else graph.abstention,
        [
            [answer.name, round(answer.probability, 4), int(right), answer.path]
            for answer, right in zip(graph.best, graph.is_answer, strict=True)
        ],
    ]


def _equality(rules: str) -> Callable[[str, str], bool]:
    """Whether an answer is, or by RoG's rules holds, a gold one."""
    if rules == "kgscout":
        return lambda answer, gold: entity_key(answer) == entity_key(gold)
    return contains


def _bars(report: Mapping[str, Any]) -> Iterator[tuple[str, str, int, dict[str, int]]]:
    """Retriever, K, n, and verdict -> its number of questions where there are any."""
    for k in map(str, report["ks"]):
        for name in report["retrievers"]:
            shares = report["failures"][name][k]
            counts = {"right": shares["n"] - shares["wrong"]}
            counts |= {c: one["count"] for c, one in shares["causes"].items()}
            yield name, k, shares["n"], {c: n for c, n in counts.items() if n}


def _data_json(value: Any) -> str:
    """JSON that ends no script element, whatever strings it holds."""
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        raw = raw.replace(sign, f"\\u{ord(sign):04x}")
    return raw


def _script(code: str) -> str:
    """Code that ends no script element; "<\\/" is "</" in its strings."""
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")
