"""What every source yields: one graph, questions per split, perhaps own subgraphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Question


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A data set as its source gives it, nothing cut and nothing dropped yet."""

    graph: KnowledgeGraph
    questions: dict[str, list[Question]]
    """Split (train, dev, test) -> questions; a split the source lacks is absent."""
    subgraphs: dict[str, list[Int32[np.ndarray, "m"]]] | None = None
    """Split -> triplet ids of each question's own subgraph (rog, nsm), aligned with
    ``questions``; None where all questions share ``graph``."""
    files: list[Path] = field(default_factory=list)
    """Every file that was read: their hashes go into the manifest."""
    versions: dict[str, str] = field(default_factory=dict)
    """Packages the data came from and their versions: recorded like ``files``."""
    notes: dict[str, int] = field(default_factory=dict)
    """Counts worth telling, by a short name. Sources that read files give
    ``triplets_read`` and ``duplicate_triplets`` (dropped; repeats between the subgraphs
    of different questions are none); ``blank_triplets`` were dropped because a name in
    them is blank, ``empty_graphs`` are questions whose own subgraph is empty."""


def check_unique_ids(path: Path | str, ids: list[str]) -> None:
    """Raise UserError naming ``path`` if an id occurs twice."""
    seen: set[str] = set()
    for number in ids:
        if number in seen:
            raise UserError(f"{path}: question id {number!r} occurs twice")
        seen.add(number)
