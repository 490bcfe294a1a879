"""The cost of triplets for a reader: recall against the tokens of the prompts.

The same retriever, its triplets as lines or closed into paths, as many as K, as a
calibrated budget or as a budget of tokens allows. Prompts are counted whole, words and
question included, as they would be sent.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float64, Int, Int32

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.bootstrap import estimates
from kgscout_jax.evaluate.retrieval.metrics import retrieval_metrics
from kgscout_jax.reason.prompts import Scored
from kgscout_jax.reason.selection import FORMS, POOL, Form, select
from kgscout_jax.retrieve.budget import budgets, check_target
from kgscout_jax.retrieve.protocol import Rankings, Retriever
from kgscout_jax.retrieve.retrieved_file import retrieved_records
from kgscout_jax.types import Question
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")

KS = (10, 30, 100)
"""The K whose prompts are counted, of those that are measured; else all of these."""
QUESTIONS = 500
"""Prompts of at most so many questions are counted, drawn with a fixed seed."""
CHUNK = 16
"""Questions whose prompts are counted at a time."""
METRICS = (
    "answer_hit", "answer_recall", "path_hit", "path_hit_undirected",
    "path_triplet_recall",
)  # fmt: skip
PER_1000 = ("answer_recall", "path_triplet_recall")
"""Also given per 1,000 tokens: mean recall / mean tokens of a prompt * 1,000."""


@dataclass(frozen=True, kw_only=True)
class TokenPlan:
    """The selections whose prompts are counted."""

    forms: tuple[Form, ...] = FORMS
    token_budgets: tuple[int, ...] = ()
    """Budgets of tokens for a prompt; as many of the largest K as they hold."""
    targets: tuple[float, ...] = ()
    """Chances of an answer: K is the smallest that reaches them."""
    presence: Float64[np.ndarray, "b k"] | None = None
    """For ``targets``: the chance that an answer is among the first 1, 2, ... k."""
    calibration: str = ""
    """In words, what ``presence`` was calibrated on."""
    questions: int = QUESTIONS
    engine: Engine = HERE
    """What selects triplets and counts the tokens of their prompts."""

    def __post_init__(self) -> None:
        for target in self.targets:
            check_target(target)
        if self.targets and self.presence is None:
            raise ValueError("targets need the presence of the candidates")


@dataclass(frozen=True)
class _Rule:
    """A selection rule of the table: how many triplets of each question."""

    label: str
    k: Int[np.ndarray, "b"]
    token_budget: int | None = None
    target: float | None = None
    presence: Float64[np.ndarray, "b"] | None = None
    """For ``target``: the calibrated chance of an answer among the first k."""

    def calibration(self, rows: Int[np.ndarray, "q"]) -> dict[str, Any]:
        """A calibrated budget's expected chance, and how K is distributed."""
        if self.presence is None or self.target is None:
            return {}
        k, presence = self.k[rows], self.presence[rows]
        p50, p90 = np.percentile(k, [50, 90])
        return {
            "target": self.target,
            "expected": float(presence.mean()),
            "k": {"mean": float(k.mean()), "p50": float(p50), "p90": float(p90)},
            "short_of_target": float((presence < self.target).mean()),
        }


