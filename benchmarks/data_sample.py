"""Settings of the data benchmark, the questions it draws, the result of a section."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.common import Clock
from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least

Section = Literal["ppr", "candidates", "encoding"]
MAX_TRIPLETS = 2000


@dataclass(frozen=True, kw_only=True)
class DataBenchmark:
    """Measure preparation against its peers, on the built-in world or real data.

    Example: python benchmarks/data.py --metaqa metaqa/
    """

    metaqa: Path | None = None
    """Folder of MetaQA; without one, the built-in world."""
    webqsp_kg: Path | None = None
    """A triplet file, to measure on it as well."""
    webqsp_questions: Path | None = None
    """Folder with the questions over that file, as source kg reads them."""
    sections: tuple[Section, ...] = ("ppr", "candidates", "encoding")
    """What to measure: PageRank, candidates, embeddings"""
    questions: int = 50
    """How many questions both sides get."""
    seed: int = 0
    """Of the draw."""
    repeats: int = 3
    """Timed runs, after one that is not; the best counts. Long runs of a peer: one."""
    clock: Clock = "wall"
    """wall, or cpu: processor time, on a machine that others use as well."""
    strings: int = 1500
    """About how many strings are embedded, repetitions included."""
    encoder: str = "all-MiniLM-L6-v2"
    """Any sentence-transformers model."""
    encoder_backend: str = "auto"
    """Backend of our side's encoder; the others are compared below the table."""

    def __post_init__(self) -> None:
        check_at_least(
            1, questions=self.questions, repeats=self.repeats, strings=self.strings
        )
        if (self.webqsp_kg is None) != (self.webqsp_questions is None):
            raise UserError("--webqsp-kg and --webqsp-questions: expected both or none")


class Sample:
    """Questions with topics of their own, drawn from a data set, and its graph."""

    def __init__(self, source: str, folder: Path | None, kg: Sequence[Path]) -> None:
        from data_prep.settings import DEEP
        from data_prep.sources import load_source

        self.name = source if source != "kg" else "webqsp"
        self.hops = DEEP.get(source, 2)
        start = time.perf_counter()
        loaded = load_source(source, folder, kg)
        self.load_seconds = time.perf_counter() - start
        self.graph = loaded.graph
        everything = [
            self.graph.find_all(question.topics)
            for questions in loaded.questions.values()
            for question in questions
        ]
        # Repeated topics would let one side share its work: each set is drawn once.
        self.n_questions = len(everything)
        distinct = {tuple(sorted(topics.tolist())): topics for topics in everything}
        distinct.pop((), None)
        self.distinct = list(distinct.values())
        self.topics: list[np.ndarray] = []

    def draw(self, count: int, seed: int) -> None:
        """Draw the questions to measure on."""
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(self.distinct))[:count]
        self.topics = [self.distinct[int(row)] for row in rows]

    @cached_property
    def triplets(self) -> list[list[int]]:
        """The triplets as Python lists, for the peers."""
        return np.asarray(self.graph.triplets).tolist()

    @cached_property
    def cut(self) -> Any:
        """The questions' subgraphs, cut to size."""
        from kgscout_jax.graph.walk.subgraph import cut_subgraphs

        return cut_subgraphs(
            self.graph, self.topics, hops=self.hops, max_triplets=MAX_TRIPLETS
        )


@dataclass(frozen=True, kw_only=True)
class Result:
    """One section on one data set: the time of both sides, and notes."""

    peer: str
    ours: float
    """Seconds per question."""
    theirs: float
    notes: Sequence[tuple[str, str]] = ()
    """Printed below the table."""

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours
