"""Noun phrases of a parse: their names, and what pronouns stand for.

The labels of dependencies are those of ClearNLP, which spaCy's English models use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgscout_jax.types import display_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

NOMINAL = frozenset(("NOUN", "PROPN", "NUM", "PRON", "ADJ", "X", "SYM"))
INSIDE = frozenset(("compound", "amod", "nummod", "nmod", "quantmod", "punct"))
"""Dependants before a noun that belong to its name."""
OUTSIDE_TAGS = ("POS", ",", "IN", "PRP$", "DT", "CC", "``", "''")
"""Tags of words that do not end a name, wherever the recogniser puts its end."""
TIMES = frozenset(("DATE", "TIME"))
NUMBERS = frozenset(
    ("CARDINAL", "ORDINAL", "MONEY", "QUANTITY", "PERCENT", "DATE", "TIME")
)
PERSONS = frozenset(("he", "she", "him", "her", "his", "himself", "herself"))
THINGS = frozenset(("it", "its", "itself"))
GROUPS = frozenset(("they", "them", "their", "themselves"))
RELATIVE = frozenset(("who", "whom", "which", "that"))
GENERIC = frozenset(
    """airport album band bank book bridge building city club college company country
    district film firm group institution island lake language library mountain movie
    museum nation novel organisation organization package program project province
    region river school series song species state team tool town university
    village""".split()
)
"""Nouns that, with "the" and nothing else, name what the text is about."""
HUMAN = frozenset(
    "actor artist author man person player scientist woman writer".split()
)
"""The same, where the text is about a person."""


def is_time(token: Token) -> bool:
    """Whether a noun names a date or a time."""
    text = token.text
    year = len(text) == 4 and text.isdigit() and text[0] in "12"
    return token.ent_type_ in TIMES or year


def is_name(token: Token) -> bool:
    """Whether a noun is a proper name."""
    return token.pos_ == "PROPN" or (
        bool(token.ent_type_) and token.ent_type_ not in NUMBERS and token.is_title
    )


def entity_of(token: Token) -> Span | None:
    """The named entity whose head is the token; None where there is none."""
    if not token.ent_type_:
        return None
    for span in token.doc.ents:
        if span.start <= token.i < span.end:
            return span if span.root.i == token.i else None
    return None


def conjuncts(token: Token) -> list[Token]:
    """A noun and those coordinated with it, without those inside of its own name."""
    span = entity_of(token)
    tokens, queue = [token], [token]
    while queue:
        for child in queue.pop().children:
            inside = span is not None and span.start <= child.i < span.end
            if child.dep_ == "conj" and child.pos_ in NOMINAL and not inside:
                tokens.append(child)
                queue.append(child)
    return sorted(tokens, key=lambda each: each.i)


def objects(prep: Token) -> list[Token]:
    """The nouns that a preposition governs, coordination included."""
    found = [
        t
        for t in prep.children
        # an unknown name may be read as punctuation
        if t.dep_ == "pobj" or (t.dep_ == "punct" and t.text[0].isalnum())
    ]
    return [each for token in found for each in conjuncts(token)]


def prepositions(token: Token) -> Iterator[tuple[str, Token]]:
    """(text, the preposition that governs nouns) of a token's own, in order."""
    for child in token.children:
        if child.dep_ in ("prep", "dative") and child.pos_ in ("ADP", "SCONJ", "VERB"):
            inner = [t for t in child.children if t.dep_ == "prep"]
            inner_words = [t.lower_ for t in child.children
                           if t.dep_ == "pcomp" and t.tag_ == "IN"]  # fmt: skip
            if inner_words:
                yield f"{child.lower_} {inner_words[0]}", child  # "because of"
                continue
            if inner and not objects(child):
                yield f"{child.lower_} {inner[0].lower_}", inner[0]
                continue
            yield child.lower_, child
            # "from Paris to Rome" is parsed as a chain
            for each in inner:
                yield each.lower_, each


def contexts(token: Token) -> Iterator[tuple[str, Token]]:
    """(preposition, noun) of what surrounds a fact: places, dates, means."""
    for text, prep in prepositions(token):
        for each in objects(prep):
            yield text, each
    for child in token.children:
        if child.dep_ == "npadvmod" and is_time(child):
            yield "on", child


def possessor(token: Token) -> Token | None:
    """Whose it is, as a word of its own."""
    return next((t for t in token.children if t.dep_ == "poss"), None)


def determiner(token: Token) -> str:
    """The article or the like before a noun; "" for none."""
    return next((t.lower_ for t in token.children if t.dep_ == "det"), "")


def core(token: Token) -> tuple[int, int]:
    """First token and end of a noun with what stands before it and belongs to it."""
    doc = token.doc
    span = entity_of(token)
    if span is not None and span.label_ not in NUMBERS:
        start, end = span.start, span.end
        while start < end - 1 and doc[start].pos_ == "DET":
            start += 1
        while end > token.i + 1 and doc[end - 1].tag_ in OUTSIDE_TAGS:
            end -= 1
        if start > 0 and doc[start - 1].dep_ == "nummod" and start <= token.i:
            start -= doc[start - 1].head.i == token.i  # "1960 Olympics"
        # a name goes on to the left where the recogniser cuts it
        while start > 0 and _goes_on(doc[start - 1], doc[start]):
            start -= 1
        return start, end
    start, end = token.i, token.i + 1
    for child in reversed(list(token.lefts)):
        if child.dep_ not in INSIDE or child.text in ",;:()":
            break
        start = child.left_edge.i
    for child in token.rights:
        if child.i != end or child.dep_ not in ("nummod", "npadvmod"):
            break
        end = child.right_edge.i + 1
    if span is not None:
        start, end = min(start, span.start), max(end, span.end)
        while start < token.i and doc[start].pos_ in ("DET", "ADP"):
            start += 1
    return start, end


