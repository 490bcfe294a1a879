"""The probability that a candidate is a topic: a logistic model of few features.

The weights were fitted on training questions only (``benchmarks/linking.py --fit``).
The meaning of each feature is independent of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float32, Float64

from kgscout_jax.graph.link.candidates import Candidate
from kgscout_jax.graph.link.index import LinkIndex, equal_ranges
from kgscout_jax.graph.link.question_tokens import QuestionTokens
from kgscout_jax.graph.link.stop_words import (
    GRAMMAR,
    PREPOSITIONS,
    STOP_WORDS,
)
from kgscout_jax.text.words import ARTICLES

MODEL = {
    "bias": -12.5,
    "exact": 2.45,
    "alias": 2.41,
    "fuzzy": 2.61,
    "unlike": -2.12,  # 1 - likeness
    "unlike_fuzzy": -0.82,
    "near_words": 1.27,  # fuzzy, several words: likeness from 0.8 up
    "near_word": 0.66,  # the same of one word
    "missing": -3.85,  # 1 - coverage: of the surface's rarity, what the question lacks
    "misspelt": -2.43,
    "head": 0.15,
    "tail": 0.37,
    "article": 1.52,
    "words": 1.31,  # of a full match, beyond the first, up to 5
    "content": 0.06,  # tokens that are neither grammar nor asking words, up to 4
    "rare": 7.71,  # the rarity of the rarest content token
    "common": 3.13,  # no content token, only asking words
    "empty": 3.45,  # only grammar words
    "number": -0.05,  # only digits
    "small_names": -1.69,  # names write its words small, more than they do others
    "degree": 4.24,
    "degree_fuzzy": 2.39,
    "behind": -1.17,  # how much better connected the best of its span and kind is
    "shadowed": -5.41,  # the same, of its span and any kind
    "capital": 0.13,  # share of tokens in capitals, where the question has both
    "capital_full": 0.21,  # the same, of a full match
    "capital_plain": 1.45,  # the same, of a full match without content
    "small": -2.86,  # none in capitals although the question has some
    "preposition": 0.51,  # stands after one, perhaps with an article
    "within": -1.22,  # lies in a longer candidate that matches as well
    "last": -0.45,  # the question ends with it
    "share": 3.91,  # of the content tokens of the question
}
FEATURES = tuple(MODEL)
WEIGHTS = np.array(list(MODEL.values()))
Span = tuple[int, int, bool]
"""First and last token, and whether the match is fuzzy."""


class _Spans:
    """Properties of spans of a question's tokens, and of surfaces in the graph."""

    def __init__(
        self,
        question: QuestionTokens,
        index: LinkIndex,
        candidates: Sequence[Candidate],
    ) -> None:
        self.index = index
        words = self.words = question.words
        grammar = np.array([w in GRAMMAR for w in words])
        content = ~np.array([w in STOP_WORDS for w in words])
        capitals = np.array([question.text[s].isupper() for s in question.starts])
        # The first word of a question is always capitalised.
        self.capitals_tell = bool(capitals[1:].any() and not capitals.all())
        rarities, small = _token_statistics(question, index)
        self.rarities = np.where(content, rarities, 0).tolist()
        columns = content, grammar, capitals, [w.isdigit() for w in words]
        # Prefix sums: the sum of a span is a difference.
        self.sums = [
            [0, *np.cumsum(values).tolist()]
            for values in (*columns, np.where(grammar, 0, small))
        ]
        self.full = sorted({(c.first, c.last) for c in candidates if c.how != "fuzzy"})

    def _is_small(self, c: Candidate) -> bool:
        """Whether a candidate is a name that has no capitals itself."""
        return c.how == "exact" and self.index.text_of(c.surface).islower()

    def row(self, c: Candidate, degree: float, best: dict[Span, float]) -> tuple:
        """The features of one candidate.

        Args:
            degree: of the candidate's entity, relative to the best connected one.
            best: the largest degree of each span, fuzzy matches apart.
        """
        begin, end, size = c.first, c.last + 1, c.last + 1 - c.first
        content, grammar, upper, digits, small = (s[end] - s[begin] for s in self.sums)
        upper = upper / size if self.capitals_tell else 0.0
        before = begin - 1
        while before > 0 and self.words[before] in ARTICLES:
            before -= 1
        fuzzy = c.how == "fuzzy"
        near = max(c.likeness - 0.8, 0) * 5 * fuzzy
        span = c.first, c.last
        return (
            1,
            c.how == "exact",
            c.how == "alias",
            fuzzy,
            1 - c.likeness,
            (1 - c.likeness) * fuzzy,
            near * (size > 1),
            near * (size == 1),
            1 - c.coverage,
            c.misspelt,
            c.head and fuzzy,
            c.tail and fuzzy,
            c.article,
            0 if fuzzy else min(size - 1, 5),
            min(content, 4),
            max(self.rarities[begin:end]),
            content == 0 and grammar < size,
            grammar == size,
            digits == size,
            small / max(size - grammar, 1),
            degree,
            degree * fuzzy,
            best[*span, fuzzy] - degree,
            max(best.get((*span, kind), 0.0) for kind in (False, True)) - degree,
            upper,
            0 if fuzzy else upper,
            0 if fuzzy or content else upper,
            self.capitals_tell and upper == 0 and not self._is_small(c),
            before >= 0 and self.words[before] in PREPOSITIONS,
            any(a <= c.first and c.last <= b and (a, b) != span for a, b in self.full),
            c.last == len(self.words) - 1,
            content / max(self.sums[0][-1], 1),
        )


def _token_statistics(
    question: QuestionTokens, index: LinkIndex
) -> tuple[Float32[np.ndarray, "t"], Float64[np.ndarray, "t"]]:
    """Per token, its rarity and its share of lower case in names above the mean."""
    tables = index.tables
    low, high = equal_ranges(tables.words, question.hashes)
    in_index = high > low
    at = np.minimum(low, max(len(tables.words) - 1, 0))
    counts = np.where(in_index, tables.offsets[at + 1] - tables.offsets[at], 0)
    small = np.zeros(len(question))
    if in_index.any():
        share = tables.small[at[in_index]] / 200
        small[in_index] = share - index.share_small
    return index.rarity(counts), small


def features(
    question: QuestionTokens, index: LinkIndex, candidates: Sequence[Candidate]
) -> Float64[np.ndarray, "k f"]:
    """One row of ``FEATURES`` per candidate."""
    if not candidates:
        return np.zeros((0, len(FEATURES)))
    all_degrees = index.tables.degrees
    surfaces = np.fromiter((c.surface for c in candidates), np.int64, len(candidates))
    # Relative to the graph's best connected entity; 0.5 if degrees are unknown.
    top = float(all_degrees[0])
    degrees = all_degrees[surfaces] / top if top else np.full(len(surfaces), 0.5)
    degrees = degrees.tolist()
    best: dict[Span, float] = {}
    for c, degree in zip(candidates, degrees, strict=True):
        span = c.first, c.last, c.how == "fuzzy"
        best[span] = max(best.get(span, 0.0), degree)
    spans = _Spans(question, index, candidates)
    rows = zip(candidates, degrees, strict=True)
    return np.array([spans.row(c, degree, best) for c, degree in rows], float)


def scores(
    question: QuestionTokens,
    index: LinkIndex,
    candidates: Sequence[Candidate],
    weights: Float64[np.ndarray, "f"] | None = None,
) -> Float64[np.ndarray, "k"]:
    """The estimated probability of each candidate."""
    logits = features(question, index, candidates) @ (
        WEIGHTS if weights is None else weights
    )
    return 1 / (1 + np.exp(-logits))
