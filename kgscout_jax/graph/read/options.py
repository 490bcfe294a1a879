"""Options of reading triplet files, and the limits of what they may hold."""

from __future__ import annotations

import csv
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgscout_jax.errors import UserError

logger = logging.getLogger("kgscout")

MAX_NAME = 1 << 20
"""Characters of the longest name."""
MAX_LINE = 1 << 23
"""Characters of the longest line, and of the longest row of a table."""
_ABBREVIATIONS = "n.a.", "k.A.", "k. A.", "k.a.", "n.v.", "n. v.", "n.d.", "n.c."
"""In small letters: N.V. is a firm, and N.D. and N.C. are states."""
_NO_VALUE = (
    "n/a", "s/o", "s/d", "keine Angabe", "keine Angaben", "non renseigné",
    "non renseignée", "non communiqué", "sin dato", "sin datos", "no data",
)  # fmt: skip
MISSING = frozenset(
    ("NULL", "null", "#N/A", "NaN", "nan", "<NA>", "None", "\\N", *_ABBREVIATIONS)
).union(*((s, s.lower(), s.capitalize(), s.title(), s.upper()) for s in _NO_VALUE))
"""What databases, data frames and people write for a missing value: "n/a", and in
German, French and Spanish "keine Angabe", "non renseigné" and "sin datos"."""
NA = "NA"
"""What R writes for it, and what may be a code."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What is read of a file, and how; the defaults suit most files."""

    columns: Sequence[str] = ()
    """The columns of head, relation and tail: names, or numbers from 1. Instead of a
    column, ``=NAME`` is the relation of all rows."""
    properties: bool = False
    """Whether properties and columns that say how nodes and edges are drawn, or where
    an edge is from, become triplets. Others do unless ``columns`` are chosen."""
    language: str | None = None
    """Select RDF literals of this language and those without one; names in it are
    preferred."""

    def __post_init__(self) -> None:
        if self.columns and (
            isinstance(self.columns, str)
            or len(self.columns) != 3
            or not all(isinstance(name, str) and name.strip() for name in self.columns)
        ):
            raise UserError(
                "columns: expected three, of head, relation and tail, found "
                f"{excerpt(self.columns)}"
            )


def parse_columns(text: str | None) -> tuple[str, ...]:
    """The columns of ``--columns``: names separated by commas, quoted as in CSV.

    Raises:
        UserError: they are not three.
    """
    if text is None:
        return ()
    names = tuple(name.strip() for name in next(csv.reader([text]), []))
    if len(names) != 3 or not all(names):
        raise UserError(
            "--columns: expected three columns, HEAD,RELATION,TAIL, found "
            f"{excerpt(text)}"
        )
    return names


def excerpt(value: object, most: int = 60) -> str:
    """The start of a value as one line, without control characters."""
    text = repr(value[: most + 1] if isinstance(value, str) else value)
    return text if len(text) <= most + 2 else text[:most] + "..."


def check_name(name: str, where: str) -> None:
    """Raise UserError if a name is longer than the limit; ``where``: file and line."""
    if len(name) > MAX_NAME:
        raise UserError(
            f"{where}: a name of {len(name):,} characters, expected at most "
            f"{MAX_NAME:,}: {excerpt(name, 30)}"
        )


def tell_missing(path: Path, left_out: Counter[str]) -> None:
    """Log how many rows of a file have which missing values at an end."""
    if left_out:
        count, values = left_out.total(), ", ".join(sorted(left_out))
        rows = "1 row has" if count == 1 else f"{count:,} rows have"
        left = "is" if count == 1 else "are"
        logger.info(
            "%s: %s no value at an end (%s), %s left out", path, rows, values, left
        )