def _goes_on(left: Token, first: Token) -> bool:
    """Whether a name that starts with ``first`` starts with the word before it."""
    if not left.whitespace_:
        # "South-eastern Asia", "Africa/Tripoli"
        return left.text in "-/" or first.text in "-/"
    if left.dep_ not in ("compound", "amod", "nmod") or left.head.i < first.i:
        return False
    hyphen = left.i > 0 and left.nbor(-1).text == "-"
    return (left.is_title and left.tag_ != "DT") or hyphen


def text_of(doc: Doc, start: int, end: int) -> str:
    """The words from one token to another, without quotes around them."""
    return display_name(doc[start:end].text.strip(" \t\n\"'“”‘’`*_,;:."))


@dataclass
class Referents:
    """What pronouns and "the city" stand for, as a text is read from its start."""

    people: list[str] = field(default_factory=list)
    things: list[str] = field(default_factory=list)
    group: tuple[str, ...] = ()
    """The last subjects or doers that were several."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Noun -> the last entity that was said to be one."""
    subject: str | None = None
    """The last subject."""
    own: str | None = None
    """The subject of the clause that is read, for its possessive pronouns."""
    topic: str | None = None
    """The last subject of the sentences before."""
    heading: str | None = None
    """The last heading."""
    full_names: dict[str, set[str]] = field(default_factory=dict)
    """Last word of a person's name -> the names that end with it."""

    @property
    def topic_thing(self) -> str | None:
        """What the text is about, unless that is a person."""
        return None if self.topic in self.people else self.topic

    def mention(self, token: Token, name: str) -> None:
        """Take note of a subject."""
        if token.ent_type_ in NUMBERS or token.pos_ not in ("NOUN", "PROPN", "ADJ"):
            return
        known = self.people if token.ent_type_ == "PERSON" else self.things
        self.subject = name
        known.append(name)

    def title(self, name: str) -> None:
        """Take note of a heading."""
        if name:
            self.subject = self.topic = self.heading = name

    def full_name(self, token: Token, name: str) -> str:
        """The person whose name was written out before: "Berg" is "Anna Berg".

        A word that two people share, or that ends no name, stays as it is.
        """
        person = token.ent_type_ == "PERSON"
        if " " in name:
            if person:
                last = name.rpartition(" ")[2]
                self.full_names.setdefault(last, set()).add(name)
            return name
        people = self.full_names.get(name, ()) if person or not token.ent_type_ else ()
        return next(iter(people)) if len(people) == 1 else name

    def describe(self, name: str, noun: Token) -> None:
        """Take note that the entity is of this kind."""
        self.kinds[noun.lemma_.lower()] = name

    def resolve(self, token: Token) -> str | None:
        """What a pronoun or a definite noun stands for; None if that is unknown."""
        word = token.lower_
        if token.tag_ == "PRP$" and self.own is not None:
            return self.own
        if word in PERSONS:
            return next(reversed(self.people), self.subject)
        if word in THINGS:
            subject = None if self.subject in self.people else self.subject
            return subject or next(reversed(self.things), self.subject)
        if word in GROUPS:
            return self.subject
        bare = not any(t.dep_ in INSIDE | {"prep", "acl"} for t in token.children)
        if bare and determiner(token) in ("the", "this") and token.pos_ == "NOUN":
            noun = token.lemma_.lower()
            if noun in self.kinds:
                return self.kinds[noun]
            person = self.topic in self.people
            return self.topic if noun in (HUMAN if person else GENERIC) else None
        return None


class Names:
    """Names of the noun phrases of one text."""

    def __init__(self, referents: Referents):
        self.referents = referents
        self.stand_ins: dict[int, str] = {}
        """Token -> name that another phrase gives it: "her husband, John Smith"."""

    def name(self, token: Token) -> str | None:
        """The name of a noun phrase; None for a pronoun that stands for nothing."""
        if token.i in self.stand_ins:
            return self.stand_ins[token.i]
        if (known := self.referents.resolve(token)) is not None:
            return known
        if token.pos_ in ("PRON", "DET") or token.tag_ in ("WDT", "WP", "EX"):
            return None
        start, end = core(token)
        text = self.referents.full_name(token, text_of(token.doc, start, end))
        for child in token.rights:
            # "University of Oxford", "list of strings"
            if child.dep_ == "prep" and child.lower_ == "of" and child.i >= end:
                nouns = objects(child)
                if len(nouns) == 1 and is_name(token) and is_name(nouns[0]):
                    # as written: "Republic of the Congo"
                    text = text_of(token.doc, start, core(nouns[0])[1])
                    continue
                parts = [self.name(each) for each in nouns]
                if parts and all(parts):
                    text = f"{text} of {' and '.join(map(str, parts))}"
        owner = possessor(token)
        if owner is not None and owner.i < start:
            whose = self.name(owner)
            text = text if whose is None else f"{whose}'s {text}"
        return text if any(c.isalnum() for c in text) else None
