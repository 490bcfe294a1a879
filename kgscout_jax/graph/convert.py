"""Graphs from and to Python's own: lists of triplets, pandas, networkx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import NamedTriplets
from kgscout_jax.graph.read.header import find_roles
from kgscout_jax.types import ROLES, Triplet

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def shown(value: object) -> str:
    """A value as the start of its repr, for an error."""
    text = repr(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 80 else text[:80] + "..."


def checked_triplets(triplets: object) -> Iterator[Triplet]:
    """Triplets of strings.

    Raises:
        UserError: (on iteration) one is something else; it names the position.
    """
    if isinstance(triplets, str | bytes) or not isinstance(triplets, Iterable):
        raise UserError(
            f"triplets: expected (head, relation, tail) tuples, found {shown(triplets)}"
        )
    if hasattr(triplets, "columns"):
        raise UserError(
            "triplets: found a table, expected tuples; KnowledgeGraph.from_pandas "
            "takes a table"
        )
    for i, triplet in enumerate(triplets):
        if isinstance(triplet, str) or not hasattr(triplet, "__len__"):
            size = None
        else:
            size = len(triplet)
        if size != 3:
            raise UserError(
                f"triplets[{i}]: expected (head, relation, tail), found "
                f"{shown(triplet)}"
            )
        head, relation, tail = triplet
        if not (
            isinstance(head, str)
            and isinstance(relation, str)
            and isinstance(tail, str)
        ):
            wrong = next(
                pair
                for pair in zip(ROLES, triplet, strict=True)
                if not isinstance(pair[1], str)
            )
            raise UserError(
                f"triplets[{i}]: the {wrong[0]} is {shown(wrong[1])}, expected a string"
            )
        yield head, relation, tail


def checked_name(name: object) -> str:
    """The name of an entity; raises UserError if it is no string."""
    if not isinstance(name, str):
        raise UserError(f"name: expected a string, found {shown(name)}")
    return name


def checked_paths(path: object) -> list[Path]:
    """A path, or several, as a list.

    Raises:
        UserError: it is something else, or there is none.
    """
    paths = [path] if isinstance(path, str | Path) else path
    if not isinstance(paths, Sequence) or not paths:
        raise UserError(
            f"path: expected a GRAPH folder or triplet files, found {shown(path)}"
        )
    for each in paths:
        if not isinstance(each, str | Path) or not str(each).strip():
            raise UserError(f"path: expected a path, found {shown(each)}")
    return [Path(each) for each in paths]


def networkx_triplets(graph: nx.Graph[Any], relation: str) -> Iterator[Triplet]:
    """The edges of a networkx graph as triplets.

    Raises:
        UserError: it is no graph, or an edge has no relation.
    """
    if not hasattr(graph, "is_multigraph"):
        raise UserError(f"graph: expected a networkx graph, found {shown(graph)}")
    multi = graph.is_multigraph()
    view: Any = graph.edges
    edges = view(keys=True, data=True) if multi else view(data=True)
    for edge in edges:
        head, tail, attributes = edge[0], edge[1], edge[-1]
        name = attributes.get(relation)
        if name is None and multi and isinstance(edge[2], str):
            name = edge[2]
        if name is None:
            names = ", ".join(map(repr, attributes)) or "none"
            raise UserError(
                f"edge {head!r} to {tail!r}: expected the attribute {relation!r}, "
                f"found {names}"
            )
        yield str(head), str(name), str(tail)


def pandas_triplets(table: Any, columns: Sequence[str] | None) -> Iterator[Triplet]:
    """The rows of a DataFrame as triplets; numbers and dates as pandas prints them.

    Raises:
        UserError: it is no table, has not the columns, or misses a value.
    """
    if not (hasattr(table, "columns") and hasattr(table, "iloc")):
        raise UserError(f"table: expected a pandas DataFrame, found {shown(table)}")
    names = list(table.columns)
    if columns is None:
        roles = find_roles([str(name) for name in names])
        if roles is None:
            raise UserError(
                f"table: expected columns head, relation, tail, found {shown(names)}; "
                "columns=(HEAD, RELATION, TAIL) names others"
            )
        places = [roles.head, roles.relation, roles.tail]
    else:
        chosen = [columns] if isinstance(columns, str) else list(columns)
        if len(chosen) != 3 or any(name not in names for name in chosen):
            raise UserError(
                f"columns: expected three of {shown(names)}, found {shown(columns)}"
            )
        places = [names.index(name) for name in chosen]
    series = [table.iloc[:, place] for place in places]
    for column, place in zip(series, places, strict=True):
        missing = np.flatnonzero(np.asarray(column.isna(), bool))
        if len(missing):
            raise UserError(
                f"table: row {missing[0]}: column {names[place]!r} has no value"
            )
    yield from zip(*map(_texts, series), strict=True)


def _texts(column: Any) -> list[str]:
    """The values of a column as pandas prints them."""
    try:
        return column.astype(str).tolist()
    except UnicodeEncodeError:  # lone surrogates
        return [str(value) for value in column]


def to_pandas(graph: NamedTriplets) -> pd.DataFrame:
    """The triplets of a graph as a DataFrame with head, relation, tail.

    Raises:
        UserError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise UserError("to_pandas needs pandas (pip install pandas)") from None
    rows = np.asarray(graph.triplets)
    entities = np.array([*graph.entities, ""], object)
    relations = np.array([*graph.relations, ""], object)
    values = entities[rows[:, 0]], relations[rows[:, 1]], entities[rows[:, 2]]
    columns = dict(zip(ROLES, values, strict=True))
    try:
        return pd.DataFrame(columns)
    except UnicodeEncodeError:  # a lone surrogate, which pandas' own type cannot hold
        return pd.DataFrame(columns, dtype=object)


def to_networkx(graph: NamedTriplets, ids: Sequence[str]) -> nx.MultiDiGraph[str]:
    """The graph with an edge per triplet; its key and attribute is the relation.

    Nodes are the ids of entities. Where names are labels, they are the attribute name.
    """
    import networkx as nx

    out: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    names, relations = list(graph.entities), list(graph.relations)
    keys = list(ids)
    labelled = keys != names
    for key, name in zip(keys, names, strict=True):
        out.add_node(key, **({"name": name} if labelled else {}))
    for head, relation, tail in np.asarray(graph.triplets).tolist():
        name = relations[relation]
        out.add_edge(keys[head], keys[tail], key=name, relation=name)
    return out
