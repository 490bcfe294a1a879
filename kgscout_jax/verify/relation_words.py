"""How well the words of a claim state a relation, and in which direction.

A relation reads in several ways ("directed by", "director"). The words of a claim that
belong to no name are compared with each of them: by their lemmas, and by the cosine of
their embeddings. Nouns and verbs also tell which of the two names is their subject:
"A was directed by B" and "B directed A" state the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from data_prep.synth.readings import Reading, relation_readings, word_list
from data_prep.synth.words import lemmas, verb_form
from kgscout_jax.graph.link.stop_words import GRAMMAR
from kgscout_jax.text.kinds import kind_words, statement
from kgscout_jax.text.relation_words import (
    PREPOSITIONS,
    head_noun,
    name_parts,
    relation_words,
    split_words,
)

_HAS = frozenset("has have had held with features include includes".split())
_IS = frozenset("is was are were".split())
_MUTUAL = frozenset(
    "similar equal equivalent resemble interact overlap intersect ally collaborate "
    "cooperate marry wed associate".split()
)
"""Words of relations that hold both ways, beside those of the lexicon."""
_EMPTY = GRAMMAR - PREPOSITIONS | frozenset("called named".split())
FUNCTION = GRAMMAR | PREPOSITIONS


@dataclass(frozen=True, kw_only=True)
class ClaimWords:
    """The words of a claim around its two names A and B, in lower case."""

    before: tuple[str, ...]
    between: tuple[str, ...]
    after: tuple[str, ...]
    a_owns: bool
    """Whether A is a genitive."""
    b_owns: bool

    @property
    def all(self) -> tuple[str, ...]:
        """All words in their order."""
        return self.before + self.between + self.after

    @property
    def is_identity(self) -> bool:
        """Whether all that they say is that A is B."""
        return frozenset(self.all) <= _IS

    @property
    def phrase(self) -> str:
        """The words without those that say nothing, as one text."""
        words = [word for word in self.all if word not in _EMPTY]
        return " ".join(words or self.all)

    @property
    def content(self) -> frozenset[str]:
        """The lemmas of words other than function words."""
        return content_lemmas(self.all)


def claim_words(text: str, a: tuple[int, int], b: tuple[int, int]) -> ClaimWords:
    """The words of a claim around the spans of its names, the first one A."""
    owner = re.compile(r"['’]s?\b")
    a_owns = bool(owner.match(text, a[1]))
    b_owns = bool(owner.match(text, b[1]))

    def words(start: int, stop: int, owns: bool = False) -> tuple[str, ...]:
        part = text[start:stop]
        return tuple(split_words(part[2:] if owns and part[1:2] == "s" else part))

    return ClaimWords(
        before=words(0, a[0]),
        between=words(a[1], b[0], a_owns),
        after=words(b[1], len(text), b_owns),
        a_owns=a_owns,
        b_owns=b_owns,
    )


@cache
def word_lemmas(word: str) -> frozenset[str]:
    """A word's base forms, and the verb of an agent: director gives direct."""
    forms = {word, *lemmas(word, "NOUN"), *lemmas(word, "VERB"), *lemmas(word, "ADJ")}
    verbs = {noun: verb for verb, noun in kind_words()["agents"].items()}
    forms |= {verbs[form] for form in set(forms) if form in verbs}
    return frozenset(forms | {"bear"} if word in ("born", "birth") else forms)


@cache
def _key(word: str) -> str:
    """One lemma that stands for a word and its inflections."""
    return min(word_lemmas(word), key=lambda form: (len(form), form))


def content_lemmas(words: Sequence[str]) -> frozenset[str]:
    """One lemma for each word that is no function word."""
    return frozenset(_key(word) for word in words if word not in FUNCTION)


@cache
def readings_of(relation: str) -> tuple[Reading, ...]:
    """The readings of a relation."""
    return tuple(relation_readings(relation))


def reading_text(reading: Reading) -> str:
    """A reading as the words of a claim: "directed", "born in", "director of"."""
    if reading.kind == "noun":
        return f"{reading.words} of"
    words = reading.words
    if reading.kind == "active":
        tag = "VBZ" if reading.present else "VBD"
        *adverbs, verb = words.split()
        words = " ".join([*adverbs, verb_form(verb, tag)])
    named = f" {reading.object_type}" * bool(reading.object_type)
    return f"{words} {reading.particle}".strip() + named


def relation_texts(relation: str) -> tuple[str, ...]:
    """The embedded texts of a relation: its name's last words, and its readings."""
    own = " ".join(relation_words(relation)) or relation.lower()
    whole = " ".join(word for part in name_parts(relation)[-2:] for word in part)
    texts = [own, whole, *map(reading_text, readings_of(relation))]
    return tuple(dict.fromkeys(text for text in texts if text))


def lexical_match(words: ClaimWords, relation: str) -> tuple[float, float, float]:
    """Shares of the claim's and of the relation's lemmas in common, and of the domain.

    The first two are of the reading with the best harmonic mean; the third is the share
    of the words of the relation's own type ("film" of film.director) in the claim.
    """
    return _lexical_match(words.content, relation)


