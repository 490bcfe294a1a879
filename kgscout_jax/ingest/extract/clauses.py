"""Facts of a parsed sentence: a rule for each construction of plain English.

- a verb with subject and object; its prepositions hang on that fact, as a hypernode;
- a verb without an object: each preposition gives a fact, a date hangs on those;
- "has its seat in X" is (S, seat in, X);
- passive voice with an agent is turned around; without one it is an objectless verb;
- "the capital of X is Y", "Y is the capital of X", "X's capital, Y": (X, capital, Y);
- "X is a writer from Y": (X, is a, writer), (X, writer from, Y);
- "X is a list of Y": (X, is a, list of Y), (X, list of, Y);
- "X, the director": (what the text is about, director, X);
- coordination, relative clauses, participles and appositions share their nouns.

What is asked, supposed ("if") or ordered is no fact. What somebody says is the tail of
the saying, and no fact of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgscout_jax.ingest.extract.descriptions import Descriptions, Fact
from kgscout_jax.ingest.extract.phrases import (
    NOMINAL,
    RELATIVE,
    Names,
    Referents,
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
    from spacy.tokens import Span, Token

SUBJECTS = ("nsubj", "nsubjpass", "csubj")
OBJECTS = ("dobj", "attr", "oprd", "dative")
SPEECH = frozenset(
    """say claim believe think deny argue suggest allege doubt expect hope report state
    announce write suppose""".split()
)
SUPPOSITION = frozenset(("if", "unless", "whether"))
MODALS = frozenset(("can", "could", "may", "might", "should", "must", "would"))
LIGHT_VERBS = frozenset("have share take make give hold play form bear".split())
"""Verbs that say little without what their object governs: "share a border with"."""
NAMES = ("NOUN", "PROPN")


def past_tense(verb: Token) -> str:
    """A participle as a verb with a subject: "written" is "wrote"."""
    from lemminflect import getInflection

    return next(iter(getInflection(verb.lemma_, tag="VBD")), verb.lower_)


def participle_before(noun: Token) -> Token | None:
    """The participle between "and" and a noun: "studied" in "and studied law"."""
    first = noun.left_edge
    after_and = first.i > noun.sent.start and first.nbor(-1).dep_ == "cc"
    is_verb = first.dep_ == "amod" and first.tag_ in ("VBN", "VBD")
    return first if after_and and is_verb else None


class Sentence:
    """The facts of one sentence; ``facts`` is in the order of the text."""

    def __init__(self, span: Span, referents: Referents):
        self.span = span
        self.referents = referents
        self.names = Names(referents)
        self.descriptions = Descriptions(self.names)
        self.of_verb: dict[int, list[Fact]] = {}
        self.other: list[Fact] = []
        self.said: set[int] = set()
        """Verbs whose facts are only said to be true."""

    def facts(self) -> list[Fact]:
        """All facts, each once."""
        if self.span[-1].text == "?" or len(self.span) < 3:
            return []
        for token in self.span:
            self.other += self.descriptions.apposition(token)
        for token in self.span:
            if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass"):
                self.of_verb[token.i] = list(self.clause(token))
        if not self.of_verb:
            self.other += self.misread()
        for verb in self.of_verb:
            self.speech(self.span.doc[verb])
        kept = [f for i, facts in self.of_verb.items() if i not in self.said
                for f in facts]  # fmt: skip
        self.referents.topic = self.referents.subject
        facts = sorted([*self.other, *kept], key=lambda fact: (fact.first, fact.last))
        return list({fact.triplet: fact for fact in facts}.values())

    def subject_tokens(self, verb: Token) -> list[Token]:
        """The nouns that do what the verb says, or suffer it."""
        for child in verb.children:
            if child.dep_ in SUBJECTS:
                if child.lower_ in RELATIVE and verb.dep_ == "relcl":
                    return [verb.head]
                return conjuncts(child)
        if verb.dep_ == "acl" and verb.tag_ in ("VBN", "VBG"):
            return [verb.head]
        finite = verb.dep_ == "advcl" and verb.tag_ in ("VBZ", "VBP")
        if verb.dep_ in ("conj", "advcl") and verb.head.pos_ in ("VERB", "AUX"):
            return [] if finite else self.subject_tokens(verb.head)
        return []

    def is_passive(self, verb: Token) -> bool:
        """Whether the subject suffers what the verb says."""
        if any(t.dep_ == "auxpass" for t in verb.children):
            return True
        if verb.tag_ != "VBN" or any(t.dep_ == "aux" for t in verb.children):
            return False
        if verb.dep_ == "conj":
            own = any(t.dep_ in SUBJECTS for t in verb.children)
            return not own and self.is_passive(verb.head)
        return verb.dep_ in ("acl", "advcl", "relcl")

    def relation(self, verb: Token) -> tuple[str, Token]:
        """The words of a verb, and the verb that has the objects.

        "did not take over" is "not take over"; "wants to buy" is one relation.
        """
        words, last = [], verb
        while True:
            for child in last.children:
                modal = child.dep_ == "aux" and child.lower_ in MODALS
                if child.dep_ == "neg" or modal or child.tag_ == "TO":
                    words.append("not" if child.dep_ == "neg" else child.lower_)
            words.append(last.lower_)
            words += [t.lower_ for t in last.children if t.dep_ == "prt"]
            inner = [t for t in last.children if t.dep_ == "xcomp" and t.pos_ == "VERB"]
            if not inner:
                return " ".join(words), last
            last = inner[0]

    def clause(self, verb: Token) -> Iterator[Fact]:
        """The facts of one verb."""
        clauses = [verb, *(t for t in verb.children if t.dep_ == "advcl")]
        marks = {t.lower_ for v in clauses for t in v.children if t.dep_ == "mark"}
        if marks & SUPPOSITION or verb.dep_ == "xcomp":
            return
        if any(t.dep_ == "expl" for t in verb.children):
            return  # "there is a way"
        tokens = self.subject_tokens(verb)
        pairs = self.subject_names(verb, tokens)
        owner = possessor(pairs[0][0]) if len(pairs) == 1 else None
        if len(pairs) == 1 and (owner is None or owner.tag_ != "PRP$"):
            self.referents.own = pairs[0][1]
        own = any(t.dep_ in SUBJECTS for t in verb.children) and verb.dep_ != "relcl"
        if verb.lemma_ == "be" and not self.is_passive(verb):
            yield from self.descriptions.copula(verb, pairs, tokens)
        else:
            yield from self.action(verb, pairs)
        self.referents.own = None
        if own:
            for token, name in pairs:
                owner = possessor(token) or next(
                    (t for text, p in prepositions(token) if text == "of"
                     for t in objects(p)), None)  # fmt: skip
                whose = None if owner is None else self.names.name(owner)
                if whose is None or is_name(token):
                    self.referents.mention(token, name)
                elif owner is not None:
                    self.referents.mention(owner, whose)

    def subject_names(
        self, verb: Token, tokens: list[Token]
    ) -> list[tuple[Token, str]]:
        """The subjects with their names; "they" may be several."""
        tag = next((t.tag_ for t in verb.children if "aux" in t.dep_), verb.tag_)
        joined = len(tokens) == 2 and all(t.pos_ == "PROPN" for t in tokens)
        if joined and (tag == "VBZ" or verb.lower_ == "was"):
            # one name: "Trinidad and Tobago is"
            start, end = core(tokens[0])[0], core(tokens[1])[1]
            return [(tokens[0], text_of(verb.doc, start, end))]
        names = [(t, name) for t in tokens if (name := self.names.name(t)) is not None]
        if len(tokens) == 1 and tokens[0].lower_ == "they" and self.referents.group:
            return [(tokens[0], name) for name in self.referents.group]
        if len(names) > 1:
            self.referents.group = tuple(name for _, name in names)
        return names

    def action(self, verb: Token, pairs: list[tuple[Token, str]]) -> Iterator[Fact]:
        """Facts of any other verb."""
        relation, inner = self.relation(verb)
        agents = [
            token
            for child in verb.children
            if child.dep_ == "agent"
            for token in objects(child)
        ]
        passive = self.is_passive(verb)
        targets = [
            each
            for child in inner.children
            if child.dep_ in OBJECTS and child.pos_ in NOMINAL
            for each in conjuncts(child)
        ]
        # "won a prize in 1903 and another in 1911" is parsed as a conjunct of the verb
        joined = [t for t in inner.children if t.dep_ == "conj" and t.pos_ in NAMES]
        # "was born in Rome and studied law" is so too, with an adjective
        verbs = {t.i: v for t in joined if (v := participle_before(t)) is not None}
        targets += [t for t in joined if t.i not in verbs]
        if verb.dep_ == "relcl":
            targets = self.relative_objects(verb, targets)
        around = list(contexts(inner))
        if inner is not verb:
            around += [each for each in contexts(verb) if each not in around]
        first = verb.left_edge.i
        if passive and agents:
            doers = [(t, n) for t in agents if (n := self.names.name(t)) is not None]
            relation = relation.removesuffix(verb.lower_) + past_tense(verb)
            if len(doers) > 1:
                self.referents.group = tuple(name for _, name in doers)
            for token, head in doers:
                inner = [] if not is_name(token) else list(contexts(token))
                for _, tail in pairs:
                    yield from self.fact(
                        head, relation, tail, [*around, *inner], first, token.i
                    )
            return
        for _, name in pairs:
            for token in joined:
                if (other := verbs.get(token.i)) is not None:
                    tail = text_of(token.doc, other.i + 1, core(token)[1])
                    yield from self.fact(
                        name, other.lower_, tail, list(contexts(token)), first, token.i
                    )
            if not targets:
                yield from self.objectless(name, relation, around, first)
            for target in targets:
                yield from self.with_object(name, relation, target, around, first, verb)

    def relative_objects(self, verb: Token, targets: list[Token]) -> list[Token]:
        """The objects, with the noun of the clause in the pronoun's place."""
        if any(t.tag_ == "WRB" for t in verb.children):
            return targets  # "where she worked"
        own = [t for t in verb.children if t.dep_ in SUBJECTS]
        pronouns = [t for t in targets if t.lower_ in RELATIVE]
        reduced = not targets and not any(t.lower_ in RELATIVE for t in own)
        if own and (pronouns or reduced):
            return [verb.head, *(t for t in targets if t not in pronouns)]
        return targets

    def with_object(
        self,
        name: str,
        relation: str,
        target: Token,
        around: list[tuple[str, Token]],
        first: int,
        verb: Token,
    ) -> Iterator[Fact]:
        """Facts of a subject, a verb and an object."""
        if verb.lemma_ == "have" and (owner := possessor(target)) is not None:
            # "has its seat in Rome"
            places = [*contexts(target), *around]
            if places and owner.tag_ == "PRP$" and self.names.name(owner) == name:
                noun = text_of(target.doc, *core(target))
                words = relation.removesuffix(verb.lower_) + noun
                yield from self.objectless(name, words, places, first)
                return
        counted = any(t.dep_ == "nummod" for t in target.children)
        indefinite = determiner(target) in ("a", "an", "") and not counted
        loose = not is_name(target) and indefinite
        inner = [
            (text, token)
            for text, token in contexts(target)
            if token.i >= core(target)[1] and (text != "of" or verb.lemma_ == "have")
        ]
        if loose and possessor(target) is None and inner and target.pos_ == "NOUN":
            # "shares borders with France", "has a population of 500"
            start, end = core(target)
            noun = text_of(target.doc, start, end)
            if verb.lemma_ not in LIGHT_VERBS:  # "runs a factory in Oslo"
                yield from self.fact(name, relation, noun, [], first, target.i)
            for text, token in inner:
                if (tail := self.names.name(token)) is not None:
                    words = f"{relation} {noun} {text}"
                    last = token.i
                    yield from self.fact(name, words, tail, around, first, last)
            return
        if (tail := self.names.name(target)) is not None:
            start, end = core(target)
            names = next((i for i in range(start, end) if is_name(target.doc[i])), end)
            kind = target.doc[names - 1] if start < names < end else None
            while kind is None and names + 1 < end and is_name(target.doc[names]):
                names += 1
                if target.doc[names].pos_ == "NOUN" and target.doc[names].is_lower:
                    kind, names = target.doc[names], names + 1
            if is_name(target) and kind is not None and kind.pos_ == "NOUN":
                # "has the IATA code BER"
                words = text_of(target.doc, start, names)
                name_only = text_of(target.doc, names, end)
                relation, tail = f"{relation} {words}", name_only
            if any(is_time(token) for _, token in inner):
                around = [each for each in around if not is_time(each[1])]
            around = [*inner, *around]
            last = max(target.i, core(target)[1] - 1)
            yield from self.fact(name, relation, tail, around, first, last)

    def objectless(
        self, name: str, relation: str, around: list[tuple[str, Token]], first: int
    ) -> Iterator[Fact]:
        """Facts of a subject, a verb and the nouns behind its prepositions."""
        places = [each for each in around if not is_time(each[1])] or around
        times = [each for each in around if each not in places]
        for text, token in places:
            if (tail := self.names.name(token)) is not None:
                words = f"{relation} {text}"
                yield from self.fact(name, words, tail, times, first, token.i)

    def fact(
        self,
        head: Node,
        relation: str,
        tail: Node,
        around: list[tuple[str, Token]],
        first: int,
        last: int,
    ) -> Iterator[Fact]:
        """A fact, and one of it and each of its contexts."""
        if head == tail:
            return
        triplet = NestedTriplet(head, relation, tail)
        yield Fact(triplet, first, last)
        for text, token in around:
            context = self.names.name(token)
            if context is not None and context not in (head, tail):
                end = max(last, core(token)[1] - 1)
                yield Fact(NestedTriplet(triplet, text, context), first, end)

    def misread(self) -> Iterator[Fact]:
        """Facts of a verb between two names that was read as a plural: "Kenya borders
        Uganda".
        """
        for token in self.span[1:-1]:
            before, after = token.nbor(-1), token.nbor(1)
            if token.tag_ != "NNS" or not token.is_lower or not is_name(before):
                continue
            while after.dep_ == "compound" and after.i < self.span.end - 1:
                after = after.nbor(1)
            first, _ = core(before)
            subject = text_of(token.doc, first, token.i)
            for each in conjuncts(after) if is_name(after) else ():
                words = (self.names.name(each) or "").removeprefix(token.text)
                if tail := words.strip():
                    triplet = NestedTriplet(subject, token.lower_, tail)
                    yield Fact(triplet, first, each.i)
            self.referents.mention(before, subject)
            return

    def speech(self, verb: Token) -> None:
        """Make what somebody says the tail of the saying."""
        if verb.lemma_ not in SPEECH:
            return
        for child in verb.children:
            if child.dep_ != "ccomp" or child.i not in self.of_verb:
                continue
            self.said.add(child.i)
            relation, _ = self.relation(verb)
            for token in self.subject_tokens(verb):
                if (name := self.names.name(token)) is not None:
                    self.of_verb[verb.i] += [
                        Fact(
                            NestedTriplet(name, relation, fact.triplet),
                            min(token.left_edge.i, fact.first),
                            max(verb.i, fact.last),
                        )
                        for fact in self.of_verb[child.i]
                        if fact.triplet.is_flat
                    ]
