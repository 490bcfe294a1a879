"""The batch as one HTML page that a person reads: tables, plot, every question.

One file, no network: styles, script and data are inside. The tables and the plot are
plain HTML; the questions are data that the script shows a screenful at a time, so that
thousands of them open at once. Whatever comes from a graph or a model is escaped here
or set as text there, never as markup.

``scripts`` may bring further code. If it defines ``window.kgscoutDraw``, that function
is called with an empty element and a question whenever one with kept triplets is
opened, for a drawing of them; what it returns is called when the question is closed.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from kgscout_jax.evaluate.answers.cells import METRICS, Cell
from kgscout_jax.evaluate.answers.failures import FAILURES
from kgscout_jax.evaluate.answers.rules import contains
from kgscout_jax.evaluate.answers.tables import (
    COLUMNS,
    MAIN,
    facts,
    failure_table,
    listed,
    main_table,
    sweep_table,
    title,
    warnings,
)
from kgscout_jax.show import CONTENT_SECURITY_POLICY
from kgscout_jax.types import entity_key

LISTED = 5000
"""Questions that a page lists; with more, a browser would hardly open it."""

FOLDER = Path(__file__).parent / "templates"


def report_html(
    report: Mapping[str, Any],
    cells: Mapping[tuple[str, int], Cell],
    *,
    plot: bytes,
    scripts: Sequence[str] = (),
    listed: int = LISTED,
) -> str:
    """The page.

    Args:
        report: the content of ``metrics.json``.
        cells: (retriever, K) -> what was read, as ``answer_report`` takes them.
        plot: an SVG file.
        scripts: more JavaScript, see above.
        listed: how many questions to list at most; figures are of all.
    """
    most = max(map(len, cells.values()))
    capped = (
        f'<p class="note">The first {listed} of {most} questions; all of them are in '
        "the questions-*.jsonl files.</p>"
    )
    cells = {key: cell.first(listed) for key, cell in cells.items()}
    text = html.escape
    encoded = base64.b64encode(plot).decode()
    parts = {
        "TITLE": text(title(report)),
        "FACTS": "".join(f"<p>{text(fact)}</p>" for fact in facts(report)),
        "WARNINGS": "".join(
            f'<p class="warning">{text(each)}</p>' for each in warnings(report)
        ),
        "TABLES": "".join(
            f"<h3>K = {k}</h3>{_table(*main_table(report, k))}" for k in report["ks"]
        ),
        "COLUMNS": text(COLUMNS),
        "CAPPED": capped if most > listed else "",
        "PLOT": (
            f'<img class="plot" alt="{text(title(report))}: Hit and Macro-F1 against K"'
            f' src="data:image/svg+xml;base64,{encoded}">'
        ),
        "SWEEPS": "".join(
            f"<h3>{text(METRICS[metric])} against K</h3>"
            f"{_table(*sweep_table(report, metric))}"
            for metric in MAIN
        ),
        "FAILURES": _bars(report) + _table(*failure_table(report), labels=2),
        "EXAMPLES": _examples(report),
        "DEFINITIONS": _definitions(report),
        "STYLE": _template("report.css"),
        "POLICY": CONTENT_SECURITY_POLICY,
        "SCRIPTS": "\n".join(map(_script, [*scripts, _template("report.js")])),
        "DATA": _data_json(page_data(report, cells)),
    }
    page = _template("report.html")
    pieces = page.split("@@")
    # every second piece is the name of a part: what a part holds is not looked at again
    whole = "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))
    # "?" for lone surrogates, which no UTF-8 file can hold
    return whole.encode("utf-8", "replace").decode("utf-8")


def page_data(
    report: Mapping[str, Any], cells: Mapping[tuple[str, int], Cell]
) -> dict[str, Any]:
    """What the script of the page reads; names once, triplets once per retriever.

    ``lists[retriever][question]`` is [ids, scores, marks]: ids are head, relation, tail
    of the best triplet, then of the next, as numbers into ``names``.
    """
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    largest = max(cells.values(), key=len)
    lists: dict[str, list[Any]] = {}
    depth: dict[tuple[str, int], int] = {}
    for (name, k), cell in cells.items():
        for i in range(len(cell)):
            depth[name, i] = max(k, depth.get((name, i), 0))
    for name in dict.fromkeys(name for name, _ in cells):
        kept = max((c for (n, _), c in cells.items() if n == name), key=len).kept
        lists[name] = []
        for i, one in enumerate(kept):
            shown = one.triplets[: depth[name, i]]
            ids = [number(part) for triplet in shown for part in triplet[:3]]
            scores = [round(float(triplet[3]), 4) for triplet in shown]
            lists[name].append([ids, scores, list(one.marks[: len(shown)])])
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
        "names": list(names),
    }


def _rows(cell: Cell, rules: str) -> list[list[Any]]:
    """Per question what the script names at its top, in that order."""
    same = _same(rules)
    columns = cell.columns(rules)
    failures = cell.failures(columns["hit"])
    figures = [
        [None if value != value else round(float(value), 3) for value in column]
        for column in columns.values()
    ]
    return [
        [
            list(reading.answers),
            [int(any(same(one, gold) for gold in info.answers)) for one in given],
            [int(any(same(one, gold) for one in given)) for gold in info.answers],
            reading.raw,
            reading.error,
            failures[i],
            reading.outcome,
            [column[i] for column in figures],
            [reading.prompt_tokens, reading.reply_tokens, round(reading.seconds, 3)],
            reading.prompt_hash,
        ]
        for i, (info, reading) in enumerate(zip(cell.infos, cell.readings, strict=True))
        for given in [reading.answers]
    ]


def _same(rules: str) -> Callable[[str, str], bool]:
    """Whether an answer given is, or by RoG's rules holds, a gold one."""
    if rules == "kgscout":
        return lambda given, gold: entity_key(given) == entity_key(gold)
    return contains


