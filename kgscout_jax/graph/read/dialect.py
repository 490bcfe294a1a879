"""The dialects of text tables: separator and quoting."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

from kgscout_jax.graph.read.header_files import header_line
from kgscout_jax.graph.read.options import MAX_NAME
from kgscout_jax.graph.read.streams import inner_name, open_text

SAMPLE_CHARS = 1 << 20
SAMPLE_ROWS = 1000
"""The start of a file that decides about its layout."""

SEPARATIONS = {
    "\t": "tab-separated",
    ",": "comma-separated",
    ";": "semicolon-separated",
    "|": "bar-separated",
}
_OTHERS = ("^", "~", "::", "\x1f", "\x01")
"""Other separators, which count where lines of a file have as many of them."""
LEAST_ENCLOSED, SHARE_ENCLOSED = 3, 0.4
"""Lines with a triplet from which on a text is one of triplets, and their share."""
MOST_ENCLOSED = 2_000
"""Characters of a line with a triplet in a text."""
_SHARE = 0.95
"""Share of such lines; in others a separator may stand in quotes."""
TABLES = {".tsv": "\t", ".txt": "\t", ".csv": ",", ".sif": "\t"}
"""Suffix of a text table -> its usual column separator."""
SIF = ".sif"
"""The simple interaction format of Cytoscape."""


@dataclass(frozen=True)
class Dialect:
    """How a line is divided into cells."""

    separator: str
    quoted: bool
    """Whether cells may be in quotes, as spreadsheets write them."""
    several: bool = False
    """Whether further tails may follow the first (SIF of Cytoscape)."""

    enclosed: bool = False
    """Whether triplets stand in a text, as a language model writes them: lines of
    another form are left out."""

    def cells(self, line: str) -> list[list[str]]:
        """The rows of a line without quotes: one, or one for each tail.

        >>> Dialect(" ", False, True).cells("a binds b c\\n")
        [['a', 'binds', 'b'], ['a', 'binds', 'c']]
        """
        if self.enclosed:
            text = line.strip() if len(line) < MOST_ENCLOSED else ""
            found = _triplet_line(self.separator).fullmatch(text)
            return [] if found is None else [[*found.groups()]]
        row = line.rstrip("\n").split(self.separator)
        if not self.several:
            return [row]
        row = [cell for cell in row if cell]
        return [[*row[:2], tail] for tail in row[2:]]

    def rows(self, lines: Sequence[str]) -> list[list[str]] | None:
        """The rows of some lines without blank ones; None if they are not valid."""
        if not self.quoted:
            return [row for line in lines if line.strip() for row in self.cells(line)]
        csv.field_size_limit(MAX_NAME)
        try:
            reader = csv.reader(lines, delimiter=self.separator, strict=True)
            return [row for row in reader if row]
        except csv.Error:
            return None


@cache
def _triplet_line(separator: str) -> re.Pattern[str]:
    """A line with a triplet, perhaps in brackets and behind a number or a bullet."""
    part = rf"\s*(.+?)\s*{re.escape(separator)}"
    opening, closing = (r"[(\[<]", r"[)\]>]") if separator in "|,;" else ("", "")
    start = r"(?:[-*•]|\d+[.)])?\s*"
    return re.compile(rf"{start}{opening}{part}{part}\s*(.+?)\s*{closing}[.,;]?")


def enclosed_rows(lines: Sequence[str]) -> tuple[Dialect, list[list[str]]] | None:
    """The dialect of triplets in a text, and its rows; None for other tables.

    >>> text = ["Here they are:", "(Ann | is | old)", "- (a | b | c)", "(d | e | f)"]
    >>> enclosed_rows(text)[1][1:]
    [['a', 'b', 'c'], ['d', 'e', 'f']]
    """
    filled = [line for line in lines if line.strip()]
    for separator in ("|", "->", "→", ",", ";"):
        dialect = Dialect(separator, False, enclosed=True)
        rows = dialect.rows(filled) or []
        if len(rows) >= LEAST_ENCLOSED and len(rows) > SHARE_ENCLOSED * len(filled):
            return dialect, rows
    return None


def dialects(suffix: str) -> list[Dialect]:
    """The dialects of a file name, the usual one first."""
    if suffix == ".csv":
        return [Dialect(separator, True) for separator in ",;\t|"] + [
            Dialect("|", False)
        ]
    if suffix == SIF:  # Nodes without an edge stand alone on a line.
        return [Dialect("\t", False, True), Dialect(" ", False, True)]
    return [
        Dialect("\t", False),
        Dialect("\t", True),
        Dialect(",", True),
        Dialect(";", True),
        Dialect("|", False),
    ]


def separation(separator: str) -> str:
    """How cells are separated, in words.

    >>> separation(";"), separation("^")
    ('semicolon-separated', "'^'-separated")
    """
    return SEPARATIONS.get(separator, f"{separator!r}-separated")


def usual_dialect(path: Path) -> Dialect:
    """The dialect that the name of a text table says."""
    suffix = Path(inner_name(path)).suffix
    return Dialect(TABLES[suffix], suffix == ".csv", suffix == SIF)


def sample_rows(path: Path) -> dict[Dialect, list[list[str]]]:
    """The first rows in each dialect of a file's name that they are valid in.

    Raises:
        UserError: the file cannot be read.
    """
    lines, whole = _first_lines(path)
    if not header_line(path) and (found := enclosed_rows(lines)):
        return dict([found])
    others = [
        Dialect(separator, len(separator) == 1)
        for separator in _OTHERS
        if _separates(separator, lines)
    ]
    return {
        dialect: rows
        for dialect in [*dialects(Path(inner_name(path)).suffix), *others]
        if (rows := _rows(dialect, lines, whole))
    }


def _separates(separator: str, lines: Sequence[str]) -> bool:
    """Whether nearly all lines that are not blank have as many separators."""
    counts = Counter(line.count(separator) for line in lines if line.strip())
    count, share = counts.most_common(1)[0] if counts else (0, 0)
    return count > 0 and share >= _SHARE * counts.total()


def _first_lines(path: Path) -> tuple[list[str], bool]:
    """The first lines without a byte order mark, and whether these are all."""
    with open_text(path) as handle:
        text = handle.read(SAMPLE_CHARS)
    text = header_line(path) + text.removeprefix("\ufeff")
    # Not str.splitlines: it knows ends of lines that files do not.
    lines = io.StringIO(text, newline="\n").readlines()
    lines = lines[comment_lines(lines) :]
    whole = len(text) < SAMPLE_CHARS
    if not whole:
        lines.pop()
    return lines[:SAMPLE_ROWS], whole and len(lines) <= SAMPLE_ROWS


def comment_lines(lines: Sequence[str]) -> int:
    """How many of the lines at the start of a table are comments about it.

    They begin with ``#`` and have other columns than the first line that does not.

    Args:
        lines: from the start of the file, up to one that begins otherwise.

    >>> comment_lines(["# exported in May\\n", "id\\tname\\n"])
    1
    >>> comment_lines(["#id\\tname\\n", "1\\tAnna\\n"])
    0
    """
    marked = [*takewhile(is_comment, lines)]
    if not marked or len(marked) == len(lines):
        return 0
    table = _widths(lines[len(marked)])
    return len([*takewhile(lambda line: table.isdisjoint(_widths(line)), marked)])


def is_comment(line: str) -> bool:
    """Whether a line may be a comment."""
    return line.lstrip("\ufeff").startswith("#")


def _widths(line: str) -> set[tuple[str, int]]:
    """How often each separator stands in a line, of those that do."""
    counts = {(separator, line.count(separator)) for separator in SEPARATIONS}
    return {(separator, count) for separator, count in counts if count}


def _rows(
    dialect: Dialect, lines: Sequence[str], whole: bool
) -> list[list[str]] | None:
    """The rows of the lines; one in quotes that goes on beyond them is left out, and
    so are those without any text."""
    rows = dialect.rows(lines)
    while rows is None and not whole and len(lines) > 1:
        lines = lines[: len(lines) // 2]
        rows = dialect.rows(lines)
    return rows and [row for row in rows if any(map(str.strip, row))]
