"""Evaluation of a trained run: load it, measure it beside the baselines, print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.questions import draw_order, take_questions
from kgscout_jax.evaluate.commands import commands_of
from kgscout_jax.evaluate.retrieval.evaluation import check_ks, evaluate_retrieval
from kgscout_jax.evaluate.retrieval.seeds import seed_runs, seeds_console
from kgscout_jax.evaluate.retrieval.tables import console_table, token_console_tables
from kgscout_jax.evaluate.retrieval.token_costs import TokenPlan
from kgscout_jax.evaluate.settings import RetrievalSettings, also_paths
from kgscout_jax.export.load import load_calibration
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.shard_sets import is_trained_on
from kgscout_jax.learn.trained_policy import TrainedPolicy, check_encoder
from kgscout_jax.retrieve.budget import Calibration
from kgscout_jax.retrieve.calibrate import calibrate, presence_of
from kgscout_jax.retrieve.kgscout import KGScout, PolicyLogits
from kgscout_jax.retrieve.protocol import Retriever
from kgscout_jax.retrieve.registry import RETRIEVERS, prize_retrievers
from kgscout_jax.utils.engine import HERE, Engine


def evaluate_run(settings: RetrievalSettings) -> dict[str, Any]:
    """The content of ``metrics.json``; files are written, the summary is printed.

    Raises:
        UserError: no such run, shards or split, shards of another encoder.
    """
    ks = check_ks(settings.k)
    shards = Shards.open(settings.shards)
    split = shards.split(settings.split)
    if settings.limit is not None:
        rows = draw_order(split, settings.seed)[: settings.limit]
        split = take_questions(split, np.sort(rows))
    with settings.open_engine() as engine:
        return _evaluate(settings, ks, shards, split, engine)


def _evaluate(
    settings: RetrievalSettings,
    ks: Sequence[int],
    shards: Shards,
    split: Split,
    engine: Engine,
) -> dict[str, Any]:
    trained = load_trained(settings.run, step=settings.step)
    check_encoder(trained.metadata, shards, settings.run)
    ours, theirs = trained.metadata["shards"], shards.manifest
    context = {
        "run": settings.run.name,
        "step": trained.step,
        "trained_on": ours["source"],
        "measured_on": theirs["source"],
        "cross_dataset": not is_trained_on(trained.metadata, theirs["fingerprint"]),
    }
    also = also_paths(settings.also, settings.retrievers)
    others = {path: load_trained(path) for path in sorted(set(also.values()))}
    repeats = {path: load_trained(path) for path in settings.seeds}
    runs = {settings.run: trained, **others, **repeats}
    context["commands"] = commands_of(
        settings,
        "kgscout eval retrieval",
        {path: one.metadata for path, one in runs.items()},
    )
    retrievers, tokens = build_retrievers(
        settings, shards, split, trained, others, ks[-1], engine
    )
    report = evaluate_retrieval(
        shards,
        split,
        retrievers,
        ks,
        settings.out,
        against=settings.against,
        reference=settings.reference,
        seed=settings.seed,
        context=context,
        history=RunFolder(settings.run).metrics("epoch"),
        tokens=tokens,
        repeats=seed_runs({settings.run: trained, **repeats}, engine)
        if repeats
        else None,
    )
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 100)
    console.print(console_table(report))
    for table in token_console_tables(report["tokens"]):
        console.print(table)
    if repeats:
        console.print(seeds_console(report))
    console.print(f"wrote {settings.out}")
    return report


def build_retrievers(
    settings: RetrievalSettings,
    shards: Shards,
    split: Split,
    trained: TrainedPolicy,
    others: Mapping[Path, TrainedPolicy],
    most: int,
    engine: Engine = HERE,
) -> tuple[list[Retriever], TokenPlan]:
    """The requested retrievers, in that order, and the prompts to count.

    Args:
        settings: the names, and the prompts to count.
        shards: to measure on.
        split: the questions.
        trained: the policy behind ``kgscout``.
        others: those of ``--also``, by their paths.
        most: the largest K.
        engine: what works on the questions.
    """
    scout = KGScout(trained.policy, engine=engine)
    prizes = prize_retrievers(trained.policy, settings.prizes, engine)
    known = {**RETRIEVERS, **prizes}
    policy_logits: PolicyLogits | None = None
    retrievers: list[Retriever] = []
    for name in settings.retrievers:
        if name == scout.name:
            policy_logits = scout.split_logits(shards, split)
            retrievers.append(policy_logits)
        else:
            retrievers.append(known[name]())
    for name, path in also_paths(settings.also, settings.retrievers).items():
        other = others[path]
        check_encoder(other.metadata, shards, path)
        retrievers.append(KGScout(other.policy, name, engine=engine))
    presence, basis = None, ""
    if settings.target:
        assert policy_logits is not None  # checked by the settings
        calibration = calibration_for(settings, shards, trained, scout)
        presence = presence_of(split, policy_logits.scores, calibration, most)
        if calibration is None:
            basis = f"each half of {split.name} calibrated on the other"
        else:
            n, where = calibration.questions, calibration.split
            basis = f"calibrated on {n} questions of {where}"
    plan = TokenPlan(
        forms=settings.forms,
        token_budgets=settings.token_budget,
        targets=settings.target,
        presence=presence,
        calibration=basis,
        engine=engine,
    )
    return retrievers, plan


def calibration_for(
    settings: RetrievalSettings,
    shards: Shards,
    trained: TrainedPolicy,
    scout: KGScout,
) -> Calibration | None:
    """The calibration to use; None: each half of the split by the other.

    An export's own is used unless it was fitted on the questions that are measured.

    Raises:
        UserError: the shards lack the split, or the run was trained on it.
    """
    own = load_calibration(settings.run) if settings.calibrate_on is None else None
    if own is not None:
        same_shards = is_trained_on(trained.metadata, shards.manifest["fingerprint"])
        return None if same_shards and own.split == settings.split else own
    name = settings.calibrate_on or "dev"
    if name == settings.split:
        return None
    own_shards = is_trained_on(trained.metadata, shards.manifest["fingerprint"])
    if name == "train" and own_shards:
        raise UserError(
            "--calibrate-on: train, expected a split that the run has not learned from"
        )
    if name not in shards.splits:
        raise UserError(
            f"--calibrate-on: {shards.path} has no split {name!r}; present: "
            f"{', '.join(shards.splits)}"
        )
    return calibrate(scout, shards, name)
