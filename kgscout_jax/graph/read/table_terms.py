"""Rows of text tables that hold more than names: RDF terms, and names of identifiers.

YAGO's tables write ``<Albert_Einstein>`` and ``"1879-03-14"^^xsd:date``, exports of
RDF stores whole addresses. They are named as in N-Triples. ConceptNet's terms are
``/c/en/ice_cream/n``, NELL's ``concept:city:new_york``. A triplet such as ``DB00945,
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
_CONCEPT = re.compile(r"/c/[a-z_-]+/([^/\s]+)(?:/\S*)?|/r/(\S+)")
"""A term or a relation of ConceptNet."""
BELIEFS = "concept:"
"""Entities, classes and relations of NELL; digits at the start follow an n."""
_NUMBERED = re.compile(r"concept:[a-z0-9_]+:n(\d\S*)")
GENERALIZATIONS = "generalizations"
"""The relation of NELL's entities to their classes."""
_KGTK_TEXT = re.compile(r"'(.*)'@[A-Za-z-]+", re.DOTALL)
_KGTK_TIME = re.compile(r"\^(-?\d{4,})-(\d\d)-(\d\d)T[\d:.]*Z?(?:/(\d+))?")
_KGTK_QUANTITY = re.compile(r"\+?(-?\d+(?:\.\d+)?)(?:\[[^\]]*\])?(?:Q\d+)?")
_YEARS, _MONTHS = 9, 10
"""Precisions of times of Wikidata."""
_CODE = re.compile(rf"{OPAQUE}|[^\W\d_]\w*:\S*\d\S*")
"""An opaque name, or one with the prefix of a vocabulary: CHEBI:15365."""
_RDF_RELATION = re.compile(r"\s*(<[^\s<>]+>|[A-Za-z][A-Za-z0-9+.-]*://\S+|/r/\S+)\s*")
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
    >>> plain_triplet(("/c/en/ice_cream/n", "/r/IsA", "/c/en/food"))
    ('ice cream', 'IsA', 'food')
    >>> plain_triplet(("concept:city:rome", "concept:incountry", "concept:country:it"))
    ('concept:city:rome', 'incountry', 'concept:country:it')
    """
    head, relation, tail = triplet
    if head.startswith(BELIEFS):
        return _belief(triplet)
    bracketed = head.lstrip()[:1] == "<" and _BRACKETED.fullmatch(head.strip())
    if not bracketed and not is_rdf_relation(relation):
        quoted = tail.lstrip()[:1] == '"'
        if quoted and (_TAGGED.match(tail) or _OPAQUE.fullmatch(head)):
            return head, relation, plain_term(tail)
        return triplet
    return plain_term(head), plain_term(relation), plain_term(tail)


def _belief(triplet: Triplet) -> Triplet:
    """A row of NELL; its entities keep their ids, see ``belief_name``."""
    head, relation, tail = triplet
    if relation == GENERALIZATIONS:
        return head, "type", tail.removeprefix(BELIEFS)
    return head, relation.removeprefix(BELIEFS), tail


def belief_name(id: str) -> str | None:
    """What an entity of NELL is called; None for other names.

    >>> belief_name("concept:city:new_york"), belief_name("concept:date:n1976")
    ('new york', '1976')
    """
    if not id.startswith(BELIEFS) or id.count(":") < 2:
        return None
    if found := _NUMBERED.fullmatch(id):
        return found[1]
    return id.rpartition(":")[2].replace("_", " ").strip() or None


def kgtk_triplet(triplet: Triplet) -> Triplet:
    """A row of a file of KGTK with its literals as text.

    >>> kgtk_triplet(("Q90", "P571", "^0508-01-01T00:00:00Z/9"))
    ('Q90', 'P571', '0508')
    >>> kgtk_triplet(("Q90", "P2044", "+28Q11573")), kgtk_triplet(("a", "b", "'Ö'@de"))
    (('Q90', 'P2044', '28'), ('a', 'b', 'Ö'))
    """
    head, relation, tail = triplet
    if time := _KGTK_TIME.fullmatch(tail):
        precision = int(time[4] or _MONTHS + 1)
        count = 1 if precision <= _YEARS else 2 if precision == _MONTHS else 3
        return head, relation, "-".join(time.groups()[:count])
    if quantity := _KGTK_QUANTITY.fullmatch(tail):
        return head, relation, quantity[1]
    return head, relation, plain_term(tail)


def literal_language(term: str) -> str | None:
    """The language of a literal; None of one without it, and of other terms.

    >>> literal_language('"China"@en')
    'en'
    """
    literal = _LITERAL.fullmatch(term.strip()) if "@" in term else None
    return literal[3] if literal else None


def plain_term(term: str) -> str:
    """The name of an RDF term, or of one of ConceptNet or KGTK; others as they are."""
    term = term.strip()
    if found := _CONCEPT.fullmatch(term):
        return (found[1] or found[2]).replace("_", " ")
    if found := _KGTK_TEXT.fullmatch(term):
        return found[1]
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
