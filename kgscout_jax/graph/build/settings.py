"""Settings of a graph build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.labels import relation_names
from kgscout_jax.graph.read.options import ReadOptions

GIGABYTE = 1 << 30
BYTES_PER_ROW = 1000
"""Working memory per triplet of a chunk: its names, their hashes, sorting."""
MIN_MEMORY, MAX_MEMORY = 0.25, 512
"""Gigabytes. The program itself needs most of less than the minimum; above the maximum,
a chunk's mentions need more than 32 bits."""


@dataclass(frozen=True, kw_only=True)
class BuildSettings:
    """Options of a graph build."""

    labels: Path | None = None
    """A file of labels: id, name."""
    relation_names: Path | None = None
    """A file of names of relations: relation, name."""
    label_relation: str | None = None
    """Triplets of this relation label their head and are left out of the graph."""
    language: str | None = None
    """Select RDF literals of this language and those without one."""
    columns: Sequence[str] = ()
    """The columns of head, relation and tail, see ``ReadOptions``."""
    properties: bool = False
    """Whether properties and extra columns become triplets, see ``ReadOptions``."""
    memory: float = 2.0
    """Approximate working memory in gigabytes, plus 0.2 for the program itself."""

    def __post_init__(self) -> None:
        if not MIN_MEMORY <= self.memory <= MAX_MEMORY:
            raise UserError(
                f"--memory: found {self.memory}, expected {MIN_MEMORY} to {MAX_MEMORY} "
                "(GB)"
            )
        if self.label_relation is not None:
            relation_names(self.label_relation)
        _ = self.read_options

    @cached_property
    def read_options(self) -> ReadOptions:
        """How triplet files are read."""
        return ReadOptions(
            columns=self.columns, properties=self.properties, language=self.language
        )

    @property
    def rows(self) -> int:
        """Triplets of a chunk."""
        return int(self.memory * GIGABYTE / BYTES_PER_ROW)

    @property
    def chunk_bytes(self) -> int:
        """Bytes of names at which a chunk ends."""
        return int(self.memory * GIGABYTE / 8)

    def to_manifest(self) -> dict[str, Any]:
        """The settings that affect the files, as JSON values."""
        columns = {"columns": list(self.columns)} if self.columns else {}
        properties = {"properties": True} if self.properties else {}
        return {
            "label_relation": self.label_relation,
            "language": self.language,
            **columns,
            **properties,
        }
