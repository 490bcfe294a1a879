"""Triplets around entities from a SPARQL endpoint.

Terms come into a query as pyoxigraph writes them, which validates IRIs and escapes
literals. Queries are sent in the first of the protocol's three ways that the endpoint
takes: GET, a form, the query as the body.
"""

from __future__ import annotations

import logging
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Sequence
from typing import Any

import pyoxigraph as ox

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.rdf_labels import DEFAULT_LANGUAGE, LABEL_IRIS
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")

TERMS = 50
"""Entities in one query."""
GET_BYTES = 2000
"""Queries up to this length are sent by GET."""
OTHER_WAY = (400, 404, 405, 406, 411, 414, 415, 501)
"""Statuses after which another way of sending is tried."""
BUSY = (429, 502, 503, 504)
"""Statuses after which the same request is repeated."""
ATTEMPTS = 4

Statement = tuple[Any, Any, Any]
"""Subject, predicate and object as pyoxigraph's terms."""


class SparqlEndpoint:
    """An endpoint that answers SELECT queries."""

    def __init__(self, url: str, *, timeout: float = 60.0) -> None:
        """Raise UserError unless ``url`` is one of HTTP."""
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise UserError(f"--sparql: found {url!r}, expected http://... or https://")
        self.url, self.timeout = url, timeout
        self._ways = ["get", "form", "body"]

    def select(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a SELECT query.

        Raises:
            UserError: the endpoint cannot be reached, refuses the query or replies
                with something else.
        """
        ways = [way for way in self._ways if way != "get" or len(query) < GET_BYTES]
        for i, way in enumerate(ways):
            try:
                body, media = self._reply(way, query)
            except urllib.error.HTTPError as error:
                if error.code in OTHER_WAY and i + 1 < len(ways):
                    continue
                text = error.read(200).decode("utf-8", "replace").split("\n")[0]
                raise UserError(
                    f"--sparql: {self.url}: HTTP {error.code} ({text or error.reason})"
                ) from None
            except OSError as error:
                reason = getattr(error, "reason", None) or error
                raise UserError(
                    f"--sparql: {self.url}: cannot be reached ({reason})"
                ) from None
            if i:
                self._ways.remove(way)
                self._ways.insert(0, way)
            return self._rows(body, media)
        raise AssertionError("the last way returns or raises")

    def _reply(self, way: str, query: str) -> tuple[bytes, str]:
        """The body of the reply and its media type."""
        headers = {"Accept": "application/sparql-results+json"}
        url, data = self.url, None
        form = urllib.parse.urlencode({"query": query})
        if way == "get":
            url += ("&" if urllib.parse.urlsplit(url).query else "?") + form
        elif way == "form":
            data = form.encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        else:
            data = query.encode()
            headers["Content-Type"] = "application/sparql-query"
        request = urllib.request.Request(url, data, headers)
        for attempt in range(ATTEMPTS):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                    return reply.read(), reply.headers.get_content_type()
            except urllib.error.HTTPError as error:
                if error.code not in BUSY or attempt + 1 == ATTEMPTS:
                    raise
                wait = error.headers.get("Retry-After") or ""
                time.sleep(min(60.0, float(wait) if wait.isdigit() else 2.0**attempt))
        raise AssertionError("the last attempt returns or raises")

    def _rows(self, body: bytes, media: str) -> list[tuple[Any, ...]]:
        formats = ox.QueryResultsFormat
        kind = formats.from_media_type(media) or formats.JSON
        try:
            found = ox.parse_query_results(body, format=kind)
            if not isinstance(found, ox.QuerySolutions):
                raise ValueError(f"no rows but {type(found).__name__}")
            names = found.variables
            return [tuple(row[name] for name in names) for row in found]
        except (ValueError, SyntaxError) as error:
            raise UserError(
                f"--sparql: {self.url}: expected results of a SELECT query, found "
                f"{body[:60]!r} ({error})"
            ) from None


def find_entities(
    endpoint: SparqlEndpoint, names: Sequence[str], language: str | None
) -> list[ox.NamedNode]:
    """The entities with these IRIs or labels, each once.

    Raises:
        UserError: no entity has a label, or an IRI is malformed.
    """
    found: dict[ox.NamedNode, None] = {}
    for name in names:
        if "://" in name or name.startswith("urn:"):
            try:
                found[ox.NamedNode(name)] = None
            except ValueError as error:
                raise UserError(f"--entities: {name!r} is no IRI ({error})") from None
            continue
        labels = [ox.Literal(name), ox.Literal(name, language=_tag(language))]
        rows = endpoint.select(
            f"SELECT DISTINCT ?s WHERE {{ {_values('p', _label_terms())} "
            f"{_values('o', labels)} ?s ?p ?o }} LIMIT 100"
        )
        entities = [s for (s,) in rows if isinstance(s, ox.NamedNode)]
        if not entities:
            raise UserError(f"--entities: {endpoint.url} has nothing named {name!r}")
        found |= dict.fromkeys(entities)
    return list(found)


def fetch_ball(
    endpoint: SparqlEndpoint,
    entities: Iterable[ox.NamedNode],
    *,
    hops: int,
    limit: int = 10_000,
    language: str | None = None,
) -> list[Statement]:
    """The statements within ``hops`` steps of ``entities``, then labels of their terms.

    Args:
        endpoint: where to ask.
        entities: where to start.
        hops: steps, both ways; literals are not walked through.
        limit: the most rows of a reply; a query with as many is asked in halves, and
            of a single entity no more are taken, with a warning.
        language: of labels.
    """
    statements: dict[Statement, None] = {}
    frontier = list(dict.fromkeys(entities))
    seen = set(frontier)
    no_labels = f"FILTER(?p NOT IN ({', '.join(map(str, _label_terms()))}))"
    for hop in range(hops):
        found: list[Statement] = []
        with ProgressBar(len(frontier), f"hop {hop + 1}", "entities") as bar:
            for batch in _batches(frontier):
                for end in ("s", "o"):
                    found += _statements(endpoint, end, batch, limit, no_labels)
                bar.update(len(batch))
        statements |= dict.fromkeys(found)
        ends = dict.fromkeys(term for s, _, o in found for term in (s, o))
        frontier = [
            term for term in ends if isinstance(term, ox.NamedNode) and term not in seen
        ]
        seen |= set(frontier)
    predicates = [p for _, p, _ in statements]
    terms = list(dict.fromkeys([*seen, *predicates]))
    condition = f"{_values('p', _label_terms())} FILTER(isLiteral(?o)) " + (
        f'FILTER(lang(?o) = "" || langMatches(lang(?o), {ox.Literal(_tag(language))}))'
    )
    with ProgressBar(len(terms), "labels", "terms") as bar:
        for batch in _batches(terms):
            labels = _statements(endpoint, "s", batch, limit, condition)
            statements |= dict.fromkeys(labels)
            bar.update(len(batch))
    return list(statements)


def _batches(terms: Sequence[ox.NamedNode]) -> Iterable[list[ox.NamedNode]]:
    for low in range(0, len(terms), TERMS):
        yield list(terms[low : low + TERMS])


def _statements(
    endpoint: SparqlEndpoint,
    end: str,
    terms: Sequence[ox.NamedNode],
    limit: int,
    condition: str,
) -> list[Statement]:
    """The statements with one of ``terms`` as their subject (s) or object (o)."""
    query = (
        f"SELECT ?s ?p ?o WHERE {{ {_values(end, terms)} ?s ?p ?o {condition}}} "
        f"LIMIT {limit}"
    )
    rows = endpoint.select(query)
    if len(rows) < limit:
        return [(s, p, o) for s, p, o in rows]
    if len(terms) == 1:
        logger.warning("%s: only %d statements are taken", terms[0], limit)
        return [(s, p, o) for s, p, o in rows]
    half = len(terms) // 2
    return [
        statement
        for part in (terms[:half], terms[half:])
        for statement in _statements(endpoint, end, part, limit, condition)
    ]


def _values(name: str, terms: Iterable[Any]) -> str:
    return f"VALUES ?{name} {{ {' '.join(map(str, terms))} }}"


def _label_terms() -> list[ox.NamedNode]:
    return [ox.NamedNode(iri) for iri in sorted(LABEL_IRIS)]


def _tag(language: str | None) -> str:
    return (language or DEFAULT_LANGUAGE).lower()
