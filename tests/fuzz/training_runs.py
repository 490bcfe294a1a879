"""Attacks on a training run: its settings, rows of metrics and checkpoints."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from fuzz.counting import Count, damage_files, digest
from fuzz.mutations import changed_document
from fuzz.small_files import changed_line
from learn.training import tiny
from written_shards import write_shards

from kgscout_jax.errors import UserError
from kgscout_jax.export.write import parameters_of
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.train import train
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.runs.settings import RunsSettings
from kgscout_jax.runs.show import show_runs


def training_run_attacks(
    folder: Path,
) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack on a training run -> the function that runs it."""
    made: dict[str, Callable[[int, random.Random], Count]] = {}
    run = folder / "run"
    train(tiny(write_shards(folder / "shards"), run, epochs=1))

    def load(copy: Path) -> str:
        policy = load_policy(copy)
        leaves = parameters_of(policy.policy.weights)
        return digest(sorted((name, leaf.tobytes()) for name, leaf in leaves.items()))

    def show(copy: Path) -> str:
        told = StringIO()
        with redirect_stdout(told):
            show_runs(RunsSettings(run=(copy,)))
            show_runs(RunsSettings(run=(copy,), json=True))
        return digest(told.getvalue())

    def resume(copy: Path) -> str:
        opened = RunFolder.existing(copy)
        try:
            found = opened.latest_whole()
        finally:
            opened.close()
        shutil.rmtree(copy / "damaged", ignore_errors=True)
        if found is None:
            raise UserError("no whole checkpoint is left")
        return digest(sorted((name, leaf.tobytes()) for name, leaf in found[1].items()))

    config = [run / "config.json"]
    for name, files, use, damage in (
        ("settings", config, load, _document),
        ("settings, shown", config, show, _document),
        ("metrics, shown", [run / "metrics.jsonl"], show, changed_line),
    ):
        made[f"training run, {name}"] = lambda count, rng, f=files, u=use, d=damage: (
            damage_files(run, f, u, count, rng, d, exact=False)
        )
    saved = sorted(p for p in (run / "checkpoints").rglob("*") if p.is_file())
    made["training run, checkpoints"] = lambda count, rng: damage_files(
        run, saved, resume, count, rng
    )
    return made


def _document(raw: bytes, rng: random.Random) -> bytes:
    return changed_document(raw.decode(), rng)
