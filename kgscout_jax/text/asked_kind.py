"""What kind of answer a question asks for: "who", "in what year", "which films"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgscout_jax.text.kinds import Kind, base_noun, kind_words, noun_kind
from kgscout_jax.text.words import FUNCTION_WORDS, PARTICLES, WORD

_QUESTION_WORDS: dict[str, Kind] = {
    "who": "person", "whom": "person", "when": "time", "where": "place",
}  # fmt: skip
_BEFORE = frozenset("in on at by to with for from of and since until during".split())
"""Words that may stand before a question word."""
_PASSED = frozenset(
    "is are was were the a an these those other different all many same".split()
)
"""Words between "which" and its noun."""
_TEAMS = frozenset(["for", "against"])
"""Who somebody plays for is a team."""
_COMMANDS = frozenset("name list give find show identify".split())
_VAGUE = frozenset(
    "kind type sort form name thing part one number example group way".split()
)
"""Nouns that say nothing of what they stand for."""
_NOUNS = 2
"""Words that one noun may consist of."""


@dataclass(frozen=True)
class AskedKind:
    """What a question asks for."""

    kind: Kind
    nouns: frozenset[str] = frozenset()
    """What it may be called, in singular; empty where only the kind is known."""
    number: bool = False
    """Whether a number answers as well: "how many people live there"."""


def asked_kind(question: str, topics: Sequence[str]) -> AskedKind | None:
    """What a question asks for; None where its words leave it open.

    Args:
        question: the question.
        topics: names that it mentions; their words are no nouns of its own.

    >>> asked_kind("Who directed Alien?", ["Alien"])
    AskedKind(kind='person', nouns=frozenset(), number=False)
    >>> asked_kind("the films of Mann were released in which years", ["Mann"]).kind
    'time'
    >>> sorted(asked_kind("What genres do the films of Mann have?", ["Mann"]).nouns)
    ['genre']
    >>> asked_kind("Who directed the films of Mann?", ["Mann"]).kind
    'person'
    >>> asked_kind("What did Ada Lovelace invent?", ["Ada Lovelace"])
    """
    words = WORD.findall(question.casefold())
    of_topics = {w for topic in topics for w in WORD.findall(topic.casefold())}
    of_topics -= PARTICLES | FUNCTION_WORDS
    start = next((i for i, word in enumerate(words) if word not in _BEFORE), len(words))
    if words[start : start + 1] and words[start] in _QUESTION_WORDS:
        if words[start] == "who" and words[-1] in _TEAMS:
            return None
        by_word = AskedKind(_QUESTION_WORDS[words[start]])
        if words[start] == "who" and _says_what(words[start + 1 : start + 3]):
            # "Who is the director": the noun says more, or something else.
            return _of_nouns(_nouns(words, start + 1, of_topics)) or by_word
        return by_word
    for i, word in enumerate(words):
        how_many = word == "how" and words[i + 1 : i + 2] == ["many"]
        if how_many or word in ("what", "which"):
            found = _of_nouns(_nouns(words, i + 1 + how_many, of_topics))
            return found and replace(found, number=how_many)
    if words and words[-1] in _QUESTION_WORDS:
        return AskedKind(_QUESTION_WORDS[words[-1]])
    for i, word in enumerate(words):
        if word in _COMMANDS:
            return _of_nouns(_nouns(words, i + 1, of_topics))
    return None


def _says_what(words: Sequence[str]) -> bool:
    """Whether "who" goes on with "is the"."""
    return words[:1] in (["is"], ["are"], ["was"], ["were"]) and words[1:] == ["the"]


def _nouns(words: Sequence[str], start: int, of_topics: set[str]) -> list[str]:
    """The words of the noun that begins near ``start``."""
    found: list[str] = []
    for word in words[start:]:
        if word in of_topics or len(found) == _NOUNS:
            break
        if word in _PASSED and not found:
            continue
        if word in FUNCTION_WORDS or word in _PASSED:
            break
        found.append(base_noun(word))
    return found


def _of_nouns(nouns: Sequence[str]) -> AskedKind | None:
    """What the words of a noun ask for, the last one that names something."""
    if not nouns or nouns[0] in _VAGUE:
        return None
    for noun in reversed(nouns):
        kind = noun_kind(noun)
        if kind != "thing":
            names = {noun, " ".join(nouns)}
            return AskedKind(kind, frozenset(names | _synonyms(names)))
    names = {" ".join(nouns), *nouns}
    return AskedKind("thing", frozenset(names | _synonyms(names)))


def _synonyms(nouns: set[str]) -> set[str]:
    """Other names of the same."""
    return {
        name
        for name, others in kind_words()["type_synonyms"].items()
        if nouns & {other.casefold() for other in others}
    }
