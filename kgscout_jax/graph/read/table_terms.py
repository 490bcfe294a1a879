"""Rows of text tables that hold more than names: RDF terms, and names of identifiers.

YAGO's tables write ``<Albert_Einstein>`` and ``"1879-03-14"^^xsd:date``, exports of
RDF stores whole addresses. They are named as in N-Triples. A triplet such as ``DB00945,
name, Aspirin`` says how an identifier is called: it is a label of it, as
``rdfs:label`` is in RDF.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kgscout_jax.graph.opaque_names import OPAQUE
from kgscout_jax.graph.read.ntriples import iri_name
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.types import Triplet

_NAMING = frozenset(
    "name|label|has name|has label|pref label|preferred label|preferred name|"
    "display name".split("|")
)
_BRACKETED = re.compile(r"<([^\s<>]+)>")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_LITERAL = re.compile(r'"(.*)"(?:\^\^\S+|@[A-Za-z0-9-]+)?', re.DOTALL)
_CODE = re.compile(rf"{OPAQUE}|[^\W\d_]\w*:\S*\d\S*")
"""An opaque name, or one with the prefix of a vocabulary: CHEBI:15365."""
_RDF_RELATION = re.compile(r"\s*(<[^\s<>]+>|[A-Za-z][A-Za-z0-9+.-]*://\S+)\s*")
_IDENTIFIER = re.compile(rf"{OPAQUE}|\S*[^\W\d_]\S*\d{{3,}}|[0-9a-f-]{{16,}}")
"""A word that ends in three digits or more, or is opaque: no word that people use."""


def plain_triplet(triplet: Triplet) -> Triplet:
    """A row with names for RDF terms; others as they are.

    >>> plain_triplet(("<Ulm>", "<isLocatedIn>", "<Germany>"))
    ('Ulm', 'isLocatedIn', 'Germany')
    >>> plain_triplet(("Ada", "homepage", "http://ada.org/"))
    ('Ada', 'homepage', 'http://ada.org/')
    """
    head, relation, tail = triplet
    bracketed = head.lstrip()[:1] == "<" and _BRACKETED.fullmatch(head.strip())
    if not bracketed and not is_rdf_relation(relation):
        return triplet
    return _plain_term(head), _plain_term(relation), _plain_term(tail)


def _plain_term(term: str) -> str:
    """The name of an RDF term."""
    term = term.strip()
    if literal := _LITERAL.fullmatch(term):
        return literal[1] if literal[1].strip() else term
    found = _BRACKETED.fullmatch(term)
    inner = found[1] if found else term
    return iri_name(inner) if _ADDRESS.fullmatch(inner) else inner


def names_identifier(triplet: Triplet) -> bool:
    """Whether a triplet says how its head, an identifier, is called.

    >>> names_identifier(("DB00945", "name", "Aspirin"))
    True
    >>> names_identifier(("Aspirin", "name", "Aspirin 100 mg"))
    False

    A bare "label" may be one that a ticket bears:

    >>> names_identifier(("PROJ-1234", "label", "bug"))
    False
    """
    head, relation, _ = triplet
    if not is_naming(relation):
        return False
    pattern = _CODE if relation_words(relation) == ["label"] else _IDENTIFIER
    return pattern.fullmatch(head.strip()) is not None


@lru_cache(maxsize=1 << 14)
def is_rdf_relation(relation: str) -> bool:
    """Whether a relation is an RDF term: its row is one of RDF.

    >>> is_rdf_relation("<isLocatedIn>"), is_rdf_relation("located in")
    (True, False)
    """
    return _RDF_RELATION.fullmatch(relation) is not None


@lru_cache(maxsize=1 << 14)
def is_naming(relation: str) -> bool:
    """Whether a relation may say how its heads are called.

    >>> is_naming("hasName"), is_naming("record_label")
    (True, False)
    """
    if not relation.rstrip(">_ ").casefold().endswith(("name", "label")):
        return False
    return " ".join(relation_words(relation)) in _NAMING
