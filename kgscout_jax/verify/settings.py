"""Settings of ``kgscout verify``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kgscout_jax.graph.file_settings import GraphFileSettings


@dataclass(frozen=True, kw_only=True)
class VerifySettings(GraphFileSettings):
    """Check statements against a graph: supported, contradicted or unknown.

    Example: kgscout verify --kg films.tsv "Cast Away was directed by Robert Zemeckis."

    The exit code is 0 if every claim is supported, else 1. Without a statement it reads
    standard input, as one text.
    """

    statement: Annotated[
        tyro.conf.Positional[str | None],
        tyro.conf.arg(metavar="[STATEMENT]", help_behavior_hint=""),
    ] = None
    """A statement or a paragraph, in quotes."""
    kg: Annotated[
        tuple[Path, ...],
        tyro.conf.arg(metavar="FILE|GRAPH ...", help_behavior_hint=""),
    ]
    """Triplet files of one graph, or one GRAPH folder."""
    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print {"claims": [{"text", "verdict", "triplets"}]}."""
