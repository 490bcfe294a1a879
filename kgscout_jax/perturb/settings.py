"""Settings of ``kgscout perturb``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import GraphFileSettings


@dataclass(frozen=True, kw_only=True)
class PerturbSettings(GraphFileSettings):
    """Make mistakes in a graph on purpose, and measure how similar it still is.

    Example: kgscout perturb --kg GRAPH --method er --level 0.3 --out WRONG --json
    """

    kg: tuple[Path, ...]
    """Triplet files, or one GRAPH folder."""
    method: Literal["rs", "rr", "er", "ed"]
    """rs swaps the relations of two triplets, rr replaces a relation by the one that
    fits worst, er gives a triplet another tail, ed deletes it."""
    level: float
    """Share of the triplets, from 0 to 1."""
    out: Path
    """The GRAPH folder to write."""
    seed: int = 0
    """Which triplets, and what happens to them."""
    encoder: str = "all-MiniLM-L6-v2"
    """Sentence encoder whose word vectors the scorer of triplets reads."""
    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the measurements as one JSON object."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Overwrite an existing graph."""

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 1:
            raise UserError(
                f"--level: found {self.level}, expected a number from 0 to 1"
            )
        if self.seed < 0:
            raise UserError(f"--seed: found {self.seed}, expected 0 or more")
        if self.out.resolve() in [path.resolve() for path in self.kg]:
            raise UserError(f"--out: {self.out} is the graph itself, expected another")
