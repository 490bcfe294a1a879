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
from kgscout_jax.graph.read.ntriples import iri_name, literal_name
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.types import Triplet

_NAMING = frozenset(
    "name|label|has name|has label|pref label|preferred label|preferred name|"
    "display name".split("|")
)
_BRACKETED = re.compile(r"<([^\s<>]+)>")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_LITERAL = re.compile(r'"(.*)"(?:\^\^(\S+)|@([A-Za-z0-9-]+))?', re.DOTALL)
TAGGED = r'^\s*"(?s:.*)"(\^\^\S+|@[A-Za-z0-9-]+)\s*$'
"""A literal with its type or language."""
_TAGGED = re.compile(TAGGED)
_OPAQUE = re.compile(OPAQUE)
_CLASS = re.compile(r"(?:wordnet|wikicat)_(\w+?)(?:_1\d{8})?")
"""A class of YAGO, with its number in WordNet."""
_UNKNOWN = re.compile(r"(?:-##)+$")
"""The month and the day of a date of YAGO that are not known."""
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
    >>> plain_triplet(("m.0d05w3", "location.name", '"China"@en'))
    ('m.0d05w3', 'location.name', 'China')
    """
    head, relation, tail = triplet
    bracketed = head.lstrip()[:1] == "<" and _BRACKETED.fullmatch(head.strip())
    if not bracketed and not is_rdf_relation(relation):
        quoted = tail.lstrip()[:1] == '"'
        if quoted and (_TAGGED.match(tail) or _OPAQUE.fullmatch(head)):
            return head, relation, _plain_term(tail)
        return triplet
    return _plain_term(head), _plain_term(relation), _plain_term(tail)


def literal_language(term: str) -> str | None:
    """The language of a literal; None of one without it, and of other terms.

    >>> literal_language('"China"@en')
    'en'
    """
    literal = _LITERAL.fullmatch(term.strip()) if "@" in term else None
    return literal[3] if literal else None


def _plain_term(term: str) -> str:
    """The name of an RDF term."""
    term = term.strip()
    if literal := _LITERAL.fullmatch(term):
        text, type_ = literal[1], (literal[2] or "").strip("<>")
        text = _UNKNOWN.sub("", literal_name(text, type_))
        return text if text.strip() else term
    found = _BRACKETED.fullmatch(term)
    inner = found[1] if found else term
    if of_yago := _CLASS.fullmatch(inner):
        return of_yago[1]
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
