"""One evaluation of retrievers on a split: its report, tables, files and plots."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.bootstrap import (
    LEVEL,
    RESAMPLES,
    as_difference,
    estimates,
    relative_gain,
)
from kgscout_jax.evaluate.plots import (
    has_rewards,
    metric_against_k,
    reward_against_epoch,
)
from kgscout_jax.evaluate.retrieval.gold import gold_of
from kgscout_jax.evaluate.retrieval.metrics import (
    DEFINITIONS,
    definitions,
    retrieval_metrics,
)
from kgscout_jax.evaluate.retrieval.seeds import SeedRuns, seed_report
from kgscout_jax.evaluate.retrieval.tables import report_markdown
from kgscout_jax.evaluate.retrieval.token_costs import TokenPlan, token_table
from kgscout_jax.evaluate.settings import REPORT_KEYS
from kgscout_jax.retrieve.budget import budgets, truncate_rankings
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings, Retriever
from kgscout_jax.retrieve.retrieved_file import write_retrieved
from kgscout_jax.utils.io import write_json, write_lines
from kgscout_jax.utils.progress import ProgressBar
from kgscout_jax.utils.table_files import write_tables

PerQuestion = dict[str, dict[int, Float64[np.ndarray, "b"]]]
"""Metric -> K -> a value per question."""

UNKNOWN_HOP = "unknown"


def evaluate_retrieval(
    shards: Shards,
    split: Split | str,
    retrievers: Sequence[Retriever],
    ks: Sequence[int],
    out: Path,
    against: Sequence[Path] = (),
    reference: str = "cosine",
    seed: int = 0,
    context: Mapping[str, Any] | None = None,
    history: Sequence[Mapping[str, Any]] | None = None,
    resamples: int = RESAMPLES,
    tokens: TokenPlan | None = None,
    repeats: SeedRuns | None = None,
) -> dict[str, Any]:
    """The content of ``metrics.json``, after writing everything to ``out``.

    ``metrics.json``, ``questions.jsonl`` with the metrics of each question,
    ``table`` as Markdown, CSV and LaTeX, ``metric_against_k`` as PNG, PDF and SVG,
    ``retrieved.jsonl`` of the first retriever and ``retrieved_<name>.jsonl`` of the
    others (none of the ceiling and of those read from ``against``), and with
    ``history`` also ``reward_against_epoch``; for every target of ``tokens`` also
    ``retrieved_target_<target>.jsonl``, as many triplets as it selects. Other
    ``retrieved_*.jsonl`` in ``out`` are of an earlier evaluation, and deleted.

    Args:
        shards: where the questions are.
        split: which of them, or the name of a split.
        retrievers: the main one first; their names are the keys of the result.
        ks: numbers of triplets, in any order.
        out: the folder; made if need be.
        against: ``retrieved.jsonl`` files of other systems.
        reference: name of the retriever that the others are compared with, if any.
        seed: of the bootstrap.
        context: what people should know, copied: ``run``, ``trained_on``,
            ``measured_on``, and ``cross_dataset`` if the last two don't tell.
        history: rows of the run's ``metrics.jsonl``; one stopped before the end of its
            first epoch has nothing to draw.
        resamples: of the bootstrap.
        tokens: what of the first retriever is measured against the tokens of prompts;
            None: nothing.
        repeats: the first retriever, trained with other seeds; ``seeds`` of the result
            describes all of them. None: there are none.

    Raises:
        UserError: K is not positive, the split is absent or has no questions, a file of
            ``against`` is malformed, ``out`` cannot be made.
    """
    ks = check_ks(ks)
    if isinstance(split, str):
        split = shards.split(split)
    if len(split) == 0:
        raise UserError(f"{shards.path}: split {split.name!r} has no questions")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{out}: cannot be made a folder ({error.strerror or error})"
        ) from None

    # Other systems' files first: a malformed one is reported before anything is ranked.
    names = {retriever.name for retriever in retrievers}
    if len(names) < len(retrievers) or names & set(REPORT_KEYS):
        raise ValueError(f"names of retrievers: {[r.name for r in retrievers]}")
    rankings: dict[str, Rankings] = {}
    for path in against:
        other = External(path)
        name = free_name(other, {*names, *rankings, *REPORT_KEYS})
        rankings[name] = other.rank(shards, split, ks[-1])
    with ProgressBar(len(retrievers), "rank", "retriever") as bar:
        for retriever in retrievers:
            rankings[retriever.name] = retriever.rank(shards, split, ks[-1])
            bar.update(last=retriever.name)
    rankings = {name: rankings[name] for name in _row_order(rankings, retrievers)}

    shared_gold = gold_of(shards, split, NameSpace.of(shards))
    measured: dict[str, PerQuestion] = {}
    with ProgressBar(len(rankings), "measure", "retriever") as bar:
        for name, ranking in rankings.items():
            gold = shared_gold if ranking.names is None else None
            measured[name] = retrieval_metrics(ranking, shards, split, ks, gold=gold)
            bar.update(last=name)
    report = _report(split, rankings, measured, ks, reference, seed, resamples)
    if tokens is not None:
        report["tokens"] = token_table(
            shards, split, retrievers[0], ks, tokens, seed=seed, resamples=resamples
        )
    if repeats is not None:
        with ProgressBar(len(repeats.others), "rank", "seed") as bar:
            runs = [measured[retrievers[0].name]]
            for retriever in repeats.others:
                ranking = retriever.rank(shards, split, ks[-1])
                found = retrieval_metrics(ranking, shards, split, ks, gold=shared_gold)
                runs.append(found)
                bar.update(last=retriever.name)
        base = measured.get(reference)
        report["seeds"] = {
            "runs": list(repeats.runs),
            "seeds": list(repeats.seeds),
            **seed_report(runs, base, seed=seed, resamples=resamples),
        }
    report["context"] = dict(context or {})

    files = _ranking_files(out, split, retrievers, rankings, tokens, ks[-1])
    for file, ranking in files.items():
        write_retrieved(file, shards, split, ranking)
    write_lines(out / "questions.jsonl", question_lines(split, measured))
    write_tables(out, report_markdown(report))
    write_json(out / "metrics.json", report)
    metric_against_k(report, out)
    if history and has_rewards(history):
        reward_against_epoch(history, out / "reward_against_epoch.png")
    kept = {path.resolve() for path in (*files, *against)}
    for file in sorted(out.glob("retrieved_*.jsonl")):
        if file.resolve() not in kept:  # of an earlier evaluation
            file.unlink()
    return report


def _ranking_files(
    out: Path,
    split: Split,
    retrievers: Sequence[Retriever],
    rankings: Mapping[str, Rankings],
    tokens: TokenPlan | None,
    k: int,
) -> dict[Path, Rankings]:
    """File -> its ranked triplets: the first retriever's, its targets', the others'."""
    main = rankings[retrievers[0].name]
    files = {out / "retrieved.jsonl": main}
    if tokens is not None and tokens.presence is not None:
        for target in tokens.targets:
            fewest = budgets(tokens.presence[:, :k], split.n_real, target)
            file = out / f"retrieved_target_{target:g}.jsonl"
            files[file] = truncate_rankings(main, fewest)
    for retriever in retrievers[1:]:
        ranking = rankings[retriever.name]
        if not ranking.keeps_all:
            slug = re.sub(r"[^\w.-]+", "_", retriever.name)
            files[out / f"retrieved_{slug}.jsonl"] = ranking
    return files


