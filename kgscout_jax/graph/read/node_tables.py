"""Tables of nodes and edges: as Neo4j, Neptune and Gephi export them, or parquet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.cell_text import clean_cell, listed_values
from kgscout_jax.graph.read.columns import blank
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.layout import (
    Layout,
    property_name,
    wrong_width,
)
from kgscout_jax.graph.read.list_cells import split_cell
from kgscout_jax.graph.read.options import MISSING, NA
from kgscout_jax.graph.read.sheet_rows import entity_rows
from kgscout_jax.graph.row_id import row_id

_FLAGS = {"0": "no", "1": "yes"}


def table_elements(
    path: Path,
    layout: Layout,
    rows: Iterable[tuple[int, list[str]]],
    *,
    facts: bool = False,
    of_all: Sequence[str] = (),
) -> Iterator[Node | Edge]:
    """The nodes and edges of a table.

    Args:
        path: the file.
        layout: its columns.
        rows: the number of each row, which errors name, and its cells.
        facts: whether what it says of nodes are triplets without being asked for.
        of_all: what every node is.

    Raises:
        UserError: (on iteration) the file is missing or malformed.
    """
    nodes, extra = layout.nodes, layout.extra
    names = [property_name(cell) for cell in layout.header]
    skip, before = layout.skip_first, ("", "")
    for number, cells in entity_rows(rows, layout) if facts else rows:
        where = f"{path}:{number}"
        if len(cells) != layout.width:
            raise UserError(f"{where}: {wrong_width(layout, number, len(cells))}")
        if skip:
            skip = False
            continue
        values: Attributes = [
            (names[i], value) for i in extra for value in _values(layout, i, cells[i])
        ]
        head = cells[layout.head] if layout.edges else ""
        if nodes is not None and not head.strip():
            if nodes.id is None:
                id = row_id(path, number)
            elif cells[nodes.id].strip():
                id = qualified(nodes.space, cells[nodes.id])
            elif nodes.facts:
                id = _id_of_row(path, number, cells, layout, before)
            else:
                raise UserError(f"{where}: the id is empty")
            before = cells[0], id
            name = "" if nodes.name is None else cells[nodes.name]
            if nodes.surname is not None:
                name = f"{name} {cells[nodes.surname]}".strip()
                id = name if nodes.id == nodes.name else id
            if nodes.name is not None and not nodes.facts:
                values.insert(0, ("name", name))
            labels = "" if nodes.labels is None else cells[nodes.labels]
            kinds = [part.strip() for part in re.split("[:;]", labels) if part.strip()]
            kinds += of_all
            called = (name.strip() and name) or id if nodes.facts else ""
            if nodes.facts:
                called = clean_cell(called) or called
            if nodes.space and nodes.name is None and nodes.id is not None:
                called = cells[nodes.id]  # "Drama", not "Genre-ID:Drama"
            yield Node(number, id, values, kinds, facts, called)
            continue
        relation = layout.constant or cells[layout.relation]
        tail = cells[layout.tail]
        if not (head.strip() and relation.strip() and tail.strip()):
            raise UserError(f"{where}: {blank(head, relation)}")
        yield Edge(
            number,
            qualified(layout.spaces[0], head),
            qualified(layout.spaces[1], tail),
            values,
            relation=relation,
            described=layout.is_described,
        )


def _id_of_row(
    path: Path,
    number: int,
    cells: Sequence[str],
    layout: Layout,
    before: tuple[str, str],
) -> str:
    """The id of a row whose name is missing.

    It goes on with the row before where its first cell is the same: a shop's variants
    of one product. Else it is called by its code, if it has one.

    Args:
        path: the file.
        number: of the row.
        cells: of the row.
        layout: of the file.
        before: the first cell of the row before, and its id.
    """
    if cells[0].strip() and cells[0] == before[0]:
        return before[1]
    places = (i for i, name in enumerate(layout.header) if name in layout.codes)
    codes = (cells[i].strip() for i in places)
    return next(filter(None, codes), "") or row_id(path, number)


def _values(layout: Layout, i: int, cell: str) -> list[str]:
    """The values of a cell of column ``i``, without those that stand for none."""
    if cell == NA and i in layout.with_na:
        return []
    if i in layout.whole:
        cell = cell.removesuffix(".0")
    separator = ";" if layout.header[i].endswith("[]") else layout.lists.get(i)
    parts = listed_values(cell)
    if parts is None:
        parts = [cell] if separator is None else split_cell(cell, separator)
    if i in layout.flags:
        return [_FLAGS.get(cell.strip(), cell)] if cell.strip() else []
    parts = [clean_cell(part) for part in parts]
    return [part for part in parts if part and part not in MISSING]


def qualified(space: str, id: str) -> str:
    """An id with its name space."""
    return f"{space}:{id}" if space else id
