"""Reader of N-Triples, and the display names of RDF terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.inner_nodes import InnerNodes
from kgscout_jax.graph.read.options import MAX_NAME, check_name
from kgscout_jax.graph.read.rdf_labels import (
    LABEL_IRIS,
    LabelSink,
    is_label,
    label_rank,
)
from kgscout_jax.graph.read.rdf_schema import Schema
from kgscout_jax.graph.read.streams import bounded_lines, open_text
from kgscout_jax.graph.read.wikidata_labels import with_known_labels
from kgscout_jax.types import Triplet

_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_IRI = rf'<([^\x00-\x20<>"{{}}|^`\\]*(?:(?:{_ESCAPE})[^\x00-\x20<>"{{}}|^`\\]*)*)>'
_NODE = r"(_:\w(?:[\w.\-]*[\w\-])?)"
_LITERAL = (
    rf'"([^"\\\r\n]*(?:(?:\\[tbnrf"\'\\]|{_ESCAPE})[^"\\\r\n]*)*)"'
    rf"(?:\^\^{_IRI}|@([A-Za-z]+(?:-[A-Za-z0-9]+)*))?"
)
_STATEMENT = re.compile(
    rf"[ \t]*(?:{_IRI}|{_NODE})[ \t]*{_IRI}[ \t]*(?:{_IRI}|{_NODE}|{_LITERAL})"
    r"[ \t]*\.[ \t]*(?:#.*)?\n?"
)
_IGNORED = re.compile(r"[ \t]*(?:#.*)?\n?")
_ESCAPED = re.compile(rf"{_ESCAPE}|\\.")
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def matches_language(tag: str | None, language: str | None) -> bool:
    """Whether a literal with this tag matches the language; en-GB matches ``en``."""
    if tag is None or language is None:
        return True
    tag, language = tag.lower(), language.lower()
    return tag == language or tag.startswith(language + "-")


def read_ntriples(
    path: Path,
    notes: dict[str, int],
    language: str | None = None,
    labels: LabelSink | None = None,
    scope: str = "",
) -> Iterator[Triplet]:
    """The triplets of an N-Triples file; datatypes and language tags are left out.

    Literals of ``LABEL_IRIS`` go to ``labels`` where there is one.

    A statement with a blank literal names no entity. It is left out and counted in
    ``notes["blank_triplets"]``, and one about the schema in ``schema_triplets``. A
    ``scope`` begins the names of blank nodes.
    """
    names = Cache(with_known_labels(iri_name, labels))
    schema, inner = Schema(notes), InnerNodes()
    empty = True
    with open_text(path) as handle:
        for number, line in enumerate(bounded_lines(path, handle), start=1):
            match = _STATEMENT.fullmatch(line)
            if match is None:
                if _IGNORED.fullmatch(line):
                    continue
                raise UserError(
                    f"{path}:{number}: not an N-Triples statement: expected <subject> "
                    "<predicate> <object> ."
                )
            subject, node, predicate, iri, other, literal, datatype, tag = (
                match.groups()
            )
            empty = False
            if scope:
                node, other = (
                    each and f"_:{scope}#{each[2:]}" for each in (node, other)
                )
            is_name = labels is not None and literal is not None
            is_name = is_name and predicate in LABEL_IRIS
            if tag is not None and not is_name and not matches_language(tag, language):
                notes["other_language"] = notes.get("other_language", 0) + 1
                continue
            try:
                head = node if subject is None else names[subject]
                relation = names[predicate]
                if iri is not None:
                    tail = names[iri]
                else:
                    tail = (
                        other
                        if literal is None
                        else literal_name(unescape(literal), datatype)
                    )
            except ValueError as error:
                raise UserError(f"{path}:{number}: {error}") from None
            if len(line) > MAX_NAME:
                for name in (head, relation, tail):
                    check_name(name, f"{path}:{number}")
            if labels is not None and is_name and is_label(tail):
                labels(head, tail, label_rank(tag, language, predicate))
                continue
            if not tail.strip():
                notes["blank_triplets"] = notes.get("blank_triplets", 0) + 1
                continue
            triplet = head, relation, tail
            terms = subject or head, predicate, iri or tail
            if inner.take(*terms, triplet):
                yield from inner.release()
                continue
            if not schema.take(*terms, triplet):
                yield triplet
    yield from schema.rest(inner.rest())
    if empty:
        raise UserError(f"{path}: holds no triplets")


XSD = "http://www.w3.org/2001/XMLSchema#"
_NUMBERS = frozenset(
    f"{XSD}{name}" for name in "decimal integer int long double float".split()
)
_POWER = re.compile(r"[+-]?\d+(?:\.\d+)?[eE][+-]?\d{1,2}")
"""A number in scientific notation."""
_MIDNIGHT = re.compile(r"T00:00:00(?:\.0+)?(?:Z|[+-]00:00)?$")


def literal_name(text: str, datatype: str | None) -> str:
    """The name of a literal: its text, as people write it.

    Wikidata's numbers have a plus sign, and its dates are times at midnight. Doubles in
    scientific notation, as processors of JSON-LD write them, are plain numbers.

    >>> literal_name("+1094", XSD + "decimal"), literal_name("+49", None)
    ('1094', '+49')
    >>> literal_name("1949-05-23T00:00:00Z", XSD + "dateTime")
    '1949-05-23'
    >>> literal_name("9.25E1", XSD + "double"), literal_name("1.2E6", XSD + "double")
    ('92.5', '1200000')
    """
    if datatype == f"{XSD}dateTime":
        return _MIDNIGHT.sub("", text)
    if datatype not in _NUMBERS:
        return text
    if _POWER.fullmatch(text):  # JSON-LD has 92.5 as 9.25E1
        return f"{Decimal(text):f}"
    return text.removeprefix("+")


CACHED = 1 << 20
"""Items at which a cache empties itself."""


class Cache(dict[str, str]):
    """A dict that computes missing values, of at most ``CACHED`` items."""

    def __init__(self, compute: Callable[[str], str]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: str) -> str:
        if len(self) >= CACHED:
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


_SPACES = frozenset(
    "resource entity entities id ids item items node nodes page wiki data object "
    "year month day date".split()
)
"""Words before a number that tell no rows of one table from those of another."""


def iri_name(iri: str) -> str:
    """The display name of an IRI: its last segment, percent-decoded.

    The segment follows the last ``#`` or ``/`` that is not at the end:
    ``http://www.wikidata.org/entity/Q42`` is Q42. A bare number has the word before it
    too: a table's rows are ``person/1`` and ``city/1``. Underscores stay. Other IRIs of
    different name spaces with the same last segment become one entity.

    >>> iri_name("http://ex.org/city/1"), iri_name("http://dbpedia.org/resource/1984")
    ('city/1', '1984')
    """
    text = unescape(iri)
    *before, last = re.split(r"[#/]", text.rstrip("#/"))
    name = unquote(last)
    owner = before[-1] if before else ""
    if last.isdecimal() and owner.isalpha() and owner.casefold() not in _SPACES:
        name = f"{owner}/{last}"
    return name if name.strip() else f"<{text}>"
