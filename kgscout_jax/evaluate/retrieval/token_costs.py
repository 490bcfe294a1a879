"""What the kept triplets cost a reader: recall against the tokens of the prompts.

The same retriever, its triplets as lines or closed into paths, as many as K, as a
calibrated budget or as a budget of tokens allows. Prompts are counted whole, words and
question included, as they would be sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int, Int32

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.bootstrap import bootstrap_means
from kgscout_jax.evaluate.retrieval.metrics import retrieval_metrics
from kgscout_jax.reason.selection import FORMS, POOL, Form, select
from kgscout_jax.retrieve.budget import budgets, check_target
from kgscout_jax.retrieve.protocol import Rankings, Retriever
from kgscout_jax.retrieve.retrieved_file import retrieved_records
from kgscout_jax.utils.progress import progress

KS = (10, 30, 100)
"""The K whose prompts are counted, of those that are measured; else all of these."""
QUESTIONS = 500
"""Prompts of at most so many questions are counted, drawn with a fixed seed."""
METRICS = (
    "answer_hit", "answer_recall", "path_hit", "path_hit_undirected",
    "path_triplet_recall",
)  # fmt: skip
PER_1000 = ("answer_recall", "path_triplet_recall")
"""What is also told per 1,000 tokens: mean recall / mean tokens of a prompt * 1,000."""


@dataclass(frozen=True, kw_only=True)
class TokenPlan:
    """Which selections are counted."""

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

    def __post_init__(self) -> None:
        for target in self.targets:
            check_target(target)
        if self.targets and self.presence is None:
            raise ValueError("targets need the presence of the candidates")


@dataclass(frozen=True)
class _Asked:
    """One row of the table before its form: how many triplets of each question."""

    label: str
    k: Int[np.ndarray, "b"]
    token_budget: int | None = None
    about: dict[str, Any] | None = None


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
        retriever: whose triplets.
        ks: the K that are measured; the largest bounds every budget.
        plan: what is counted.
        seed: of the bootstrap.
        resamples: of the bootstrap.
    """
    asked = _asked(split, ks, plan)
    drawn = np.random.default_rng(0).permutation(len(split))[: plan.questions]
    rows = np.sort(drawn)
    deepest = max(int(each.k.max(initial=1)) for each in asked)
    rankings = retriever.rank(shards, split, max(1, deepest * POOL))
    pool = [record.triplets for record in retrieved_records(shards, split, rankings)]
    out: list[dict[str, Any]] = []
    total = len(asked) * len(plan.forms) * len(rows)
    with progress(total, "counting tokens", "prompts") as bar:
        for one in asked:
            for form in plan.forms:
                chosen: list[tuple[int, ...]] = [()] * len(split)
                tokens = np.zeros(len(rows))
                for place, i in enumerate(rows.tolist()):
                    info = split.questions[i]
                    found = select(
                        info.text,
                        pool[i],
                        info.topics,
                        k=int(one.k[i]),
                        form=form,
                        token_budget=one.token_budget,
                    )
                    chosen[i] = found.positions
                    tokens[place] = found.prompt.tokens
                bar.update(len(rows))
                kept = picked(rankings, chosen)
                width = kept.heads.shape[1]
                metrics = retrieval_metrics(kept, shards, split, [width])
                columns = np.stack(
                    [metrics[name][width][rows] for name in METRICS], axis=1
                )
                figures = bootstrap_means(columns, seed=seed, resamples=resamples)
                out.append(
                    {
                        "selection": one.label,
                        "form": form,
                        "triplets": float(kept.lengths[rows].mean()),
                        "tokens": float(tokens.mean()),
                        **{
                            name: figure.to_json()
                            for name, figure in zip(METRICS, figures, strict=True)
                        },
                        "per_1000_tokens": {
                            name: _per_1000(columns[:, METRICS.index(name)], tokens)
                            for name in PER_1000
                        },
                        **_about(one, rows),
                    }
                )
    return {
        "retriever": retriever.name,
        "questions": len(rows),
        "calibration": plan.calibration,
        "rows": out,
    }


def _asked(split: Split, ks: Sequence[int], plan: TokenPlan) -> list[_Asked]:
    """The selections in the order of the table."""
    b, most = len(split), max(ks)
    told = [k for k in ks if k in KS] or list(ks)
    asked = [_Asked(f"K = {k}", np.full(b, k)) for k in told]
    for target in plan.targets:
        assert plan.presence is not None
        presence = plan.presence[:, :most]
        k = budgets(presence, split.n_real, target)
        at_k = np.take_along_axis(presence, np.maximum(k - 1, 0)[:, None], axis=1)[:, 0]
        at_k = np.where(k > 0, at_k, 0.0)
        about = {"target": target, "presence": at_k}
        asked.append(_Asked(f"target {target:g}", k, about=about))
        # What the same number of triplets gives where every question gets as many.
        fixed = max(1, round(float(k.mean())))
        label = f"K = {fixed}, fixed"
        if label not in (each.label for each in asked):
            asked.append(_Asked(label, np.full(b, fixed)))
    for budget in plan.token_budgets:
        label, k = f"{budget} tokens", np.full(b, most)
        asked.append(_Asked(label, k, token_budget=budget))
    return asked


def _about(one: _Asked, rows: Int[np.ndarray, "q"]) -> dict[str, Any]:
    """What is told of a calibrated budget: promised, and how K is spread."""
    if one.about is None:
        return {}
    k, presence = one.k[rows], one.about["presence"][rows]
    p50, p90 = np.percentile(k, [50, 90])
    return {
        "target": one.about["target"],
        "expected": float(presence.mean()),
        "k": {"mean": float(k.mean()), "p50": float(p50), "p90": float(p90)},
        "short_of_target": float((presence < one.about["target"]).mean()),
    }


def _per_1000(
    values: Float64[np.ndarray, "q"], tokens: Float64[np.ndarray, "q"]
) -> float | None:
    """Mean of the values that count, per 1,000 tokens of the mean prompt."""
    if np.isnan(values).all():
        return None
    return float(1000 * np.nanmean(values) / tokens.mean())


def picked(rankings: Rankings, positions: Sequence[Sequence[int]]) -> Rankings:
    """Some of the ranked triplets of each question, in the order of ``positions``."""
    width = max([1, *map(len, positions)])
    at = np.full((len(positions), width), -1, np.int32)
    for i, row in enumerate(positions):
        at[i, : len(row)] = row
    real = at >= 0

    def column(values: np.ndarray, fill: int) -> np.ndarray:
        taken = np.take_along_axis(values, np.maximum(at, 0), axis=1)
        return np.where(real, taken, values.dtype.type(fill))

    lengths: Int32[np.ndarray, "b"] = real.sum(axis=1, dtype=np.int32)
    return Rankings(
        retriever=rankings.retriever,
        heads=column(rankings.heads, -1),
        relations=column(rankings.relations, -1),
        tails=column(rankings.tails, -1),
        scores=column(rankings.scores, 0),
        lengths=lengths,
        seconds=rankings.seconds,
        names=rankings.names,
    )
