"""The settings of ``kgscout synth``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import FILE_OPTIONS, GraphFileSettings
from kgscout_jax.utils.checks import check_at_least, check_both_or_neither

LONGEST = 3
"""Relations from a topic to its answers at most."""


@dataclass(frozen=True, kw_only=True)
class SynthSettings(GraphFileSettings):
    """Write questions with answers from a graph alone, without labels.

    Example: kgscout synth my.csv --out questions/

    The folder holds train.jsonl, dev.jsonl and test.jsonl for `kgscout prep kg`, and a
    report with examples. Without --llm the same command writes the same bytes.
    """

    groups: ClassVar[dict[str, str]] = {
        "questions": "out questions seed hops max_answers overwrite",
        "how files are read": FILE_OPTIONS,
        "a language model": "llm model key_env concurrency limit_judge",
    }
    graph: tyro.conf.Positional[tuple[Path, ...]]
    """Triplet files, or one GRAPH folder."""
    out: Path
    """Folder to write."""
    questions: int = 3000
    """Questions of all splits together: 80% train, 10% dev, 10% test."""
    seed: int = 0
    """Seed of the sampling and of the wordings."""
    hops: int = 3
    """Longest path from a topic to its answers, in relations; at most 3."""
    max_answers: int = 20
    """Drop questions with more answers than this."""
    llm: str | None = None
    """Base URL of an OpenAI-compatible server that words the questions and judges them,
    such as http://127.0.0.1:8080/v1; without it templates word them."""
    model: str | None = None
    """Name of the model at --llm."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key of --llm."""
    concurrency: int = 4
    """Requests to --llm at a time."""
    limit_judge: int = 200
    """Questions that the model at --llm judges natural or not; 0 for none."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Overwrite questions of another graph or of other settings."""

    def __post_init__(self) -> None:
        check_at_least(
            1,
            questions=self.questions,
            hops=self.hops,
            max_answers=self.max_answers,
            concurrency=self.concurrency,
        )
        if self.hops > LONGEST:
            raise UserError(f"--hops: found {self.hops}, expected at most {LONGEST}")
        check_at_least(0, limit_judge=self.limit_judge, seed=self.seed)
        check_both_or_neither(llm=self.llm, model=self.model)

    def to_manifest(self) -> dict[str, Any]:
        """The settings that affect the questions, as JSON values."""
        return {
            "questions": self.questions,
            "seed": self.seed,
            "hops": self.hops,
            "max_answers": self.max_answers,
            "model": self.model,
            "limit_judge": self.limit_judge if self.llm else 0,
        }
