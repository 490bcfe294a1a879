"""Facts of nouns: appositions, and what something is said to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgscout_jax.ingest.extract.phrases import (
    Names,
    conjuncts,
    contexts,
    core,
    determiner,
    is_name,
    is_time,
    objects,
    possessor,
    prepositions,
    text_of,
)
from kgscout_jax.ingest.extract.protocol import NestedTriplet, Node

if TYPE_CHECKING:
    from spacy.tokens import Token

ROLES = frozenset(
    """author capital ceo chair chairman chairwoman chancellor chief coach
    commander composer currency customer designer developer director editor
    executive founder governor headmaster headquarters head leader maintainer
    manager mayor minister officer owner patron president principal secretary
    spokesman spokeswoman treasurer""".split()
)
"""Nouns that are somebody's or something's, also where a text leaves out whose."""
LONGEST_CLAUSE = 14
"""Words of a clause that is taken as a tail whole."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A triplet and the tokens that state it."""

    triplet: NestedTriplet
    first: int
    last: int

    @property
    def tokens(self) -> tuple[int, int]:
        """The first and the last token: a clause may stand before its subject."""
        return min(self.first, self.last), max(self.first, self.last)


@dataclass(frozen=True)
class Descriptions:
    """Facts that say what the entities of a sentence are."""

    names: Names

    def apposition(self, noun: Token) -> Iterator[Fact]:
        """Facts of "Anna Berg, a writer" and of "her husband, John Smith"."""
        for other in noun.children:
            if other.dep_ != "appos":
                continue
            if is_name(noun) and not is_name(other) and other.pos_ == "NOUN":
                name, kind = self.names.name(noun), other
            elif is_name(other) and not is_name(noun):
                name, kind = self.names.name(other), noun
                if name is not None:
                    self.names.stand_ins[noun.i] = name
            elif noun.ent_type_ == other.ent_type_ == "GPE":
                ends = self.names.name(noun), self.names.name(other)
                if None not in ends:
                    triplet = NestedTriplet(str(ends[0]), "in", str(ends[1]))
                    yield Fact(triplet, noun.i, other.right_edge.i)
                continue
            else:
                continue
            if name is not None:
                yield from self.description(name, noun, kind)

    def description(
        self, name: str, subject: Token, noun: Token, shared: Token | None = None
    ) -> Iterator[Fact]:
        """Facts of an entity that is called by a common noun.

        ``shared`` is the noun whose prepositions count too: "the capital and largest
        city of Kenya".
        """
        first = min(subject.left_edge.i, noun.left_edge.i)
        start, end = core(noun)
        kind = text_of(noun.doc, start, end)
        named = noun.i in self.names.stand_ins
        article, functional = determiner(noun), False
        whole, whole_end = kind, max(subject.i, noun.i)

        def fact(head: Node, relation: str, tail: Node, last: int) -> Fact:
            return Fact(NestedTriplet(head, relation, tail), first, max(last, end - 1))

        owner = possessor(noun)
        if owner is not None and (whose := self.names.name(owner)) not in (None, name):
            functional = True
            yield fact(str(whose), kind, name, max(subject.i, noun.i))
        for text, prep in prepositions(noun if shared is None else shared):
            if text == "of" and article in ("a", "an"):
                parts = [self.names.name(token) for token in objects(prep)]
                if parts and all(parts) and name not in parts:
                    # "a unit of work", "a maker of paper and glass"
                    whole = f"{whole} of {' and '.join(map(str, parts))}"
                    whole_end = max(whole_end, core(objects(prep)[-1])[1] - 1)
            for token in objects(prep):
                other = self.names.name(token)
                if other is None or other == name:
                    continue
                last = max(token.right_edge.i if token.dep_ != "conj" else token.i,
                           subject.i)  # fmt: skip
                if text == "of" and article in ("the", "") and article + kind != "part":
                    functional = True
                    yield fact(other, kind, name, last)
                else:
                    functional |= article in ("the", "")
                    yield fact(name, f"{kind} {text}", other, last)
            for clause in prep.children:
                if clause.dep_ == "pcomp" and (what := self.clause_text(clause)):
                    yield fact(name, f"{kind} {text}", what, clause.right_edge.i)
        role = article == "the" and noun.lemma_.lower() in ROLES
        topic = self.names.referents.topic_thing if role and not functional else None
        if topic is not None and topic != name:
            # "Anna Berg, the chief executive": of what the text is about
            yield fact(topic, kind, name, max(subject.i, noun.i))
        if not functional or article in ("a", "an"):
            yield fact(name, "is a", whole, whole_end)
        if not named:
            self.names.stand_ins[noun.i] = name
        self.names.referents.describe(name, noun)

    def clause_text(self, token: Token) -> str | None:
        """The words of a clause; None if there are too many to be a name."""
        start, end = token.left_edge.i, token.right_edge.i + 1
        if end - start > LONGEST_CLAUSE:
            return None
        return text_of(token.doc, start, end) or None

    def copula(
        self, verb: Token, pairs: list[tuple[Token, str]], tokens: list[Token]
    ) -> Iterator[Fact]:
        """Facts of "to be"."""
        negation = "not " if any(t.dep_ == "neg" for t in verb.children) else ""
        start = verb.left_edge.i
        times = [each for each in contexts(verb) if is_time(each[1])]
        for child in verb.children:
            if child.dep_ in ("attr", "acomp", "nsubj") and child.i > verb.i:
                values = conjuncts(child)
                for each in values:
                    facts = list(
                        self.predicate(verb, pairs, tokens, each, values[-1], negation)
                    )
                    yield from facts
                    for text, token in times if facts else ():
                        # "has been the mayor since 2019"
                        yield from self.dated(facts[0], text, token)
        attributes = [t for t in verb.children if t.dep_ in ("attr", "acomp")]
        if attributes:
            return
        for text, token in contexts(verb):
            if (place := self.names.name(token)) is None:
                continue
            for _, name in pairs:
                triplet = NestedTriplet(name, f"{negation}is {text}", place)
                yield Fact(triplet, start, token.right_edge.i)

    def dated(self, fact: Fact, text: str, token: Token) -> Iterator[Fact]:
        """The fact and its time."""
        if (time := self.names.name(token)) is not None:
            last = max(fact.last, core(token)[1] - 1)
            yield Fact(NestedTriplet(fact.triplet, text, time), fact.first, last)

    def predicate(
        self,
        verb: Token,
        pairs: list[tuple[Token, str]],
        tokens: list[Token],
        value: Token,
        last_value: Token,
        negation: str,
    ) -> Iterator[Fact]:
        """Facts of a subject and what it is said to be."""
        first, last = verb.left_edge.i, value.right_edge.i
        for subject, name in pairs or [(t, "") for t in tokens]:
            common = subject.pos_ == "NOUN" and not is_name(subject)
            owned = possessor(subject) is not None or any(
                text in ("of", "for", "in") for text, _ in prepositions(subject)
            )
            known = self.names.referents.resolve(subject) is not None
            what = self.names.name(value)
            if what is None or what == name:
                continue
            negation = negation or ("not " if determiner(value) == "no" else "")
            adjective = value.pos_ == "ADJ" and value.dep_ == "acomp"
            if common and owned and not known and not negation:
                # "the capital of France is Paris"
                self.names.stand_ins.pop(subject.i, None)
                for fact in self.description(what, value, subject):
                    if fact.triplet.relation != "is a":
                        yield Fact(fact.triplet, first, max(fact.last, last))
            elif not name:
                continue
            elif adjective:
                around = list(contexts(value))
                for text, token in around:
                    if (tail := self.names.name(token)) is not None:
                        relation = f"{negation}{value.lower_} {text}"
                        triplet = NestedTriplet(name, relation, tail)
                        yield Fact(triplet, first, token.right_edge.i)
                if not around:
                    start, end = value.left_edge.i, value.i + 1
                    what = text_of(value.doc, start, end)
                    triplet = NestedTriplet(name, f"{negation}is", what)
                    yield Fact(triplet, first, last)
            elif negation or is_name(value) or value.pos_ in ("NUM", "PROPN"):
                yield Fact(NestedTriplet(name, f"{negation}is", what), first, last)
            elif value.pos_ in ("NOUN", "ADJ"):
                shared = None if list(prepositions(value)) else last_value
                for fact in self.description(name, subject, value, shared):
                    yield Fact(fact.triplet, first, max(fact.last, value.i))
