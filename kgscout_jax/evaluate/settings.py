"""What a batch evaluation, of retrieval or of answers, is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """Measure KG-Scout, cosine, PPR and the ceiling on a split of some shards.

    Example: python eval.py retrieval --run runs/first --shards shards/ --split test
    --k 10 30 50 100 150 --out results/
    """

    run: Path
    """The trained run, or an export of one."""
    shards: Path
    """Shards to measure on: the run's own, or another data set's."""
    out: Path
    """Folder for metrics.json, retrieved.jsonl, table.md and plots."""
    split: str = "test"
    """Which split."""
    k: tuple[int, ...] = (10, 30, 50, 100, 150)
    """Numbers of triplets kept."""
    against: tuple[Path, ...] = ()
    """retrieved.jsonl files of other systems, to add to the table."""
    step: int | None = None
    """Checkpoint to use; default the best by dev reward."""
    seed: int = 0
    """Of the bootstrap."""


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """Judge a file of predictions by the rules of a paper.

    Example: python eval.py answers --predictions predictions.jsonl --rules rog
    """

    predictions: Path
    """One JSON a line: id, question, prediction, ground_truth (plain or .gz)."""
    rules: Literal["rog", "rog_script", "kgscout", "kg_rag", "pg_akv"] = "rog"
    """Whose rules: rog (RoG, GNN-RAG), rog_script (the same, repeats in lists dropped),
    kgscout (equal entities), kg_rag (EM, token F1, hallucination), pg_akv (ROUGE-L)."""
    out: Path | None = None
    """Folder for metrics.json and questions.jsonl; default: only printed."""
    intervals: bool = False
    """Print the 95% bootstrap intervals too; metrics.json always has them."""
    seed: int = 0
    """Of the bootstrap."""
