"""What a batch evaluation of retrieval is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """Measure KG-Scout, cosine, PPR and the ceiling on a split of some shards.

    Example: python eval.py retrieval --run runs/first --shards shards/ --split test
    --k 10 30 50 100 150 --out results/
    """

    run: Path
    """The trained run."""
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