def token_table(
    shards: Shards,
    split: Split,
    retriever: Retriever,
    ks: Sequence[int],
    plan: TokenPlan,
    *,
    seed: int = 0,
    resamples: int,
) -> dict[str, Any]:
    """The block ``tokens`` of ``metrics.json``: a row per selection and form.

    Args:
        shards: where the questions are.
        split: the questions.
        retriever: source of the triplets.
        ks: the K that are measured; the largest bounds every budget.
        plan: what is counted.
        seed: of the bootstrap.
        resamples: of the bootstrap.
    """
    rules = _rules(split, ks, plan)
    draw = np.random.default_rng(0).permutation(len(split))[: plan.questions]
    rows = np.sort(draw)
    deepest = max(int(rule.k.max(initial=1)) for rule in rules)
    rankings = retriever.rank(shards, split, max(1, deepest * POOL))
    pool = [record.triplets for record in retrieved_records(shards, split, rankings)]
    table: list[dict[str, Any]] = []
    ways: list[tuple[_Rule, Form]] = list(itertools.product(rules, plan.forms))
    limits: list[tuple[int | None, Form]] = [(r.token_budget, form) for r, form in ways]
    count = partial(_counts, limits)
    prompts: list[list[tuple[tuple[int, ...], int]]] = []
    with ProgressBar(len(ways) * len(rows), "counting tokens", "prompts") as bar:
        chunks = [rows[low : low + CHUNK] for low in range(0, len(rows), CHUNK)]
        items = (
            [
                (split.questions[i], pool[i], [int(rule.k[i]) for rule, _ in ways])
                for i in chunk.tolist()
            ]
            for chunk in chunks
        )
        for chunk in plan.engine.map(count, items):
            prompts += chunk
            bar.update(len(ways) * len(chunk))
    for way, (rule, form) in enumerate(ways):
        positions: list[tuple[int, ...]] = [()] * len(split)
        tokens = np.zeros(len(rows))
        for place, i in enumerate(rows.tolist()):
            positions[i], tokens[place] = prompts[place][way]
        bare = sum(bool(pool[i]) and not positions[i] for i in rows.tolist())
        if bare and rule.token_budget is not None:
            logger.warning(
                "--token-budget %d, %s: not even the best triplet fits in %d of %d "
                "questions",
                *(rule.token_budget, form, bare, len(rows)),
            )
        selected = take_positions(rankings, positions)
        width = selected.heads.shape[1]
        metrics = retrieval_metrics(selected, shards, split, [width])
        columns = {name: metrics[name][width][rows] for name in METRICS}
        table.append(
            {
                "selection": rule.label,
                "form": form,
                "triplets": float(selected.lengths[rows].mean()),
                "tokens": float(tokens.mean()),
                **estimates(columns, seed=seed, resamples=resamples),
                "per_1000_tokens": {
                    name: _per_1000(columns[name], tokens) for name in PER_1000
                },
                **rule.calibration(rows),
            }
        )
    return {
        "retriever": retriever.name,
        "questions": len(rows),
        "calibration": plan.calibration,
        "rows": table,
    }


def _counts(
    ways: Sequence[tuple[int | None, Form]],
    questions: Sequence[tuple[Question, Sequence[Scored], Sequence[int]]],
) -> list[list[tuple[tuple[int, ...], int]]]:
    """Per question and way: the triplets that are selected, and the prompt's tokens.

    Args:
        ways: budget of tokens, and form.
        questions: each with its ranked triplets and its K in each way.
    """
    counts = []
    for question, triplets, ks in questions:
        selections = [
            select(
                question.text,
                triplets,
                question.topics,
                k=k,
                form=form,
                token_budget=budget,
            )
            for (budget, form), k in zip(ways, ks, strict=True)
        ]
        counts.append([(one.positions, one.prompt.tokens) for one in selections])
    return counts


def _rules(split: Split, ks: Sequence[int], plan: TokenPlan) -> list[_Rule]:
    """The selection rules in the order of the table."""
    b, most = len(split), max(ks)
    fixed = [k for k in ks if k in KS] or list(ks)
    rules = [_Rule(f"K = {k}", np.full(b, k)) for k in fixed]
    for target in plan.targets:
        assert plan.presence is not None
        presence = plan.presence[:, :most]
        k = budgets(presence, split.n_real, target)
        at_k = np.take_along_axis(presence, np.maximum(k - 1, 0)[:, None], axis=1)[:, 0]
        at_k = np.where(k > 0, at_k, 0.0)
        rules.append(_Rule(f"target {target:g}", k, target=target, presence=at_k))
        # What the same number of triplets gives where every question gets as many.
        mean = max(1, round(float(k.mean())))
        label = f"K = {mean}, fixed"
        if label not in (rule.label for rule in rules):
            rules.append(_Rule(label, np.full(b, mean)))
    for budget in plan.token_budgets:
        rules.append(_Rule(f"{budget} tokens", np.full(b, most), token_budget=budget))
    return rules


def _per_1000(
    values: Float64[np.ndarray, "q"], tokens: Float64[np.ndarray, "q"]
) -> float | None:
    """Mean of the values that count, per 1,000 tokens of the mean prompt."""
    if np.isnan(values).all():
        return None
    return float(1000 * np.nanmean(values) / tokens.mean())


def take_positions(rankings: Rankings, positions: Sequence[Sequence[int]]) -> Rankings:
    """Some of the ranked triplets of each question, in the order of ``positions``."""
    width = max([1, *map(len, positions)])
    at = np.full((len(positions), width), -1, np.int32)
    for i, row in enumerate(positions):
        at[i, : len(row)] = row
    real = at >= 0

    def column(values: np.ndarray, fill: int) -> np.ndarray:
        rows = np.take_along_axis(values, np.maximum(at, 0), axis=1)
        return np.where(real, rows, values.dtype.type(fill))

    lengths: Int32[np.ndarray, "b"] = real.sum(axis=1, dtype=np.int32)
    return replace(
        rankings,
        heads=column(rankings.heads, -1),
        relations=column(rankings.relations, -1),
        tails=column(rankings.tails, -1),
        scores=column(rankings.scores, 0),
        lengths=lengths,
        keeps_all=False,
    )
