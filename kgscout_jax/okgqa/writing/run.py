"""``kgscout questions``: write open questions or take given ones, score, compare."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.okgqa.passages import read_documents
from kgscout_jax.okgqa.prompts import data
from kgscout_jax.okgqa.questions import read_questions
from kgscout_jax.okgqa.run import model_of
from kgscout_jax.okgqa.settings import QuestionSettings
from kgscout_jax.okgqa.writing.agreement import gap, kappas, mean_scores, read_human
from kgscout_jax.okgqa.writing.draft import write_questions
from kgscout_jax.okgqa.writing.scores import (
    Round,
    metric_names,
    score_questions,
    tuned_instruction,
)
from kgscout_jax.reason.calls import Model
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.io import write_json, write_lines, write_text
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.tables import markdown_table


def make_questions(settings: QuestionSettings) -> int:
    """0, or 1 where requests have no reply; files are written, the table is printed.

    Raises:
        UserError: files that cannot be read, scores of other questions, no question
            that could be used, a server that refuses the key or the model.
    """
    metrics = metric_names()
    human = read_human(settings.human, metrics) if settings.human else {}
    model = model_of(settings)
    with locked(settings.out, "questions"):
        rows, refused = _questions(settings, model)
        people = mean_scores(human)
        if human and not any(row["id"] in people for row in rows):
            raise UserError(
                f"{settings.human}: no id of the questions in it, expected such as "
                f"{rows[0]['id']!r}"
            )
        rounds = [score_questions(rows, model, data("questions")["instruction"])]
        for _ in range(settings.rounds - 1):
            tuned = tuned_instruction(rounds[-1], rows, people, model)
            rounds.append(score_questions(rows, model, tuned))
        best = best_round(rounds, people)
        scores = rounds[best].scores
        report = {
            "questions": len(rows),
            "types": dict(Counter(row["type"] for row in rows)),
            "refused": dict(refused),
            "metrics": list(metrics),
            "mean_scores": _means(scores, metrics),
            "rounds": [
                {
                    "instruction": one.instruction,
                    "scored": len(one.scores),
                    "failures": dict(one.failures),
                    "agreement": gap(one.scores, people, metrics) if human else {},
                }
                for one in rounds
            ],
            "best_round": best + 1,
            "kappa": kappas(human, metrics),
            "spending": {k: dataclasses.asdict(v) for k, v in model.spending.items()},
            "model": settings.model,
            "seed": settings.seed,
        }
        lines = (
            json.dumps({**row, "scores": scores.get(row["id"])}, ensure_ascii=False)
            for row in rows
        )
        write_lines(settings.out / "questions.jsonl", map(replace_surrogates, lines))
        write_json(settings.out / "report.json", report)
        write_text(settings.out / "table.md", markdown(report))
    print(markdown(report))
    print(f"wrote {settings.out}")
    failed = sum(one.failed for one in model.spending.values())
    if failed:
        print(
            f"warning: {failed} requests have no reply; the same command asks for "
            "those alone",
            file=sys.stderr,
        )
    return 1 if failed else 0


def _questions(
    settings: QuestionSettings, model: Model
) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
    """The questions to score, and the reasons for which others were not taken."""
    if settings.questions is not None:
        found = read_questions(settings.questions)
        return [
            {
                "id": one.id,
                "question": one.text,
                "type": one.type,
                "entities": [names[-1] for names in one.names],
                **one.extra,
            }
            for one in found
        ], {}
    from kgscout_jax.graph.open_graph import open_graph

    graph = open_graph(settings.kg, {}, settings.read_options)
    documents = read_documents(settings.documents) if settings.documents else []
    written = write_questions(graph, documents, model, settings.n, settings.seed)
    if not written.rows:
        reasons = ", ".join(f"{n} {why}" for why, n in written.refused.items())
        raise UserError(
            f"--kg: no question could be written ({reasons or 'no entity fits'})"
        )
    return written.rows, written.refused


def best_round(rounds: Sequence[Round], people: Any) -> int:
    """The round that agrees best with people, by the mean of Pearson's correlations.

    The first of equals, and the first where there are no people.
    """

    def mean(one: Round) -> float:
        agreement = gap(one.scores, people, metric_names()).values()
        known = [a["pearson"] for a in agreement if a["pearson"] is not None]
        return sum(known) / len(known) if known else -1.0

    values = [mean(one) for one in rounds]
    return values.index(max(values))


def _means(scores: Any, metrics: Sequence[str]) -> dict[str, float | None]:
    return {
        metric: sum(one[metric] for one in scores.values()) / len(scores)
        if scores
        else None
        for metric in metrics
    }


def markdown(report: Mapping[str, Any]) -> str:
    """The whole of ``table.md``."""
    metrics, rounds = report["metrics"], report["rounds"]
    types = ", ".join(f"{n} {one}" for one, n in report["types"].items())
    refused = "; ".join(f"{n} {why}" for why, n in report["refused"].items())
    failures = rounds[report["best_round"] - 1]["failures"]
    unscored = "; ".join(f"{n} {why}" for why, n in failures.items())
    parts = [
        f"# {report['questions']} open questions",
        f"{types}. Replies not taken: {refused or 'none'}. Without scores: "
        f"{unscored or 'none'}. Scores from 1 to 10 by {report['model']}.",
        markdown_table(
            ["metric", "mean score"],
            [[metric, _number(report["mean_scores"][metric])] for metric in metrics],
        ),
    ]
    if rounds[0]["agreement"]:
        header = [
            "Pearson with people",
            *(f"round {i + 1}" for i in range(len(rounds))),
        ]
        rows = [
            [m, *(_number(one["agreement"][m]["pearson"]) for one in rounds)]
            for m in metrics
        ]
        parts += [markdown_table(header, rows)]
    if report["kappa"]:
        header = ["Cohen's kappa", *report["kappa"]]
        rows = [
            [m, *(_number(one[m]) for one in report["kappa"].values())] for m in metrics
        ]
        parts += [markdown_table(header, rows)]
    return "\n\n".join(parts) + "\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
