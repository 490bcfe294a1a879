"""The triplet files of a folder, for those who give the folder instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.formats import file_format
from kgscout_jax.graph.read.header_files import header_file, is_header_file
from kgscout_jax.graph.read.sqlite_tables import DATABASES, database_files
from kgscout_jax.graph.read.streams import inner_name
from kgscout_jax.graph.read.workbook import WORKBOOKS, sheet_files

_BUILT = ("manifest.json", "entities.txt")
"""Files of folders that are written by kgscout: graphs, and shards, finished or not."""
_QUESTIONS = re.compile(r"(train|dev|test)\.jsonl")
"""Names of files of questions, whose folder is no graph."""
_ABOUT = re.compile(
    r"\.|(readme|license|licence|changelog)(\.txt)?$|makefile$"
    r"|.*\.(md|rst|pdf|html?|sql|py|sh|ya?ml|log|png|svg|bib|cff)$"
)
"""Names of files that are hidden, or about the others."""


def graph_files(paths: Sequence[Path]) -> list[Path]:
    """Paths with each folder of triplet files replaced by its files, by name.

    And each spreadsheet by its sheets, each database of SQLite by its tables;
    ``x-header.csv`` is the header of ``x.csv``. A GRAPH folder stays, as do shards,
    questions and a folder without triplet files.
    Hidden files, and those about the others such as ``README.md``, are left out.

    Raises:
        UserError: a folder of triplet files holds a file of another format, or a
            spreadsheet or a database cannot be read.
    """
    files = [file for path in paths for file in _files_in(path)]
    tables = [each for file in files for each in _tables_of(file)]
    return [each for each in tables if not (each.is_file() and is_header_file(each))]


def source_files(paths: Sequence[Path]) -> list[Path]:
    """``graph_files`` and those of their headers: all that a graph is read from."""
    files = graph_files(paths)
    headers = (header_file(each) for each in files if each.is_file())
    return [*files, *dict.fromkeys(each for each in headers if each is not None)]


def _tables_of(file: Path) -> list[Path]:
    """The tables in a spreadsheet or a database; other files as they are."""
    if file.suffix.lower() in WORKBOOKS:
        return sheet_files(file)
    return database_files(file) if file.suffix.lower() in DATABASES else [file]


def _check_format(file: Path) -> None:
    """Raise UserError for a file of a format that is not read."""
    if file.suffix.lower() not in WORKBOOKS | DATABASES:
        file_format(file)


def _files_in(path: Path) -> list[Path]:
    """The triplet files in a folder; other paths as they are."""
    if not path.is_dir() or any((path / name).exists() for name in _BUILT):
        return [path]
    if any(_QUESTIONS.match(file.name) for file in path.iterdir()):
        return [path]
    files = sorted(
        file
        for file in path.iterdir()
        if file.is_file() and _ABOUT.match(inner_name(file)) is None
    )
    if not any(map(_is_triplet_file, files)):
        return [path]
    for file in files:
        _check_format(file)
    return files


def _is_triplet_file(file: Path) -> bool:
    """Whether a file has a format that is read."""
    try:
        _check_format(file)
    except UserError:
        return False
    return True
