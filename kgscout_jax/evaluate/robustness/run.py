"""``eval robustness``: retrieval and answers against the level of mistakes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.kept import kept_candidates
from kgscout_jax.evaluate.answers.questions import draw_order
from kgscout_jax.evaluate.commands import commands_of
from kgscout_jax.evaluate.retrieval.gold import Gold, gold_of
from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS, retrieval_metrics
from kgscout_jax.evaluate.robustness.question_graphs import QuestionGraphs
from kgscout_jax.evaluate.robustness.report import METRICS, report_of, write_report
from kgscout_jax.evaluate.robustness.settings import RobustnessSettings
from kgscout_jax.evaluate.settings import RetrieverName
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.learn.trained_policy import TrainedPolicy, check_encoder
from kgscout_jax.perturb.link_scorer import LinkScorer
from kgscout_jax.perturb.similarity import (
    aggregated_triple_score,
    similarity,
    structure_means,
)
from kgscout_jax.policy.registry import has_answers
from kgscout_jax.retrieve.bm25 import BM25, BM25Settings
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Retriever
from kgscout_jax.retrieve.registry import RETRIEVERS, prize_retrievers
from kgscout_jax.retrieve.split_answers import split_answers
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.utils.io import read_json, write_json
from kgscout_jax.utils.manifest import fingerprint
from kgscout_jax.utils.progress import ProgressBar

SIMILARITY = "similarity"
"""The cell of a graph's similarity to the right one."""
PerQuestion = dict[str, list[float | None]]
"""Metric -> a value per question, None where it does not count."""


def measure_robustness(settings: RobustnessSettings) -> dict[str, Any]:
    """The content of ``metrics.json``; files are written, the table is printed.

    Raises:
        UserError: no such run, shards or split, shards of another encoder.
    """
    shards = Shards.open(settings.shards)
    split = shards.split(settings.split)
    if not len(split):
        raise UserError(f"{shards.path}: split {settings.split!r} has no questions")
    trained = {
        path: load_trained(path, step=settings.step if path == settings.run else None)
        for path in [settings.run, *settings.also_runs.values()]
    }
    for path, one in trained.items():
        check_encoder(one.metadata, shards, path)
    rows = draw_order(split, settings.seed)[: settings.limit]
    columns = columns_of(settings, shards, trained)
    similarities = next(iter(columns.values())).cells
    graphs: Graphs | None = None
    points = list(itertools.product(settings.methods, settings.levels))
    with ProgressBar(len(points), "graphs with mistakes", "graphs") as bar:
        for method, level in points:
            missing = [one for one in columns.values() if not one.read(method, level)]
            if missing or not similarities.read(method, level, SIMILARITY):
                graphs = graphs or Graphs.of(settings, shards, split, np.sort(rows))
                found = graphs.measure(method, level, missing)
                similarities.write(method, level, SIMILARITY, found)
            bar.update(1, method=method, level=level)
    values = {
        (method, level, name): column.read(method, level)
        for method, level in points
        for name, column in columns.items()
    }
    similar = {
        (str(method), level): similarities.read(method, level, SIMILARITY)
        for method, level in points
    }
    context = {
        "run": settings.run.name,
        "step": trained[settings.run].step,
        "measured_on": shards.manifest["source"],
        "questions": len(rows),
        "triplets": next(iter(similar.values()))["triplets"],
        "commands": commands_of(
            settings,
            "kgscout eval robustness",
            {path: one.metadata for path, one in trained.items()},
        ),
    }
    report = report_of(settings, values, similar, context)
    write_report(report, settings.out)
    return report


class Cells:
    """The values of each method, level and retriever, a file each."""

    def __init__(
        self,
        settings: RobustnessSettings,
        shards: Shards,
        run: Path,
        trained: TrainedPolicy,
    ) -> None:
        what = dataclasses.asdict(settings)
        kept = {name: what[name] for name in ("split", "limit", "prizes", "k", "seed")}
        kept["shards"] = shards.manifest["fingerprint"]
        kept["policy"] = trained.metadata.get("files") or [
            str(run.resolve()),
            trained.step,
        ]
        self.folder = settings.out / "cells" / fingerprint(kept)[:12]

    def _file(self, method: str, level: float, name: str) -> Path:
        if level == 0:
            method = "none"
        return self.folder / f"{method}-{level:g}-{name}.json"

    def read(self, method: str, level: float, name: str) -> Any:
        """The values; None where they are not measured yet."""
        file = self._file(method, level, name)
        return read_json(file) if file.exists() else None

    def write(self, method: str, level: float, name: str, value: Any) -> None:
        """Store the values, atomically."""
        write_json(self._file(method, level, name), value)


