"""Finds the layout of a text table from its first rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.code_columns import code_columns
from kgscout_jax.graph.read.dialect import (
    Dialect,
    sample_rows,
    separation,
    usual_dialect,
)
from kgscout_jax.graph.read.entity_tables import columns_of, entity_layout, with_cells
from kgscout_jax.graph.read.given_columns import given_layout
from kgscout_jax.graph.read.header import (
    SURE_RELATIONS,
    described_relation,
    find_ends,
    find_roles,
    plain,
    without_directions,
)
from kgscout_jax.graph.read.key_columns import PAIRS_OF_NAMES, is_numeric, is_property
from kgscout_jax.graph.read.known_layouts import known_layout, name_columns
from kgscout_jax.graph.read.layout import Layout
from kgscout_jax.graph.read.node_columns import (
    NodeColumns,
    id_space,
    is_marked,
    lists_nodes,
    node_columns,
    with_kinds,
)
from kgscout_jax.graph.read.options import ReadOptions, excerpt
from kgscout_jax.graph.read.relation_column import wide_relation_layout
from kgscout_jax.text.values import is_time


def table_layout(path: Path, options: ReadOptions) -> Layout:
    """The layout of a text table, from its first rows.

    A table of three columns in the usual dialect of its name, whose first row names no
    columns, is read in the order head, relation, tail. Of a table with a row for each
    entity the other columns are relations. A list of nodes beside edges
    whose columns are given has others.

    Raises:
        UserError: the file cannot be read, has not the columns of the options, or a
            header with head and tail and no relation.
    """
    usual, samples = usual_dialect(path), sample_rows(path)
    for dialect, rows in samples.items():
        if dialect.enclosed and not options.columns:
            return Layout(dialect, sample=rows, doubt="it is a text with triplets")
    if options.columns:
        nodes = _list_of_nodes(samples, options.columns)
        return nodes or given_layout(path, options.columns, samples, usual)
    rows = samples.get(usual)
    if rows and (found := known_layout(usual, rows) or _header_layout(usual, rows)):
        return found
    in_quotes = Dialect(usual.separator, True)
    if in_quotes in samples and (
        found := _header_layout(in_quotes, samples[in_quotes])
    ):
        return found
    if rows and all(len(row) == 3 for row in rows):
        return (
            entity_layout(usual, rows)
            or _header_of_ends(path, usual, rows)
            or _header_of_relation(usual, rows)
            or Layout(usual, sample=rows, doubt=_suspicion(rows))
        )
    for dialect, rows in samples.items():
        if found := _header_layout(dialect, rows):
            return found
    for dialect, rows in samples.items():
        if found := _header_of_ends(path, dialect, rows):
            return found
    for dialect, rows in samples.items():
        if found := wide_relation_layout(dialect, rows):
            return found
    for dialect, rows in samples.items():
        if dialect not in (usual, in_quotes) and all(len(row) == 3 for row in rows):
            found = entity_layout(dialect, rows) or _header_of_relation(dialect, rows)
            if found:
                return found
            words = separation(dialect.separator)
            return Layout(dialect, sample=rows, doubt=f"found {words} columns")
    for dialect, rows in samples.items():
        if found := entity_layout(dialect, rows):
            return found
    return Layout(_likely_dialect(usual, samples))


def _likely_dialect(usual: Dialect, samples: dict[Dialect, list[list[str]]]) -> Dialect:
    """The dialect of a table of an unknown layout: the usual one if it divides rows."""
    if len(samples.get(usual, [[]])[0]) > 1:
        return usual
    return next(
        (
            dialect
            for dialect, rows in samples.items()
            if len(rows[0]) > 3 and len({len(row) for row in rows}) == 1
        ),
        usual,
    )


def _header_layout(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout if the first row names head, relation and tail, or an id of nodes."""
    header = tuple(cell.strip() for cell in rows[0])
    roles = find_roles(without_directions(rows))
    if roles is None and (_has_marked_ends(header) or find_roles(header)):
        return None
    nodes = node_columns(header, with_edges=roles is not None)
    if roles is None and (nodes is None or not lists_nodes(rows, nodes)):
        return None
    if roles is None and nodes is not None and _names_others(header, rows, nodes):
        return None
    layout = Layout(
        dialect,
        header=header,
        skip_first=True,
        width=len(header),
        nodes=nodes,
        edges=roles is not None,
        sample=list(rows[:4]),
    )
    if roles is None:
        columns = columns_of(rows[1:], len(header))
        if nodes is not None:
            coded = nodes.id in code_columns(header, columns)
            nodes = with_kinds(nodes, header, columns)
            layout = replace(layout, nodes=nodes, coded=coded)
        return with_cells(layout, columns)
    certain = nodes is not None or header[roles.head].startswith((":", "_", "~"))
    doubt = "several columns could be meant"
    if len(header) == 3:
        doubt = "the first line is taken for a header"
    return replace(
        layout,
        head=roles.head,
        relation=roles.relation,
        tail=roles.tail,
        spaces=(id_space(header[roles.head]), id_space(header[roles.tail])),
        named=name_columns(header, roles),
        doubt=doubt if roles.ambiguous and not certain else None,
    )


