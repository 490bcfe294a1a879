"""Links the text of a question to entities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.candidates import (
    Candidate,
    key_candidates,
    word_candidates,
)
from kgscout_jax.graph.link.common_nouns import (
    is_asked_noun,
    is_described_noun,
    is_modified_noun,
)
from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.question_tokens import (
    MAX_CHARACTERS,
    QuestionTokens,
    tokenise_question,
)
from kgscout_jax.graph.link.scoring import scores
from kgscout_jax.graph.link.stop_words import ARTICLES, GRAMMAR, STOP_WORDS
from kgscout_jax.text.question_clause import BE
from kgscout_jax.text.value_words import is_comparing

BRACKET_LIKENESS = 0.7
"""Smallest likeness of a bracketed mention and a name."""
WHOLE = 0.9
"""Coverage of a name from which all of it is in the question."""
_GRAPH = frozenset("list table data dataset database graph catalog catalogue".split())
"""What a question may call the graph that it asks."""
SURE = 0.8
"""Probability from which on a whole name is no part of another one."""
PART_LIKENESS = 0.8
"""Likeness of several words and a name below which they are but parts of it."""
_ASKING = frozenset("which what many every each".split())
"""Words before what a question asks for."""
_LOCATIVE = frozenset("in from near at".split())
"""Prepositions before places."""
_JOINT = re.compile(r"\s*(?:,|&|(?:,\s*)?\b(?:and|or)\b)\s*", re.IGNORECASE)
"""What joins two names of one kind."""


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """Options of linking."""

    k: int = 3
    """The most links per question."""
    threshold: float = 0.5
    """Links less likely than this are left out, except the first."""
    threshold_full: float = 0.3
    """The same for links by a whole name, such as wget in "curl and wget"."""
    threshold_identifier: float = 0.05
    """The same for links by a whole name without capitals, such as libc6, by one beside
    another link, "gold and silver", and by names of a statement that are written
    otherwise."""
    floor: float = 0.0125
    """A first link less likely than this is left out too."""
    floor_full: float = 0.005
    """The same for links by a whole name."""
    fuzzy: bool = True
    """Also look for misspelt and partial names."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UserError(f"--k: expected at least 1, found {self.k}")
        names = ("threshold", "threshold_full", "threshold_identifier")
        for name in (*names, "floor", "floor_full"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise UserError(f"--{name}: expected 0 to 1, found {value}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """An entity and the part of the question, ``text[start:stop]``, that names it."""

    entity: int
    name: str
    """Display name."""
    score: float
    """Estimated probability that the question is about the entity."""
    how: Literal["exact", "normalised", "alias", "fuzzy"]
    start: int
    stop: int


class _Names:
    """The spans of several words that are a whole name, misspelt or not."""

    def __init__(self, question: QuestionTokens, candidates: list[Candidate]) -> None:
        whole = [
            c
            for c in candidates
            if self._is_whole(c) and _content_words(question, c) > 1
        ]
        self.text = question.text
        self.spans = {(c.first, c.last) for c in whole}
        self.exact = {(c.first, c.last) for c in whole if c.how != "fuzzy"}

    def _is_whole(self, c: Candidate) -> bool:
        """Whether a candidate is a whole name; a misspelt word lowers its coverage."""
        return c.likeness >= WHOLE and c.coverage >= PART_LIKENESS

    def explain(self, c: Candidate) -> bool:
        """Whether a fuzzy match is but a part of a longer name, or of two names.

        "Ada Motors" is the firm and not the case ``Ada Motors v Byte``, though small
        "henry viii" may be ``Henry VIII of England``. "Ada Motors sued Bob Byte" is no
        misspelt ``Ada Motors v Bob Byte``.
        """
        inside = [
            (first, last)
            for first, last in self.exact
            if c.first <= first and last <= c.last
        ]
        if c.misspelt and len(inside) > 1:
            return True
        if self._is_whole(c):
            return False
        may_go_on = c.head and self.text[c.start : c.stop].islower()
        return not may_go_on and any(
            first <= c.first and c.last <= last for first, last in self.spans
        )


class Linker:
    """Finds the entities of questions in an index."""

    def __init__(
        self,
        index: LinkIndex,
        settings: LinkSettings | None = None,
        *,
        weights: Float64[np.ndarray, "f"] | None = None,
        holders: Bool[np.ndarray, "e g"] | None = None,
        is_value: Callable[[int], bool] | None = None,
    ) -> None:
        """
        Args:
            index: of names.
            settings: of links.
            weights: those of the scoring model; None for its own.
            holders: which of several graphs has each entity. A name that is another
                entity in each graph is linked in each.
            is_value: whether an entity is but said of others, as ``Cash`` is.
        """
        self.index, self.settings = index, settings or LinkSettings()
        self.weights, self.holders, self.is_value = weights, holders, is_value

    def link(
        self, question: str, k: int | None = None, *, statement: bool = False
    ) -> list[Link]:
        """The entities of ``question``, likeliest first; their spans do not overlap.

        If a part in [brackets] can be linked, only bracketed parts are.

        Args:
            question: the question.
            k: the most links.
            statement: both of two are named, as in "is Titanic a drama?" and "which is
                older, Rome or Bern?". Then a whole name is linked, however unlikely.
        """
        k = self.settings.k if k is None else k
        links = self._bracket_links(question, k) if "[" in question else []
        if links:
            return links
        tokens = tokenise_question(question)
        candidates = self.candidates(tokens)
        probabilities = scores(tokens, self.index, candidates, self.weights)
        explained = self._explained_mask(
            tokens, candidates, probabilities, statement=statement
        )
        probabilities = np.where(explained, 0, probabilities)
        return self._select(tokens, candidates, probabilities, k, statement=statement)

    def ranking(self, question: str, k: int = 5) -> list[Link]:
        """The ``k`` likeliest entities, however unlikely; their spans may overlap."""
        tokens = tokenise_question(question)
        candidates = self.candidates(tokens)
        probabilities = scores(tokens, self.index, candidates, self.weights)
        links: dict[int, Link] = {}
        for i in np.argsort(-probabilities, kind="stable").tolist():
            link = self._link(candidates[i], float(probabilities[i]))
            links.setdefault(link.entity, link)
            if len(links) == k:
                break
        return list(links.values())

    def candidates(self, question: QuestionTokens) -> list[Candidate]:
        """All surfaces that may match a span of the question."""
        candidates = key_candidates(question, self.index)
        if self.settings.fuzzy:
            known: dict[int, list[tuple[int, int]]] = {}
            for c in candidates:
                known.setdefault(c.surface, []).append((c.first, c.last))
            mask = _full_match_mask(question, candidates)
            for c in word_candidates(question, self.index, mask):
                # Skip what has a candidate by key, as a whole or for a part.
                spans = known.get(c.surface, ())
                if not any(c.first <= a and b <= c.last for a, b in spans):
                    candidates.append(c)
        return candidates

    def _bracket_links(self, question: str, k: int) -> list[Link]:
        """Links of bracketed parts that as a whole are similar to a name."""
        links: list[Link] = []
        for begin, end in bracket_spans(question[:MAX_CHARACTERS]):
            mention = tokenise_question(question[begin:end])
            candidates = [
                c
                for c in self.candidates(mention)
                if c.likeness >= BRACKET_LIKENESS
                and c.last == len(mention) - 1
                and ARTICLES.issuperset(mention.words[: c.first])
            ]
            if not candidates:
                continue
            best = min(
                candidates,
                key=lambda c: (-c.likeness, c.how != "exact", -c.article, c.surface),
            )
            link = self._link(best, best.likeness, begin)
            if all(link.entity != other.entity for other in links):
                links.append(link)
        return sorted(links, key=lambda link: -link.score)[:k]

    def _select(
        self,
        question: QuestionTokens,
        candidates: list[Candidate],
        probabilities: Float64[np.ndarray, "c"],
        k: int,
        *,
        statement: bool,
    ) -> list[Link]:
        """The likeliest candidates that do not overlap."""
        links: list[Link] = []
        selection: list[Candidate] = []
        pairs = zip(candidates, probabilities.tolist(), strict=True)
        for c, score in sorted(
            pairs, key=lambda p: (-p[1], p[0].first, -p[0].last, p[0].surface)
        ):
            twins = [self._is_twin(c, s) for s in selection]
            least = self._least(question, c, first=not links or any(twins))
            if c.how == "exact" and any(_are_joined(question, c, s) for s in selection):
                # "Which is denser, gold or lead": lead is no verb.
                likely = 0 if statement else self.settings.threshold_identifier
                least = min(least, likely)
            if statement and c.how != "fuzzy" and _content_words(question, c):
                # Two names are wanted: beside two likely ones, all must be likely.
                likely = self.settings.threshold_identifier
                both = len({x.start for x in links if x.score >= likely}) > 1
                least = min(least, 0 if c.likeness == 1 and not both else likely)
            if score < (0 if _is_predicate(question, c) else least):
                continue
            entity = self.index.entity_of(c.surface)
            if any(entity == link.entity for link in links):
                continue
            if any(
                c.first <= s.last and s.first <= c.last and not twin
                for s, twin in zip(selection, twins, strict=True)
            ):
                continue
            selection.append(c)
            links.append(self._link(c, score))
            if len({(s.first, s.last) for s in selection}) == k:
                break
        return links

    def _is_twin(self, one: Candidate, other: Candidate) -> bool:
        """Whether the same words are two entities: no graph has both, or one has the
        name of the other, with its id behind it."""
        if (one.first, one.last) != (other.first, other.last):
            return False
        if min(one.coverage, other.coverage) < WHOLE or one.how == "fuzzy":
            return False
        entities = [self.index.entity_of(each.surface) for each in (one, other)]
        said = {self.index.text_of(each.surface) for each in (one, other)}
        if len(said) == 1 and "alias" in (one.how, other.how):
            short, long = sorted((self.index.names[each] for each in entities), key=len)
            if long.startswith(f"{short} ("):
                return True
        if self.holders is None:
            return False
        return not self.holders[entities].all(axis=0).any()

    def _explained_mask(
        self,
        question: QuestionTokens,
        candidates: list[Candidate],
        probabilities: Float64[np.ndarray, "c"],
        *,
        statement: bool,
    ) -> Bool[np.ndarray, "c"]:
        """True for parts of names where the words are a name themselves.

        "wireshark" is the entity of this name, though ``wireshark-qt`` be better
        connected; but "mozart" may be the composer and not the village, unless the
        village is sure: "Valencia" is the city, not ``FC Valencia``. Several words that
        are a name, misspelt or not, are no part of another, see ``_Names``. A part of a
        name of several words is part of no other: in "Ada Byte wrote", "Byte wrote" is
        no misspelt ``Wrobe Byte``. An identifier, which has no capitals, is what it
        says, however unlikely: "postgresql" names no
        ``Debian PostgreSQL Maintainers``. Beside one, a single word is no part of
        another name: in "section of vim", "section" is not ``gnome (section)``. Nor are
        common nouns: in "which hut is the oldest", "hut" is no ``Rotwand Hut``. A whole
        name behind "in" is the place: "airports in Berlin" names no ``Europe/Berlin``.
        "Thai recipes" are those of ``Thai``, and not about ``Pad Thai``, and so is what
        "Is Ratatouille French" says of it. "In the list" is no ``Schindler's List``.
        "The dermatology department" is no ``Emergency Department``.
        "In" is no code ``IN``, and "lightest" no ``light``.
        """
        settings = self.settings
        whole = [
            (c.first, c.last, score)
            for c, score in zip(candidates, probabilities.tolist(), strict=True)
            if c.how != "fuzzy" and score >= settings.threshold
        ]
        likely = [(first, last) for first, last, _ in whole]
        names = _Names(question, candidates)
        written = {
            (c.first, c.last)
            for c in candidates
            if c.how == "exact" and c.likeness == 1
        }
        sure = [(first, last) for first, last, score in whole if score >= SURE]
        places = [(c.first, c.last) for c in candidates if _is_place(question, c)]
        sure += places
        sure += [
            (c.first, c.last)
            for c in candidates
            if self._is_capital(question, c)
            or _is_predicate(question, c)
            or _describes(question, c)
        ]
        identifiers = [
            (c.first, c.last)
            for c, score in zip(candidates, probabilities.tolist(), strict=True)
            if score >= settings.floor_full and self._is_identifier(c)
        ]

        def is_claimed(c: Candidate) -> bool:
            """Whether the words stand behind a name, perhaps with an article."""
            return any(
                last < c.first
                and ARTICLES.issuperset(question.words[last + 1 : c.first])
                for _, last in likely
            )

        def explained(c: Candidate, score: float) -> bool:
            if c.how != "fuzzy":
                return self._is_code_of_grammar(question, c)
            if (
                c.first == c.last
                and c.misspelt
                and is_comparing(question.words[c.first])
            ):
                return True
            if any(
                first < last
                and (first <= c.last and c.first <= last)
                and not (c.first <= first and last <= c.last)
                for first, last in likely
            ):
                return True
            name = self.index.text_of(c.surface)
            if " " not in name and any(
                first <= c.first and c.last <= last for first, last in likely
            ):
                return True
            # "Airports in Paris" names no ``Paris-Orly Airport`` either.
            if any(
                c.first < first <= c.last
                and question.words[first - 1] not in name.casefold().split()
                for first, _ in places
            ):
                return True
            if c.coverage >= WHOLE:
                return False
            if any(first <= c.first and c.last <= last for first, last in sure):
                return True
            # "Blues albums" are those of the genre, and no ``Blue Meridian``.
            as_written = question.words[c.first] in name.casefold().split()
            if c.first == c.last and not as_written and (c.first, c.last) in written:
                return True
            if statement and (c.first, c.last) in written and is_claimed(c):
                return True
            if c.first == c.last and question.words[c.first] in _GRAPH:
                return True
            if names.explain(c):
                return True
            one_word = c.first == c.last
            # "How many ghost lynxes" may be about ``Ghost Lynx``.
            may_be_part = one_word or not c.misspelt
            if may_be_part and is_asked_noun(question, c.first, c.last):
                return True
            beside = any(last < c.first or c.last < first for first, last in likely)
            if (
                one_word
                and (beside or score < settings.threshold)
                and is_described_noun(question, c.first)
            ):
                return True
            if one_word and is_modified_noun(question, c.first, name):
                return True
            if not identifiers or (one_word and c.misspelt):
                return False
            return one_word or (
                c.likeness < PART_LIKENESS
                and any(
                    first <= c.last and c.first <= last for first, last in identifiers
                )
            )

        pairs = zip(candidates, probabilities.tolist(), strict=True)
        return np.array([explained(c, score) for c, score in pairs], bool)

    def _is_identifier(self, c: Candidate) -> bool:
        """Whether a candidate is a whole name without capitals."""
        # Where most words of names have capitals, one without is a common noun.
        if c.how != "exact" or self.index.share_small < 0.5:
            return False
        name = self.index.text_of(c.surface)
        return name == name.lower() and any(map(str.isalpha, name))

    def _is_value(self, question: QuestionTokens, c: Candidate) -> bool:
        """Whether a question writes small what is but said of others: "paid cash"."""
        written = question.text[c.start : c.stop]
        whole = c.how == "exact" and c.coverage >= WHOLE and written.islower()
        if self.is_value is None or not whole:
            return False
        before = question.words[max(c.first - 1, 0)]
        asks = before in _ASKING and is_asked_noun(question, c.first, c.last)
        return not asks and self.is_value(self.index.entity_of(c.surface))

    def _is_code_of_grammar(self, question: QuestionTokens, c: Candidate) -> bool:
        """Whether a function word is a code that is written otherwise."""
        if c.first < c.last or question.words[c.first] not in GRAMMAR:
            return False
        name = self.index.text_of(c.surface)
        written = question.text[c.start : c.stop]
        return name.isupper() and len(name) > 1 and written != name

    def _is_capital(self, question: QuestionTokens, c: Candidate) -> bool:
        """Whether a name with a capital stands as it is written, not at the start.

        Such as Go in "which Go packages run on macOS", where other words have none.
        """
        written = question.text[c.start : c.stop]
        name = self.index.text_of(c.surface)
        if c.how != "exact" or not c.first or name != written or name.islower():
            return False
        ends = zip(question.starts, question.stops, strict=True)
        words = [question.text[start:stop] for start, stop in ends]
        return any(map(str.islower, [*words[1 : c.first], *words[c.last + 1 :]]))

    def _least(self, question: QuestionTokens, c: Candidate, *, first: bool) -> float:
        """The least probability of a link."""
        settings = self.settings
        if c.how == "fuzzy":
            return settings.floor if first else settings.threshold
        if first:
            return settings.floor_full
        if self._is_capital(question, c):  # surer than a name without capitals
            return settings.threshold_identifier / 2
        if self._is_identifier(c) or self._is_value(question, c):
            return settings.threshold_identifier
        if c.how == "exact" and c.first < c.last and c.likeness == 1:
            return settings.threshold_identifier
        return settings.threshold_full

    def _link(self, c: Candidate, score: float, shift: int = 0) -> Link:
        """A candidate as a link, its span moved by ``shift``."""
        entity = self.index.entity_of(c.surface)
        return Link(
            entity=entity,
            name=self.index.names[entity],
            score=float(score),
            how=c.how,
            start=c.start + shift,
            stop=c.stop + shift,
        )


def _describes(question: QuestionTokens, c: Candidate) -> bool:
    """Whether a form of a name describes the noun behind it: "African countries"."""
    if c.how != "alias":
        return False
    behind = question.words[c.last + 1 : c.last + 2]
    capitals = question.text[c.start].isupper()
    small = (
        c.last + 1 < len(question)
        and question.text[question.starts[c.last + 1]].islower()
    )
    return c.first > 0 and capitals and small and GRAMMAR.isdisjoint(behind)


def _is_predicate(question: QuestionTokens, c: Candidate) -> bool:
    """Whether a whole name is what a question says of all that it asks for.

    "Which tasks are done", "players of Ajax who are defenders".
    """
    words = question.words
    before = words[max(c.first - 2, 0) : c.first]
    asks = words[:1] in (["which"], ["what"]) or words[:2] == ["how", "many"]
    asks = asks or before[:1] in (["who"], ["that"], ["which"])  # "players who are"
    behind = c.first > 2 - (words[0] != "how") and before[-1] in BE
    whole = c.how in ("exact", "normalised") and c.likeness >= WHOLE
    return asks and behind and whole and c.last == len(words) - 1


def _is_place(question: QuestionTokens, c: Candidate) -> bool:
    """Whether a whole name stands as it is written behind "in"."""
    before = question.words[max(c.first - 1, 0) : c.first]
    content = _content_words(question, c) > 0
    return c.how == "exact" and content and not _LOCATIVE.isdisjoint(before)


def _are_joined(question: QuestionTokens, one: Candidate, other: Candidate) -> bool:
    """Whether two names stand beside each other: "gold and silver", "gold, silver"."""
    first, last = sorted((one, other), key=lambda c: c.start)
    return _JOINT.fullmatch(question.text[first.stop : last.start]) is not None


def _content_words(question: QuestionTokens, c: Candidate) -> int:
    """How many of a candidate's words are no stop words."""
    return sum(w not in STOP_WORDS for w in question.words[c.first : c.last + 1])


def _full_match_mask(
    question: QuestionTokens, candidates: list[Candidate]
) -> Bool[np.ndarray, "t"]:
    """True for tokens in a full match of two or more words that are no stop words."""
    mask = np.zeros(len(question), bool)
    for c in candidates:
        words = question.words[c.first : c.last + 1]
        neighbours = question.words[max(c.first - 1, 0) : c.first]
        neighbours += question.words[c.last + 1 : c.last + 2]
        # The name may be longer: "Martin Luther" in "martin luther king".
        closed = all(word in STOP_WORDS for word in neighbours)
        content = sum(word not in STOP_WORDS for word in words)
        if closed and c.likeness >= 0.9 and content >= 2:
            mask[c.first : c.last + 1] = True
    return mask


def bracket_spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, stop) of the text inside each outermost pair of [brackets]."""
    depth = start = 0
    for at, letter in enumerate(text):
        if letter == "[":
            if depth == 0:
                start = at + 1
            depth += 1
        elif letter == "]" and depth:
            depth -= 1
            if depth == 0 and text[start:at].strip():
                yield start, at
