"""Misspelt words of a question: "who is the auther of" asks for an author.

A word that is no English one is read as the nearest word of the graph's relations, or
else as the most frequent of the nearest English words. Names are left to the linker,
and questions in other languages as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kgscout_jax.text.other_languages import is_in_other_language
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.word_segmentation import segmented, word_costs

SHORTEST = 4
"""Letters of the shortest word that may be misspelt."""
LONG = 8
"""Letters from which on a word may have two errors, and not one only."""
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
"""A word, which is no part of a longer name: of ``john_smith``."""
_USUAL = {
    "wich": "which", "whcih": "which", "whch": "which", "wat": "what", "waht": "what",
    "teh": "the", "hte": "the", "adn": "and", "thier": "their", "wehre": "where",
    "whats": "what's", "whos": "who's", "wheres": "where's", "whens": "when's",
}  # fmt: skip
"""Usual errors in words so short that others are as near."""


class Correction(NamedTuple):
    """A misspelt word, or an idiom, and what it is read as."""

    start: int
    """Where it stands in the question."""
    word: str
    right: str


def corrections(
    question: str, names: Sequence[tuple[int, int]], relations: Iterable[str]
) -> list[Correction]:
    """The misspelt words of a question, in their order.

    Args:
        question: the question.
        names: spans of what it names.
        relations: names of the graph's relations.

    >>> [(c.word, c.right) for c in corrections("who is the auther of it", [], [])]
    [('auther', 'author')]
    >>> corrections("who married Zorblax", [], [])
    []
    >>> corrections("Wie tief ist der See?", [], [])
    []
    """
    unknown = [
        (start, word)
        for start, word in doubtful_words(question)
        if not any(begin <= start < end for begin, end in names)
        and (word.casefold() in _USUAL or not _is_form(word.casefold()))
    ]
    said = [
        match[0].casefold()
        for match in _WORD.finditer(question)
        if not any(begin <= match.start() < end for begin, end in names)
    ]
    if not unknown or is_in_other_language(said, [word for _, word in unknown]):
        return []
    words = {word for each in relations for word in relation_words(each)}
    of_graph = {word: english_words().get(word, 0) for word in words}
    out = []
    for start, word in unknown:
        one = word.casefold()
        right = _USUAL.get(one)
        if right is None and one not in of_graph:
            right = nearest(one, of_graph) or nearest(one, english_words())
        if right:
            right = right.capitalize() if word[0].isupper() else right
            out.append(Correction(start, word, right))
    return out


def doubtful_words(question: str) -> list[tuple[int, str]]:
    """(place, word) of words that are not usual, and do not look like names.

    >>> doubtful_words("who is the auther of Emma")
    [(11, 'auther')]
    """
    return [
        (match.start(), match[0])
        for match in _WORD.finditer(question)
        if _is_doubtful(match[0], first=not question[: match.start()].strip())
    ]


def _is_form(word: str) -> bool:
    """Whether a word is English, a form of one, or made of two: "platformers"."""
    if " " in segmented(word) or word.replace("is", "iz") in english_words():
        return True  # "freeride", "specialise"
    bases = (word.removesuffix(end) for end in ("", "s", "er", "ers", "ing", "ly"))
    return any(base in english_words() for base in bases)


def _is_doubtful(word: str, *, first: bool) -> bool:
    """Whether a word may be misspelt, by a list of usual words."""
    if not (word.islower() or (first and word[1:].islower())):
        return False
    one = word.casefold()
    return one in _USUAL or (len(one) >= SHORTEST and one not in word_costs())


def nearest(word: str, words: Mapping[str, int]) -> str | None:
    """The word with the fewest errors, from the same letter on; None of far ones.

    Args:
        word: the misspelt word.
        words: the words that may be meant, each with its frequency.

    >>> nearest("departement", {"department": 9, "employer": 5})
    'department'
    """
    # Few questions need them, and they take a while to load.
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    most = 1 + (len(word) >= LONG)
    near = [each for each in words if each[:1] == word[0] and len(each) >= SHORTEST]
    found = process.extract(
        word, near, scorer=OSA.distance, score_cutoff=most, limit=None
    )
    ranks = [(distance, -words[each], each) for each, distance, _ in found]
    return min(ranks)[2] if ranks else None


@cache
def english_words() -> Mapping[str, int]:
    """English words with their frequency."""
    from spellchecker import SpellChecker

    return SpellChecker(language="en").word_frequency.dictionary


def corrected(question: str, found: Sequence[Correction]) -> str:
    """The question with its words read right."""
    for start, word, right in reversed(found):
        question = question[:start] + right + question[start + len(word) :]
    return question


def original_place(place: int, found: Sequence[Correction]) -> int:
    """The place in the question of a place in the corrected one.

    >>> found = corrections("the auther of it", [], [])
    >>> original_place(corrected("the auther of it", found).index("it"), found)
    14
    """
    shift = 0
    for start, word, right in found:
        if place > start + shift:
            shift += len(right) - len(word)
    return place - shift