def _names_others(
    header: Sequence[str], rows: Sequence[list[str]], nodes: NodeColumns
) -> bool:
    """Whether another column than the one of titles or labels names the rows."""
    id, name = nodes.id, nodes.name
    if id is None or name is None or is_marked(header[id]):
        return False
    names = {*map(plain, header)}
    if plain(header[name]) == "title" and any({*p} <= names for p in PAIRS_OF_NAMES):
        return True
    return is_property(name, header, columns_of(rows[1:], len(header)), [id])


def _list_of_nodes(
    samples: Mapping[Dialect, list[list[str]]], columns: Sequence[str]
) -> Layout | None:
    """The layout of a list of nodes that has none of the columns that edges have."""
    named = {plain(name) for name in columns if not name.isdigit()}
    for dialect, rows in samples.items():
        found = _header_layout(dialect, rows)
        if found is not None and not found.edges and named:
            others = named.isdisjoint(plain(cell) for cell in found.header)
            return found if others else None
    return None


def _has_marked_ends(header: Sequence[str]) -> bool:
    """Whether a database's columns of heads and tails are in a header."""
    ends = find_ends([plain(cell) for cell in header])
    return ends is not None and all(header[i][:1] in (":", "_", "~") for i in ends[:2])


def _header_of_ends(
    path: Path, dialect: Dialect, rows: Sequence[list[str]]
) -> Layout | None:
    """The layout if the first row names head and tail, and the relation unusually.

    Between them stands the relation. Elsewhere it may be missing, as in an edge list
    with weights.

    Raises:
        UserError: another column than the one between them would be the relation.
    """
    header = tuple(cell.strip() for cell in rows[0])
    ends = find_ends([plain(cell) for cell in header])
    if len(header) < 3 or ends is None:
        return None
    cells = [row[i] for row in rows[1:] for i in ends[:2] if row[i:]]
    if cells and all(map(is_time, cells)):
        return None  # lessons from 8:30 to 9:15
    if (*ends[:2], len(header)) == (0, 2, 3):
        return Layout(
            dialect,
            header=header,
            skip_first=True,
            sample=list(rows[:4]),
            doubt="the first line is taken for a header",
        )
    head, tail = (header[i] for i in ends[:2])
    if _has_marked_ends(header):
        expected = {":": ":TYPE", "_": "_type", "~": "~label"}[head[0]]
        raise UserError(
            f"{path}:1: expected the column {expected} beside {head} and {tail}; found "
            f"the columns {_excerpts(header)}"
        )
    if events := _events_between(dialect, rows, ends[:2]):
        return events
    if (place := described_relation(header)) is not None:
        return Layout(
            dialect,
            ends[0],
            place,
            ends[1],
            header=header,
            skip_first=True,
            width=len(header),
            sample=list(rows[:4]),
            doubt=f"{header[place]} is taken for the relation",
        )
    raise missing_relation(f"{path}:1", header, head, tail)


def _events_between(
    dialect: Dialect, rows: Sequence[list[str]], ends: Sequence[int]
) -> Layout | None:
    """The layout of events that have a source and a target, and more in words.

    Such as flights of an airline; a weight or a number of edges is no event.
    """
    columns = columns_of(rows[1:], len(rows[0]))
    texts = [
        i for i, cells in enumerate(columns) if i not in ends and not is_numeric(cells)
    ]
    found = entity_layout(dialect, rows) if texts else None
    named = found is None or found.nodes is None or found.nodes.called is not None
    return None if named else found


def missing_relation(
    where: str, header: Sequence[str], head: str, tail: str
) -> UserError:
    """The error of a header that names heads and tails alone.

    Args:
        where: the file and perhaps its line.
        header: the names of its columns.
        head: the column of heads.
        tail: the column of tails.
    """
    return UserError(
        f"{where}: a header without a relation; found the columns {_excerpts(header)} "
        f"(--columns {head},NAME,{tail} names the relation's column, "
        f"{head},=NAME,{tail} gives all rows one relation)"
    )


def _header_of_relation(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout if the first of three columns' rows names the relation for certain.

    Nothing of the first row stands again in its column: it is no triplet.
    """
    first, *others = rows
    if plain(first[1]) not in SURE_RELATIONS or not others:
        return None
    if any(first[i] in (row[i] for row in others) for i in range(3)):
        return None
    return Layout(
        dialect,
        header=tuple(cell.strip() for cell in first),
        skip_first=True,
        sample=list(rows[:4]),
        doubt="the first line is taken for a header",
    )


def _excerpts(header: Sequence[str]) -> str:
    """The first names of a header, for an error."""
    return ", ".join(excerpt(cell, 30) for cell in header[:8])


def _suspicion(rows: Sequence[list[str]]) -> str | None:
    """Why three columns without a header may be in another order, if so."""
    if len(rows) < 3:
        return None
    heads, relations, tails = (Counter(column) for column in zip(*rows, strict=True))
    if len(rows) > 7 and 4 * min(len(heads), len(tails)) < len(relations):
        return "the second column holds more different names than another one"
    first = rows[0]
    others = len(relations) - 1
    repeated = 3 * others < len(rows) if len(rows) > 7 else 2 * others < len(rows)
    if (
        relations[first[1]] == 1
        and repeated
        and not any(heads[cell] + tails[cell] > 1 for cell in (first[0], first[2]))
    ):
        return "the first line may be a header"
    return None
