"""Evaluation of a trained run: load it, measure it beside the baselines, print."""

from __future__ import annotations

from typing import Any

from kgscout_jax.evaluate.retrieval import check_ks, evaluate_retrieval
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.evaluate.tables import console_table
from kgscout_jax.export import load_trained
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.runs import check_encoder
from kgscout_jax.retrieve.baselines import PPR, Ceiling, Cosine
from kgscout_jax.retrieve.scout import KGScout
from kgscout_jax.shards import Shards


def evaluate_run(settings: RetrievalSettings) -> dict[str, Any]:
    """The content of ``metrics.json``; files are written, the summary is printed.

    Raises:
        UserError: no such run, shards or split, shards of another encoder.
    """
    ks = check_ks(settings.k)
    shards = Shards.open(settings.shards)
    shards.split(settings.split)
    trained = load_trained(settings.run, step=settings.step)
    check_encoder(trained.about, shards, settings.run)
    ours, theirs = trained.about["shards"], shards.manifest
    context = {
        "run": settings.run.name,
        "step": trained.step,
        "trained_on": ours["source"],
        "measured_on": theirs["source"],
        "cross_dataset": ours["fingerprint"] != theirs["fingerprint"],
    }
    report = evaluate_retrieval(
        shards,
        settings.split,
        [KGScout(trained.policy), Cosine(), PPR(), Ceiling()],
        ks,
        settings.out,
        against=settings.against,
        seed=settings.seed,
        context=context,
        history=RunFolder(settings.run).metrics("epoch"),
    )
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 100)
    console.print(console_table(report))
    console.print(f"wrote {settings.out}")
    return report