@cache
def _lexical_match(
    content: frozenset[str], relation: str
) -> tuple[float, float, float]:
    best = (0.0, 0.0)
    spelled = relation_words(relation)
    own = content_lemmas(spelled)
    if len(spelled) > 1 and (short := "".join(w[0] for w in spelled)) in content:
        content = content - {short} | own  # CEO: chief executive officer
    for text in (own, *(_reading_lemmas(each) for each in readings_of(relation))):
        common = len(content & text)
        if not common:
            continue
        pair = common / len(content), common / len(text)
        best = max(best, pair, key=lambda p: 2 * p[0] * p[1] / (p[0] + p[1] or 1))
    parts = name_parts(relation)
    domain = content_lemmas(parts[-2]) if len(parts) > 1 else frozenset()
    return *best, len(domain & content) / len(domain) if domain else 0.0


@cache
def stated_lemmas(content: frozenset[str], relation: str) -> frozenset[str]:
    """The lemmas of a claim that state a whole reading of a relation; the most of them.

    Empty where none does, and for a relation of function words alone.

    >>> sorted(stated_lemmas(frozenset({"direct", "film"}), "directed_by"))
    ['direct']
    """
    texts = [content_lemmas(relation_words(relation))]
    for each in readings_of(relation):
        # A name that is a whole statement tells the types, which no claim repeats.
        named = "" if statement(relation) else each.object_type
        texts.append(content_lemmas(f"{each.words} {named}".split()))
    return max(
        (text for text in texts if text <= content), key=len, default=frozenset()
    )


@cache
def _reading_lemmas(reading: Reading) -> frozenset[str]:
    words = f"{reading.words} {reading.object_type}".split()
    return content_lemmas(words) or frozenset(words)


def direction(words: ClaimWords, relation: str) -> int:
    """1 if the claim's words make A the head of the relation, -1 if B, 0 if unclear."""
    return _direction(words, relation)


@cache
def _direction(words: ClaimWords, relation: str) -> int:
    votes = 0
    own = tuple(relation_words(relation))
    if is_mutual(relation):
        return 0  # a rival of one is that of the other
    if own and own == words.between:
        return 1  # the graph's own wording
    for reading in readings_of(relation):
        if subject := _subject(words, reading):
            votes += -subject if reading.inverted else subject
    return (votes > 0) - (votes < 0)


@cache
def is_mutual(relation: str) -> bool:
    """Whether the words of a relation say that it holds both ways."""
    mutual = word_list("reciprocal") | _MUTUAL
    return any(mutual & word_lemmas(word) for word in relation_words(relation))


def _subject(words: ClaimWords, reading: Reading) -> int:
    """1 if A is the subject of a reading, -1 if B, 0 if the words are not there."""
    stem = reading.words.split()
    head = head_noun(stem) if reading.kind == "noun" else len(stem) - 1
    place, at = _find(words, stem[head])
    if place is None:
        return 0
    part: tuple[str, ...] = getattr(words, place)
    if reading.kind == "noun":
        if not lemmas(part[at], "NOUN") and part[at] != stem[head]:
            return 0  # "headquartered" is no headquarters
        own = tuple(stem[head + 1 :])
        if own and part[at + 1 : at + 1 + len(own)] == own:
            part = part[: at + 1] + part[at + 1 + len(own) :]  # place of birth
        return _noun_subject(words, part, place, at)
    following = part[at + 1 : at + 2]
    if reading.kind == "passive":
        stated = _IS & {*words.before, *words.between} or PREPOSITIONS & {*following}
        passive = bool(stated) or not lemmas(part[at], "VERB") or place == "before"
        side = -1 if place == "after" else 1
        return side if passive else -side  # "B lists A": A is listed on B
    if part[max(at - 1, 0) : at] in (("a",), ("an",), ("the",)):
        return 0  # a noun: "a decay product of"
    by = "by" in part[at + 1 : at + 3]
    other = PREPOSITIONS & {*following} - {reading.particle, "by"}
    if reading.particle in PREPOSITIONS and other and not by:
        return 0  # "evolves into" is not "evolves from"
    if place == "between":
        return -1 if by else 1
    if place == "before":
        return 1 if by else 0
    return -1


def _noun_subject(words: ClaimWords, part: tuple[str, ...], place: str, at: int) -> int:
    """The subject of "the capital of A is B", "A's capital is B", "B, A's capital"."""
    following = part[at + 1 : at + 2]
    owned = words.a_owns or bool(_HAS & set(part[:at]))
    if following and following[0] in ("of", "for", "in", "to", "from"):
        if place == "between" and owned:
            return 1  # "A has its headquarters in B"
        if place == "between" and PREPOSITIONS - {"as"} & set(part[:at]):
            return 0  # "A belongs to the judicial system of B"
        return {"before": 1, "between": -1, "after": 0}[place]
    if place == "between":
        if owned:
            return 1
        if words.b_owns:
            return 0
        return 0 if _IS & set(part[:at]) else 1
    if place == "after":
        return -1 if words.b_owns else 0
    return -1 if at + 1 == len(part) else 0


def _find(words: ClaimWords, word: str) -> tuple[str | None, int]:
    """Where a word stands: the part of the claim and its position in it."""
    forms = word_lemmas(word)
    for place in ("between", "after", "before"):
        for i, other in enumerate(getattr(words, place)):
            if other == word or forms & _inflections(other):
                return place, i
    return None, -1


@cache
def _inflections(word: str) -> frozenset[str]:
    """The base forms of a word, without verbs of agents."""
    return frozenset((word, *lemmas(word, "NOUN"), *lemmas(word, "VERB")))
