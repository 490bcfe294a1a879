"""A linker over a knowledge graph, its index kept beside the graph's folder."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.aliases import read_aliases
from kgscout_jax.graph.link.index import MANIFEST, LinkIndex
from kgscout_jax.graph.link.linker import Linker, LinkSettings
from kgscout_jax.utils.io import sha256_file

logger = logging.getLogger("kgscout")
FOLDER = "link"
"""Where among the data of a GRAPH folder its index lies."""


def index_for(
    graph: KnowledgeGraph, *, aliases: Path | None = None, folder: Path | None = None
) -> LinkIndex:
    """The index over a graph's names: opened if it lies there, else built.

    Args:
        aliases: a file of ``name TAB alias``.
        folder: where the index is kept; beside the data of a GRAPH folder by
            default; of a graph in memory nowhere.

    A kept index that is damaged or of other names or aliases is built again; where the
    folder cannot be written, the index lives in memory.

    Raises:
        UserError: the file of aliases is missing or malformed.
    """
    if folder is None and graph.opened is not None:
        # Among the graph's data: with them it is replaced when the graph changes.
        folder = graph.opened.path / graph.opened.manifest["data"] / FOLDER
    about = ""
    if aliases is not None:
        if not aliases.is_file():
            raise UserError(f"{aliases}: no such file")
        about = sha256_file(aliases)
    if folder is not None and (folder / MANIFEST).exists():
        try:
            return LinkIndex.open(folder, graph.entities, about=about)
        except UserError as error:
            logger.info("%s: building the index of names again", error)
    given = [] if aliases is None else read_aliases(aliases, graph.find_every)
    degrees = np.diff(graph.by_head.offsets) + np.diff(graph.by_tail.offsets)
    index = LinkIndex.build(
        graph.entities, aliases=given, unnamed_mask=graph.unnamed, degrees=degrees
    )
    if folder is not None:
        try:
            index.save(folder, with_names=False, about=about)
        except OSError as error:
            logger.info("%s: cannot be written (%s)", folder, error.strerror)
    return index


def linker_for(
    graph: KnowledgeGraph,
    *,
    aliases: Path | None = None,
    folder: Path | None = None,
    settings: LinkSettings | None = None,
) -> Linker:
    """A linker over a graph's names, see ``index_for``."""
    return Linker(index_for(graph, aliases=aliases, folder=folder), settings)
