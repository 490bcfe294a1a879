"""The settings of ``kgscout fit``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.export.bundled import NAME
from kgscout_jax.graph.file_settings import FILE_OPTIONS, GraphFileSettings
from kgscout_jax.utils.checks import check_at_least


@dataclass(frozen=True, kw_only=True)
class FitSettings(GraphFileSettings):
    """Fit a policy to a graph, without labelled questions.

    Example: kgscout fit my.csv --out policy/

    Questions are made from the graph, the base policy is trained on them, calibrated
    and exported. report.html in the export says what was gained. The same command
    resumes what was interrupted.
    """

    groups: ClassVar[dict[str, str]] = {
        "policy": "out base questions synthetic_questions hops overwrite",
        "how files are read": FILE_OPTIONS,
        "training": "epochs learning_rate seed",
        "work": "work workers cache",
    }
    graph: tyro.conf.Positional[tuple[Path, ...]]
    """Triplet files, a folder of them, or one GRAPH folder."""
    out: Path
    """Folder of the exported policy."""
    base: str = NAME
    """Policy to start from: its name, an exported folder, or a run."""
    questions: Path | None = None
    """Real questions with answers, in the format of kgscout prep kg: a file, or a
    folder with train.jsonl, dev.jsonl or test.jsonl. train.jsonl joins the training;
    the others are only measured."""
    synthetic_questions: int = 10_000
    """Questions made from the graph: 80% train, 10% dev, 10% test."""
    hops: int = 3
    """How far answers may be from a topic, in relations; those of the questions made
    from the graph are at most 3 away."""
    epochs: int = 3
    """Passes over the training questions; the second in a row that gains nothing is
    the last."""
    learning_rate: float = 1e-3
    """Peak; decays on a cosine to a tenth."""
    seed: int = 0
    """Seed of the questions and of the training."""
    work: Path | None = None
    """Folder of questions, shards and the run; default OUT.work. It is needed to
    resume, and may be deleted when the policy is there."""
    workers: int | None = None
    """Processes of the preparation; default: one per CPU."""
    cache: Path | None = None
    """Folder of the embedding cache; default $KGSCOUT_CACHE or ~/.cache/kgscout."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Replace a policy, or the work, of other settings."""

    def __post_init__(self) -> None:
        check_at_least(
            1,
            synthetic_questions=self.synthetic_questions,
            hops=self.hops,
            epochs=self.epochs,
            workers=self.workers,
        )
        check_at_least(0, seed=self.seed)
        if not self.learning_rate > 0:
            raise UserError(
                f"--learning-rate: found {self.learning_rate}, expected above 0"
            )
        _ = self.read_options  # malformed columns are refused before any work
        if not self.graph:
            raise UserError("GRAPH: expected triplet files, or one GRAPH folder")

    @property
    def work_folder(self) -> Path:
        """Where questions, shards and the run lie."""
        out = self.out.absolute()
        return self.work or out.with_name(f"{out.name}.work")

    def to_json(self) -> dict[str, Any]:
        """The settings that affect the policy."""
        return {
            "synthetic_questions": self.synthetic_questions,
            "hops": self.hops,
            "epochs": self.epochs,
            "learning_rate": self.learning_rate,
            "seed": self.seed,
        }