def check_ks(ks: Sequence[int]) -> list[int]:
    """The K, ascending, each once; UserError if there is none or one is below 1."""
    if not ks:
        raise UserError("--k: found nothing, expected at least one number")
    for k in ks:
        if k < 1:
            raise UserError(f"--k: found {k}, expected at least 1")
    return sorted(set(ks))


def _report(
    split: Split,
    rankings: Mapping[str, Rankings],
    measured: Mapping[str, PerQuestion],
    ks: Sequence[int],
    reference: str,
    seed: int,
    resamples: int,
) -> dict[str, Any]:
    """Everything in ``metrics.json`` but the context."""
    everyone = np.ones(len(split), bool)
    return {
        **_figures(measured, everyone, seed, resamples),
        "by_hop": {
            hop: _figures(measured, mask, seed, resamples)
            for hop, mask in _hops(split).items()
        },
        "paired": _paired(measured, rankings, reference, seed, resamples),
        "definitions": definitions(),
        "counts": _counts(split, rankings, ks),
        "seconds": {name: _seconds(ranking) for name, ranking in rankings.items()},
        "retrievers": list(rankings),
        "reference": reference,
        "ks": list(ks),
        "split": split.name,
        "seed": seed,
        "resamples": resamples,
        "level": LEVEL,
    }


