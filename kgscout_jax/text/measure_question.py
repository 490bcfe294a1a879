"""Questions for a day or a number by their first words: "since when", "how much"."""

from __future__ import annotations

import re
from typing import NamedTuple

from kgscout_jax.text.value_words import ADJECTIVE_MEASURES, word_key
from kgscout_jax.text.words import WORD

_WHEN = re.compile(
    r"(?:since )?when\b|(?:in|on|since) (?:what|which) (?:year|day|date)\b", re.I
)
_HOW_MUCH = re.compile(r"how much(?: money)?\b", re.I)
_HOW = re.compile(r"how (\w+)\b(?: (?:an?|the)\b)?", re.I)
_HOW_MANY = re.compile(r"how many (\w+)\b", re.I)
_AMOUNT = "amount value price cost sum total salary wage fee quantity volume"
_MEASURES = ADJECTIVE_MEASURES | {"far": "distance length"}
_LENGTHS = frozenset(
    "take takes took last lasts lasted flight trip journey ride drive connection route "
    "way road distance".split()
)
"""What is beside the ends of what has a length."""
_NUMBER = "quantity amount count number units"


class MeasureQuestion(NamedTuple):
    """A question for a day or a number."""

    at_time: bool
    """Whether it asks for a day or a year."""
    keys: frozenset[str]
    """Keys of what the number is called, see ``word_key``."""
    words: frozenset[str]
    """The words that ask."""
    is_any: bool = False
    """Whether it is any number that something has."""
    is_length: bool = False
    """Whether it is a length, which is the same both ways."""


def measure_question(text: str) -> MeasureQuestion | None:
    """What a question asks for; None where it asks for no day and no number.

    >>> measure_question("Since when has Ann worked at Acme?").at_time
    True
    >>> measure_question("How far is Arden from Bray?").is_length
    True
    >>> measure_question("Who works at Acme?")
    """
    if match := _WHEN.match(text):
        return MeasureQuestion(True, frozenset(), _words(match[0]))
    if match := _HOW_MUCH.match(text):
        return MeasureQuestion(False, _keys(_AMOUNT), _words(match[0]), is_any=True)
    if match := _HOW_MANY.match(text):
        keys = _keys(f"{match[1]} {_NUMBER}")
        return MeasureQuestion(False, keys, _words(match[0]))
    if (match := _HOW.match(text)) and match[1].casefold() in _MEASURES:
        keys = _keys(_MEASURES[match[1].casefold()])
        words = _words(match[0]) | _LENGTHS
        return MeasureQuestion(False, keys, words, is_length=True)
    return None


def _keys(words: str) -> frozenset[str]:
    return frozenset(map(word_key, words.casefold().split()))


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))
