"""Settings of every command that reads triplet files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from kgscout_jax.graph.read.options import ReadOptions


NamedGraphs = Annotated[
    tuple[str, ...], tyro.conf.arg(metavar="NAME=PATH ...", help_behavior_hint="")
]
"""Several graphs that are asked as one."""
FILE_OPTIONS = "columns properties language"


@dataclass(frozen=True, kw_only=True)
class GraphFileSettings:
    """How triplet files are read; a GRAPH folder needs none of it."""

    columns: Annotated[str | None, tyro.conf.arg(metavar="HEAD,RELATION,TAIL")] = None
    """Columns of triplet files: names of the header, or numbers from 1; =NAME instead
    of a column is one relation for all. Default: found by the header's names."""
    properties: Annotated[bool, tyro.conf.arg(name="properties")] = False
    """Read properties of edges and extra columns as triplets too."""
    language: str | None = None
    """Select RDF literals of this language or without one; en includes en-GB."""

    @property
    def read_options(self) -> ReadOptions:
        """The options for the readers; raises UserError for malformed columns."""
        from kgscout_jax.graph.read.options import ReadOptions, parse_columns

        return ReadOptions(
            columns=parse_columns(self.columns),
            properties=self.properties,
            language=self.language,
        )
