"""Names that RDF files give to their entities and properties."""

from __future__ import annotations

from collections.abc import Callable

from kgscout_jax.graph.read.options import MAX_NAME

LABEL_IRIS = {
    "http://www.w3.org/2000/01/rdf-schema#label": 0,
    "http://www.w3.org/2004/02/skos/core#prefLabel": 0,
    "http://schema.org/name": 0,
    "https://schema.org/name": 0,
    "http://xmlns.com/foaf/0.1/name": 1,
    "http://www.w3.org/2006/vcard/ns#fn": 1,
    "http://www.geonames.org/ontology#name": 1,
    "http://purl.org/dc/terms/title": 1,
    "http://purl.org/dc/elements/1.1/title": 1,
    "http://purl.org/goodrelations/v1#name": 1,
    "http://www.w3.org/ns/org#name": 1,
    "http://rdfs.org/sioc/ns#name": 1,
}
"""Predicates whose literals are names, and whether others are preferred."""
_CHOSEN, _UNTAGGED, _ENGLISH, KNOWN, _OTHER = range(5)
"""Ranks of the names of one predicate, and of ``KNOWN`` ones that no file gives."""
_RANKS = 5

DEFAULT_LANGUAGE = "en"

LabelSink = Callable[[str, str, int], None]
"""Receives the id of an entity or property, a name of it, and the name's rank."""


def label_rank(tag: str | None, language: str | None, predicate: str = "") -> int:
    """How much a name in a language is preferred: 0 most.

    The chosen language (English by default), no language, English, a known name,
    another language; behind these the names of predicates that are not preferred.
    """
    return _RANKS * LABEL_IRIS.get(predicate, 0) + _language_rank(tag, language)


def _language_rank(tag: str | None, language: str | None) -> int:
    tag = (tag or "").lower()
    chosen = (language or DEFAULT_LANGUAGE).lower()
    if tag == chosen or tag.startswith(chosen + "-"):
        return _CHOSEN
    if not tag:
        return _UNTAGGED
    return _ENGLISH if tag.partition("-")[0] == DEFAULT_LANGUAGE else _OTHER


def is_label(name: str) -> bool:
    """Whether a literal can be a name: not blank, and not over the limit."""
    return bool(name.strip()) and len(name) <= MAX_NAME
