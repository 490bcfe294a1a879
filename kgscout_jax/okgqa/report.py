"""What ``eval.py open`` writes: metrics.json, table.md, questions.jsonl, a page."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.evaluate.bootstrap import LEVEL, RESAMPLES, as_difference, estimates
from kgscout_jax.evaluate.commands import command_of
from kgscout_jax.okgqa.cells import Cell
from kgscout_jax.okgqa.judges.protocol import JUDGED
from kgscout_jax.okgqa.ladder import LABELS, Way
from kgscout_jax.okgqa.questions import OpenQuestion
from kgscout_jax.okgqa.settings import OpenSettings
from kgscout_jax.show import report_page
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.io import json_value
from kgscout_jax.utils.tables import console_grid, figure, markdown_table

FOLDER = Path(__file__).parent / "templates"
percent = partial(figure, digits=1)
DEFINITIONS = {
    "context_relevance": "G-Eval: the answer uses relevant information of the context.",
    "comprehensiveness": "G-Eval: it covers all aspects of the question.",
    "correctness": "G-Eval: it responds clearly and specifically.",
    "empowerment": "G-Eval: it helps to understand and to decide.",
    "factscore": "Share of the answer's atomic facts that passages support.",
    "safe": "Share of its relevant facts that an agent's searches support.",
}


def open_report(
    questions: Sequence[OpenQuestion],
    cells: Sequence[Cell],
    *,
    metrics: Mapping[str, str],
    spending: Mapping[str, Any],
    settings: OpenSettings,
    context: Mapping[str, Any],
    weights: str | None,
) -> dict[str, Any]:
    """The content of ``metrics.json``; figures are percentages.

    Args:
        questions: in the order of the cells' answers.
        cells: in the order of the table.
        metrics: metric -> how tables write it.
        spending: who -> stage -> calls, tokens and dollars.
        settings: of the evaluation, copied.
        context: what people should know, copied.
        weights: where G-Eval's probabilities come from.
    """
    of = partial(estimates, scale=100, seed=settings.seed)
    types = list(dict.fromkeys(question.type for question in questions))
    masks = {one: np.array([q.type == one for q in questions]) for one in types}
    bare = {cell.way.strategy: cell for cell in cells if cell.way.retriever is None}
    rows = []
    for cell in cells:
        columns = {name: cell.column(name) for name in metrics}
        reference = bare.get(cell.way.strategy)
        paired = {}
        if columns and cell.way.retriever is not None and reference is not None:
            table = of({m: columns[m] - reference.column(m) for m in metrics})
            paired = {metric: as_difference(one) for metric, one in table.items()}
        rows.append(
            {
                "name": cell.way.name,
                "strategy": cell.way.strategy,
                "retriever": cell.way.retriever,
                "form": cell.way.form,
                **cell.facts(),
                "metrics": of(columns) if columns else {},
                "outcomes": {name: cell.outcomes(name) for name in metrics},
                "against_closed_book": paired,
                "by_type": {
                    one: of({m: np.where(mask, columns[m], np.nan) for m in metrics})
                    for one, mask in masks.items()
                    if columns
                },
            }
        )
    stages = [one for stages in spending.values() for one in stages.values()]
    return {
        "cells": rows,
        "n": len(questions),
        "types": {one: int(mask.sum()) for one, mask in masks.items()},
        "labels": dict(metrics),
        "definitions": {name: DEFINITIONS[name] for name in metrics},
        "geval_weights": weights,
        "spending": dict(spending),
        "cost": sum(one["cost"] for one in stages),
        "calls": sum(one["calls"] for one in stages),
        "failed_calls": sum(one["failed"] for one in stages),
        "missing": sum(cell.missing for cell in cells),
        "settings": {k: json_value(v) for k, v in dataclasses.asdict(settings).items()},
        "context": {**context, "command": command_of(settings, "kgscout eval open")},
        "level": LEVEL,
        "resamples": RESAMPLES,
        "seed": settings.seed,
    }


def question_lines(
    questions: Sequence[OpenQuestion], cells: Sequence[Cell]
) -> Iterator[str]:
    """One JSON line per cell and question."""
    for cell in cells:
        for record in cell.records(questions):
            yield replace_surrogates(json.dumps(record, ensure_ascii=False))


def main_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: one row per cell, as in OKGQA's table 2."""
    labels = report["labels"]
    header = ["triplets", "prompt", "answers", *labels.values(), "words"]
    rows = []
    for cell in report["cells"]:
        words = cell["words"]
        rows.append(
            [
                triplets_label(cell),
                LABELS[cell["strategy"]],
                f"{cell['answers']}/{report['n']}",
                *(percent(cell["metrics"][name]) for name in labels),
                "–" if words is None else f"{words:.0f}",
            ]
        )
    return header, rows


def type_table(
    report: Mapping[str, Any], metric: str
) -> tuple[list[str], list[list[str]]]:
    """Header and rows: one metric by type of question (OKGQA, figure 3)."""
    types = report["types"]
    header = ["triplets", "prompt", *(f"{one} ({n})" for one, n in types.items())]
    rows = [
        [
            triplets_label(cell),
            LABELS[cell["strategy"]],
            *(percent(cell["by_type"][one][metric], interval=False) for one in types),
        ]
        for cell in report["cells"]
    ]
    return header, rows