@cache
def _template(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _data_json(value: Any) -> str:
    """JSON that ends no script element, whatever strings it holds."""
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        raw = raw.replace(sign, f"\\u{ord(sign):04x}")
    return raw


def _script(code: str) -> str:
    """A script element that nothing in it ends; "<\\/" is "</" in its strings."""
    code = code.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return f"<script>\n{code}\n</script>"


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, labels: int = 1
) -> str:
    """An HTML table; columns beyond the first ``labels`` are numbers."""

    def line(cells: Sequence[str], tag: str) -> str:
        told = (
            f"<{tag}{'' if i < labels else ' class=num'}>{_figure(cell)}</{tag}>"
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(told)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    # headers break at spaces, not at hyphens
    head = line([cell.replace("-", "\u2011") for cell in header], "th")
    return (
        f'<div class="wide"><table><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _figure(cell: str) -> str:
    """A cell, its interval in small print."""
    value, bracket, interval = cell.partition(" [")
    if bracket and cell.endswith("]"):
        return f"{html.escape(value)} <small>[{html.escape(interval)}</small>"
    return html.escape(cell)


def _bars(report: Mapping[str, Any]) -> str:
    """A bar per retriever and K: right answers, then each cause of wrong ones."""
    lines = []
    for k in map(str, report["ks"]):
        for name in report["retrievers"]:
            found = report["failures"][name][k]
            counts = {"right": found["n"] - found["wrong"]}
            counts |= {c: entry["count"] for c, entry in found["causes"].items()}
            labels = {"right": "right", **FAILURES}
            parts = "".join(
                f'<a class="f-{cause}" style="flex-grow:{count}" '
                f'href="{_view(name, k, cause)}" '
                f'title="{labels[cause]}: {count} of {found["n"]}">{count}</a>'
                for cause, count in counts.items()
                if count
            )
            lines.append(
                f"<span>{html.escape(name)}, K = {k}</span>"
                f'<div class="bar">{parts}</div>'
            )
    legend = "".join(
        f'<span><i class="f-{cause}"></i>{label}</span>'
        for cause, label in {"right": "right", **FAILURES}.items()
    )
    return f'<div class="legend">{legend}</div><div class="bars">{"".join(lines)}</div>'


def _examples(report: Mapping[str, Any]) -> str:
    """A few questions of each failure, with what was given and what is gold."""
    parts = []
    for failure, few in report["examples"].items():
        items = "".join(
            f'<li><a href="{_view(one["retriever"], one["k"], failure, one["id"])}">'
            f"{html.escape(one['question'])}</a> "
            f"<small>{html.escape(one['retriever'])}, K = {one['k']}</small><br>"
            f"given {html.escape(listed(one['given']) or 'nothing')}; "
            f"gold {html.escape(listed(one['gold']) or 'none')}</li>"
            for one in few
        )
        parts.append(
            f'<h4><span class="badge f-{failure}">{FAILURES[failure]}</span></h4>'
            f"<ul>{items}</ul>"
        )
    return f"<h3>Examples</h3>{''.join(parts)}" if parts else ""


def _view(retriever: str, k: int | str, verdict: str, opened: str = "") -> str:
    """The address of a view of the questions, as the script reads it."""
    said = {"retriever": retriever, "k": k, "verdict": verdict}
    return html.escape("#" + urlencode(said | ({"open": opened} if opened else {})))


def _definitions(report: Mapping[str, Any]) -> str:
    said = {METRICS[name]: each for name, each in report["definitions"].items()}
    said |= {
        FAILURES[name]: each for name, each in report["failure_definitions"].items()
    }
    return "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(each)}</dd>"
        for name, each in said.items()
    )
