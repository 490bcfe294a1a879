"""The knowledge graph: interned names, int32 triplets, CSR indices by both ends.

One class serves graphs in memory and memory-mapped GRAPH folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arc_columns import ArcColumns
from kgscout_jax.graph.arrays import Adjacency, group_by
from kgscout_jax.graph.convert import (
    checked_name,
    checked_paths,
    checked_triplets,
    networkx_triplets,
    pandas_triplets,
    to_networkx,
    to_pandas,
)
from kgscout_jax.graph.edit import check_in_memory, rows_without
from kgscout_jax.graph.embedding_table import Embeddings
from kgscout_jax.graph.embeddings import GraphEmbeddings, embed_graph
from kgscout_jax.graph.flag_relations import flag_relations
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.interning import InternedTriplets, Interner
from kgscout_jax.graph.opaque_names import opaque_mask
from kgscout_jax.graph.provenance import Provenance
from kgscout_jax.graph.read.folder_files import graph_files
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.graph.read_graph import read_graph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.text.digit_groups import writes_decimal_commas
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.types import Triplet, entity_key
from kgscout_jax.utils.once import Once
from kgscout_jax.utils.ragged import offsets_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from kgscout_jax.graph.link.linker import Linker
    from kgscout_jax.graph.merge.members import Members
    from kgscout_jax.text.encoder import SentenceEncoder

MAX_SAMPLE = 20_000
"""Names that are read to tell how a graph writes its values."""


@dataclass(frozen=True, repr=False)
class KnowledgeGraph:
    """Interned entities and relations with their triplets in canonical order.

    Canonical order is ascending (head, relation, tail) id, each row once. Ids follow
    the order of first appearance. Parallel edges and self-loops are retained.
    """

    entities: Sequence[str]
    """Display names; the position is the id."""
    relations: Sequence[str]
    triplets: Int32[np.ndarray, "m 3"]
    duplicates: int = 0
    """Number of exact repetitions that were dropped."""
    storage: GraphFolder | None = None
    """The memory-mapped folder; None for a graph in memory."""
    labelled_ids: Sequence[str] | None = field(default=None, repr=False, compare=False)
    """How the files spell the entities of a graph in memory that has labels."""
    members: Members | None = field(default=None, repr=False, compare=False)
    """The graphs that ``graph.merge`` made it of; None for any other graph."""
    embeddings: GraphEmbeddings = field(
        default_factory=GraphEmbeddings, init=False, repr=False, compare=False
    )
    """The embeddings computed or opened so far, see ``embed``."""
    linker: Once[Linker] = field(
        default_factory=Once, init=False, repr=False, compare=False
    )
    """The linker of questions to these entities, built on first use."""

    def __len__(self) -> int:
        """The number of triplets."""
        return len(self.triplets)

    def __bool__(self) -> bool:
        """True: a graph without triplets is a graph."""
        return True

    def __repr__(self) -> str:
        place = "" if self.folder is None else f"{str(self.folder)!r}: "
        return (
            f"KnowledgeGraph({place}{len(self):,} triplets, {len(self.entities):,} "
            f"entities, {len(self.relations):,} relations)"
        )

    @staticmethod
    def open(
        path: Path | str | Sequence[Path | str],
        *,
        verify: bool = False,
        options: ReadOptions | None = None,
        notes: dict[str, int] | None = None,
    ) -> KnowledgeGraph:
        """The graph of a GRAPH folder, memory-mapped, or of triplet files, in memory.

        Args:
            path: a folder that ``kgscout graph`` wrote, a triplet file, or several, or
                a folder of them.
            verify: also compare every byte of a folder with its checksum.
            options: how files are read.
            notes: counts of omitted triplets are added here, see ``TripletFiles.rows``.

        Raises:
            UserError: a folder or file is missing, unfinished, newer, damaged or no
                graph, or folders are mixed with files.
        """
        paths = graph_files(checked_paths(path))
        folders = [each for each in paths if each.is_dir()]
        if folders and len(paths) > 1:
            raise UserError(
                f"--kg: expected triplet files or exactly one GRAPH folder, found "
                f"{len(paths)} paths with the folder {folders[0]} among them"
            )
        if folders or (len(paths) == 1 and not paths[0].exists() and verify):
            return KnowledgeGraph.of_folder(GraphFolder.open(paths[0], verify=verify))
        for each in paths:
            if not each.exists():
                raise UserError(f"{each}: no such file or folder")
        if verify:
            raise UserError(
                f"verify: expected a GRAPH folder, found the file {paths[0]}"
            )
        return KnowledgeGraph.of_interned(read_graph(paths, options, notes))

    @staticmethod
    def of_interned(rows: InternedTriplets) -> KnowledgeGraph:
        """The graph of interned triplets, in memory."""
        return KnowledgeGraph(
            rows.entities,
            rows.relations,
            rows.triplets,
            duplicates=rows.duplicates,
            labelled_ids=rows.ids,
        )

    @staticmethod
    def of_folder(folder: GraphFolder) -> KnowledgeGraph:
        """The graph of an open GRAPH folder."""
        return KnowledgeGraph(
            folder.names,
            folder.strings("relations"),
            folder.arrays["triplets"],
            duplicates=folder.manifest["counts"]["duplicates"],
            storage=folder,
        )

    @property
    def folder(self) -> Path | None:
        """The GRAPH folder of this graph; None in memory."""
        return None if self.storage is None else self.storage.path

    @cached_property
    def provenance(self) -> Provenance | None:
        """Where triplets come from; None for a graph that was not made of documents.

        Raises:
            UserError: its file is damaged.
        """
        return None if self.folder is None else Provenance.open(self.folder)

    @property
    def ids(self) -> Sequence[str]:
        """The id of each entity: its name, or its identity if names are labels."""
        return self.entities if self.storage is None else self.storage.ids

    @cached_property
    def unnamed_mask(self) -> Bool[np.ndarray, "e"]:
        """True at entities without a name: CVT nodes, mids, Q-ids, blank nodes."""
        if self.storage is not None:
            return self.storage.unnamed_mask
        if self.members is not None:
            return self.members.unnamed_mask(len(self.entities))
        return opaque_mask(self.entities)

    @cached_property
    def relation_names(self) -> list[str]:
        """``relations`` in memory: those of a folder are read once."""
        return [*self.relations]

    @cached_property
    def relation_index(self) -> RelationIndex:
        """The relations by their words."""
        return RelationIndex(self.relation_names)

    @cached_property
    def flag_relations(self) -> list[int]:
        """The relations all of whose tails are yes or no."""
        return flag_relations(self)

    @cached_property
    def decimal_commas(self) -> bool:
        """Whether some of its first values have decimal commas."""
        names = texts_of(self.entities, np.arange(min(MAX_SAMPLE, len(self.entities))))
        return writes_decimal_commas(names)

    @cached_property
    def _entity_ids(self) -> dict[str, int]:
        """Identity key -> id, for a graph in memory; ids of files take precedence."""
        spellings = (self.entities, self.labelled_ids or ())
        return {
            entity_key(name): i for names in spellings for i, name in enumerate(names)
        }

    @cached_property
    def by_head(self) -> Adjacency:
        """Triplets by their head."""
        if self.storage is not None:
            return self.storage.by_head
        counts = np.bincount(self.triplets[:, 0], minlength=len(self.entities))
        return Adjacency(offsets_of(counts))

    @cached_property
    def by_tail(self) -> Adjacency:
        """Triplets by their tail."""
        if self.storage is not None:
            return self.storage.by_tail
        return group_by(self.triplets[:, 2], len(self.entities))

    @cached_property
    def arc_columns(self) -> ArcColumns:
        """What the guided walk needs of each triplet, in memory."""
        return ArcColumns.of(self.triplets, self.by_head, self.by_tail)

    def find(self, name: str) -> int | None:
        """The id of the entity with this name, in any spelling of its identity.

        If names are labels, ids also match and take precedence. Of several entities
        with one label this is the first, see ``find_every``.

        Raises:
            UserError: ``name`` is no string.
        """
        checked_name(name)
        if self.members is not None:
            return next(iter(self.members.find_every(name)), None)
        if self.storage is not None:
            return next(iter(self.storage.find(name)), None)
        return self._entity_ids.get(entity_key(name))

    def find_every(self, name: str) -> Int32[np.ndarray, "k"]:
        """Ids of all entities with this name or id; a match by id comes first."""
        checked_name(name)
        if self.members is not None:
            return np.array(self.members.find_every(name), np.int32)
        if self.storage is not None:
            return np.array(self.storage.find(name), np.int32)
        entity = self.find(name)
        return np.array([] if entity is None else [entity], np.int32)

    def find_all(self, names: Iterable[str]) -> Int32[np.ndarray, "k"]:
        """Ids of the ``names`` that are in the graph, each once, in their order."""
        if isinstance(names, str):
            raise UserError(f"names: found one string {names!r:.80}, expected a list")
        if self.members is not None:  # a name may be another entity in each graph
            ids = dict.fromkeys(i for name in names for i in self.find_every(name))
        else:
            ids = dict.fromkeys(i for i in map(self.find, names) if i is not None)
        return np.fromiter(ids, np.int32, len(ids))

    def triplet(self, triplet_id: int) -> Triplet:
        """One triplet by name."""
        head, relation, tail = map(int, self.triplets[triplet_id])
        return self.entities[head], self.relations[relation], self.entities[tail]

    @staticmethod
    def from_triplets(triplets: Iterable[Triplet]) -> KnowledgeGraph:
        """A graph of named triplets.

        Raises:
            UserError: a triplet is not (head, relation, tail), all of them strings
                that are not blank.
        """
        interner = Interner()
        interner.add(checked_triplets(triplets))
        return KnowledgeGraph.of_interned(interner.interned())

    @staticmethod
    def from_networkx(
        graph: nx.Graph[Any], *, relation: str = "relation"
    ) -> KnowledgeGraph:
        """A graph of the edges of a networkx graph; nodes are named by ``str``.

        Args:
            graph: each edge is a triplet from its first node to its second.
            relation: the edge attribute that names the relation. In a multigraph
                without it, a string edge key names the relation.

        Raises:
            UserError: it is no graph, or an edge has no relation.
        """
        return KnowledgeGraph.from_triplets(networkx_triplets(graph, relation))

    @staticmethod
    def from_pandas(
        table: pd.DataFrame, *, columns: Sequence[str] | None = None
    ) -> KnowledgeGraph:
        """A graph of the rows of a DataFrame.

        Args:
            table: a triplet a row; numbers and dates are named as pandas prints them.
            columns: of head, relation and tail; None: they are found by their names,
                as in the header of a file.

        Raises:
            UserError: it is no table, has not these columns, or misses a value.
        """
        return KnowledgeGraph.from_triplets(pandas_triplets(table, columns))

    def to_pandas(self) -> pd.DataFrame:
        """The triplets as a DataFrame with head, relation and tail."""
        return to_pandas(self)

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """The graph with an edge per triplet and its relation; nodes are ``ids``."""
        return to_networkx(self, self.ids)

    def with_triplets(self, triplets: Iterable[Triplet]) -> KnowledgeGraph:
        """A graph in memory with ``triplets`` added; ids of names do not change.

        Rows of its embeddings are copied when the result is embedded.

        Raises:
            UserError: the graph is a folder, or a name is empty.
        """
        check_in_memory(self.members, self.folder)
        interner = Interner()
        interner.start_with(self.entities, self.ids, self.relations, self.triplets)
        interner.add(checked_triplets(triplets))
        return self._successor(KnowledgeGraph.of_interned(interner.interned()))

    def without_triplets(self, triplets: Iterable[Triplet]) -> KnowledgeGraph:
        """A graph in memory without ``triplets``; ids of names do not change.

        Triplets that are not in the graph are ignored.

        Raises:
            UserError: the graph is a folder.
        """
        check_in_memory(self.members, self.folder)
        rows = rows_without(self, checked_triplets(triplets), self.find)
        return self._successor(replace(self, triplets=rows, duplicates=0))

    def _successor(self, graph: KnowledgeGraph) -> KnowledgeGraph:
        """``graph``, which can copy embeddings of this one."""
        graph.embeddings.previous = self.embeddings.tables or self.embeddings.previous
        return graph

    def embed(self, encoder: SentenceEncoder) -> Embeddings:
        """The embeddings of all triplets and relations; the graph stores them.

        Those of a GRAPH folder lie beside its data and are reused. After a change of
        the graph, only new triplets are embedded.
        """
        return embed_graph(self, encoder)
