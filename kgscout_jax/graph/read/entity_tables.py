"""Tables of one entity a row, as spreadsheets hold them: its name, then facts about it.

    name,capital,languages
    France,Paris,French
    Belgium,Brussels,Dutch;French

A row gives (Belgium, capital, Brussels), and a triplet for each language. Rows of
events, such as orders and matches, have facts and no name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from kgscout_jax.graph.read.code_columns import code_columns
from kgscout_jax.graph.read.dialect import Dialect
from kgscout_jax.graph.read.header import NAMES, plain
from kgscout_jax.graph.read.key_columns import (
    FEW_ROWS,
    NUMBER,
    is_index,
    is_key,
    is_key_name,
    is_numeric,
    key_columns,
)
from kgscout_jax.graph.read.layout import Layout, property_name
from kgscout_jax.graph.read.list_cells import list_separators, split_cell
from kgscout_jax.graph.read.node_columns import NodeColumns
from kgscout_jax.graph.read.options import MISSING, NA
from kgscout_jax.graph.read.query_results import result_columns
from kgscout_jax.graph.read.row_names import id_column, owner_of_ids, row_kind, row_noun
from kgscout_jax.graph.read.sheet_rows import filled, merged_columns, units_row
from kgscout_jax.graph.row_id import row_id
from kgscout_jax.text.kinds import (
    base_noun,
    is_attribute,
    is_measure,
    is_past,
    noun_kind,
)

MOST_HEADER = 60
"""Characters of the longest name of a column."""
_DOTTED = re.compile(r"[a-z]\w*(?:\.\w+)+", re.IGNORECASE)
_FLOAT = re.compile(r"[+-]?\d+\.0")


def entity_layout(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of a table with a row for each entity; None for other tables.

    Three columns may be triplets without a header: there one is called name, and the
    second one holds what no relation is. Two may be pairs: there one is called name, or
    as a kind of things or a property.

    Args:
        dialect: of the table.
        rows: its first rows.
    """
    header, cells = [cell.strip() for cell in rows[0]], rows[1:]
    width = len(header)
    if width < 2 or not cells or any(len(row) != width for row in cells):
        return None
    units = units_row(cells)
    cells = cells[1:] if units else cells
    merged = merged_columns(cells) if len(cells) >= FEW_ROWS else 0
    for before, row in pairwise(cells) if merged else ():
        row[:] = filled(row, before[:merged])
    columns = columns_of(cells, width)
    if not header[0] and is_key(columns[0]) and "name" not in map(str.lower, header):
        header[0] = "name"  # of R's rows, and of pages of a wiki
    if not _is_header(header, columns):
        return None
    for i, unit in enumerate(units):
        header[i] += f" ({unit.strip()})" if unit.strip() else ""
    if result := result_columns(header, columns):
        nodes = NodeColumns(result.addresses[0], result.called, None, facts=True)
        header = [*result.names]
    else:
        nodes = _key_columns(header, columns)
        if nodes is None or (width < 4 and not _are_facts(header, columns, nodes)):
            return None
    key = min((i for i in (nodes.id, nodes.called) if i is not None), default=0)
    codes = code_columns(header, columns)
    names = [
        "" if is_index(name) or (i < key and _is_constant(columns[i])) else name
        for i, name in enumerate(header)
    ]
    layout = Layout(
        dialect,
        header=tuple(map(_undotted, names)),
        skip_first=True,
        width=width,
        nodes=nodes,
        edges=False,
        sample=list(rows[:4]),
        units=tuple(units),
        merged=merged,
        codes=tuple(header[i] for i in codes if i != nodes.called),
        coded=nodes.id in codes,
    )
    return with_cells(layout, columns)


def with_cells(layout: Layout, columns: Sequence[Sequence[str]]) -> Layout:
    """The layout of a table of facts, with what the cells of its columns hold."""
    whole, flags, with_na = (
        frozenset(i for i, column in enumerate(columns) if holds(i, column))
        for holds in (
            lambda _, column: _is_whole(column),
            lambda i, column: _are_flags(layout.header[i], column),
            lambda _, column: _has_na(column),
        )
    )
    lists = list_separators(layout.header, columns)
    return replace(layout, lists=lists, whole=whole, flags=flags, with_na=with_na)


def _undotted(name: str) -> str:
    """A column's name with underscores for the dots of R, which part no name spaces.

    >>> _undotted("birth.date"), _undotted("Work Phone Ext."), _undotted("No. of rooms")
    ('birth_date', 'Work Phone Ext.', 'No. of rooms')
    """
    return name.replace(".", "_") if _DOTTED.fullmatch(name) else name


def _is_constant(column: Sequence[str]) -> bool:
    """Whether all of several rows have one value."""
    return len(column) >= FEW_ROWS and len({*column}) == 1


