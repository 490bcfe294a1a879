"""One configuration trained with several seeds: mean, deviation and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.bootstrap import as_difference, estimates
from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS
from kgscout_jax.learn.run_config import MAY_CHANGE
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.tables import console_grid, figure, markdown_table

if TYPE_CHECKING:
    from rich.table import Table

    from kgscout_jax.evaluate.retrieval.evaluation import PerQuestion
    from kgscout_jax.retrieve.protocol import Retriever

NOTE = (
    "Mean ± sample standard deviation over the runs; in brackets: the interval of the "
    "mean over questions, the runs as they are."
)


@dataclass(frozen=True, kw_only=True)
class SeedRuns:
    """The runs of one configuration."""

    runs: tuple[str, ...]
    """Their names, the first one's too."""
    seeds: tuple[int, ...]
    """The seed of each."""
    others: tuple[Retriever, ...]
    """The retrievers of all but the first."""


def seed_runs(runs: Mapping[Path, TrainedPolicy], engine: Engine = HERE) -> SeedRuns:
    """Runs of one configuration, the main one first.

    Raises:
        UserError: two runs differ in another setting or in their shards, or have the
            same seed.
    """
    (first, base), *others = runs.items()
    seeds = [base.metadata["config"].get("seed")]
    for path, run in others:
        theirs, ours = run.metadata["config"], base.metadata["config"]
        # of runs alone: an export has no paths
        for name in sorted({*theirs} & {*ours} - {*MAY_CHANGE, "seed", "init"}):
            if theirs[name] != ours[name]:
                raise UserError(
                    f"--seeds: {path}: {name} is {theirs[name]}, expected {ours[name]} "
                    f"as in {first}"
                )
        theirs, ours = run.metadata["shards"], base.metadata["shards"]
        if theirs["fingerprint"] != ours["fingerprint"]:
            raise UserError(
                f"--seeds: {path}: trained on other shards ({theirs['source']}) than "
                f"{first} ({ours['source']})"
            )
        seed = run.metadata["config"].get("seed")
        if seed in seeds:
            raise UserError(
                f"--seeds: {path}: seed {seed}, expected another than {seeds}"
            )
        seeds.append(seed)
    return SeedRuns(
        runs=tuple(path.name for path in runs),
        seeds=tuple(seeds),
        others=tuple(
            KGScout(run.policy, path.name, engine=engine) for path, run in others
        ),
    )


def seed_report(
    runs: Sequence[PerQuestion],
    base: PerQuestion | None,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Any]:
    """``figures`` and ``paired``: metric -> K -> estimate of the mean over ``runs``.

    Beside value, low, high and n, ``std`` over the runs and ``of_runs``, each one's
    value. ``paired`` are differences from ``base``, {} without it.
    """
    keys = [(metric, k) for metric in DEFINITIONS for k in runs[0][metric]]
    # A question's mean over runs: the same questions count in every run.
    means = {key: np.mean([run[key[0]][key[1]] for run in runs], 0) for key in keys}
    options: dict[str, Any] = {"seed": seed, "resamples": resamples}
    found = estimates(means, **options)
    report: dict[str, Any] = {"figures": {}, "paired": {}}
    for (metric, k), estimate in found.items():
        if not estimate["n"]:
            continue
        of_runs = [float(np.nanmean(run[metric][k])) for run in runs]
        estimate |= {"std": float(np.std(of_runs, ddof=1)), "of_runs": of_runs}
        report["figures"].setdefault(metric, {})[str(k)] = estimate
    if base is not None:
        pairs = {(m, k): means[m, k] - base[m][k] for m, k in keys}
        for (metric, k), estimate in estimates(pairs, **options).items():
            if estimate["n"]:
                place = report["paired"].setdefault(metric, {})
                place[str(k)] = as_difference(estimate)
    return report


def seeds_markdown(report: Mapping[str, Any]) -> list[str]:
    """The section of ``table.md``; [] of a report of one run."""
    if "seeds" not in report:
        return []
    seeds = report["seeds"]
    parts = [f"## {_title(report)}", f"{NOTE} Runs: {', '.join(seeds['runs'])}."]
    rows = []
    for metric, by_k in seeds["figures"].items():
        rows.append([metric, *(_text(each) for each in by_k.values())])
        if paired := seeds["paired"].get(metric):
            label = f"{metric} − {report['reference']}"
            rows.append([label, *(figure(each, sign="+") for each in paired.values())])
    return [*parts, markdown_table(_header(report), rows)]


def seeds_console(report: Mapping[str, Any]) -> Table:
    """Means and deviations for the terminal."""
    table = console_grid(_title(report), _header(report))
    for metric, by_k in report["seeds"]["figures"].items():
        table.add_row(metric, *(_text(each, interval=False) for each in by_k.values()))
    return table


def _title(report: Mapping[str, Any]) -> str:
    seeds = report["seeds"]["seeds"]
    first = report["retrievers"][0]
    return f"{first}, {len(seeds)} seeds ({', '.join(map(str, seeds))})"


def _header(report: Mapping[str, Any]) -> list[str]:
    return ["metric", *(f"K = {k}" for k in report["ks"])]


def _text(estimate: Mapping[str, Any], *, interval: bool = True) -> str:
    mean, _, bracket = figure(estimate, interval=interval).partition(" ")
    return f"{mean} ± {estimate['std']:.3f}{' ' if bracket else ''}{bracket}"
