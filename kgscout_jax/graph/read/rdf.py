"""Streaming reader of RDF files through pyoxigraph, but for N-Triples."""

from __future__ import annotations

import codecs
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.inner_nodes import InnerNodes
from kgscout_jax.graph.read.jsonld_context import with_local_contexts
from kgscout_jax.graph.read.ntriples import (
    Cache,
    iri_name,
    literal_name,
    matches_language,
)
from kgscout_jax.graph.read.options import check_name
from kgscout_jax.graph.read.quantities import with_quantities
from kgscout_jax.graph.read.rdf_labels import (
    LABEL_IRIS,
    LabelSink,
    is_label,
    label_rank,
)
from kgscout_jax.graph.read.rdf_schema import Schema
from kgscout_jax.graph.read.streams import (
    file_scope,
    inner_name,
    one_line,
    open_bytes,
)
from kgscout_jax.graph.read.wikidata_labels import with_known_labels
from kgscout_jax.types import Triplet

FORMATS = {
    ".ttl": "TURTLE",
    ".trig": "TRIG",
    ".nq": "N_QUADS",
    ".n3": "N3",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".jsonld": "JSON_LD",
}
"""Suffix -> pyoxigraph's name of the format."""

_SAMPLE_BYTES = 1_024
"""The beginning of a file, which tells XML from Turtle."""
_GENERATED = re.compile(r"[0-9a-f]{20,32}")
"""A random label of the parser for an unlabelled node."""


def read_rdf(
    path: Path,
    notes: dict[str, int],
    language: str | None = None,
    labels: LabelSink | None = None,
    scope: str = "",
) -> Iterator[Triplet]:
    """The triplets of a file in one of the ``FORMATS``; named graphs are merged.

    Literals of ``LABEL_IRIS`` go to ``labels`` where there is one.

    Names are those of N-Triples; a ``scope`` begins those of labelled blank nodes.
    Unlabelled nodes are numbered in the order of the file, and those that are but a
    value with its unit are literals. Left out and counted in ``notes``:
    ``blank_triplets`` (a blank literal), ``other_language``, ``schema_triplets`` and
    ``quoted_triplets`` (a statement about a statement).

    Raises:
        UserError: (on iteration) the file is missing, damaged or no valid RDF.
    """
    unlabelled = f"_:{file_scope(path)}#"
    statements = _statements(path, notes, language, labels, scope)
    return with_quantities(statements, lambda name: name.startswith(unlabelled))


def _statements(
    path: Path,
    notes: dict[str, int],
    language: str | None,
    labels: LabelSink | None,
    scope: str,
) -> Iterator[Triplet]:
    """The triplets of ``read_rdf`` as they stand in the file."""
    try:
        import pyoxigraph as ox
    except ImportError:
        raise UserError(
            f"{path}: reading this format needs pyoxigraph (pip install pyoxigraph)"
        ) from None
    names, schema, inner = _Names(path, scope, labels), Schema(notes), InnerNodes()
    empty = True
    with open_bytes(path) as handle:
        start = handle.read(_SAMPLE_BYTES)
        marked = start.startswith(codecs.BOM_UTF8)
    format_name = _format_name(path, start.removeprefix(codecs.BOM_UTF8))
    format_ = getattr(ox.RdfFormat, format_name)
    with open_bytes(path) as stream:
        if marked:  # the parser takes the mark for a name
            stream.read(len(codecs.BOM_UTF8))
        is_jsonld = format_name == FORMATS[".jsonld"]
        handle = with_local_contexts(stream.read()) if is_jsonld else stream
        # IRIs are displayed by their last segment, so the base does not matter.
        quads = ox.parse(handle, format_, base_iri="file:///")
        while True:
            try:
                quad = next(quads, None)
            except SyntaxError as error:
                problem = _brief(one_line(error.args[0] if error.args else error))
                raise UserError(f"{path}:{error.lineno or 1}: {problem}") from None
            except ValueError as error:
                raise UserError(f"{path}: {one_line(error)}") from None
            if quad is None:
                break
            empty = False
            subject, predicate, tail = quad.subject, quad.predicate, quad.object
            if isinstance(tail, ox.Triple) or isinstance(subject, ox.Triple):
                notes["quoted_triplets"] = notes.get("quoted_triplets", 0) + 1
                continue
            if isinstance(tail, ox.Literal):
                if (
                    labels is not None
                    and predicate.value in LABEL_IRIS
                    and is_label(tail.value)
                ):
                    head = names.of(subject, ox.BlankNode)
                    rank = label_rank(tail.language, language, predicate.value)
                    labels(head, tail.value, rank)
                    continue
                if not matches_language(tail.language, language):
                    notes["other_language"] = notes.get("other_language", 0) + 1
                    continue
                end = literal_name(tail.value, tail.datatype.value)
                check_name(end, str(path))
                if not end.strip():
                    notes["blank_triplets"] = notes.get("blank_triplets", 0) + 1
                    continue
            else:
                end = names.of(tail, ox.BlankNode)
            head = names.of(subject, ox.BlankNode)
            triplet = head, names.of(predicate, ox.BlankNode), end
            terms = (
                head if isinstance(subject, ox.BlankNode) else subject.value,
                predicate.value,
                end if isinstance(tail, ox.BlankNode) else tail.value,
            )
            if inner.take(*terms, triplet):
                yield from inner.release()
                continue
            if not schema.take(*terms, triplet):
                yield triplet
    yield from schema.rest(inner.rest())
    if empty:
        raise UserError(f"{path}: holds no triplets")


def _format_name(path: Path, start: bytes) -> str:
    """The parser's name of a file's format; one of XML that is none is Turtle."""
    name = FORMATS.get(Path(inner_name(path)).suffix, FORMATS[".jsonld"])  # .json
    is_xml = re.match(rb"\s*<([?!]|[\w:]*RDF\b)", start)
    return FORMATS[".ttl"] if name == FORMATS[".rdf"] and not is_xml else name


def _brief(message: str) -> str:
    """The parser's message without its place, which the error names already."""
    return re.sub(
        r"^Parser error (?:at|between) line \d+ .*?: ", "not valid RDF: ", message
    )


class _Names:
    """Display names of IRIs and blank nodes of one file."""

    def __init__(self, path: Path, scope: str, labels: LabelSink | None) -> None:
        self._iri_names = Cache(with_known_labels(iri_name, labels))
        self._scope = f"{scope}#" if scope else ""
        # Labels in files cannot hold "/" or "#", so these names are unique. The folder
        # distinguishes files of the same name.
        self._stem = file_scope(path)
        self._numbers: OrderedDict[str, str] = OrderedDict()
        self._count = 0

    def of(self, node: Any, blank: type) -> str:
        """The name of an IRI or blank node."""
        if not isinstance(node, blank):
            return self._iri_names[node.value]
        label = node.value
        if not _GENERATED.fullmatch(label):
            return f"_:{self._scope}{label}"
        # Random labels would change the graph with every read. An unlabelled node only
        # occurs within its own statement, so old numbers can be dropped.
        name = self._numbers.get(label)
        if name is None:
            self._count += 1
            name = self._numbers[label] = f"_:{self._stem}#{self._count}"
            if len(self._numbers) > 1 << 20:
                self._numbers.popitem(last=False)
        return name