def _figures(
    measured: Mapping[str, PerQuestion],
    mask: np.ndarray,
    seed: int,
    resamples: int,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Retriever -> metric -> K -> figure, over the questions in ``mask``."""
    columns = {
        (name, metric, k): values[mask]
        for name, metrics in measured.items()
        for metric, by_k in metrics.items()
        for k, values in by_k.items()
    }
    figures: dict[str, dict[str, dict[str, Any]]] = {}
    means = estimates(columns, seed=seed, resamples=resamples)
    for (name, metric, k), estimate in means.items():
        figures.setdefault(name, {}).setdefault(metric, {})[str(k)] = estimate
    return figures


def question_lines(split: Split, measured: Mapping[str, PerQuestion]) -> Iterator[str]:
    """The lines of ``questions.jsonl``: the metrics of one question each, null for nan.

    Variants are left out: ``n_real`` says to which K they apply.
    """
    for i, info in enumerate(split.questions):
        metrics = {
            name: {
                metric: {
                    str(k): None if np.isnan(values[i]) else float(values[i])
                    for k, values in table[metric].items()
                }
                for metric in DEFINITIONS
            }
            for name, table in measured.items()
        }
        record = {
            "id": info.id,
            "question": info.text,
            "hop": info.hop,
            "n_real": int(split.n_real[i]),
            "metrics": metrics,
        }
        yield json.dumps(record, ensure_ascii=False)


def _paired(
    measured: Mapping[str, PerQuestion],
    rankings: Mapping[str, Rankings],
    reference: str,
    seed: int,
    resamples: int,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Retriever -> metric -> K -> difference from the reference, paired by question."""
    others = {
        name: metrics
        for name, metrics in measured.items()
        if name != reference and not rankings[name].keeps_all
    }
    if reference not in measured or not others:
        return {}
    base = measured[reference]
    differences = {
        name: {
            metric: {k: values - base[metric][k] for k, values in by_k.items()}
            for metric, by_k in metrics.items()
        }
        for name, metrics in others.items()
    }
    everyone = np.ones_like(next(iter(base["answer_hit"].values())), bool)
    figures = _figures(differences, everyone, seed, resamples)
    for name, metrics in figures.items():
        for metric, by_k in metrics.items():
            for k, estimate in by_k.items():
                pair = others[name][metric][int(k)], base[metric][int(k)]
                gain = {"relative_gain": relative_gain(*pair)}
                by_k[k] = as_difference(estimate) | gain
    return figures


def _hops(split: Split) -> dict[str, np.ndarray]:
    """Number of hops -> mask of the questions that need so many, ascending."""
    hops = [info.hop for info in split.questions]
    known = sorted({hop for hop in hops if hop is not None})
    masks = {str(hop): np.array([other == hop for other in hops]) for hop in known}
    unknown = np.array([hop is None for hop in hops])
    return {**masks, UNKNOWN_HOP: unknown} if unknown.any() else masks


def _counts(
    split: Split, rankings: Mapping[str, Rankings], ks: Sequence[int]
) -> dict[str, Any]:
    n_real = split.n_real
    return {
        "questions": len(split),
        "without_answers": sum(not info.answers for info in split.questions),
        "without_candidates": int((n_real == 0).sum()),
        "with_more_candidates_than": {str(k): int((n_real > k).sum()) for k in ks},
        "by_hop": {hop: int(mask.sum()) for hop, mask in _hops(split).items()},
        "retrievers": {name: dict(each.notes) for name, each in rankings.items()},
    }


def _seconds(ranking: Rankings) -> dict[str, float | None]:
    """Seconds a question, encoding excluded."""
    known = ranking.seconds[~np.isnan(ranking.seconds)]
    if len(known) == 0:
        return {"mean": None, "p50": None, "p95": None}
    p50, p95 = np.percentile(known, [50, 95])
    return {"mean": float(known.mean()), "p50": float(p50), "p95": float(p95)}


def _row_order(
    rankings: Mapping[str, Rankings], retrievers: Sequence[Retriever]
) -> list[str]:
    """As given, then the other systems, the ceiling last."""
    ours = [retriever.name for retriever in retrievers]
    names = ours + [name for name in rankings if name not in ours]
    return sorted(names, key=lambda name: rankings[name].keeps_all)


def free_name(other: External, names: set[str]) -> str:
    """A name for another system beside ``names``: its own, else with the folder."""
    folder = other.path.resolve().parent.name
    name = other.name if other.name not in names else f"{other.name} ({folder})"
    number = 2
    while name in names:
        name = f"{other.name} ({folder}) {number}"
        number += 1
    return name
