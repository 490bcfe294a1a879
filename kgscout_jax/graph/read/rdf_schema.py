"""Statements of RDF files about the properties themselves, which are no facts.

    ex:capital a owl:ObjectProperty ; rdfs:domain ex:Country .
    wd:P36 wikibase:directClaim wdt:P36 .

As entities, properties would be taken for what a question names: "the capital of". What
files say of classes stays, because classes say what the entities are. That an entity is
a ``skos:Concept`` or a ``owl:NamedIndividual`` says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kgscout_jax.types import Triplet

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_WIKIBASE = "http://wikiba.se/ontology#"
_TYPE = f"{_RDF}type"
_NOTE = "schema_triplets"
_VOCABULARIES = (_RDF, _RDFS, _OWL, _SKOS, _WIKIBASE)
"""Types from these say what part an entity has in the schema, not what it is."""
_OF_PROPERTIES = frozenset((
    f"{_RDFS}domain", f"{_RDFS}range", f"{_RDFS}subPropertyOf", f"{_OWL}inverseOf",
    f"{_OWL}equivalentProperty", f"{_WIKIBASE}directClaim", f"{_WIKIBASE}propertyType",
))  # fmt: skip
_OF_FILES = frozenset((
    f"{_RDFS}isDefinedBy", f"{_OWL}versionInfo", f"{_OWL}imports",
))  # fmt: skip


class Schema:
    """Tells the statements of one file about its schema; knows its properties."""

    def __init__(self, notes: dict[str, int]) -> None:
        """Take the notes, whose ``schema_triplets`` counts what is left out."""
        self._notes = notes
        self._properties = set[str]()
        self._kinds: list[Triplet] = []
        """Types of entities, as long as the file has no facts."""
        self._has_facts = False

    def take(self, subject: str, predicate: str, object: str, triplet: Triplet) -> bool:
        """Whether a statement is about the schema, or about a property seen before.

        Args:
            subject: an IRI, or a blank node.
            predicate: an IRI.
            object: an IRI, a blank node or the text of a literal.
            triplet: the three by their names.
        """
        if predicate == _TYPE and object.startswith(_VOCABULARIES):
            if object.endswith("Property"):
                self._properties.add(subject)
            elif not self._has_facts and not object.startswith(_WIKIBASE):
                self._kinds.append(triplet)
        elif predicate in _OF_PROPERTIES:
            self._properties.add(subject)
        elif not (
            subject in self._properties
            or predicate in _OF_FILES
            or predicate.startswith(_WIKIBASE)
        ):
            self._has_facts = True
            self._kinds.clear()
            return False
        self._notes[_NOTE] = self._notes.get(_NOTE, 0) + 1
        return True

    def rest(self, facts: Iterable[Triplet]) -> Iterator[Triplet]:
        """The last facts of a file; of one without any, a list of concepts, the types
        of its entities."""
        for triplet in facts:
            self._has_facts = True
            yield triplet
        if not self._has_facts and self._kinds:
            self._notes[_NOTE] -= len(self._kinds)
            yield from self._kinds
