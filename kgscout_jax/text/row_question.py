"""What a question asks of a row, by its first words: "since when", "how much"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kgscout_jax.text.kinds import Kind
from kgscout_jax.text.value_words import ADJECTIVE_MEASURES, word_key
from kgscout_jax.text.words import WORD

Form = Literal["time", "number", "name"]
"""A day or a year, a number, or what has a name."""
_WHEN = re.compile(
    r"(?:since )?when\b|(?:in|on|since) (?:what|which) (?:year|day|date)\b", re.I
)
_HOW_MUCH = re.compile(r"how much(?: money)?\b", re.I)
_HOW = re.compile(r"how (\w+)\b(?: (?:an?|the)\b)?", re.I)
_HOW_MANY = re.compile(r"how many (\w+)\b", re.I)
_NAME = re.compile(r"(who|whom|where|what) (?!(?:is|was|are|were)\b)\w", re.I)
"""A walk finds what something is called: "what is the surface of"."""
_WHICH = re.compile(r"which (?!of\b)\w+|what (?:country|city|company|person)\b", re.I)
_KINDS: dict[str, Kind] = {"who": "person", "whom": "person", "where": "place"}
_AMOUNT = "amount value price cost sum total salary wage fee quantity volume"
_MEASURES = ADJECTIVE_MEASURES | {"far": "distance length"}
_LENGTHS = frozenset(
    "take takes took last lasts lasted flight trip journey ride drive connection route "
    "way road distance".split()
)
"""What is beside the ends of what has a length."""
_LASTS = re.compile(r"\b(?:take|last)\b", re.I)
_NUMBER = "quantity amount count number units"


@dataclass(frozen=True)
class RowQuestion:
    """What a question asks of a row."""

    form: Form
    words: frozenset[str]
    """The words that ask."""
    keys: tuple[str, ...] = ()
    """Keys of what a number is called, see ``word_key``; the likeliest first."""
    is_any: bool = False
    """Whether it is any number that something has."""
    is_length: bool = False
    """Whether it is a length, which is the same both ways."""
    kind: Kind | None = None
    """What a name is of; None for anything."""
    has_noun: bool = False
    """Whether a noun says it: "which country"."""


def row_question(text: str) -> RowQuestion | None:
    """What a question asks of a row; None for other questions.

    >>> row_question("Since when has Ann worked at Acme?").form
    'time'
    >>> row_question("How far is Arden from Bray?").is_length
    True
    >>> row_question("Where did Ann meet Bo?").kind, row_question("Is Ann at Acme?")
    ('place', None)
    """
    if match := _WHEN.match(text):
        return RowQuestion("time", _words(match[0]))
    if match := _HOW_MUCH.match(text):
        return RowQuestion("number", _words(match[0]), AMOUNT_KEYS, is_any=True)
    if match := _HOW_MANY.match(text):
        return RowQuestion("number", _words(match[0]), _keys(f"{match[1]} {_NUMBER}"))
    if (match := _HOW.match(text)) and match[1].casefold() in _MEASURES:
        keys = _keys(_MEASURES[match[1].casefold()])
        keys = _keys("duration time") if _LASTS.search(text) else keys
        return RowQuestion("number", _words(match[0]) | _LENGTHS, keys, is_length=True)
    if match := _WHICH.match(text):
        return RowQuestion("name", _words(match[0]), has_noun=True)
    if match := _NAME.match(text):
        word = match[1].casefold()
        return RowQuestion("name", frozenset((word,)), kind=_KINDS.get(word))
    return None


def _keys(words: str) -> tuple[str, ...]:
    return (*dict.fromkeys(map(word_key, words.casefold().split())),)


AMOUNT_KEYS = _keys(_AMOUNT)
"""Keys of what an amount is called."""


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))
