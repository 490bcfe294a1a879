"""Reader of label files: TSV or CSV with id and name, optionally compressed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.columns import numbered_rows
from kgscout_jax.graph.read.dialect import TABLES
from kgscout_jax.graph.read.ntriples import iri_name
from kgscout_jax.graph.read.streams import COMPRESSED, inner_name

HEADERS = (
    ("id", "name"),
    ("id", "label"),
    ("entity", "name"),
    ("entity", "label"),
    ("relation", "name"),
    ("relation", "label"),
)
"""Headers, in any case."""

ROWS = 1 << 16
"""Labels per batch."""


def label_batches(
    path: Path, notes: dict[str, int]
) -> Iterator[tuple[list[str], list[str]]]:
    """Batches of ids and names of one file.

    Rows without a name are left out and counted in ``notes["blank_labels"]``.

    Raises:
        UserError: (on iteration) the file is missing, empty or malformed.
    """
    if path.is_dir():
        raise UserError(f"{path}: expected a file of labels, found a folder")
    suffix = Path(inner_name(path)).suffix
    if suffix not in TABLES:
        raise UserError(
            f"{path}: unknown label format; expected {', '.join(TABLES)} with id and "
            f"name (each also with {', '.join(COMPRESSED)})"
        )
    empty = True
    rows = _rows(path, TABLES[suffix])
    while batch := list(itertools.islice(rows, ROWS)):
        empty = False
        named = [row for row in batch if row[1].strip()]
        notes["blank_labels"] = notes.get("blank_labels", 0) + len(batch) - len(named)
        yield [row[0] for row in named], [row[1] for row in named]
    if empty:
        raise UserError(f"{path}: holds no labels")


def _rows(path: Path, separator: str) -> Iterator[list[str]]:
    """Rows of two cells, the first not blank; a header is skipped."""
    first = True
    for number, cells in numbered_rows(path, separator):
        if len(cells) != 2:
            raise UserError(
                f"{path}:{number}: expected 2 columns, id and name, found {len(cells)}"
            )
        header = first and tuple(cell.strip().lower() for cell in cells) in HEADERS
        first = False
        if header:
            continue
        if not cells[0].strip():
            raise UserError(f"{path}:{number}: the id is empty")
        yield cells


def relation_names(relation: str) -> list[str]:
    """The spellings of a relation in files, for a name, an IRI or ``rdfs:label``.

    Raises:
        UserError: it is blank.
    """
    if not relation.strip():
        raise UserError("--label-relation: expected a relation, found a blank one")
    bare = relation.strip().removeprefix("<").removesuffix(">")
    names = [relation, bare]
    if re.fullmatch(r"[\w.-]*:[^/:\s]+", bare):  # a prefixed name
        names.append(bare.partition(":")[2])
    elif "/" in bare and "\\" not in bare:
        names.append(iri_name(bare))
    return list(dict.fromkeys(names))
