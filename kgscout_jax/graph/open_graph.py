"""Opens the knowledge graph of ``--kg``: triplet files or a GRAPH folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.options import ReadOptions

NAMED = re.compile(r"([\w.-]+)=(.+)", re.DOTALL)
"""NAME=PATH."""


def named_files(words: Sequence[str]) -> dict[str, list[Path]]:
    """The files of each graph of ``--graphs NAME=PATH ...``; a name may come again.

    Raises:
        UserError: a word is not NAME=PATH, or there are not two names.
    """
    files: dict[str, list[Path]] = {}
    for word in words:
        if (match := NAMED.fullmatch(word)) is None:
            raise UserError(f"--graphs: found {word!r:.80}, expected NAME=PATH")
        files.setdefault(match[1], []).append(Path(match[2]))
    if len(files) < 2:
        found = ", ".join(files) or "nothing"
        raise UserError(f"--graphs: found {found}, expected two graphs or more")
    return files


def open_named_graphs(
    words: Sequence[str], options: ReadOptions | None = None
) -> dict[str, KnowledgeGraph]:
    """The graphs of ``--graphs`` by name; raises UserError as ``open_graph`` does."""
    return {
        name: open_graph(paths, options=options)
        for name, paths in named_files(words).items()
    }


def open_graph(
    paths: Sequence[Path | str],
    notes: dict[str, int] | None = None,
    options: ReadOptions | None = None,
) -> KnowledgeGraph:
    """The graph of exactly one GRAPH folder, or of all triplet files together.

    Args:
        paths: see ``KnowledgeGraph.open``.
        notes: counts of omitted triplets are added here, see ``TripletFiles.rows``.
        options: how files are read.

    Raises:
        UserError: nothing given, folders mixed with files, or a file or folder that is
            missing, empty or damaged.
    """
    if not paths:
        raise UserError("--kg: expected triplet files or a GRAPH folder, found nothing")
    return KnowledgeGraph.open(list(paths), options=options, notes=notes)
