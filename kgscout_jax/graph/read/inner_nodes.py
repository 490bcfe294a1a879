"""Nodes of RDF that are no entities: statements of Wikibase, expressions of OWL."""

from __future__ import annotations

from collections.abc import Iterator

from kgscout_jax.graph.read.class_expressions import BLANK, ClassExpressions
from kgscout_jax.graph.read.wikibase_statements import Statements
from kgscout_jax.types import Triplet


class InnerNodes:
    """Collects the triplets of such nodes of one file, and gives what they say."""

    def __init__(self) -> None:
        self._statements = Statements()
        self._expressions = ClassExpressions()

    def take(self, subject: str, predicate: str, object: str, triplet: Triplet) -> bool:
        """Whether a triplet belongs to such a node, or may do; it is kept then.

        Args:
            subject: an IRI or a blank node.
            predicate: an IRI.
            object: an IRI, a blank node or the text of a literal.
            triplet: the three by their names.
        """
        terms = subject, predicate, object, triplet
        is_blank = subject.startswith(BLANK) or object.startswith(BLANK)
        if is_blank and self._expressions.take(*terms):
            return True
        return self._statements.take(*terms)

    def release(self) -> Iterator[Triplet]:
        """What the nodes say, where too many are held; else nothing."""
        if self._statements.is_full:
            yield from self._statements.release()
        if self._expressions.is_full:
            yield from self._expressions.release()

    def rest(self) -> Iterator[Triplet]:
        """What the nodes that are still held say."""
        yield from self._statements.rest()
        yield from self._expressions.release()
