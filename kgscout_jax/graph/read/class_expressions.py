"""What ontologies in OWL say of classes by nodes without a name.

    ex:Feta rdfs:subClassOf [ a owl:Restriction ;
        owl:onProperty ex:madeFrom ; owl:someValuesFrom ex:SheepMilk ] .

That is the triplet (Feta, madeFrom, SheepMilk); so are a value (``owl:hasValue``), all
values, and each part of an intersection. What a class is not, and that it is one or the
other, is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kgscout_jax.types import Triplet

MOST_HELD = 1 << 18
"""Triplets that are held back at most; an expression stands near its class."""
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_OWL = "http://www.w3.org/2002/07/owl#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TYPE, _FIRST, _REST = (f"{_RDF}{name}" for name in ("type", "first", "rest"))
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_PROPERTY, _EQUIVALENT, _INTERSECTION, _MOST = (
    f"{_OWL}{name}"
    for name in (
        "onProperty", "equivalentClass", "intersectionOf", "maxQualifiedCardinality",
    )
)  # fmt: skip
_FILLERS = tuple(
    f"{_OWL}{name}"
    for name in ("someValuesFrom", "hasValue", "allValuesFrom", "onClass")
)
_SETS = frozenset((
    _INTERSECTION,
    *(f"{_OWL}{name}" for name in ("unionOf", "oneOf", "disjointUnionOf", "members")),
))  # fmt: skip
"""Predicates that lead to a list."""
_PARTS = _SETS.union((_PROPERTY, _MOST, *_FILLERS), (
    f"{_OWL}{name}" for name in (
        "complementOf", "hasSelf", "onProperties", "onDataRange", "onDatatype",
        "withRestrictions", "cardinality", "minCardinality", "maxCardinality",
        "qualifiedCardinality", "minQualifiedCardinality",
    )
))  # fmt: skip
"""Predicates of nodes that are expressions."""
_USES = _SETS.union((
    _SUBCLASS, _TYPE, _EQUIVALENT, f"{_OWL}disjointWith", f"{_OWL}complementOf",
))  # fmt: skip
"""Predicates of classes that may lead to one."""
BLANK = "_:"
"""What begins the names of blank nodes."""


class ClassExpressions:
    """Collects the class expressions of one file."""

    def __init__(self) -> None:
        self._expressions = defaultdict[str, dict[str, list[str]]](dict)
        """Node -> predicate -> names."""
        self._lists = defaultdict[str, dict[str, Triplet]](dict)
        """Node of a list -> ``rdf:first`` or ``rdf:rest`` -> its triplet."""
        self._uses: list[tuple[str, Triplet]] = []
        """Triplets of nodes that may be expressions, by their predicates."""
        self._count = 0

    def take(self, subject: str, predicate: str, object: str, triplet: Triplet) -> bool:
        """Whether a triplet may belong to an expression; it is kept then.

        Args:
            subject: an IRI or a blank node.
            predicate: an IRI.
            object: an IRI, a blank node or the text of a literal.
            triplet: the three by their names.
        """
        is_blank = subject.startswith(BLANK)
        if is_blank and predicate in _PARTS:
            fields = self._expressions[subject]
            fields.setdefault(predicate, []).append(triplet[2])
        elif is_blank and predicate in (_FIRST, _REST):
            self._lists[subject][predicate] = triplet
        elif predicate in _USES and (
            object.startswith(BLANK) or (is_blank and predicate != _TYPE)
        ):
            self._uses.append((predicate, triplet))
        else:  # a bound of numbers is no fact
            return is_blank and predicate.startswith(_XSD)
        self._count += 1
        return True

    @property
    def is_full(self) -> bool:
        """Whether what is held is to be released."""
        return self._count >= MOST_HELD

    def release(self) -> Iterator[Triplet]:
        """The triplets that the expressions say, and those of other nodes."""
        of_expressions = {
            node
            for fields in self._expressions.values()
            for names in fields.values()
            for name in names
            for node in self._nodes_of_list(name)
        }
        for predicate, triplet in self._uses:
            head, relation, tail = triplet
            if head in self._expressions:
                continue
            if predicate in _SETS:  # of a class with a name
                of_expressions.update(self._nodes_of_list(tail))
                if predicate == _INTERSECTION:
                    yield from self._all_said(head, tail, "subClassOf", frozenset())
            elif tail not in self._expressions:
                yield triplet
            elif predicate in (_SUBCLASS, _EQUIVALENT, _TYPE):
                of_class = relation if predicate == _TYPE else "subClassOf"
                yield from self._said(head, tail, of_class, frozenset())
        for node, triplets in self._lists.items():
            if node not in of_expressions:
                yield from triplets.values()
        self._expressions.clear()
        self._lists.clear()
        self._uses.clear()
        self._count = 0

    def _said(
        self, head: str, node: str, of_class: str, above: frozenset[str]
    ) -> Iterator[Triplet]:
        """What an expression says of a class; ``above`` are those that it is in."""
        if node in above:
            return
        fields, above = self._expressions[node], above | {node}
        for relation in fields.get(_PROPERTY, ()):
            if relation.startswith(BLANK) or _MOST in fields:
                continue  # an inverse property; at most so many, or none
            for filler in (tail for name in _FILLERS for tail in fields.get(name, ())):
                for tail in self._named(filler, above):
                    yield head, relation, tail
        for first in fields.get(_INTERSECTION, ()):
            yield from self._all_said(head, first, of_class, above)

    def _all_said(
        self, head: str, first: str, of_class: str, above: frozenset[str]
    ) -> Iterator[Triplet]:
        """What all parts of an intersection say of a class."""
        for member in self._members(first):
            if member in self._expressions:
                yield from self._said(head, member, of_class, above)
            elif not member.startswith(BLANK):
                yield head, of_class, member

    def _named(self, node: str, above: frozenset[str]) -> Iterable[str]:
        """The names that an expression lists; of a name itself."""
        if node not in self._expressions:
            yield node
        elif node not in above:
            fields = self._expressions[node].items()
            lists = [names for name, names in fields if name in _SETS]
            for member in (each for names in lists for each in self._members(*names)):
                yield from self._named(member, above | {node})

    def _members(self, *firsts: str) -> list[str]:
        """The members of lists, by their first nodes."""
        nodes = [self._lists[n] for first in firsts for n in self._nodes_of_list(first)]
        return [triplets[_FIRST][2] for triplets in nodes if _FIRST in triplets]

    def _nodes_of_list(self, first: str) -> list[str]:
        """The nodes of a list; [] for another node."""
        nodes: dict[str, None] = {}
        while first in self._lists and first not in nodes:
            nodes[first] = None
            rest = self._lists[first].get(_REST)
            first = rest[2] if rest else ""
        return [*nodes]