@dataclasses.dataclass(frozen=True)
class Column:
    """A row of the tables: a retriever, the policy behind it, and its values."""

    retriever: RetrieverName
    trained: TrainedPolicy
    cells: Cells

    def read(self, method: str, level: float) -> Any:
        """The values; None where they are not measured yet."""
        return self.cells.read(method, level, self.retriever)

    def write(self, method: str, level: float, value: Any) -> None:
        """Store the values, atomically."""
        self.cells.write(method, level, self.retriever, value)


def columns_of(
    settings: RobustnessSettings,
    shards: Shards,
    trained: Mapping[Path, TrainedPolicy],
) -> dict[str, Column]:
    """The rows by name: retrievers of the run's policy, then the runs of ``--also``."""
    cells = {path: Cells(settings, shards, path, one) for path, one in trained.items()}
    ours, run = trained[settings.run], settings.run
    return {
        **{name: Column(name, ours, cells[run]) for name in settings.retrievers},
        **{
            name: Column("kgscout", trained[path], cells[path])
            for name, path in settings.also_runs.items()
        },
    }


@dataclasses.dataclass
class Graphs:
    """What all levels share."""

    settings: RobustnessSettings
    questions: QuestionGraphs
    gold: Gold
    cache: EmbeddingCache
    scorer: LinkScorer

    @staticmethod
    def of(
        settings: RobustnessSettings, shards: Shards, split: Split, rows: np.ndarray
    ) -> Graphs:
        """The graph of the questions ``rows``, and its scorer.

        Raises:
            UserError: the shards' encoder cannot be loaded, or has changed.
        """
        questions = QuestionGraphs.of(shards, split, rows)
        name = shards.encoder["name"]
        encoder = SentenceEncoder(name, near=False)
        if encoder.identity.weights_sha256 != shards.encoder["weights_sha256"]:
            raise UserError(f"encoder {name}: expected the weights of {shards.path}")
        cache = EmbeddingCache(encoder)
        gold = gold_of(questions.shards, questions.split, NameSpace.of(shards))
        return Graphs(settings, questions, gold, cache, questions.scorer(cache))

    def measure(
        self, method: str, level: float, columns: Sequence[Column]
    ) -> dict[str, float]:
        """Measure and store one point of the curves; how similar the graph is."""
        questions, k = self.questions, self.settings.k
        compact, remains = questions.perturbed_triplets(
            method,  # pyright: ignore[reportArgumentType] (checked by the settings)
            level,
            self.settings.seed,
            self.scorer,
        )
        left, n = compact[remains], questions.n_entities
        before, after = (structure_means(x, n) for x in (questions.compact, left))
        found = {
            "ats": aggregated_triple_score(self.scorer, left),
            "sc2d": similarity(before.clustering, after.clustering),
            "sd2": similarity(before.degree, after.degree),
            "triplets": len(compact),
        }
        if not columns:
            return found
        shards, split = questions.with_mistakes(compact, remains, self.cache)
        for column in columns:
            trained = column.trained
            retriever = known_retrievers(trained, self.settings)[column.retriever]
            rankings = retriever.rank(shards, split, k)
            table = retrieval_metrics(rankings, shards, split, [k], gold=self.gold)
            values = {key: table[key][k] for key in DEFINITIONS}
            if has_answers(trained.policy.config):
                kept = kept_candidates(shards, split, rankings, k)
                values["hits@1"] = own_hits(trained, shards, split, kept)
            column.write(method, level, as_json(values))
        return found


def known_retrievers(
    trained: TrainedPolicy, settings: RobustnessSettings
) -> Mapping[str, Retriever]:
    """The retrievers by name; BM25 with its default settings."""
    free = {name: make() for name, make in RETRIEVERS.items() if name != "bm25"}
    prizes = prize_retrievers(trained.policy, settings.prizes)
    return {
        **free,
        **{name: make() for name, make in prizes.items()},
        "bm25": BM25(BM25Settings()),
        "kgscout": KGScout(trained.policy),
    }


def own_hits(
    trained: TrainedPolicy, shards: Shards, split: Split, kept: np.ndarray
) -> Float64[np.ndarray, "b"]:
    """1 where the answer head's best node is a gold answer; it sees ``kept`` only."""
    answers = split_answers(
        trained.policy, shards, split, np.arange(len(split)), kept=kept
    )
    return answers.is_answer[:, 0].astype(np.float64)


def as_json(values: Mapping[str, Float64[np.ndarray, "b"]]) -> PerQuestion:
    """The values of the metrics of the report, nan as None."""
    return {
        name: [None if np.isnan(x) else float(x) for x in values[name]]
        for name in METRICS
        if name in values
    }
