"""Files of triplets: TSV, CSV, N-Triples, parquet, the text formats also as .gz."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from data_prep.sources.parquet import batches, is_string, open_parquet, strings
from kgscout_jax.errors import UserError
from kgscout_jax.files import open_text
from kgscout_jax.records import Triplet

HEADERS = (("head", "relation", "tail"), ("subject", "predicate", "object"))
"""Column names that are recognised, in any case and order."""

PARQUET_ROWS = 1 << 16
"""Rows decoded at a time."""


def read_triplets(path: Path, notes: dict[str, int] | None = None) -> Iterator[Triplet]:
    """The triplets of one file, streaming, as they stand there.

    Args:
        path: the format is told by the name: ``.tsv``, ``.txt`` (tab-separated, no
            quoting), ``.csv``, ``.nt``, each also with ``.gz``; ``.parquet``. In TSV
            and CSV a first line head, relation, tail or subject, predicate, object is
            a header; in parquet such columns are used, else the first three that hold
            strings. In N-Triples an IRI is shown by its last segment, see
            ``iri_name``, a literal by its lexical value.
        notes: ``blank_triplets`` counts the N-Triples statements that are left out for
            a blank literal. Elsewhere an empty name is an error.

    Raises:
        UserError: (on iteration) the file is missing, empty or malformed.
    """
    notes = {} if notes is None else notes
    if path.is_dir():
        raise UserError(f"{path}: expected a triplet file, found a folder")
    kind = Path(path.name.removesuffix(".gz")).suffix.lower()
    if kind in (".tsv", ".txt"):
        return read_tsv(path)
    if kind == ".csv":
        return read_csv(path)
    if kind == ".nt":
        return read_ntriples(path, notes)
    if kind == ".parquet" and path.suffix != ".gz":
        return read_parquet(path)
    raise UserError(
        f"{path}: unknown triplet format; expected .tsv, .txt, .csv or .nt (each also "
        "with .gz) or .parquet"
    )


def column_order(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Positions of head, relation and tail if these cells name them, else None."""
    lowered = [cell.strip().lower() for cell in cells]
    for header in HEADERS:
        if all(name in lowered for name in header):
            head, relation, tail = map(lowered.index, header)
            return head, relation, tail
    return None


def read_tsv(path: Path) -> Iterator[Triplet]:
    """The triplets of a tab-separated file; quotes are ordinary letters."""
    with open_text(path) as handle:
        rows = (
            (number, line.rstrip("\n").split("\t"))
            for number, line in enumerate(handle, start=1)
            if line.strip()
        )
        yield from _three_columns(path, rows, "tab-separated")


def read_csv(path: Path) -> Iterator[Triplet]:
    """The triplets of a comma-separated file, quoted as spreadsheets do."""
    with open_text(path) as handle:
        reader = csv.reader(handle, strict=True)
        rows = ((reader.line_num, row) for row in reader if row)
        try:
            yield from _three_columns(path, rows, "comma-separated")
        except csv.Error as error:
            raise UserError(
                f"{path}:{reader.line_num}: not valid CSV ({error})"
            ) from None


def _three_columns(
    path: Path, rows: Iterator[tuple[int, list[str]]], kind: str
) -> Iterator[Triplet]:
    """Rows of three names in the order head, relation, tail; a header is left out."""
    h, r, t = 0, 1, 2
    first, empty = True, True
    for number, cells in rows:
        if len(cells) != 3:
            raise UserError(
                f"{path}:{number}: expected 3 {kind} columns, found {len(cells)}"
            )
        if first:
            first = False
            cells[0] = cells[0].removeprefix("\ufeff")
            if order := column_order(cells):
                h, r, t = order
                continue
        head, relation, tail = cells[h], cells[r], cells[t]
        if not (head.strip() and relation.strip() and tail.strip()):
            raise UserError(f"{path}:{number}: {_blank(head, relation)} is empty")
        empty = False
        yield head, relation, tail
    if empty:
        raise UserError(f"{path}: holds no triplets")


def _blank(head: str, relation: str) -> str:
    """Which of the three is blank."""
    if not head.strip():
        return "the head"
    return "the tail" if relation.strip() else "the relation"


