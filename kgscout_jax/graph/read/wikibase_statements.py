"""Statements of Wikibase in RDF, which have a node each.

    wd:Q1037 wdt:P166 wd:Q44585 ; p:P166 wds:Q1037-A00F .
    wds:Q1037-A00F ps:P166 wd:Q44585 ; pq:P585 "1911" ; prov:wasDerivedFrom wdref:4f5e .

Each is the plain triplet that ``wdt:P166`` says too. One with qualifiers is also a row
without a name, ``_:Q1037-A00F``, between both ends. References are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from kgscout_jax.graph.read.edge_rows import SOURCE
from kgscout_jax.types import Triplet

MOST_HELD = 1 << 18
"""Statements that are held back at most; each stands near its item in dumps."""
_STATEMENT = "/entity/statement/"
_DATA = "/Special:EntityData/"
_OTHERS = re.compile(rf"/reference/[0-9a-f]{{40}}|/value/[0-9a-f]{{32}}|{_DATA}\S+")
"""References, values with their units, and pages of data."""
_PROPERTY = re.compile(r"\S+/prop/(?:(\S+)/)?P\d+")
_NORMALIZED = "/prop/direct-normalized/"
"""An identifier as an IRI, beside its text."""
_UNKNOWN = "/.well-known/genid/"
"""A value that nobody knows."""
_RANK = "http://wikiba.se/ontology#rank"
_DEPRECATED = "http://wikiba.se/ontology#DeprecatedRank"
_BEST = "http://wikiba.se/ontology#BestRank"
"""The type of statements that are not behind another one of their property."""


@dataclass(slots=True)
class _Statement:
    """What is known of one statement."""

    links: list[Triplet] = field(default_factory=list)
    """Of the item, to the statement."""
    values: list[Triplet] = field(default_factory=list)
    """Of the row, as the qualifiers are."""
    qualifiers: list[Triplet] = field(default_factory=list)
    has_rank: bool = False
    is_best: bool = False
    is_deprecated: bool = False


class Statements:
    """Collects the statements of one file."""

    def __init__(self) -> None:
        self._held = defaultdict[str, _Statement](_Statement)
        self._ranked = False
        """Whether the file says which statements are the best ones."""

    def take(self, subject: str, predicate: str, object: str, triplet: Triplet) -> bool:
        """Whether a triplet belongs to a statement, or is no fact; it is kept then.

        Args:
            subject: an IRI or a blank node.
            predicate: an IRI.
            object: an IRI, a blank node or the text of a literal.
            triplet: the three by their names.
        """
        if _STATEMENT in subject:
            if _UNKNOWN not in object:
                self._add(subject, predicate, object, triplet)
            return True
        if _STATEMENT in object and "/prop/" in predicate:
            self._held[object].links.append(triplet)
            return True
        if _NORMALIZED in predicate or (_UNKNOWN in object and "/prop/" in predicate):
            return True
        # Most IRIs have none of these, which is faster to see.
        may_be = "/reference/" in subject or "/value/" in subject or _DATA in subject
        return may_be and _OTHERS.search(subject) is not None

    @property
    def is_full(self) -> bool:
        """Whether the oldest half is to be released."""
        return len(self._held) > MOST_HELD

    def release(self) -> Iterator[Triplet]:
        """The triplets of the oldest half; parts whose others may follow as rows."""
        for subject in [*self._held][: MOST_HELD // 2]:
            statement = self._held.pop(subject)
            if statement.links and statement.values:
                yield from self._triplets(statement)
            else:
                yield from _row(statement)

    def rest(self) -> Iterator[Triplet]:
        """The triplets of all statements; one without value and qualifiers has none."""
        for statement in self._held.values():
            yield from self._triplets(statement)
        self._held.clear()

    def _add(self, subject: str, predicate: str, object: str, triplet: Triplet) -> None:
        """Keep what is said of a statement, if it is its value, a qualifier or rank."""
        statement = self._held[subject]
        found = _PROPERTY.fullmatch(predicate)
        row = f"_:{triplet[0]}", triplet[1], triplet[2]
        if found and found[1] == "statement":
            statement.values.append(row)
        elif found and found[1] == "qualifier":
            statement.qualifiers.append(row)
        elif predicate == _RANK:
            statement.has_rank = True
            statement.is_deprecated = object == _DEPRECATED
        elif object == _BEST:
            statement.is_best = self._ranked = True

    def _triplets(self, statement: _Statement) -> Iterator[Triplet]:
        """The plain triplet, where no other is better, and the row of qualifiers."""
        if statement.is_deprecated:
            return
        if statement.is_best or not (self._ranked and statement.has_rank):
            for head, relation, _ in statement.links:
                yield from ((head, relation, each[2]) for each in statement.values)
        if statement.qualifiers:
            yield from _row(statement)


def _row(statement: _Statement) -> Iterator[Triplet]:
    """The triplets of a row.

    Its end at the item is not called by the property: of "how many awards has she" the
    row would be another one.
    """
    for item, _, id in statement.links:
        yield f"_:{id}", SOURCE, item
    yield from (*statement.values, *statement.qualifiers)
