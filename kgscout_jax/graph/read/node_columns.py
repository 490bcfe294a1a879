"""The columns of nodes in a table, as databases export them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgscout_jax.graph.read.header import NAMES, plain

NODE_IDS = ("id", "node_id", "nodeid", "entity_id")
"""Names of the column of ids in a table of nodes, which also has a name."""
LABEL_COLUMNS = ("_labels", ":label", "~label")
"""The column of a node's kinds."""
_NODE_ID = re.compile(r":ID(\(.*\))?(\{.*\})?$|^_id$|^~id$", re.IGNORECASE)


@dataclass(frozen=True)
class NodeColumns:
    """Where a table has nodes, the columns that describe them."""

    id: int | None
    """None where rows have no name: each is a node without one."""
    name: int | None
    labels: int | None
    space: str = ""
    """The name space of the ids (Neo4j)."""
    surname: int | None = None
    """The column of the second part of names."""
    facts: bool = False
    """Whether the other columns are facts, which are read without being asked for."""
    numbered: bool = False
    """Whether the rows are events, such as orders, that only a number names."""

    @property
    def called(self) -> int | None:
        """The column that names the nodes: of ids, where there is no other."""
        return self.id if self.name is None else self.name


def node_columns(header: Sequence[str], *, with_edges: bool) -> NodeColumns | None:
    """The columns of nodes if these cells name an id, as in exports of databases.

    In a table of edges, only ``_id`` beside ``_labels`` is one (Neo4j).
    """
    names = [plain(cell) for cell in header]
    lowered = [cell.lower() for cell in header]
    if with_edges:
        if not {"_id", "_labels"} <= set(lowered):
            return None
        id = lowered.index("_id")
    else:
        marked = [i for i, cell in enumerate(header) if is_marked(cell)]
        usual = [names.index(name) for name in NODE_IDS if name in names]
        if not marked and not (usual and set(names) & set(NAMES)):
            return None
        id = (marked or usual)[0]
    labels = [i for i, cell in enumerate(lowered) if cell in LABEL_COLUMNS]
    named = [names.index(name) for name in NAMES if name in names]
    named = [i for i in named if i != id and i not in labels]
    return NodeColumns(
        id,
        named[0] if named else None,
        labels[0] if labels else None,
        id_space(header[id]),
    )


def with_kinds(
    nodes: NodeColumns, header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns:
    """The columns, with ``label`` beside ``name`` as kinds, where few are different.

    Args:
        nodes: the columns that describe nodes.
        header: the names of the columns.
        columns: the first cells of each.
    """
    if nodes.labels is not None or nodes.name is None:
        return nodes
    for i, name in enumerate(header):
        kinds = plain(name) in ("label", "labels") and i not in (nodes.id, nodes.name)
        if kinds and 2 * len({*columns[i]}) <= len(columns[i]):
            return replace(nodes, labels=i)
    return nodes


def is_marked(cell: str) -> bool:
    """Whether a database marks a column as that of ids.

    >>> is_marked("personId:ID(Person)"), is_marked("id")
    (True, False)
    """
    return _NODE_ID.search(cell) is not None


def lists_nodes(rows: Sequence[list[str]], nodes: NodeColumns) -> bool:
    """Whether a table without edges is a list of nodes.

    Three columns without a mark of a database may be triplets: as a list of nodes,
    they begin with the id, and no id occurs twice.
    """
    id = nodes.id
    if id is None or len(rows[0]) != 3 or is_marked(rows[0][id].strip()):
        return True
    ids = [row[0] for row in rows]
    return id == 0 and len(rows) > 1 and len(set(ids)) == len(ids)


def id_space(cell: str) -> str:
    """The name space in a column's name: Person in ``:START_ID(Person)``."""
    match = re.search(r"\(([^)]*)\)$", cell.strip())
    return match[1] if match else ""