_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_IRI = rf'<([^\x00-\x20<>"{{}}|^`\\]*(?:(?:{_ESCAPE})[^\x00-\x20<>"{{}}|^`\\]*)*)>'
_NODE = r"(_:\w(?:[\w.\-]*[\w\-])?)"
_LITERAL = (
    rf'"([^"\\\r\n]*(?:(?:\\[tbnrf"\'\\]|{_ESCAPE})[^"\\\r\n]*)*)"'
    rf"(?:\^\^{_IRI}|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?"
)
_STATEMENT = re.compile(
    rf"[ \t]*(?:{_IRI}|{_NODE})[ \t]*{_IRI}[ \t]*(?:{_IRI}|{_NODE}|{_LITERAL})"
    r"[ \t]*\.[ \t]*(?:#.*)?\n?"
)
_IGNORED = re.compile(r"[ \t]*(?:#.*)?\n?")
_ESCAPED = re.compile(rf"{_ESCAPE}|\\.")
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def read_ntriples(path: Path, notes: dict[str, int]) -> Iterator[Triplet]:
    """The triplets of an N-Triples file; datatypes and language tags are left out.

    A statement whose literal is blank names no entity: it is counted in
    ``notes["blank_triplets"]`` and left out.
    """
    shown = _Cache(iri_name)
    empty = True
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            match = _STATEMENT.fullmatch(line)
            if match is None:
                if _IGNORED.fullmatch(line):
                    continue
                raise UserError(
                    f"{path}:{number}: not an N-Triples statement: expected <subject> "
                    "<predicate> <object> ."
                )
            subject, node, predicate, iri, other, literal, _ = match.groups()
            try:
                head = node if subject is None else shown[subject]
                relation = shown[predicate]
                if iri is not None:
                    tail = shown[iri]
                else:
                    tail = other if literal is None else unescape(literal)
            except ValueError as error:
                raise UserError(f"{path}:{number}: {error}") from None
            empty = False
            if not tail.strip():
                notes["blank_triplets"] = notes.get("blank_triplets", 0) + 1
                continue
            yield head, relation, tail
    if empty:
        raise UserError(f"{path}: holds no triplets")


class _Cache(dict[str, str]):
    """A dict that computes what it lacks; it forgets everything when it grows large."""

    def __init__(self, compute: Callable[[str], str], limit: int = 1 << 20) -> None:
        super().__init__()
        self._compute = compute
        self._limit = limit

    def __missing__(self, key: str) -> str:
        if len(self) >= self._limit:
            self.clear()
        value = self[key] = self._compute(key)
        return value


def unescape(text: str) -> str:
    """A literal or IRI without its N-Triples escapes.

    Raises:
        ValueError: an escape names no character.
    """
    return _ESCAPED.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(match: re.Match[str]) -> str:
    """The character of one escape."""
    escape = match[0]
    if escape[1] not in "uU":
        return _LETTERS.get(escape[1], escape[1])
    code = int(escape[2:], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"the escape {escape} names no character")
    return chr(code)


def iri_name(iri: str) -> str:
    """The name an IRI is shown by: its last segment, percent-decoded.

    The segment is what follows the last ``#`` or ``/`` (one at the very end aside):
    ``http://www.wikidata.org/entity/Q42`` is Q42. Underscores stay; IRIs of different
    name spaces with one last segment become one entity.
    """
    text = unescape(iri)
    name = unquote(re.split(r"[#/]", text.rstrip("#/"))[-1])
    return name if name.strip() else f"<{text}>"


def read_parquet(path: Path) -> Iterator[Triplet]:
    """The triplets of a parquet file."""
    file = open_parquet(path)
    schema = file.schema_arrow
    textual = [field.name for field in schema if is_string(field.type)]
    order = column_order(schema.names)
    columns = [schema.names[i] for i in order] if order else textual[:3]
    if len(columns) < 3 or not set(columns) <= set(textual):
        found = ", ".join(f"{field.name} ({field.type})" for field in schema)
        raise UserError(
            f"{path}: expected string columns head, relation, tail, found {found}"
        )
    before = 0
    for batch in batches(path, file, columns, PARQUET_ROWS):
        names = []
        for column in columns:
            array = batch.column(column)
            if array.null_count:
                row = array.is_null().to_pylist().index(True) + before + 1
                raise UserError(f"{path}: row {row}: column {column!r} is null")
            values = strings(path, array)
            if not all(map(str.strip, values)):
                row = next(i for i, v in enumerate(values) if not v.strip())
                raise UserError(
                    f"{path}: row {row + before + 1}: column {column!r} is empty"
                )
            names.append(values)
        yield from zip(*names, strict=True)
        before += batch.num_rows
    if not before:
        raise UserError(f"{path}: holds no triplets")
