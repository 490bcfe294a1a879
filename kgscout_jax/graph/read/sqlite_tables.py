"""Databases of SQLite: each table is one of its name, as a workbook's sheets are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.streams import one_line
from kgscout_jax.graph.read.workbook import folder_of_tables, tables_once, written_table

DATABASES = frozenset((".db", ".sqlite", ".sqlite3"))
"""Suffixes."""
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
)


def database_files(path: Path) -> list[Path]:
    """The tables of a database as CSV files, in its order; empty ones are left out.

    The file is opened for reading alone.

    Raises:
        UserError: the file is missing or no database of SQLite, or has no rows.
    """
    return tables_once(path, _database_files)


def _database_files(path: Path) -> tuple[Path, ...]:
    folder = folder_of_tables(path)
    files = []
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as base:
            for (name,) in base.execute(_TABLES).fetchall():
                quoted = name.replace('"', '""')
                cursor = base.execute(f'SELECT * FROM "{quoted}"')
                header = [column[0] for column in cursor.description]
                first = cursor.fetchone()
                if first is not None:
                    rows = _cells(chain([first], cursor))
                    file = folder / f"{name.replace('/', '_')}.csv"
                    files.append(written_table(file, chain([header], rows)))
    except sqlite3.Error as error:
        raise UserError(
            f"{path}: no readable database of SQLite: {one_line(error)}"
        ) from None
    if not files:
        raise UserError(f"{path}: expected a table with rows, found none")
    return tuple(files)


def _cells(rows: Iterator[tuple[object, ...]]) -> Iterator[list[object]]:
    """Rows with "" for null and for bytes, such as pictures."""
    for row in rows:
        yield ["" if cell is None or isinstance(cell, bytes) else cell for cell in row]
