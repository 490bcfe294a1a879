"""Questions that compare values: "the latest of", "over 9", "in 2003", "older, A or B".

A walk finds the films of a director, but not which of them is the latest. What a
question wants of values is read off its words by ``value_question_parser``;
``retrieve/value_test`` applies it to the values in a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from kgscout_jax.text.relation_words import last_word, relation_words
from kgscout_jax.text.units import UNITS, dimension_of
from kgscout_jax.text.value_column import Value, ValueColumn
from kgscout_jax.text.value_words import (
    ComparingWord,
    measured_keys,
    relation_keys,
    word_key,
)
from kgscout_jax.text.values import (
    is_date,
    is_year,
    quantity_of,
)
from kgscout_jax.text.words import WORD, folded

ValueTestName = Literal["highest", "lowest", "above", "below", "within"]

AMOUNT_WORDS = frozenset(("sum", "amount"))
"""Nouns for values of any kind: "insured for the highest sum"."""
_DATED_KEYS = frozenset(
    map(word_key, "released published made produced shot issued launched".split())
)
"""Keys of verbs for what has a year."""
START_KEYS = frozenset(map(word_key, "hired joined started employed began".split()))
"""Keys of verbs for the day from which on somebody works."""


@dataclass(frozen=True)
class ValueQuestion:
    """What a question wants of values; topics are given by position."""

    test: ValueTestName
    word: ComparingWord
    near: frozenset[str] = frozenset()
    """Keys of the words around the comparing word, see ``word_key``."""
    words: frozenset[str] = frozenset()
    """Keys of all its words."""
    limits: tuple[str, ...] = ()
    """above, below: the value as it is written; within: the lowest and the highest."""
    inclusive: bool = False
    """Whether the limit passes."""
    rival: int | None = None
    """above, below: the topic whose value is the limit."""
    subject: int | None = None
    """Of a limit: the topic that a question of yes or no is about."""
    choice: tuple[int, ...] = ()
    """The topics that the question offers: "A or B"."""
    place: int = 1
    """Of a superlative: 2 for "the second largest"."""
    count: int = 1
    """Of a superlative: 3 for "the three largest"."""
    start: int = 0
    """Where the comparing word stands in the text."""
    stop: int = 0
    """within: where the interval ends in the text."""

    @property
    def limit(self) -> float | None:
        """The value that is the limit, or the lowest one."""
        found = quantity_of(self.limits[0]) if self.limits else None
        return None if found is None else found.value

    @property
    def limits_time(self) -> bool:
        """Whether the limits are dates, or may be years."""
        return any(is_date(limit) or is_year(limit) for limit in self.limits)

    def limits_in(self, column: ValueColumn) -> tuple[Value, ...] | None:
        """The limits as values of a relation; None where one is no such value."""
        found = [column.read_limit(limit) for limit in self.limits]
        real = tuple(each for each in found if each is not None)
        return real if len(real) == len(found) else None

    @property
    def prefers_high(self) -> bool:
        """Whether high values pass rather than low ones."""
        return self.test in ("highest", "above")

    @property
    def is_superlative(self) -> bool:
        """Whether the values are compared with each other, not with a limit."""
        return self.test in ("highest", "lowest")

    def may_mean(self, relation: str) -> bool:
        """Whether its words name the values of a relation, or imply them."""
        measured = measured_keys(relation) & (self.word.implied | self.near)
        return bool(relation_keys(relation) & self.words or measured)

    def has_unit_of(self, relation: str) -> bool:
        """Whether its limits are in the unit that a relation's name ends in.

        "Mountains over 8500 m" says elevation where ``elevation_m`` is the one in m.
        """
        last = last_word(relation)
        units = {(WORD.findall(limit.casefold()) or [""])[-1] for limit in self.limits}
        known = {UNITS[unit] for unit in units & UNITS.keys()}
        return last in UNITS and known == {UNITS[last]}

    @property
    def dimension(self) -> str:
        """What its limits measure by their unit; "" where that is open."""
        found = [quantity_of(limit) for limit in self.limits]
        said = {dimension_of(each.unit) for each in found if each is not None}
        return said.pop() if len(said) == 1 else ""

    def dated_by(self, relations: Sequence[str]) -> int | None:
        """The one relation called year or date, of what is dated by no other word.

        "Films released before 1955" by ``Year``; None for other questions.
        """
        named = [
            i
            for i, r in enumerate(relations)
            if relation_words(r) in (["year"], ["date"])
        ]
        verbs = [k for k in (_DATED_KEYS, START_KEYS) if not self.words.isdisjoint(k)]
        if not self.limits_time or not verbs:
            return None
        if not named or verbs == [START_KEYS]:
            named = [  # "came out after 2004" by ``published``
                i
                for i, r in enumerate(relations)
                if not relation_keys(r).isdisjoint(verbs[0])
                and relation_words(r)[-1:] != ["by"]
            ]
        return named[0] if len(named) == 1 else None

    def with_words_of(self, relation: str) -> ValueQuestion:
        """The question with the words of a relation's name among its own.

        A verb for what is dated needs no word then.
        """
        keys = relation_keys(relation)
        dated = (_DATED_KEYS | START_KEYS) & self.words
        word = self.word._replace(implied=self.word.implied | dated)
        return replace(self, word=word, near=self.near | keys, words=self.words | keys)

    def without_keys(self, keys: Set[str]) -> ValueQuestion:
        """The question whose words with these keys name no relation."""
        return replace(self, near=self.near - keys, words=self.words - keys)

    def comparing_word(self, question: str) -> str:
        """The word of the question that compares."""
        found = WORD.search(folded(question), self.start)
        return found[0] if found else ""

    def with_topics(self, place: Callable[[int], int]) -> ValueQuestion:
        """The question with other numbers for its topics."""
        return replace(
            self,
            rival=None if self.rival is None else place(self.rival),
            subject=None if self.subject is None else place(self.subject),
            choice=tuple(place(topic) for topic in self.choice),
        )
