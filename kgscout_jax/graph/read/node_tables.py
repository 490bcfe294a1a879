"""Tables of nodes and edges: as Neo4j, Neptune and Gephi export them, or parquet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.columns import blank
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.layout import Layout, property_name, wrong_width


def table_elements(
    path: Path, layout: Layout, rows: Iterable[tuple[int, list[str]]]
) -> Iterator[Node | Edge]:
    """The nodes and edges of a table.

    Args:
        path: the file.
        layout: its columns.
        rows: the number of each row, which errors name, and its cells.

    Raises:
        UserError: (on iteration) the file is missing or malformed.
    """
    nodes, extra = layout.nodes, layout.extra
    names = [property_name(cell) for cell in layout.header]
    skip = layout.skip_first
    for number, cells in rows:
        where = f"{path}:{number}"
        if len(cells) != layout.width:
            raise UserError(f"{where}: {wrong_width(layout, number, len(cells))}")
        if skip:
            skip = False
            continue
        values: Attributes = [(names[i], cells[i]) for i in extra if cells[i].strip()]
        head = cells[layout.head] if layout.edges else ""
        if nodes is not None and not head.strip():
            if not cells[nodes.id].strip():
                raise UserError(f"{where}: the id is empty")
            if nodes.name is not None:
                values.insert(0, ("name", cells[nodes.name]))
            labels = "" if nodes.labels is None else cells[nodes.labels]
            kinds = [part.strip() for part in re.split("[:;]", labels) if part.strip()]
            yield Node(number, qualified(nodes.space, cells[nodes.id]), values, kinds)
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
        )


def qualified(space: str, id: str) -> str:
    """An id with its name space."""
    return f"{space}:{id}" if space else id
