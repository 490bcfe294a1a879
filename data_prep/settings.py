"""What a preparation is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from kgscout_jax.errors import UserError

SourceName = Literal["rog", "nsm", "metaqa", "pathquestion", "kg", "world"]
OWN_SUBGRAPHS = ("rog", "nsm")
"""Sources whose questions bring their own subgraph."""
DEEP = {"metaqa": 3, "pathquestion": 3, "world": 4}
"""Radius for sources with long questions: a ball of two would lose their answers."""


@dataclass(frozen=True, kw_only=True)
class PrepSettings:
    """Turn a published data set, or your own graph, into a folder of shards.

    Example: python -m data_prep kg --kg my.tsv --input questions/ --out shards/
    """

    source: tyro.conf.Positional[SourceName]
    """Format to read; see docs/data.md."""
    out: Path
    """Folder of shards to write."""
    input: Path | None = None
    """Folder (or file) of the data set; world needs none."""
    kg: tuple[Path, ...] = ()
    """Triplet files of your own graph (source kg)."""
    hops: int | None = None
    """Radius of the ball around the topics; 2 (metaqa, pathquestion 3, world 4)."""
    max_triplets: int | None = None
    """Cut by PageRank to this many triplets, 0 for no cut; 2000, but rog and nsm bring
    their own subgraphs, which are not cut unless this is given."""
    candidates: int = 1000
    """Candidates per question: the nearest to it by cosine."""
    direction: Literal["both", "directed"] = "both"
    """How PageRank walks edges; the thesis: directed."""
    encoder: str = "all-MiniLM-L6-v2"
    """Any sentence-transformers model: a name or a folder."""
    train_questions: int | None = None
    """Draw this many of the usable training questions (thesis, CWQ: 3000)."""
    limit: int | None = None
    """Draw at most this many questions per split; for a first look."""
    seed: int = 0
    """Of the draws."""
    cache: Path | None = None
    """Where embeddings are kept; default $KGSCOUT_CACHE or ~/.cache/kgscout."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Write anew where there are shards already: of other settings, or damaged."""

    def __post_init__(self) -> None:
        for name, low in (
            ("hops", 1),
            ("max_triplets", 0),
            ("candidates", 1),
            ("train_questions", 1),
            ("limit", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < low:
                flag = name.replace("_", "-")
                raise UserError(f"--{flag}: found {value}, expected at least {low}")

    @property
    def radius(self) -> int:
        """Hops of the ball, with the source's default."""
        return self.hops or DEEP.get(self.source, 2)

    @property
    def cut(self) -> int | None:
        """Largest size of a subgraph, with the source's default; None for no cut."""
        if self.max_triplets is None:
            return None if self.source in OWN_SUBGRAPHS else 2000
        return self.max_triplets or None

    def to_manifest(self) -> dict[str, Any]:
        """The settings that decide what is written, resolved, as JSON values."""
        own = self.source in OWN_SUBGRAPHS
        return {
            "hops": None if own else self.radius,
            "max_triplets": self.cut,
            "candidates": self.candidates,
            "direction": self.direction,
            "train_questions": self.train_questions,
            "limit": self.limit,
            "seed": self.seed,
        }
