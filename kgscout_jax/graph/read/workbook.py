"""Spreadsheets of Excel and LibreOffice: each sheet is a table of its name.

Sheets are written as CSV files to a folder of this process, which the readers of tables
take from there: ``staff.xlsx/Teams.csv``.
"""

from __future__ import annotations

import csv
import datetime
import functools
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError, name_in_messages
from kgscout_jax.graph.read.streams import one_line

WORKBOOKS = frozenset((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"))
"""Suffixes."""
_UNNAMED = re.compile(r"(sheet|tabelle|feuil|hoja|foglio|blad)\s*\d*", re.IGNORECASE)
"""What programs call a sheet that nobody has named."""
_FIRST_ROWS = 20
"""Rows among which the header is, below a title."""


def sheet_files(path: Path) -> list[Path]:
    """The sheets of a spreadsheet as CSV files, in its order; empty ones are left out,
    and those of one column beside others.

    Raises:
        UserError: the file is missing or damaged, or no sheet has a table.
    """
    return tables_once(path, _sheet_files)


def tables_once(path: Path, read: Callable[[Path], tuple[Path, ...]]) -> list[Path]:
    """The tables that ``read`` writes of a file, once for each state of it.

    Raises:
        UserError: the file is missing, or ``read`` raises it.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file or folder")
    state = path.stat()
    return [*_tables(read, path.resolve(), state.st_mtime_ns, state.st_size)]


@functools.lru_cache(maxsize=64)
def _tables(
    read: Callable[[Path], tuple[Path, ...]], path: Path, _modified: int, _size: int
) -> tuple[Path, ...]:
    return read(path)


def _sheet_files(path: Path) -> tuple[Path, ...]:
    try:
        from python_calamine import CalamineError, load_workbook
    except ImportError:
        raise UserError(
            f"{path}: python-calamine is not installed: pip install "
            "'kgscout-jax[excel]'"
        ) from None
    try:
        with load_workbook(path) as book:
            sheets = [
                (name, book.get_sheet_by_name(name).to_python())
                for name in book.sheet_names
            ]
    except (CalamineError, OSError, ValueError) as error:
        raise UserError(f"{path}: no readable spreadsheet: {one_line(error)}") from None
    tables = [(name, rows) for name, cells in sheets if (rows := _table(cells))]
    if any(len(rows[0]) > 1 for _, rows in tables):  # Others are notes to readers.
        tables = [(name, rows) for name, rows in tables if len(rows[0]) > 1]
    if not tables:
        raise UserError(f"{path}: expected a sheet with a header and rows, found none")
    folder = folder_of_tables(path)
    return tuple(
        written_table(folder / f"{_stem(path, name, len(tables))}.csv", rows)
        for name, rows in tables
    )


def folder_of_tables(path: Path) -> Path:
    """An empty folder of a file's name for its tables; messages name the file."""
    folder = Path(tempfile.mkdtemp(dir=_folder().name)) / path.name
    folder.mkdir()
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    name_in_messages(str(folder), str(shown))
    return folder


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="kgscout-")


def _stem(path: Path, name: str, count: int) -> str:
    """What a sheet's file is called: as the spreadsheet, where nobody has named it."""
    if count == 1 and _UNNAMED.fullmatch(name):
        return path.stem
    return re.sub(r"[/\\:\x00]+", "_", name)


def written_table(path: Path, rows: Iterable[Sequence[Any]]) -> Path:
    """Write a table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)
    return path


def _table(cells: Sequence[Sequence[Any]]) -> list[list[str]]:
    """The table of a sheet, its header first; [] without rows.

    Blank rows and columns are left out, and a title above the header.
    """
    rows = [[cell_text(cell) for cell in row] for row in cells]
    rows = [row for row in rows if any(row)]
    filled = [sum(map(bool, row)) for row in rows[:_FIRST_ROWS]]
    first = next((i for i, n in enumerate(filled) if 2 * n > max(filled)), 0)
    rows = rows[first:]
    used = (
        [i for i in range(len(rows[0])) if any(row[i] for row in rows)] if rows else []
    )
    return [[row[i] for i in used] for row in rows] if len(rows) > 1 else []


def cell_text(cell: Any) -> str:
    """A cell as a table of text has it; "" for an empty one.

    >>> cell_text(12.0), cell_text(datetime.datetime(2024, 5, 1)), cell_text(True)
    ('12', '2024-05-01', 'true')
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return str(cell.date()) if is_day else cell.isoformat(sep=" ")
    return str(cell).strip()
