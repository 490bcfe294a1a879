"""Names that RDF files give to their entities and properties."""

from __future__ import annotations

from collections.abc import Callable

from kgscout_jax.graph.read.options import MAX_NAME

LABEL_IRIS = frozenset(
    (
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://schema.org/name",
        "https://schema.org/name",
    )
)
"""Predicates whose literals are names."""

DEFAULT_LANGUAGE = "en"

LabelSink = Callable[[str, str, int], None]
"""Receives the id of an entity or property, a name of it, and the name's rank."""


def label_rank(tag: str | None, language: str | None) -> int:
    """How much a name in a language is preferred: 0 most.

    The chosen language (English by default), no language, English, another one.
    """
    tag = (tag or "").lower()
    chosen = (language or DEFAULT_LANGUAGE).lower()
    if tag == chosen or tag.startswith(chosen + "-"):
        return 0
    if not tag:
        return 1
    return 2 if tag.partition("-")[0] == DEFAULT_LANGUAGE else 3


def is_label(name: str) -> bool:
    """Whether a literal can be a name: not blank, and not over the limit."""
    return bool(name.strip()) and len(name) <= MAX_NAME
