"""Reader of triplet files; the file name selects format and compression."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read import rdf
from kgscout_jax.graph.read.code_columns import key_owner
from kgscout_jax.graph.read.code_names import owner_of, with_code_names
from kgscout_jax.graph.read.columns import dialect_rows, table_triplets
from kgscout_jax.graph.read.dialect import TABLES
from kgscout_jax.graph.read.elements import (
    Edge,
    Node,
    NodeNames,
    element_triplets,
    left_out_remark,
)
from kgscout_jax.graph.read.entity_tables import facts_remark
from kgscout_jax.graph.read.formats import COLUMNS, file_format, is_table
from kgscout_jax.graph.read.gml import SUFFIX as GML
from kgscout_jax.graph.read.gml import gml_elements
from kgscout_jax.graph.read.header_files import header_line
from kgscout_jax.graph.read.json_lines import JSON_LINES, is_graph, json_elements
from kgscout_jax.graph.read.json_records import (
    RecordFields,
    record_elements,
    record_fields,
)
from kgscout_jax.graph.read.layout import Layout, property_name
from kgscout_jax.graph.read.markup import MARKUP, markup_elements
from kgscout_jax.graph.read.node_tables import qualified, table_elements
from kgscout_jax.graph.read.ntriples import matches_language, read_ntriples
from kgscout_jax.graph.read.obo import SUFFIX as OBO
from kgscout_jax.graph.read.obo import obo_elements
from kgscout_jax.graph.read.openke import is_openke, openke_triplets
from kgscout_jax.graph.read.options import (
    MISSING,
    ReadOptions,
    check_name,
    excerpt,
    tell_missing,
)
from kgscout_jax.graph.read.parquet import parquet_rows, read_parquet
from kgscout_jax.graph.read.rdf_labels import LabelSink, label_rank
from kgscout_jax.graph.read.row_names import (
    id_column,
    named_kind,
    references,
    row_kind,
    row_names,
    row_noun,
)
from kgscout_jax.graph.read.streams import file_scope
from kgscout_jax.graph.read.table_layouts import TableLayouts
from kgscout_jax.graph.read.table_terms import (
    BELIEFS,
    belief_name,
    kgtk_triplet,
    literal_language,
    names_identifier,
    plain_triplet,
)
from kgscout_jax.graph.row_id import row_id
from kgscout_jax.types import Triplet

logger = logging.getLogger("kgscout")


SHARED = -1
"""The scope of ids of all tables without nodes and edges in one."""


class TripletFiles:
    """Reads the triplet files of one graph.

    Layouts of text tables are determined once. A doubtful one is told to the user with
    the first triplets. Files of nodes name the nodes of edges in other files.
    """

    def __init__(
        self,
        options: ReadOptions | None = None,
        notes: dict[str, int] | None = None,
        files: Sequence[Path] = (),
    ) -> None:
        """Take the files.

        Args:
            options: how they are read.
            notes: counts of omitted triplets are added here.
            files: all files of the graph, for the names of their nodes.
        """
        self.options = options or ReadOptions()
        self.notes = {} if notes is None else notes
        self.labels: LabelSink | None = None
        """Receives names in RDF files, and those of identifiers in tables; None: they
        are triplets like others."""
        self._files = list(files)
        self._tables = TableLayouts(self.options, self._files)
        self._records: dict[Path, RecordFields | None] = {}
        self._names: NodeNames | None = None
        self._told: set[Path] = set()

    def layout(self, path: Path) -> Layout:
        """The layout of a text table, or of a parquet file; see ``TableLayouts``."""
        return self._tables.layout(path)

    def is_plain_table(self, path: Path) -> bool:
        """Whether the rows of a table are triplets of names, not of ids."""
        layout = self.layout(path)
        others = SHARED in self._node_names.scopes if self._tables.hold_nodes else False
        names = layout.nodes is None and layout.edges and not any(layout.spaces)
        names = names and not layout.is_described
        return names and not others and not header_line(path)

    def edge_properties(self, path: Path) -> list[int]:
        """The further columns of a table of triplets that are read."""
        return self.layout(path).edge_properties(self.options)

    def rows(self, path: Path) -> Iterator[Triplet]:
        """The triplets of one file in its order, streaming.

        The file's name selects the format: ``.tsv``, ``.txt`` (tab-separated, no
        quoting), ``.csv``, ``.nt`` and the ``rdf.FORMATS``, each also with
        ``.gz``, ``.bz2``, ``.xz``, ``.zst``; ``.parquet``. A first line of a text table
        that names head, relation and tail is a header, see ``header``; such columns are
        also read of parquet, see ``parquet_layout``. In RDF an IRI is
        named by its last segment, see ``iri_name``, a literal by its lexical value; so
        are RDF terms in text tables.
        ``.graphml``, ``.gexf``, Neo4j's ``.csv`` and ``.jsonl``, and tables beside one
        of nodes, are graphs of nodes and edges: a node is named by its property name,
        label or title, else by its id.

        ``notes`` counts what is left out: ``blank_triplets``, RDF statements with a
        blank literal, and ``other_language``. In other formats an empty name is an
        error.

        Raises:
            UserError: (on iteration) the file is missing, empty or malformed.
        """
        suffix = file_format(path)
        if is_openke(path):
            return openke_triplets(path)
        if suffix == ".nt":
            options = self.notes, self.options.language, self.labels
            return read_ntriples(path, *options, self._blank_scope(path))
        if suffix in rdf.FORMATS:
            options = self.notes, self.options.language, self.labels
            return rdf.read_rdf(path, *options, self._blank_scope(path))
        if suffix in TABLES:
            triplets = self._table(path)
        elif suffix == ".parquet":
            triplets = self._parquet(path)
        else:
            triplets = self._property_graph(path)
        return self._with_own_rows(path, triplets)

    def _with_own_rows(
        self, path: Path, triplets: Iterator[Triplet]
    ) -> Iterator[Triplet]:
        """The triplets, with other names for rows than those of a file of equal name.

        A row is called by its file and its number.
        """
        own = row_id(path, "")
        equal = [p for p in self._files if row_id(p, "") == own]
        place = equal.index(path) if path in equal else 0
        if not place:
            return triplets

        def renamed(name: str) -> str:
            if not name.startswith(own):
                return name
            return row_id(path, f"{place + 1}/{name.removeprefix(own)}")

        return ((renamed(head), rel, renamed(tail)) for head, rel, tail in triplets)

    def _blank_scope(self, path: Path) -> str:
        """What begins the names of blank nodes: the file's, where there are several.

        A label of a blank node means nothing in another file.
        """
        files = [p for p in self._files if file_format(p) in (".nt", *rdf.FORMATS)]
        return file_scope(path) if len(files) > 1 else ""

    def _table(self, path: Path) -> Iterator[Triplet]:
        if not self.is_plain_table(path):
            yield from self._property_graph(path)
            return
        self._remark_properties(path)
        rows = table_triplets(
            path,
            self.layout(path),
            properties=self.edge_properties(path),
            missing=MISSING,
            labels=self.labels,
        )
        naming, example = 0, None
        language = self.options.language
        plain_row = kgtk_triplet if self.layout(path).is_kgtk else plain_triplet
        for row in rows:
            triplet = plain_row(row)
            if self.labels is not None and triplet[0].startswith(BELIEFS):
                for id in (triplet[0], triplet[2]):
                    if name := belief_name(id):
                        self.labels(id, name, 1)
            tag = literal_language(row[2])
            if self.labels is not None and names_identifier(triplet):
                rank = 0 if tag is None else label_rank(tag, language)
                self.labels(triplet[0], triplet[2], rank)
                naming, example = naming + 1, example or triplet
            elif matches_language(tag, language):
                yield triplet
            else:
                count = self.notes.get("other_language", 0)
                self.notes["other_language"] = count + 1
        if example is not None and path not in self._told:
            self._told.add(path)
            logger.info(
                "%s: %s of its triplets say how an identifier is called, as %s: %s",
                path,
                f"{naming:,}",
                excerpt(example[0], 30),
                excerpt(example[2], 30),
            )

    def _parquet(self, path: Path) -> Iterator[Triplet]:
        if not self.is_plain_table(path):
            yield from self._property_graph(path)
            return
        self._remark_properties(path)
        yield from read_parquet(
            path, self.layout(path), properties=self.edge_properties(path)
        )

    def _property_graph(self, path: Path) -> Iterator[Triplet]:
        """The triplets of a file of nodes and edges, by the names of the nodes."""
        scope = self._scope(path)
        if path not in self._files:
            self._tables.add(path)
            self._names = None
            self.__dict__.pop("_parts_of_json", None)
        self._remark_ids(path, scope)
        missing: Counter[str] = Counter()
        elements = self._elements(path, missing)
        if self._holds_facts(path):
            elements = self._with_references(path, elements)
            self._remark_facts(path)
        empty = True
        left_out: Counter[str] = Counter()
        for triplet in element_triplets(
            path, elements, self._node_names, scope, self.options, self.notes, left_out
        ):
            empty = False
            yield triplet
        if (left_out or missing) and path not in self._told:
            self._told.add(path)
            tell_missing(path, missing)
            if left_out:
                logger.info("%s", left_out_remark(path, left_out))
        if empty and len(self._files) == 1:
            raise UserError(f"{path}: holds no triplets")

    def _holds_facts(self, path: Path) -> bool:
        """Whether it is a table of facts: it says so, or no file has edges."""
        if not is_table(path):
            return self._fields(path) is not None
        return self._tables.hold_facts(path)

    def _fields(self, path: Path) -> RecordFields | None:
        """The fields of the records of JSON; None for other files."""
        if path not in self._records:
            is_json = file_format(path) in JSON_LINES and not self.options.columns
            is_json = is_json and not is_graph(path)
            self._records[path] = record_fields(path) if is_json else None
        return self._records[path]

    def _remark_facts(self, path: Path) -> None:
        """Tell how the rows of a table of facts are read."""
        if path not in self._told and is_table(path):
            self._told.add(path)
            if remark := facts_remark(path, self.layout(path)):
                logger.info("%s", remark)

    def _remark_properties(self, path: Path) -> None:
        """Tell which further columns of triplets are read."""
        remark = self.layout(path).remark_properties(path, self.options)
        if remark and path not in self._told:
            self._told.add(path)
            logger.info("%s", remark)

    def _with_references(
        self, path: Path, elements: Iterable[Node | Edge]
    ) -> Iterator[Node | Edge]:
        """The nodes of a table, with names for ids and codes of nodes of all tables.

        Edges among records of JSON are as they are.
        """
        own, fields = self._scope(path), self._fields(path)
        if fields is not None:
            columns, ids_of_rows, joins = [*fields.names], fields.ids, False
        else:
            layout = self.layout(path)
            columns = [property_name(layout.header[i]) for i in layout.extra]
            own_layout = self._tables.own_layout(path)
            ids_of_rows = [id_column(own_layout)] if own_layout.nodes else []
            if self._tables.have_keys_of_another(path):
                ids_of_rows = []
            # Rows without a name that have two values only join two entities.
            joins = layout.nodes is not None and layout.nodes.called is None
        others = [name for name in columns if name not in ids_of_rows]
        found = references(others, self._scopes, self._keys, own)

        joins = joins and len(columns) == 2

        def resolved_elements() -> Iterator[Node | Edge]:
            for element in elements:
                if isinstance(element, Edge):
                    yield element
                    continue
                pairs = element.attributes
                resolved = [self._resolved(*pair, found) for pair in pairs]
                if joins and len(pairs) == 2:
                    (_, name), last = resolved
                    yield replace(
                        element, id="", called=name, attributes=[last], labels=()
                    )
                else:
                    yield replace(element, attributes=resolved)

        codes = {
            (self._scope(each), column): partial(
                self._node_names.by_code, self._scope(each), column
            )
            for each in self._files
            for column in self._codes(each)
        }
        ids = [
            partial(self._node_names.get, scope)
            for scope in dict.fromkeys(self._scopes.values())
        ]
        ids += [
            partial(self._in_list, self._scope(each), name)
            for each in self._files
            if (lists := self._fields(each)) is not None and len(lists.tables) > 1
            for name in lists.tables
        ]
        kept = [*self._codes(path), *ids_of_rows]
        return with_code_names(resolved_elements(), codes, ids, (own, kept))

    def _in_list(self, scope: int, name: str, id: str) -> str | None:
        """The record of a list that has this id; None for none."""
        return self._node_names.get(scope, qualified(name, id))

    def _codes(self, path: Path) -> list[str]:
        """The columns that hold codes of a table's own entities."""
        if fields := self._fields(path):
            codes = fields.codes
        elif is_table(path):
            codes = self.layout(path).codes
        else:
            return []
        own = self._scope(path)
        others = {name for name, scope in self._scopes.items() if scope != own}
        return [column for column in codes if owner_of(column) not in others]

    @property
    def _scopes(self) -> dict[str, int]:
        """The scope of each table of entities, by what its rows are called."""
        return {
            name: self._scope(each)
            for each in self._files
            if (id_name := self._id_name(each)) is not None
            for name in [*row_names(each, id_name), *self._lists(each)]
        }

    @property
    def _keys(self) -> dict[str, tuple[str, int]]:
        """What the rows of each table are called and their scope, by the column of
        their ids; of a column that several tables share, none."""
        out: dict[str, tuple[str, int]] = {}
        shared = set[str]()
        for each in self._files:
            id_name = self._id_name(each) if is_table(each) else None
            if id_name is None or not key_owner(id_name):
                continue
            noun = row_kind(each, id_name) or row_noun(key_owner(id_name))
            entry = noun, self._scope(each)
            if out.setdefault(id_name, entry)[1] != entry[1]:
                shared.add(id_name)
        return {name: entry for name, entry in out.items() if name not in shared}

    def _lists(self, path: Path) -> list[str]:
        """What the records of each list of a file of JSON are called."""
        fields = self._fields(path)
        return [] if fields is None else fields.nouns

    def _id_name(self, path: Path) -> str | None:
        """The column of ids of a table of entities; None for another file."""
        if (fields := self._fields(path)) is not None:
            return next(iter(fields.ids), "")
        has_rows = is_table(path) and self.layout(path).nodes is not None
        return id_column(self.layout(path)) if has_rows else None

    def _resolved(
        self, name: str, value: str, found: Mapping[str, tuple[str, int]]
    ) -> tuple[str, str]:
        """A property whose value may be the id of a node, with the node's name."""
        if name in found:
            relation, scope = found[name]
            if (node := self._node_names.get(scope, value)) is not None:
                return relation, node
        return name, value

    def _remark_ids(self, path: Path, scope: int) -> None:
        """Tell if a table has ids of nodes (Neo4j) and no file has their names."""
        if not is_table(path) or path in self._told:
            return
        spaces = sorted(set(filter(None, self.layout(path).spaces)))
        if spaces and scope not in self._node_names.scopes:
            self._told.add(path)
            logger.info(
                "%s: no list of nodes is given, their ids (%s) are their names; give "
                "it too: --kg NODES.csv %s",
                path,
                ", ".join(spaces),
                path.name,
            )

    def _elements(
        self, path: Path, missing: Counter[str] | None = None
    ) -> Iterator[Node | Edge]:
        """The nodes and edges of a file; ``missing`` counts triplets without a tail."""
        suffix = file_format(path)
        if suffix in MARKUP:
            return markup_elements(path, MARKUP[suffix])
        if suffix == OBO:
            return obo_elements(path)
        if suffix == GML:
            return gml_elements(path)
        if suffix in JSON_LINES:
            fields = self._fields(path)
            if fields is not None:
                return record_elements(path, fields)
            return json_elements(path, self.options.columns, missing)
        layout = self.layout(path)
        rows = (
            parquet_rows(path, layout)
            if suffix == ".parquet"
            else dialect_rows(path, layout.dialect)
        )
        facts = self._holds_facts(path)
        of_all: list[str] = []
        if facts and layout.nodes is not None:
            # The rows of a sheet of ascents may be called by their peaks.
            places = (layout.nodes.called, layout.nodes.surname)
            columns = [layout.header[i] for i in places if i is not None]
            kinds = row_kind(path, id_column(layout)), named_kind(columns)
            of_all = [*dict.fromkeys(kind for kind in kinds if kind is not None)]
        return table_elements(path, layout, rows, facts=facts, of_all=of_all)

    def _scope(self, path: Path) -> int:
        """The scope of a file's ids: its own, that of the table which names its rows,
        or that of tables of nodes and edges."""
        own = not is_table(path) and path not in self._parts_of_json
        if is_table(path):
            layout = self.layout(path)
            own = layout.nodes is not None and (layout.edges or self._holds_facts(path))
        place = self._tables.main_table(path) or path
        return self._files.index(place) if own and place in self._files else SHARED

    @cached_property
    def _parts_of_json(self) -> frozenset[Path]:
        """The files of JSON that hold nodes or edges alone, of one graph.

        Those of records do where there is but one of them.
        """
        files = [p for p in self._files if file_format(p) in JSON_LINES]
        if len(files) < 2:
            return frozenset()
        records = [p for p in files if self._fields(p) is not None]
        kinds = {p: self._kinds_of_elements(p) for p in files if p not in records}
        if {Edge} not in kinds.values():
            return frozenset()
        parts = [p for p, each in kinds.items() if len(each) == 1]
        return frozenset(parts + (records if len(records) == 1 else []))

    def _kinds_of_elements(self, path: Path) -> set[type]:
        """Which of nodes and edges a file of JSON holds; it is read until both are
        found."""
        kinds = set[type]()
        for element in self._elements(path):
            kinds.add(type(element))
            if len(kinds) == 2:
                break
        return kinds

    @property
    def _node_names(self) -> NodeNames:
        """The names of the nodes of all files."""
        if self._names is None:
            names = self._names = NodeNames()
            equal = 0
            for path in self._files:
                suffix = file_format(path)
                if suffix in COLUMNS:
                    if self.layout(path).nodes is None or self._tables.main_table(path):
                        continue
                elif suffix not in (*MARKUP, *JSON_LINES, OBO, GML):
                    continue
                scope = self._scope(path)
                codes = self._codes(path)
                for element in self._elements(path):
                    if isinstance(element, Node) and element.id:
                        check_name(element.name, f"{path}:{element.line}")
                        if not element.name.strip():
                            raise UserError(
                                f"{path}:{element.line}: a node without name and id"
                            )
                        equal += not names.add(scope, element)
                        for column, value in element.attributes if codes else ():
                            if column in codes:
                                names.add_code(scope, column, value, element.id)
            if equal:
                self.notes["nodes_of_equal_name"] = equal
        return self._names
