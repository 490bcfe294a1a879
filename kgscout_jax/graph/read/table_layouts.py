"""The layouts of the tables of one graph, which tell of each other.

A table of two columns joins the rows of others, rows that only a number names have it
as their name where another table refers to it, and a second table with the same ids
says more of the same entities.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from kgscout_jax.graph.read.code_columns import key_owner
from kgscout_jax.graph.read.dialect import sample_rows, usual_dialect
from kgscout_jax.graph.read.entity_tables import columns_of, joining_layout
from kgscout_jax.graph.read.find_layout import table_layout
from kgscout_jax.graph.read.formats import file_format, is_table
from kgscout_jax.graph.read.header import plain
from kgscout_jax.graph.read.key_columns import is_code, is_key
from kgscout_jax.graph.read.layout import Layout, property_name
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.graph.read.parquet_layout import parquet_layout
from kgscout_jax.graph.read.row_names import (
    id_column,
    owner_of_ids,
    row_names,
    row_noun,
)
from kgscout_jax.graph.read.streams import table_name

logger = logging.getLogger("kgscout")


class TableLayouts:
    """Determines the layouts of tables once; a doubtful one is told to the user."""

    def __init__(self, options: ReadOptions, files: list[Path]) -> None:
        """Take the files.

        Args:
            options: how they are read.
            files: all files of the graph; ``add`` extends it.
        """
        self._options = options
        self._files = files
        self._layouts: dict[Path, Layout] = {}
        self._joining: dict[Path, Layout | None] = {}
        self._mains: dict[Path, Path | None] = {}
        self._among: dict[Path, Layout] = {}
        self._samples: dict[Path, list[list[str]]] = {}

    def add(self, path: Path) -> None:
        """Add a file to those of the graph."""
        self._files.append(path)
        self._mains, self._among = {}, {}

    def layout(self, path: Path) -> Layout:
        """The layout of a table among the others.

        Rows that only a number names have no name, unless another table refers to it,
        and no rows do that only the key of another table names.
        """
        if path not in self._among:
            self._among[path] = self._layout_among_others(path)
        return self._among[path]

    def _layout_among_others(self, path: Path) -> Layout:
        layout = self._named_as_others_do(path, self.own_layout(path))
        nodes = layout.nodes
        if nodes is None and not layout.header and not self._options.columns:
            return self._joining_layout(path) or layout
        if nodes is None:
            return layout
        numbered = nodes.numbered and not self._is_referred_to(path)
        if not numbered and not self.have_keys_of_another(path):
            return layout
        return replace(layout, nodes=replace(nodes, id=None, name=None))

    def _named_as_others_do(self, path: Path, layout: Layout) -> Layout:
        """The layout of a table whose rows a code names, with the column by which other
        tables refer to them as their names: the ``Model`` of phones, not their SKU."""
        name = self._find_name(path, layout)
        if name is None or layout.nodes is None:
            return layout
        nodes = replace(layout.nodes, id=layout.nodes.called, name=name)
        return replace(layout, nodes=nodes)

    def _find_name(self, path: Path, layout: Layout) -> int | None:
        nodes, columns = layout.nodes, self._columns(path, layout)
        if nodes is None or nodes.called is None or not columns or not nodes.facts:
            return None
        if nodes.surname is not None or not all(map(is_code, columns[nodes.called])):
            return None
        others = [p for p in self._files if p != path and is_table(p)]
        referring = [
            (plain(name), cells)
            for other in others
            for own in [self.own_layout(other)]
            for i, (name, cells) in enumerate(
                zip(own.header, self._columns(other, own), strict=False)
            )
            if own.nodes is None or own.nodes.called != i
        ]
        for i, (name, column) in enumerate(zip(layout.header, columns, strict=True)):
            values = {*column} - {""}
            if i == nodes.called or not is_key(column) or any(map(is_code, column)):
                continue
            for other, cells in referring:
                said = {*cells} - {""}
                if other == plain(name) and len(said) > 1 and said <= values:
                    return i
        return None

    def _columns(self, path: Path, layout: Layout) -> list[list[str]]:
        """The first cells of each column of a text table; [] without a header."""
        if file_format(path) == ".parquet" or not layout.skip_first:
            return []
        if path not in self._samples:
            rows = sample_rows(path).get(layout.dialect) or [[]]
            self._samples[path] = columns_of(rows[1:], layout.width)
        return self._samples[path]

    def _joining_layout(self, path: Path) -> Layout | None:
        """The layout of a table that joins rows of others; None for other tables."""
        if path not in self._joining:
            tables = [p for p in self._files if p != path and is_table(p)]
            layouts = [(p, self.own_layout(p)) for p in tables]
            nouns = {
                noun
                for p, layout in layouts
                if layout.nodes is not None
                for noun in row_names(p, id_column(layout))
            }
            dialect = usual_dialect(path)
            rows = sample_rows(path).get(dialect) if nouns else None
            found = joining_layout(dialect, rows, nouns) if rows else None
            self._joining[path] = found
        return self._joining[path]

    def have_keys_of_another(self, path: Path) -> bool:
        """Whether rows are called by the key of another table alone: ``game_code`` of
        awards, beside games with a ``code``."""
        layout = self.own_layout(path)
        if layout.nodes is None or layout.nodes.called != layout.nodes.id:
            return False
        key = id_column(layout)
        if not key_owner(key):
            return False
        owner, *own = row_names(path, key)
        others = [p for p in self._files if p != path and is_table(p)]
        return owner not in own and any(
            row_noun(table_name(other)) == owner
            and (id := self._bare_key(other))
            and plain(key).endswith(f"_{id}")
            for other in others
        )

    def _bare_key(self, path: Path) -> str:
        """The column of ids of a table, if it says not whose they are: ``code``."""
        layout = self.own_layout(path)
        name = id_column(layout) if layout.nodes is not None else ""
        return "" if key_owner(name) else plain(name)

    def _is_referred_to(self, path: Path) -> bool:
        """Whether another table has a column for ids of this one."""
        layout = self.own_layout(path)
        own = id_column(layout)
        names = row_names(path, own)
        others = [p for p in self._files if p != path and is_table(p)]
        columns = {
            property_name(name) for p in others for name in self.own_layout(p).header
        }
        return own in columns or any(owner_of_ids(name) in names for name in columns)

    def own_layout(self, path: Path) -> Layout:
        """The layout of a table by itself."""
        if path not in self._layouts:
            if file_format(path) == ".parquet":
                layout = parquet_layout(path, self._options.columns)
            else:
                layout = table_layout(path, self._options)
            if remark := layout.remark(path):
                logger.info("%s", remark)
            self._layouts[path] = layout
        return self._layouts[path]

    def main_table(self, path: Path) -> Path | None:
        """The table that names the rows of another, which has the same column of ids.

        ``stops_info.csv`` with ``stop_id`` says more of the rows of ``stops.csv``.
        """
        if path not in self._mains:
            self._mains[path] = self._find_main_table(path)
        return self._mains[path]

    def _find_main_table(self, path: Path) -> Path | None:
        tables = [each for each in self._files if is_table(each)]
        if path not in tables or not self._is_keyed(path):
            return None
        id_name = id_column(self.layout(path))

        def is_main(table: Path) -> bool:
            """Whether a table is called by what its ids are of."""
            noun, *stem = row_names(table, id_name)
            return noun in stem

        def names_rows(table: Path) -> bool:
            nodes = self.layout(table).nodes
            return nodes is not None and nodes.name is not None

        if not key_owner(id_name) or is_main(path):
            return None
        others = [
            table
            for table in tables
            if table != path
            and self._is_keyed(table)
            and id_column(self.layout(table)) == id_name
            and names_rows(table)
        ]
        mains = [table for table in others if is_main(table)]
        found = mains or ([] if names_rows(path) else others)
        return found[0] if len(found) == 1 else None

    def _is_keyed(self, path: Path) -> bool:
        """Whether it is a table of facts about entities with ids."""
        nodes = self.layout(path).nodes
        return nodes is not None and nodes.id is not None and self.hold_facts(path)

    def hold_facts(self, path: Path) -> bool:
        """Whether a table is one of facts: it says so, or no file has edges."""
        layout = self.layout(path)
        if layout.nodes is None or layout.edges:
            return False
        return layout.nodes.facts or not self._has_edges

    @property
    def _has_edges(self) -> bool:
        """Whether a file may hold edges."""
        return any(
            not is_table(path) or self.layout(path).edges for path in self._files
        )

    @property
    def hold_nodes(self) -> bool:
        """Whether a table of the files holds nodes."""
        tables = [path for path in self._files if is_table(path)]
        return any(self.layout(path).nodes is not None for path in tables)
