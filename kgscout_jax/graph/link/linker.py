"""Links the text of a question to entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Bool, Float64

from kgscout_jax.graph.link.candidates import (
    Candidate,
    key_candidates,
    word_candidates,
)
from kgscout_jax.graph.link.common_nouns import is_asked_noun
from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.links import Link, LinkSettings
from kgscout_jax.graph.link.mention_forms import (
    WHOLE,
    are_joined,
    content_words,
    full_match_mask,
    is_capital,
    is_identifier,
    is_predicate,
)
from kgscout_jax.graph.link.name_parts import NameParts
from kgscout_jax.graph.link.question_tokens import (
    MAX_CHARACTERS,
    QuestionTokens,
    tokenise_question,
)
from kgscout_jax.graph.link.scoring import scores
from kgscout_jax.text.words import ARTICLES

BRACKET_LIKENESS = 0.7
"""Smallest likeness of a bracketed mention and a name."""
_ASKING = frozenset("which what many every each".split())
"""Words before what a question asks for."""


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
        parts = NameParts(
            tokens,
            self.index,
            candidates,
            probabilities,
            self.settings,
            statement=statement,
        )
        probabilities = np.where(parts.mask(), 0, probabilities)
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
            mask = full_match_mask(question, candidates)
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
            if c.how == "exact" and any(are_joined(question, c, s) for s in selection):
                # "Which is denser, gold or lead": lead is no verb.
                likely = 0 if statement else self.settings.threshold_identifier
                least = min(least, likely)
            if statement and c.how != "fuzzy" and content_words(question, c):
                # Two names are wanted: beside two likely ones, all must be likely.
                likely = self.settings.threshold_identifier
                both = len({x.start for x in links if x.score >= likely}) > 1
                least = min(least, 0 if c.likeness == 1 and not both else likely)
            if score < (0 if is_predicate(question, c) else least):
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

    def _is_value(self, question: QuestionTokens, c: Candidate) -> bool:
        """Whether a question writes small what is but said of others: "paid cash"."""
        written = question.text[c.start : c.stop]
        whole = c.how == "exact" and c.coverage >= WHOLE and written.islower()
        if self.is_value is None or not whole:
            return False
        before = question.words[max(c.first - 1, 0)]
        asks = before in _ASKING and is_asked_noun(question, c.first, c.last)
        return not asks and self.is_value(self.index.entity_of(c.surface))

    def _is_modifier(self, question: QuestionTokens, c: Candidate) -> bool:
        """Whether a value stands before the noun that is asked for: "which food
        contracts"."""
        noun = c.last + 1
        follows = c.first and noun < len(question) and question.words[noun].isalpha()
        return (
            bool(follows)
            and is_asked_noun(question, c.first, noun)
            and self._is_value(question, c)
        )

    def _least(self, question: QuestionTokens, c: Candidate, *, first: bool) -> float:
        """The least probability of a link."""
        settings = self.settings
        if c.how == "fuzzy":
            return settings.floor if first else settings.threshold
        if first:
            return settings.floor_full
        if is_capital(question, self.index, c):  # surer than a name without capitals
            return settings.threshold_identifier / 2
        if self._is_modifier(question, c):
            return 0
        if is_identifier(self.index, c) or self._is_value(question, c):
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
