"""The layout of a table whose columns the user names or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.dialect import Dialect
from kgscout_jax.graph.read.header import find_roles, in_roles, plain
from kgscout_jax.graph.read.layout import Layout
from kgscout_jax.graph.read.options import excerpt


def given_layout(
    path: Path,
    columns: Sequence[str],
    samples: Mapping[Dialect, list[list[str]]],
    usual: Dialect,
) -> Layout:
    """The layout with the columns that the user names.

    Args:
        path: the table.
        columns: names of the header, numbers from 1, or ``=NAME`` for a relation.
        samples: the first rows in each dialect.
        usual: the dialect that is preferred.

    Raises:
        UserError: the table has not these columns.
    """
    for dialect, rows in samples.items():
        if found := _named_layout(dialect, rows, columns):
            return found
    for dialect in sorted(samples, key=lambda each: each != usual):
        if found := _numbered_layout(dialect, samples[dialect], columns):
            return found
    first = samples.get(usual) or next(iter(samples.values()), [[]])
    raise UserError(
        f"{path}:1: expected the columns {', '.join(columns)}, found "
        f"{', '.join(excerpt(cell, 30) for cell in first[0][:12]) or 'nothing'}"
    )


def _named_layout(
    dialect: Dialect, rows: Sequence[list[str]], columns: Sequence[str]
) -> Layout | None:
    """The layout if the first row has columns of these names."""
    header = tuple(cell.strip() for cell in rows[0])
    wanted = in_roles(columns)
    spellings = [cell.lower() for cell in header], [plain(cell) for cell in header]
    places: list[int] = []
    for name in wanted:
        key, short = name.strip().lower(), plain(name)
        if name.startswith("=") and len(places) == 1:
            places.append(-1)
        elif key in spellings[0]:
            places.append(spellings[0].index(key))
        elif short in spellings[1]:
            places.append(spellings[1].index(short))
        else:
            return None
    return replace(
        _places_layout(dialect, places, columns),
        header=header,
        skip_first=True,
        width=len(header),
        sample=list(rows[:4]),
    )


def _numbered_layout(
    dialect: Dialect, rows: Sequence[list[str]], columns: Sequence[str]
) -> Layout | None:
    """The layout if the columns are numbers, or name those of a table in order."""
    width = len(rows[0])
    if width < 2:
        return None
    names = [plain(name) for name in columns]
    if width == 3 and not any(name.isdigit() for name in names):
        roles = find_roles(columns)
        if roles is None:
            return None
        places = [roles.head, roles.relation, roles.tail]
        return replace(_places_layout(dialect, places, columns), sample=list(rows[:4]))
    places = []
    for i, name in enumerate(columns):
        if name.startswith("=") and i == 1:
            places.append(-1)
        elif name.isdecimal() and name.isascii() and 1 <= int(name[:9]) <= width:
            places.append(int(name[:9]) - 1)
        else:
            return None
    header = find_roles(rows[0]) is not None
    return replace(
        _places_layout(dialect, places, columns),
        header=tuple(cell.strip() for cell in rows[0]) if header else (),
        skip_first=header,
        width=width,
        sample=list(rows[:4]),
    )


def _places_layout(
    dialect: Dialect, places: Sequence[int], columns: Sequence[str]
) -> Layout:
    """The layout with these places; -1 is a relation that ``=NAME`` gives."""
    head, relation, tail = places
    constant = columns[1][1:].strip() or None if relation < 0 else None
    if relation < 0 and constant is None:
        raise UserError("columns: expected =NAME, found = without a name")
    return Layout(dialect, head, max(relation, 0), tail, constant=constant)
