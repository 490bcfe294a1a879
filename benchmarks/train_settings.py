"""What ``benchmarks/train.py`` measures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.common import Clock
from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least

Section = Literal["speed", "traffic", "ablation", "linear"]


@dataclass(frozen=True, kw_only=True)
class TrainBenchmark:
    """Measure training against its peers and the hardware.

    Example: python benchmarks/train.py --clock cpu
    """

    shards: Path | None = None
    """Folder of shards; without one, questions are generated."""
    sections: tuple[Section, ...] = ("speed", "traffic")
    """speed: peers and roofline; traffic: dispatches, and bytes to and from the device;
    ablation: what each saving brings; linear: cost against candidates, questions and
    table rows."""
    candidates: int = 1000
    """Of each generated question."""
    dimension: int = 384
    """Of generated embeddings."""
    k: int = 100
    """Triplets kept."""
    batch_size: int = 16
    """Questions per update."""
    samples: int = 128
    """Of the default REINFORCE, measured beside the thesis's; 1 leaves it out."""
    peer_questions: int = 4
    """Questions per turn of the slow peer."""
    rounds: int = 5
    """Turns of each contender, after one that does not count; the median counts."""
    clock: Clock = "wall"
    """wall, or cpu: processor time, on a machine that others use as well."""
    plot: Path | None = None
    """linear: draw it to this PNG file."""
    seed: int = 0
    """Of generated questions."""

    def __post_init__(self) -> None:
        names = ("candidates", "k", "batch_size", "peer_questions", "rounds")
        check_at_least(
            1,
            **{name: getattr(self, name) for name in (*names, "dimension", "samples")},
        )
        if self.k >= self.candidates:
            raise UserError(
                f"--k: found {self.k}, expected fewer than --candidates, "
                f"{self.candidates}: nothing is learned where all are kept"
            )
        if self.plot is not None and "linear" not in self.sections:
            raise UserError("--plot: draws section linear, which --sections leaves out")

    def config(self, **changes: Any) -> Any:
        """A ``TrainConfig`` of these sizes; it has no files."""
        from kgscout_jax.learn.config import TrainConfig

        none = Path(os.devnull)  # nothing can be below it
        given: dict[str, Any] = {"batch_size": self.batch_size, "k": self.k}
        given["k_low"] = min(2, self.k)
        return TrainConfig(shards=none, run=none / "run", **(given | changes))
