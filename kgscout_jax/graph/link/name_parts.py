"""Which fuzzy matches are but parts of names, where the words are a name themselves."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float64

from kgscout_jax.graph.link.candidates import Candidate
from kgscout_jax.graph.link.common_nouns import (
    is_asked_noun,
    is_described_noun,
    is_modified_noun,
)
from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.links import LinkSettings
from kgscout_jax.graph.link.mention_forms import (
    WHOLE,
    content_words,
    describes,
    is_capital,
    is_grammar_code,
    is_identifier,
    is_place,
    is_predicate,
)
from kgscout_jax.graph.link.question_tokens import QuestionTokens
from kgscout_jax.text.value_words import is_comparing
from kgscout_jax.text.words import ARTICLES

SURE = 0.8
"""Probability from which on a whole name is no part of another one."""
PART_LIKENESS = 0.8
"""Likeness of several words and a name below which they are but parts of it."""
_GRAPH = frozenset("list table data dataset database graph catalog catalogue".split())
"""What a question may call the graph that it asks."""

Span = tuple[int, int]
"""First and last word."""


class NameParts:
    """The whole names of one question, and what is explained by them.

    "wireshark" is the entity of this name, though ``wireshark-qt`` be better connected;
    but "mozart" may be the composer and not the village, unless the village is sure:
    "Valencia" is the city, not ``FC Valencia``.
    """

    def __init__(
        self,
        question: QuestionTokens,
        index: LinkIndex,
        candidates: list[Candidate],
        probabilities: Float64[np.ndarray, "c"],
        settings: LinkSettings,
        *,
        statement: bool,
    ) -> None:
        """
        Args:
            question: the words.
            index: of the names.
            candidates: of the question.
            probabilities: of the candidates.
            settings: of links.
            statement: whether both of two are named, see ``Linker.link``.
        """
        self.question, self.index, self.settings = question, index, settings
        self.statement = statement
        self.scored = [*zip(candidates, probabilities.tolist(), strict=True)]
        whole = [
            (c, score)
            for c, score in self.scored
            if c.how != "fuzzy" and score >= settings.threshold
        ]
        self.likely = [_span(c) for c, _ in whole]
        self.places = [_span(c) for c in candidates if is_place(question, c)]
        self.sure = [_span(c) for c, score in whole if score >= SURE] + self.places
        self.sure += [
            _span(c)
            for c in candidates
            if is_capital(question, index, c)
            or is_predicate(question, c)
            or describes(question, c)
        ]
        self.identifiers = [
            _span(c)
            for c, score in self.scored
            if score >= settings.floor_full and is_identifier(index, c)
        ]
        self.written = {
            _span(c) for c in candidates if c.how == "exact" and c.likeness == 1
        }
        names = [
            c for c in candidates if _is_whole(c) and content_words(question, c) > 1
        ]
        self.names = {_span(c) for c in names}
        self.exact_names = {_span(c) for c in names if c.how != "fuzzy"}

    def mask(self) -> Bool[np.ndarray, "c"]:
        """True for candidates that other names explain."""
        return np.array(
            [self._is_explained(c, score) for c, score in self.scored], bool
        )

    def _is_explained(self, c: Candidate, score: float) -> bool:
        question = self.question
        if c.how != "fuzzy":  # "In" is no code ``IN``.
            return is_grammar_code(question, self.index, c)
        one_word, word = c.first == c.last, question.words[c.first]
        if one_word and c.misspelt and is_comparing(word):
            return True  # "Lightest" is no ``light``.
        if self._overlaps_name(c) or self._is_word_of_name(c) or self._is_at_place(c):
            return True
        if c.coverage >= WHOLE:
            return False
        if _is_within(c, self.sure):
            return True
        if _span(c) in self.written and (
            (one_word and word not in self._name_words(c))
            or (self.statement and self._follows_name(c))
        ):
            # "Blues albums" are those of the genre, and no ``Blue Meridian``. What "Is
            # Ratatouille French" says of it is no ``French Onion Soup``.
            return True
        if one_word and word in _GRAPH:
            return True  # "In the list" is no ``Schindler's List``.
        return (
            self._is_part_of_names(c)
            or self._is_common_noun(c, score)
            or self._is_beside_identifier(c)
        )

    def _overlaps_name(self, c: Candidate) -> bool:
        """A part of a name of several words is part of no other: in "Ada Byte wrote",
        "Byte wrote" is no misspelt ``Wrobe Byte``."""
        return any(
            first < last
            and (first <= c.last and c.first <= last)
            and not (c.first <= first and last <= c.last)
            for first, last in self.likely
        )

    def _is_word_of_name(self, c: Candidate) -> bool:
        """A name of one word is none inside another: "wireshark" is no
        ``wireshark-qt``."""
        name = self.index.text_of(c.surface)
        return " " not in name and _is_within(c, self.likely)

    def _is_at_place(self, c: Candidate) -> bool:
        """A whole name behind "in" is the place: "airports in Berlin" names no
        ``Europe/Berlin``, nor "airports in Paris" ``Paris-Orly Airport``."""
        return any(
            c.first < first <= c.last
            and self.question.words[first - 1] not in self._name_words(c)
            for first, _ in self.places
        )

    def _is_part_of_names(self, c: Candidate) -> bool:
        """Several words that are a name, misspelt or not, are no part of another.

        "Ada Motors" is the firm and not the case ``Ada Motors v Byte``, though small
        "henry viii" may be ``Henry VIII of England``. "Ada Motors sued Bob Byte" is no
        misspelt ``Ada Motors v Bob Byte``.
        """
        inside = [
            (first, last)
            for first, last in self.exact_names
            if c.first <= first and last <= c.last
        ]
        if c.misspelt and len(inside) > 1:
            return True
        if _is_whole(c):
            return False
        may_go_on = c.head and self.question.text[c.start : c.stop].islower()
        return not may_go_on and _is_within(c, self.names)

    def _is_common_noun(self, c: Candidate, score: float) -> bool:
        """A common noun is no part of a name: in "which hut is the oldest", "hut" is no
        ``Rotwand Hut``; "the dermatology department" no ``Emergency Department``."""
        one_word = c.first == c.last
        # "How many ghost lynxes" may be about ``Ghost Lynx``.
        may_be_part = one_word or not c.misspelt
        if may_be_part and is_asked_noun(self.question, c.first, c.last):
            return True
        if not one_word:
            return False
        beside = any(last < c.first or c.last < first for first, last in self.likely)
        unsure = beside or score < self.settings.threshold
        if unsure and is_described_noun(self.question, c.first):
            return True
        name = self.index.text_of(c.surface)
        return is_modified_noun(self.question, c.first, name)

    def _is_beside_identifier(self, c: Candidate) -> bool:
        """An identifier, which has no capitals, is what it says, however unlikely:
        "postgresql" names no ``Debian PostgreSQL Maintainers``.

        Beside one, a single word in small letters is no part of another name: in
        "section of vim", "section" is not ``gnome (section)``.
        """
        if c.first == c.last:
            is_name = c.first > 0 and self.question.text[c.start].isupper()
            return bool(self.identifiers) and not (c.misspelt or is_name)
        return c.likeness < PART_LIKENESS and any(
            first <= c.last and c.first <= last for first, last in self.identifiers
        )

    def _follows_name(self, c: Candidate) -> bool:
        """Whether the words stand behind a name, perhaps with an article."""
        words = self.question.words
        return any(
            last < c.first and ARTICLES.issuperset(words[last + 1 : c.first])
            for _, last in self.likely
        )

    def _name_words(self, c: Candidate) -> list[str]:
        """The words of a candidate's name, in small letters."""
        return self.index.text_of(c.surface).casefold().split()


def _span(c: Candidate) -> Span:
    return c.first, c.last


def _is_within(c: Candidate, spans: list[Span] | set[Span]) -> bool:
    return any(first <= c.first and c.last <= last for first, last in spans)


def _is_whole(c: Candidate) -> bool:
    """Whether a candidate is a whole name; a misspelt word lowers its coverage."""
    return c.likeness >= WHOLE and c.coverage >= PART_LIKENESS
