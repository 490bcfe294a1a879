"""Settings of ``kgscout store``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import GraphFileSettings


@dataclass(frozen=True, kw_only=True)
class StoreSettings(GraphFileSettings):
    """Copy a graph into a graph database, or out of it.

    Example: kgscout store import --store falkordb://127.0.0.1:6379/films --kg GRAPH

    What is imported twice is there once; triplets that the database has already stay.
    """

    action: Annotated[
        tyro.conf.Positional[Literal["import", "export"]],
        tyro.conf.arg(metavar="import|export"),
    ]
    """import: from --kg into --store; export: the other way."""
    store: str
    """falkordb://HOST:PORT/NAME, bolt://HOST:PORT or neo4j://HOST:PORT; the variable
    KGSCOUT_STORE_PASSWORD holds the password of USER@HOST."""
    kg: tuple[Path, ...]
    """import: triplet files, or one GRAPH folder. export: the .tsv file or the GRAPH
    folder to write."""
    encoder: str = "all-MiniLM-L6-v2"
    """Sentence encoder of the nodes' vectors."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """export: overwrite an existing file or graph."""

    def __post_init__(self) -> None:
        if self.action == "export" and len(self.kg) != 1:
            raise UserError(f"--kg: found {len(self.kg)} paths, expected one to write")
