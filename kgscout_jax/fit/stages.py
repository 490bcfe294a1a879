"""The stages of a fit up to the trained policy: questions, shards, training."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from data_prep.driver import prepare
from data_prep.settings import PrepSettings
from data_prep.synth.run import write_questions
from data_prep.synth.settings import LONGEST, SynthSettings
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.fit.settings import FitSettings
from kgscout_jax.fit.work import Work
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.train import train
from kgscout_jax.learn.trained_policy import TrainedPolicy, load_policy
from kgscout_jax.policy.module import Policy

PATIENCE = 2
"""Passes in a row that gain nothing, after which training ends: a single one is often
by chance."""
HELD_OUT = 10
"""Dev and test questions at least: fewer tell nothing."""
PREPARATION = (
    *("cut", "max_triplets", "ppr_threshold", "hub_degree"),
    *("select", "candidates", "direction"),
)
"""Settings of the preparation that are those of the base policy."""
OBJECTIVE = (
    *("estimator", "k", "k_low", "reward_direction", "reward"),
    *("presence_weight", "hit_weight", "path_direction", "path_weight", "bce_weight"),
    *("connectivity_weight", "positive_weight", "entropy_weight", "answer_weight"),
    *("baseline", "samples", "normalise_advantage", "question_noise", "candidates"),
)
"""Settings of the training that are those of the base policy."""


def make_questions(settings: FitSettings, work: Work) -> dict[str, Any]:
    """The report of the synthetic questions, written unless they are there.

    Raises:
        UserError: the graph gives no questions, or too few held-out ones.
    """
    report, _ = write_questions(
        SynthSettings(
            graph=settings.graph,
            out=work / "questions",
            questions=settings.synthetic_questions,
            hops=min(settings.hops, LONGEST),
            seed=settings.seed,
            columns=settings.columns,
            properties=settings.properties,
            language=settings.language,
        )
    )
    counts = report["questions"]
    if min(counts["dev"], counts["test"]) < HELD_OUT:
        more = "raise --synthetic-questions, or use"
        if sum(counts.values()) < settings.synthetic_questions:
            more = "the graph gives no more, use"
        raise UserError(
            f"{', '.join(map(str, settings.graph))}: gives {counts['dev']} dev and "
            f"{counts['test']} test questions, expected at least {HELD_OUT} of each to "
            f"tell what fitting gains; {more} {settings.base} as it is"
        )
    return report


def prepare_sets(
    settings: FitSettings, work: Work, base: TrainedPolicy
) -> dict[str, Shards]:
    """The shards of the synthetic questions, and of the real ones where given.

    Raises:
        UserError: the graph or the questions cannot be prepared.
    """
    sets = {
        "synthetic": _prepared(settings, work, base, work / "questions", "synthetic")
    }
    if settings.questions is not None:
        folder = settings.questions
        if folder.is_file():
            folder = work / "real_questions"
            folder.mkdir(parents=True, exist_ok=True)
            suffix = ".jsonl.gz" if settings.questions.suffix == ".gz" else ".jsonl"
            shutil.copyfile(settings.questions, folder / f"test{suffix}")
        sets["real"] = _prepared(settings, work, base, folder, "real")
    return sets


def _prepared(
    settings: FitSettings, work: Work, base: TrainedPolicy, questions: Path, part: str
) -> Shards:
    """Shards of questions over the graph, prepared as for the base policy."""
    before = base.metadata["shards"]["settings"]
    # A base of questions with subgraphs of their own has neither.
    known = {name: before[name] for name in PREPARATION if before.get(name) is not None}
    encoder = base.metadata["encoder"]
    return prepare(
        PrepSettings(
            source="kg",
            kg=settings.graph,
            columns=settings.columns,
            properties=settings.properties,
            language=settings.language,
            input=questions,
            out=work / part,
            hops=max(settings.hops, before.get("hops") or 0),
            encoder=encoder["name"],
            encoder_backend=encoder.get("backend", "auto"),
            workers=settings.workers,
            cache=settings.cache,
            **known,
        )
    )


def measured_split(shards: Shards) -> str | None:
    """The split that is reported: test, else dev; None where all is trained on."""
    return next((name for name in ("test", "dev") if name in shards.splits), None)


def training_config(
    settings: FitSettings, work: Work, base: TrainedPolicy, sets: Mapping[str, Shards]
) -> TrainConfig:
    """The settings of the training: the objective of the base policy, a short run."""
    before = base.metadata["config"]
    known = {field.name for field in dataclasses.fields(TrainConfig)}
    objective = {n: before[n] for n in OBJECTIVE if n in before and n in known}
    path = Path(settings.base)
    return TrainConfig(
        shards=tuple(each.path for each in sets.values() if "train" in each.splits),
        run=work / "run",
        init=path.absolute() if path.exists() else path,
        epochs=settings.epochs,
        patience=PATIENCE,
        learning_rate=settings.learning_rate,
        seed=settings.seed,
        **objective,
    )


def halfway(base: TrainedPolicy, trained: TrainedPolicy) -> TrainedPolicy:
    """The trained policy with the mean of both policies' parameters.

    Training on questions of templates forgets some of what the base policy knows of
    people's; the mean keeps it, and what was learned (Wortsman et al., 2022, "Robust
    fine-tuning of zero-shot models"). Figures: ``docs/decisions/synthetic.md``.
    """
    both = base.policy.weights, trained.policy.weights
    weights = jax.tree.map(lambda one, other: (one + other) / 2, *both)
    policy = Policy(trained.policy.config, weights)
    return dataclasses.replace(trained, policy=policy)


@dataclasses.dataclass(frozen=True)
class TrainingOutcome:
    """The outcome of the training."""

    policy: TrainedPolicy
    """The best checkpoint, or ``halfway`` to it; the base policy where none is better
    on dev."""
    gains: bool
    """Whether it is better than the base policy on dev."""
    epochs: list[dict[str, Any]]
    """Epoch, step and dev score, from the base policy at epoch 0."""


def train_policy(
    settings: FitSettings, work: Work, base: TrainedPolicy, sets: Mapping[str, Shards]
) -> TrainingOutcome:
    """The trained policy; training is resumed, or done already.

    Raises:
        UserError: as ``train``.
    """
    config = training_config(settings, work, base, sets)
    run = train(config, load=load_trained, resume="the same command")
    epochs = [
        {name: row[name] for name in ("epoch", "step", "dev_score")}
        for row in run.metrics("epoch")
    ]
    first, *others = [row["dev_score"] for row in epochs]
    if max(others, default=first) > first:
        trained = load_policy(config.run)
        if len(config.shards) == 1:  # synthetic questions alone
            trained = halfway(base, trained)
        return TrainingOutcome(trained, True, epochs)
    # Its weights, with what the run says of the graph and its preparation.
    return TrainingOutcome(TrainedPolicy(base.policy, 0, run.config), False, epochs)
