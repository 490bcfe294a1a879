"""Nouns that only say what a topic is: "the film Heat", "listing HX-17"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from kgscout_jax.text.kinds import is_past, kind_words, noun_kind
from kgscout_jax.text.value_words import is_comparing
from kgscout_jax.text.words import FUNCTION_WORDS

_DO = frozenset("do does did has have had can".split())
_BE = frozenset("is are was were".split())
_BEFORE = _DO | _BE | frozenset("of in on for by from with at to s".split())
_NAMING = frozenset(
    "is are was were be name list give show tell find has have had share shares with "
    "as".split()
)
"""Words before "the", behind which the noun says more: "who has the mentor Ann"."""


def without_apposition(words: Sequence[str], topic: str) -> list[str]:
    """The words of a question without a noun that stands beside the topic's name.

    Not where a clause begins there: "the firm Ann works for" is what Ann works for. A
    noun behind the name says what it is before a verb, "when did X station open".

    Args:
        words: of the question.
        topic: the word that stands for the topic's name.

    >>> " ".join(without_apposition("who made the movie X ?".split(), "X"))
    'who made X ?'
    >>> " ".join(without_apposition("where does the band X come from".split(), "X"))
    'where does X come from'
    >>> " ".join(without_apposition("what year was listing X built".split(), "X"))
    'what year was X built'
    >>> " ".join(without_apposition("who owns the firm X works for".split(), "X"))
    'who owns the firm X works for'
    >>> " ".join(without_apposition("when did X station open".split(), "X"))
    'when did X open'
    """
    if topic not in words:
        return [*words]
    at = words.index(topic)
    end = len(words) - [*reversed(words)].index(topic)
    if set(words[at:end]) == {topic}:
        words = [*words[:end], *_without_class(words[:at], words[end:])]
    before, after = words[:at], words[at:]
    rest = [word for word in after if word not in (topic, "?", ".", "!")]
    has_article = before[-2:-1] == ["the"]
    if len(before) < 2 or not (is_type_noun(before[-1]) or has_article):
        return [*words]
    if before[-1] in FUNCTION_WORDS or is_comparing(before[-1]):
        return [*words]
    start = at - 1 - has_article
    leading = words[start - 1] if start else ""
    helped = leading in _DO or (leading in _BE and not has_article)
    helped = helped and bool(rest)
    ends = not rest and leading not in _NAMING and (has_article or leading in _BEFORE)
    return [*words[:start], *after] if helped or ends else [*words]


def _without_class(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The words behind a topic without a noun for what it is, that a verb follows."""
    noun, following = (*after, "", "")[:2]
    leading = next((word for word in before[:-3:-1] if word != "the"), "")
    is_verb = following not in FUNCTION_WORDS and following.isalpha()
    if leading in _BE:  # "is X state slogan"
        is_verb = is_past(following)
    helped = is_verb and leading in _DO | _BE
    return after[1:] if helped and noun_kind(noun) == "place" else after


@cache
def _type_nouns() -> frozenset[str]:
    found = kind_words()
    groups = ("type_synonyms", "role_synonyms")
    return frozenset(
        each.casefold()
        for group in groups
        for name, others in found[group].items()
        for each in (name, *others)
    )


def is_type_noun(word: str) -> bool:
    """Whether a word is a noun, in singular, for what things are.

    >>> is_type_noun("movie"), is_type_noun("actor"), is_type_noun("movies")
    (True, True, False)
    """
    return word in _type_nouns() or noun_kind(word) in ("person", "place")
