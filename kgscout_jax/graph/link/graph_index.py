"""A linker over a knowledge graph, with its index stored in the graph's folder."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.graph.hypernodes import hypernode_mask
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import main_titles
from kgscout_jax.graph.link.aliases import read_aliases
from kgscout_jax.graph.link.classes import is_class
from kgscout_jax.graph.link.demonyms import demonym_aliases, demonyms_sha256
from kgscout_jax.graph.link.index import MANIFEST, LinkIndex
from kgscout_jax.graph.link.index_build import build_index
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.graph.link.other_names import other_names
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import sha256_file
from kgscout_jax.utils.lock import locked

logger = logging.getLogger("kgscout")
FOLDER = "link"
"""Name of the index's folder among the data of a GRAPH folder."""
MOST_IDS = 1 << 20
"""So many ids at most are names to link by, beside their labels."""


def open_or_build_index(
    graph: KnowledgeGraph, *, aliases: Path | None = None, folder: Path | None = None
) -> LinkIndex:
    """The index over a graph's names: opened from ``folder``, or built.

    Hypernodes are left out: a question that names the parts of a fact is about these.
    Words for what is from a country are further names of it, see ``demonyms``, and so
    are those that triplets give, see ``other_names``, and titles without subtitles.
    A stored index that is damaged or was built from other names or aliases is built
    again. If the folder cannot be written, the index stays in memory.

    Args:
        aliases: a file of ``name TAB alias``.
        folder: where the index is stored; by default among the data of a GRAPH folder.
            An index of a graph in memory is not stored by default.

    Raises:
        UserError: the file of aliases is missing or malformed.
    """
    if folder is None and graph.storage is not None:
        # Among the graph's data, so that an update replaces it too.
        folder = graph.storage.path / graph.storage.manifest["data"] / FOLDER
    checksum = rules_sha256()
    if aliases is not None:
        if not aliases.is_file():
            raise UserError(f"{aliases}: no such file")
        checksum += sha256_file(aliases)
    if folder is not None and (folder / MANIFEST).exists():
        try:
            return LinkIndex.open(folder, graph.entities, aliases_sha256=checksum)
        except UserError as error:
            logger.info("%s: building the index of names again", error)
    listed = [] if aliases is None else read_aliases(aliases, graph.find_every)
    if graph.members is not None:
        listed += graph.members.aliases(graph.entities)
    listed += _ids_with_labels(graph)
    named, only_names = other_names(graph)
    listed += named
    listed += demonym_aliases(graph.find_every)
    listed += main_titles.main_titles(graph)
    index = build_index(
        graph.entities,
        aliases=listed,
        unnamed_mask=graph.unnamed_mask | hypernode_mask(graph) | only_names,
        degrees=np.diff(graph.by_head.offsets) + np.diff(graph.by_tail.offsets),
    )
    if folder is not None:
        try:
            with locked(folder, "index of names"):
                index.save(folder, with_names=False, aliases_sha256=checksum)
        except UserError as error:  # it stays in memory
            logger.info("%s", error)
        except OSError as error:
            logger.info("%s: cannot be written (%s)", folder, error.strerror)
    return index


def rules_sha256() -> str:
    """Checksum of what gives entities further names: other rules need a new index."""
    return demonyms_sha256() + main_titles.VERSION


def _ids_with_labels(graph: KnowledgeGraph) -> list[tuple[str, int]]:
    """(id, entity) of entities that a label names; none of a very large graph."""
    ids = graph.labelled_ids
    if graph.storage is not None and graph.storage.labels is not None:
        ids = graph.storage.ids
    if ids is None or len(ids) > MOST_IDS:
        return []
    return [
        (id, entity)
        for entity, (id, name) in enumerate(zip(ids, graph.entities, strict=True))
        if entity_key(id) != entity_key(name) and not id.startswith("_:")
    ]


def graph_linker(
    graph: KnowledgeGraph,
    *,
    aliases: Path | None = None,
    folder: Path | None = None,
) -> Linker:
    """A linker over a graph's names, see ``open_or_build_index``."""
    index = open_or_build_index(graph, aliases=aliases, folder=folder)
    members = graph.members
    holders = None if members is None else members.holds(len(graph.entities))

    def is_value(entity: int) -> bool:
        has_own = graph.by_head.offsets[entity] < graph.by_head.offsets[entity + 1]
        words = str(graph.entities[entity]).casefold().split()
        # A key word "license" is not what "the license of X" says.
        is_relation = not graph.relation_index.relations.keys().isdisjoint(words)
        return not (has_own or is_relation or is_class(graph, entity))

    return Linker(index, holders=holders, is_value=is_value)


def linker_of(graph: KnowledgeGraph) -> Linker:
    """The linker that the graph holds, with the default settings; built once."""
    return graph.linker.get(lambda: graph_linker(graph))
