"""Claims about the circumstances of a fact: "Acme was founded in 2011 by Anna Berg".

A graph made of documents keeps the date of a fact at a node for the whole fact, its
hypernode. A claim is about a hypernode if it names one of its ends and its relation; it
is supported if all else that it names is the other end or a circumstance, contradicted
if it gives another year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgscout_jax.graph.hypernodes import OBJECT, SUBJECT
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.verify.arcs import ArcFinder
from kgscout_jax.verify.claims import Claim
from kgscout_jax.verify.mentions import Mention
from kgscout_jax.verify.relation_words import content_lemmas

MAX_FACTS = 200
"""Facts of an entity, and circumstances of a fact, that are looked at."""
_YEAR = re.compile(r"\b\d{4}\b")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class ContextEvidence:
    """What the circumstances of a fact say of a claim."""

    supports: bool
    ids: tuple[int, ...]
    """Triplets from hypernodes to circumstances."""


@dataclass(frozen=True)
class _Fact:
    """A hypernode's own fact and its circumstances."""

    ends: dict[int, int]
    """Entity -> the relation that leads to it, to the fact's subject or object."""
    relation: str
    """The words between its ends."""
    contexts: dict[int, int]
    """Circumstance -> the triplet that leads to it."""


@dataclass(frozen=True)
class ContextFinder:
    """Looks up hypernodes and what is said of them."""

    graph: KnowledgeGraph
    arcs: ArcFinder

    @cached_property
    def _parts(self) -> tuple[int, int] | None:
        """The relations to a hypernode's ends; None in a graph without hypernodes."""
        names = list(self.graph.relations)
        if SUBJECT not in names or OBJECT not in names:
            return None
        return names.index(SUBJECT), names.index(OBJECT)

    def evidence(self, claim: Claim) -> ContextEvidence | None:
        """The evidence on a claim; None where no hypernode is about it."""
        mentions = [mention for mention in claim.mentions if not mention.plain]
        if self._parts is None or len(mentions) < 2:
            return None
        outside = claim.text
        for mention in claim.mentions:
            size = mention.stop - mention.start
            outside = outside[: mention.start] + " " * size + outside[mention.stop :]
        words = content_lemmas(_WORD.findall(outside.lower()))
        against: dict[int, ContextEvidence] = {}
        for mention in mentions:
            for fact in self._facts(mention.entities):
                relation = content_lemmas(_WORD.findall(fact.relation.lower()))
                if not relation or not relation <= words:
                    continue
                if self._is_reversed(fact, claim.text, mentions):
                    continue
                others = [each for each in mentions if each is not mention]
                found = self._compare(fact, claim.text, others)
                if found is not None and found.supports:
                    return found
                if found is not None:
                    against[self.graph.triplets[found.ids[0], 2]] = found
        # Of several events in other years, the claim may be about one more.
        return next(iter(against.values())) if len(against) == 1 else None

    def _facts(self, entities: Sequence[int]) -> Iterator[_Fact]:
        """The facts with hypernodes that an entity is an end of."""
        assert self._parts is not None
        half = self.arcs.n_relations
        for entity in entities:
            steps = self.arcs.steps(entity, MAX_FACTS, self._parts)
            nodes = [node for arc, _, node in steps if arc >= half]
            for node in dict.fromkeys(nodes):
                yield self._fact(node)

    def _fact(self, node: int) -> _Fact:
        assert self._parts is not None
        ends: dict[int, int] = {}
        contexts: dict[int, int] = {}
        for arc, triplet, other in self.arcs.steps(node, MAX_FACTS):
            if arc < self.arcs.n_relations:
                if arc in self._parts:
                    ends[other] = arc
                else:
                    contexts[other] = triplet
        # The name of a hypernode is its head, its relation and its tail.
        relation = self.graph.entities[node]
        for end in sorted((self.graph.entities[e] for e in ends), key=len)[::-1]:
            relation = relation.replace(end, " ", 1)
        return _Fact(ends, relation, contexts)

    def _is_reversed(self, fact: _Fact, text: str, mentions: Sequence[Mention]) -> bool:
        """Whether the object stands before the subject, in a claim without "by"."""
        named = [
            (mention, fact.ends[entity])
            for mention in mentions
            for entity in mention.entities
            if entity in fact.ends
        ]
        assert self._parts is not None
        if [end for _, end in named] != [*reversed(self._parts)]:
            return False
        (first, _), (second, _) = named
        return " by " not in text[first.stop : second.start]

    def _compare(
        self, fact: _Fact, text: str, others: Sequence[Mention]
    ) -> ContextEvidence | None:
        """The evidence of one fact; None if it does not know all that is named."""
        stated: list[int] = []
        against: list[int] = []
        for mention in others:
            if set(mention.entities) & set(fact.ends):
                continue
            named = text[mention.start : mention.stop]
            words = set(_WORD.findall(named.lower()))
            same, rival = [], []
            for entity, triplet in fact.contexts.items():
                name = self.graph.entities[entity]
                years = set(_YEAR.findall(name)), set(_YEAR.findall(named))
                if entity in mention.entities or (
                    years[1] and words <= set(_WORD.findall(name.lower()))
                ):
                    same.append(triplet)
                elif all(years) and not years[0] & years[1]:
                    rival.append(triplet)
            if not same and not rival:
                return None
            stated += same[:1]
            against += [] if same else rival[:1]
        if not stated and not against:
            return None
        return ContextEvidence(not against, tuple(against or stated))
