"""Settings of ``kgscout eval robustness``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.settings import RetrieverName, also_paths
from kgscout_jax.utils.checks import check_at_least

MethodName = Literal["rs", "rr", "er", "ed"]


@dataclass(frozen=True, kw_only=True)
class RobustnessSettings:
    """Measure retrievers, and the graph's own answers, on graphs with mistakes.

    Example: python eval.py robustness --run runs/first --shards shards/ --split dev
    --limit 200 --levels 0 .2 .4 .6 .8 1 --out robustness/

    The same command resumes an interrupted run.
    """

    run: Path
    """The trained run, or an export of one."""
    shards: Path
    """The shards of the questions."""
    out: Path
    """Folder for metrics.json, table.md and plots."""
    split: str = "test"
    """The split to measure on."""
    limit: int | None = None
    """At most so many questions: a sample by the seed, stratified by hops."""
    retrievers: tuple[RetrieverName, ...] = (
        "kgscout",
        "cosine",
        "bm25",
        "ppr",
        "prize_triplets",
        "prize_paths",
        "prize_subgraph",
    )
    """Rows of the table."""
    also: tuple[str, ...] = ()
    """Further runs, or exports, to measure beside --run, as NAME=PATH: each selects
    with its own policy and answers with its own head."""
    reference: str | None = None
    """Row that the others are compared with, question by question. Default: the first
    of --retrievers."""
    prizes: Literal["kgscout", "cosine"] = "kgscout"
    """What the prizes of prize_* come from: the run's logits and answers, or cosine."""
    methods: tuple[MethodName, ...] = ("rs", "rr", "er", "ed")
    """Relation swapping, relation replacement, edge rewiring, edge deletion."""
    levels: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """Shares of the triplets."""
    k: int = 30
    """Number of triplets to select."""
    step: int | None = None
    """Checkpoint to use; default the best by dev reward."""
    seed: int = 0
    """Seed of the mistakes, of the sample and of the bootstrap."""

    def __post_init__(self) -> None:
        for name in ("retrievers", "methods", "levels"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                found = " ".join(map(str, values)) or "nothing"
                raise UserError(f"--{name}: {found}, expected each one at most once")
        names = [*self.retrievers, *self.also_runs]
        if self.reference is not None and self.reference not in names:
            raise UserError(
                f"--reference: found {self.reference!r}, expected one of "
                f"{', '.join(names)}"
            )
        for level in self.levels:
            if not 0 <= level <= 1:
                raise UserError(
                    f"--levels: found {level}, expected numbers from 0 to 1"
                )
        check_at_least(1, k=self.k, limit=self.limit)
        check_at_least(0, seed=self.seed)

    @property
    def also_runs(self) -> dict[str, Path]:
        """The runs of ``--also`` by their names."""
        return also_paths(self.also, taken=self.retrievers)
