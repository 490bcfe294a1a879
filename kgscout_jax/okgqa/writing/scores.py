"""Automatic scores of questions, and the tuning of their instruction (A.2, A.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgscout_jax.okgqa.judges.protocol import JUDGED, UNREADABLE, text_of
from kgscout_jax.okgqa.prompts import data, fill
from kgscout_jax.okgqa.writing.agreement import Scores
from kgscout_jax.okgqa.writing.draft import read_object
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.prompts import prompt_text

SCORE_TOKENS = 120
TUNE_TOKENS = 600
ERRORS = 6
"""The largest differences that the tuner is shown."""


@dataclass
class Round:
    """The scores by one instruction."""

    instruction: str
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    """Question id -> metric -> score."""
    failures: Counter[str] = field(default_factory=Counter)
    """Questions without scores, by reason."""


def metric_names() -> tuple[str, ...]:
    """The five angles on a question."""
    return tuple(data("questions")["metrics"])


def score_questions(
    rows: Sequence[Mapping[str, Any]], model: Model, instruction: str
) -> Round:
    """The scores of questions with id, question and context."""
    metrics = data("questions")["metrics"]
    prompts = [
        fill(
            "score_question",
            instruction=instruction,
            metrics="\n".join(f"- {name}: {text}" for name, text in metrics.items()),
            context=row.get("context") or "(none)",
            question=prompt_text(row["question"]),
            form=", ".join(f'"{name}": ...' for name in metrics),
        )
        for row in rows
    ]
    out = Round(instruction)
    replies = model.ask("question scores", prompts, max_tokens=SCORE_TOKENS)
    for row, (reply,) in zip(rows, replies, strict=True):
        text, outcome = text_of(reply)
        scores = read_scores(text, tuple(metrics)) if outcome == JUDGED else None
        if scores is None:
            out.failures[UNREADABLE if outcome == JUDGED else outcome] += 1
        else:
            out.scores[row["id"]] = scores
    return out


def read_scores(text: str, metrics: Sequence[str]) -> dict[str, float] | None:
    """The scores in a reply; None unless every metric has one from 1 to 10.

    >>> read_scores('{"a": 7, "b": "3"}', ["a", "b"]), read_scores('{"a": 11}', ["a"])
    ({'a': 7.0, 'b': 3.0}, None)
    """
    found = read_object(text)
    scores = {}
    for metric in metrics:
        try:
            scores[metric] = float(found[metric])
        except (KeyError, TypeError, ValueError):
            return None
        if not 1 <= scores[metric] <= 10:
            return None
    return scores


def tuned_instruction(
    last: Round, rows: Sequence[Mapping[str, Any]], human: Scores, model: Model
) -> str:
    """The instruction after the tuner has seen the largest errors.

    The old one where the tuner says nothing, or nothing is wrong.
    """
    errors = []
    for row in rows:
        ours, theirs = last.scores.get(row["id"], {}), human.get(row["id"], {})
        for metric in ours.keys() & theirs.keys():
            difference = ours[metric] - theirs[metric]
            errors.append((-abs(difference), row["id"], metric, row["question"]))
    worst = [one for one in sorted(errors) if one[0] < 0][:ERRORS]
    if not worst:
        return last.instruction
    lines = [
        f"(1) INPUT: {prompt_text(question)} [{metric}] (2) PREDICTED OUTPUT: "
        f"{last.scores[id][metric]:g}, (3) EXPECTED OUTPUT: {human[id][metric]:g}"
        for _, id, metric, question in worst
    ]
    prompt = fill("tune", instruction=last.instruction, errors="\n".join(lines))
    ((reply,),) = model.ask("instruction tuner", [prompt], max_tokens=TUNE_TOKENS)
    text, outcome = text_of(reply)
    if outcome != JUDGED:
        return last.instruction
    return "\n".join(line for line in map(prompt_text, text.splitlines()) if line)
