"""Statements of RDF files about the properties themselves, which are no facts.

    ex:capital a owl:ObjectProperty ; rdfs:domain ex:Country .
    wd:P36 wikibase:directClaim wdt:P36 .

As entities, properties would be taken for what a question names: "the capital of". What
files say of classes stays, because classes say what the entities are.
"""

from __future__ import annotations

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_WIKIBASE = "http://wikiba.se/ontology#"
_TYPE = f"{_RDF}type"
_VOCABULARIES = (_RDF, _RDFS, _OWL, _WIKIBASE)
"""Types from these say what part an entity has in the schema."""
_OF_PROPERTIES = frozenset((
    f"{_RDFS}domain", f"{_RDFS}range", f"{_RDFS}subPropertyOf", f"{_OWL}inverseOf",
    f"{_OWL}equivalentProperty", f"{_WIKIBASE}directClaim", f"{_WIKIBASE}propertyType",
))  # fmt: skip
_OF_FILES = frozenset((
    f"{_RDFS}isDefinedBy", f"{_OWL}versionInfo", f"{_OWL}imports",
))  # fmt: skip


class Schema:
    """Tells the statements of one file about its schema; knows its properties."""

    def __init__(self) -> None:
        self._properties = set[str]()

    def has(self, subject: str, predicate: str, object: str) -> bool:
        """Whether a statement is about the schema, or about a property seen before.

        Args:
            subject: an IRI, or a blank node.
            predicate: an IRI.
            object: an IRI, a blank node or the text of a literal.
        """
        if predicate == _TYPE and object.startswith(_VOCABULARIES):
            if object.endswith("Property"):
                self._properties.add(subject)
            return True
        if predicate in _OF_PROPERTIES:
            self._properties.add(subject)
        return (
            subject in self._properties
            or predicate in _OF_FILES
            or predicate.startswith(_WIKIBASE)
        )