def _key_columns(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """``key_columns`` without those before that tell no rows apart: their numbers, as
    R and pandas write them, and what all have, as a firm in its own tables."""
    skipped = [
        not name or is_index(name) or _is_constant(column)
        for name, column in zip(header, columns, strict=True)
    ]
    first = skipped.index(False) if False in skipped else 0
    nodes = key_columns(header[first:], columns[first:])
    if nodes is None or not first:
        return nodes
    places = {
        name: place + first
        for name in ("id", "name", "surname", "labels")
        if (place := getattr(nodes, name)) is not None
    }
    return replace(nodes, **places)


def joining_layout(
    dialect: Dialect, rows: Sequence[list[str]], nouns: Collection[str]
) -> Layout | None:
    """The layout of a table that joins the rows of others, by their names.

    Of ``exhibition,work`` beside tables of exhibitions and of works, or of two columns
    that give the rows of one table several values: ``book_id,tag``. None for others.

    Args:
        dialect: of the table.
        rows: its first rows.
        nouns: what rows of the other tables are called.
    """
    header, cells = [cell.strip() for cell in rows[0]], rows[1:]
    width = len(header)
    if not 2 <= width <= 3 or not cells or any(len(row) != width for row in cells):
        return None
    owners = [owner_of_ids(name) or row_noun(name) for name in header]
    known = {noun for noun in owners if noun in nouns}
    gives_values = width == 2 and owners[0] in known
    if (len(known) < 2 and not gives_values) or not _is_header(
        header, columns_of(cells, width)
    ):
        return None
    return Layout(
        dialect,
        header=tuple(header),
        skip_first=True,
        width=width,
        nodes=NodeColumns(None, None, None, facts=True),
        edges=False,
        sample=list(rows[:4]),
    )


def columns_of(rows: Sequence[list[str]], width: int) -> list[list[str]]:
    """The cells of each column, of rows that have as many."""
    whole = [row for row in rows if len(row) == width]
    return [[row[i].strip() for row in whole] for i in range(width)]


def _is_header(header: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: none of it stands below.

    Columns side by side may have one name, each with a value of it.
    """
    names = [name for name in header if name]
    once = [name for i, name in enumerate(header) if name != header[i - 1]]
    return (
        len(names) >= max(2, len(header) - 1)
        and len({*map(str.casefold, once)}) == len(once)
        and len(once) >= min(3, len(header))
        and all(len(name) <= MOST_HEADER for name in names)
        and not any(map(NUMBER.fullmatch, names))
        and all(
            name not in column
            for name, column in zip(header, columns, strict=True)
            if name
        )
    )


def _is_whole(column: Sequence[str]) -> bool:
    """Whether a column is of whole numbers, some missing, as data frames write them.

    >>> _is_whole(["172.0", "", "96.0"]), _is_whole(["1.0", "2.0"])
    (True, False)
    """
    cells = [cell for cell in column if cell not in MISSING | {NA, ""}]
    return 0 < len(cells) < len(column) and all(map(_FLOAT.fullmatch, cells))


def _are_flags(name: str, column: Sequence[str]) -> bool:
    """Whether a column of 0 and 1 says whether something is so.

    >>> _are_flags("IsWon", ["0", "1"]), _are_flags("floors", ["0", "1"])
    (True, False)
    >>> _are_flags("Neutered", ["0", "1", "0"])
    True
    """
    words = plain(name).split("_")
    asks = words[0] in ("is", "has", "can", "was") or is_past(words[-1])
    return asks and {*column} - {""} in ({"0", "1"}, {"0"}, {"1"})


def _has_na(column: Sequence[str]) -> bool:
    """Whether cells "NA" are missing values, as R writes them, and no code of Namibia.

    >>> _has_na(["12", "NA", "7"]), _has_na(["DE", "NA", "FR"])
    (True, False)
    """
    rest = [cell for cell in column if cell != NA]
    several = len(column) - len(rest) > 1
    return len(rest) < len(column) and (several or not rest or is_numeric(rest))


def _is_known_noun(cell: str) -> bool:
    """Whether the name of a column is a kind of things, or a property."""
    noun = base_noun(plain(cell).rpartition("_")[2])
    return noun_kind(noun) != "thing" or is_attribute(noun) or is_measure(noun)


def _are_facts(
    header: Sequence[str], columns: Sequence[Sequence[str]], nodes: NodeColumns
) -> bool:
    """Whether few columns are an entity and facts, and no triplets or pairs."""
    if not all(header) or nodes.surname is not None:
        return True
    key = nodes.called
    if key is None:
        return True
    once = len({*columns[0]}) == len(columns[0])
    if nodes.id == 0 and is_key_name(header[0]) and once:
        return True
    if len(header) == 2:
        return plain(header[key]).endswith(NAMES) or any(map(_is_known_noun, header))
    second = columns[1]
    values = len({*second}) > max(1, len(second) // 2) or is_numeric(second)
    # Several books by one author: each name stands once, below nouns.
    once = len({*columns[key]}) == len(columns[key])
    values = values or (once and all(map(_is_known_noun, header[1:])))
    return plain(header[key]).endswith(NAMES) and (values or key == 1)


def facts_remark(path: Path, layout: Layout) -> str:
    """What to tell of a table of facts: how its first row is read; "" without one."""
    nodes, rows = layout.nodes, layout.sample[layout.skip_first :]
    if nodes is None or not rows:
        return ""
    columns, row = [nodes.called, nodes.surname], rows[0]
    names = [i for i in columns if i is not None]
    name = " ".join(row[i] for i in names)[:30] or row_id(path, 2)
    facts = [
        str((name, property_name(layout.header[i]), _first_value(layout, row, i)[:30]))
        for i in layout.extra
        if row[i].strip()
    ]
    kind = row_kind(path, id_column(layout)) or "entity"
    called = " and ".join(layout.header[i] for i in names)
    naming = f"called by its {called}" if called else "which has no name"
    return (
        f"{path}: each row is read as facts about one {kind}, {naming}: "
        f"{', '.join(facts[:3])} ...; --columns HEAD,RELATION,TAIL reads triplets "
        "instead"
    )


def _first_value(layout: Layout, row: Sequence[str], i: int) -> str:
    """The first of several values of a cell."""
    cell, separator = row[i], layout.lists.get(i)
    if i in layout.whole:
        return cell.removesuffix(".0")
    return cell if separator is None else split_cell(cell, separator)[0]