def outcome_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: what became of each judgement, over all cells."""
    totals: dict[str, dict[str, int]] = {}
    for cell in report["cells"]:
        for metric, counts in cell["outcomes"].items():
            for outcome, count in counts.items():
                by = totals.setdefault(metric, {})
                by[outcome] = by.get(outcome, 0) + count
    names = list(dict.fromkeys([JUDGED, *(o for by in totals.values() for o in by)]))
    rows = [
        [report["labels"][metric], *(str(by.get(name, 0)) for name in names)]
        for metric, by in totals.items()
    ]
    return ["metric", *names], rows


def spending_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: calls, tokens and dollars by stage."""
    header = ["stage", "calls", "stored", "failed", "tokens in", "tokens out", "$"]
    rows = [
        [
            f"{who}: {stage}",
            *(f"{one[key]:,}" for key in ("calls", "from_cache", "failed")),
            *(f"{one[key]:,}" for key in ("prompt_tokens", "reply_tokens")),
            f"{one['cost']:.4f}",
        ]
        for who, stages in report["spending"].items()
        for stage, one in stages.items()
    ]
    return header, rows


def triplets_label(cell: Mapping[str, Any]) -> str:
    """Whose triplets, in which form: ``cosine, paths``; ``none``."""
    return f"{cell['retriever']}, {cell['form']}" if cell["retriever"] else "none"


def title(report: Mapping[str, Any]) -> str:
    """One line: what was measured."""
    return f"Open questions: {Path(report['settings']['questions']).name}"


def facts(report: Mapping[str, Any]) -> list[str]:
    """Sentences on how the figures came about."""
    settings, context = report["settings"], report["context"]
    linked = context["linked"]
    judge = settings["judge_model"] or settings["model"]
    sentences = [
        f"{report['n']} questions; {linked['by_name']} with entities of the graph by "
        f"name, {linked['by_text']} linked by their text, {linked['without_triplets']} "
        "without any triplet.",
        f"Answers: {settings['model']}, temperature {settings['temperature']:g}, "
        f"{settings['k']} triplets. Judge: {judge}.",
        f"Figures are percentages; in brackets: {report['level']:.0%} bootstrap "
        f"intervals over questions ({report['resamples']} resamples, seed "
        f"{report['seed']}). What a judge failed at is counted below and no zero.",
        f"Verified against {context['passages']:,} passages of {context['documents']}.",
        f"{report['calls']:,} calls, ${report['cost']:.4f}.",
    ]
    if report["geval_weights"] in ("logprobs", "samples"):
        by = {"logprobs": "the token's probabilities", "samples": "samples"}
        sentences.append(f"G-Eval's scores by {by[report['geval_weights']]}.")
    if judge == settings["model"]:
        sentences.append("The judge is the model that it judges.")
    return sentences


def warnings(report: Mapping[str, Any]) -> list[str]:
    """What must be known before a figure is quoted."""
    if not report["missing"]:
        return []
    return [
        f"{report['missing']} answers or judgements have no reply; the same command "
        "asks for what is missing only."
    ]


def markdown(report: Mapping[str, Any]) -> str:
    """The whole of ``table.md``."""
    parts = [f"# {title(report)}", " ".join(facts(report))]
    parts += [f"**{warning}**" for warning in warnings(report)]
    for heading, table in tables(report):
        parts += [f"## {heading}", markdown_table(*table)]
    definitions = (
        f"- {report['labels'][name]}: {text}"
        for name, text in report["definitions"].items()
    )
    return "\n\n".join([*parts, "## Definitions", "\n".join(definitions)]) + "\n"


def tables(report: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Heading and table of everything that is tabulated."""
    by_type = len(report["types"]) > 1 and bool(report["labels"])
    return [
        ("Results", main_table(report)),
        *(
            (f"{label} by type of question", type_table(report, name))
            for name, label in report["labels"].items()
            if by_type
        ),
        ("Judgements", outcome_table(report)),
        ("Calls", spending_table(report)),
    ]


def console(report: Mapping[str, Any]) -> None:
    """Print the main table."""
    from rich.console import Console
    from rich.measure import Measurement

    header, rows = main_table(report)
    table = console_grid(title(report), header, left=(0, 1))
    for row in rows:
        table.add_row(*row)
    screen = Console(highlight=False, soft_wrap=True)
    wide = screen.options.update(width=1000)
    screen.width = max(screen.width, Measurement.get(screen, wide, table).maximum)
    screen.print(table)


def page(
    report: Mapping[str, Any], questions: Sequence[OpenQuestion], cells: Sequence[Cell]
) -> str:
    """The page: tables, then every question with its answers and judgements."""
    listed = [cell.records(questions) for cell in cells]
    return report_page(
        FOLDER / "open.html",
        title=title(report),
        facts=facts(report),
        warnings=warnings(report),
        tables=tables(report),
        labels=report["labels"],
        definitions=report["definitions"],
        names=[_name(cell.way) for cell in cells],
        questions=list(zip(questions, zip(*listed, strict=True), strict=True)),
    )


def _name(way: Way) -> str:
    triplets = f" + {way.retriever}, {way.form}" if way.retriever else ""
    return LABELS[way.strategy] + triplets
