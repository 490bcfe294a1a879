"""Candidate surfaces of a question: by key, then by words and misspelt words."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32, Int64, UInt64
from rapidfuzz import fuzz

from kgscout_jax.graph.link.index import (
    MAX_TOKENS,
    SHORTEST_MISSPELT,
    LinkIndex,
    equal_ranges,
)
from kgscout_jax.graph.link.normalise import comparison_form
from kgscout_jax.graph.link.numbers import has_digit, numbers_agree
from kgscout_jax.graph.link.question_tokens import QuestionTokens
from kgscout_jax.graph.link.stop_words import GRAMMAR, STOP_WORDS
from kgscout_jax.text.spelling import english_words
from kgscout_jax.text.values import is_number, value_of
from kgscout_jax.text.words import ARTICLES
from kgscout_jax.types import entity_key

MAX_SAME_KEY = 4
"""The most surfaces of one key, best connected first."""
MAX_VARIANTS = 16
"""The most corrections of a misspelt word, most frequent first."""
MAX_POSTINGS = 300
"""The most surfaces of one word, best connected first."""
MAX_PAIR_POSTINGS = 20_000
"""The same for surfaces that must have two neighbouring words."""
MAX_COMPARED = 48
"""The most surfaces per question that rapidfuzz compares."""
MAX_FUZZY_TOKENS = 48
"""The most tokens of a question that are looked up word by word."""
MAX_GAP = 2
"""Largest distance in tokens of two words of one mention."""

Match = Literal["exact", "normalised", "alias", "fuzzy"]


@dataclass(slots=True)
class Candidate:
    """A span of tokens (``last`` included) and a surface that may match it."""

    first: int
    last: int
    surface: int
    how: Match
    likeness: float
    """Similarity of span and surface, 0 to 1."""
    coverage: float = 1.0
    """Share of the surface, weighted by rarity, that is in the question."""
    misspelt: float = 0.0
    """Share of the span's words, function words aside, that the surface lacks."""
    head: bool = True
    """The surface begins with the span."""
    tail: bool = True
    """The surface ends with the span."""
    article: int = 0
    """1 if span and surface have the same article, -1 if only the surface has one."""
    start: int = 0
    stop: int = 0


def key_candidates(question: QuestionTokens, index: LinkIndex) -> list[Candidate]:
    """Surfaces with the same key as a span of the question."""
    if not len(question) or not len(index):
        return []
    spans = question.spans(MAX_TOKENS)
    low, high = equal_ranges(index.tables.keys, question.keys(*spans))
    high = np.minimum(high, low + MAX_SAME_KEY)
    match = high > low
    columns = (column[match].tolist() for column in (*spans, low, high))
    return [
        candidate
        for first, last, a, b in zip(*columns, strict=True)
        for surface in index.tables.keyed[a:b].tolist()
        if (candidate := _key_candidate(question, index, first, last, surface))
    ]


def _key_candidate(
    question: QuestionTokens, index: LinkIndex, first: int, last: int, surface: int
) -> Candidate | None:
    """The candidate of a span and a surface; None if only their hashes are equal."""
    start, stop = question.starts[first], question.stops[last]
    text = index.text_of(surface)
    how: Match = "alias" if index.is_alias(surface) else "normalised"
    key = entity_key(text)
    # People write the underscores of IRIs and identifiers as spaces.
    keys = dict.fromkeys((key, key.replace("_", " ").strip()))
    begins = [start, start - 1]
    if first and question.words[first - 1] in ARTICLES:
        begins.append(question.starts[first - 1])
    for begin, key in itertools.product(begins, keys):
        end = begin + len(key)
        if begin < 0 or question.lower[end : end + 1].isalnum():
            continue
        if end >= stop and question.lower.startswith(key, begin):
            return Candidate(
                *(first, last, surface, "alias" if how == "alias" else "exact", 1.0),
                article=int(begin < start - 1),
                start=begin,
                stop=end,
            )
    written = question.text[start:stop]
    if is_number(written) and is_number(text) and value_of(written) != value_of(text):
        return None  # 2001 is no 200.1
    words, name = " ".join(question.words[first : last + 1]), comparison_form(text)
    article = 0
    if name.startswith(("the ", "a ", "an ")) and not words.startswith(name[:3]):
        opening, _, name = name.partition(" ")
        article = 1 if first and question.words[first - 1] == opening else -1
    likeness = 1.0 if words == name else fuzz.ratio(words, name) / 100
    if likeness < 0.5:
        return None
    likeness = min(likeness, 0.99) if words != name else 1.0
    return Candidate(
        *(first, last, surface, how, likeness), article=article, start=start, stop=stop
    )


def word_candidates(
    question: QuestionTokens, index: LinkIndex, skip: Bool[np.ndarray, "t"]
) -> list[Candidate]:
    """Surfaces that share words with the question, misspelt ones included.

    Args:
        skip: True for tokens that need no further candidates.
    """
    places = [
        i
        for i, word in enumerate(question.words)
        if not skip[i] and word not in STOP_WORDS and len(word) > 1
    ][:MAX_FUZZY_TOKENS]
    if not places or not len(index):
        return []
    variants = [(i, _variants(question, index, i)) for i in places]
    postings = [
        (surfaces, i, worth)
        for i, words in variants
        for surfaces, worth in _postings(index, words, MAX_POSTINGS)
    ]
    for (i, left), (j, right) in pairwise(variants):
        if j - i <= MAX_GAP:
            postings += _pair_postings(index, i, left, j, right)
    if not postings:
        return []
    lengths = [len(surfaces) for surfaces, _, _ in postings]
    mentions = _group_mentions(
        np.concatenate([surfaces for surfaces, _, _ in postings]),
        np.repeat([place for _, place, _ in postings], lengths),
        np.repeat([worth for _, _, worth in postings], lengths),
        question,
    )
    return _compare(question, index, *mentions)


Variants = tuple[Int64[np.ndarray, "v"], Float32[np.ndarray, "v"]]
"""Words by number, and the weight of each, 1 for the word itself."""


def _variants(question: QuestionTokens, index: LinkIndex, i: int) -> Variants:
    """The word of token ``i``, and its possible corrections.

    A number and an English word have none: "typical" is no misspelt ``topical``.
    """
    t = index.tables
    start, stop = int(question.tokens.starts[i]), int(question.tokens.stops[i])
    own = _word_numbers(t.words, question.hashes[i : i + 1])
    near: list[np.ndarray] = []
    # Words of names are rarely misspelt; short words are close to too many others.
    shortest = SHORTEST_MISSPELT + 2 * len(own)
    share = 0.5 if len(own) else 0.75
    word = question.text[start:stop]
    if len(word) >= shortest and not (has_digit(word) or _is_english(word)):
        bounds = np.array([start]), np.array([stop])
        shorter, _ = question.substrings.without_one(*bounds)
        near.append(_word_numbers(t.words, shorter))
        halves = np.unique(np.r_[shorter, question.hashes[i]] >> np.uint64(32))
        low, high = equal_ranges(t.cuts, halves.astype(np.uint32))
        near += [t.cut_words[a:b] for a, b in zip(low, high, strict=True) if b > a]
        near.append(
            _word_numbers(
                t.words, question.substrings.prefixes(start, stop, SHORTEST_MISSPELT)
            )
        )
    others = np.setdiff1d(np.concatenate([*near, np.empty(0, np.int64)]), own)
    others = others.astype(np.int64)
    if len(others) > MAX_VARIANTS:
        counts = t.offsets[others + 1] - t.offsets[others]
        others = others[np.argsort(-counts, kind="stable")[:MAX_VARIANTS]]
    shares = np.r_[np.ones(len(own)), np.full(len(others), share)].astype(np.float32)
    return np.r_[own, others].astype(np.int64), shares


def _is_english(word: str) -> bool:
    return word.islower() and word in english_words()


def _word_numbers(
    words: UInt64[np.ndarray, "w"], hashes: UInt64[np.ndarray, "k"]
) -> Int64[np.ndarray, "j"]:
    """Word numbers of the hashes that are words."""
    low, high = equal_ranges(words, hashes)
    return low[high > low]


def _postings(
    index: LinkIndex, variants: Variants, most: int
) -> list[tuple[Int32[np.ndarray, "k"], float]]:
    """The best connected surfaces of each variant, and the weight of the word."""
    t = index.tables
    numbers, shares = variants
    counts = t.offsets[numbers + 1] - t.offsets[numbers]
    worths = index.rarity(counts) * shares
    return [
        (
            t.postings[int(t.offsets[n]) : int(t.offsets[n]) + min(int(c), most)],
            float(w),
        )
        for n, c, w in zip(numbers, counts, worths, strict=True)
    ]


def _pair_postings(
    index: LinkIndex, i: int, left: Variants, j: int, right: Variants
) -> list[tuple[Int32[np.ndarray, "k"], int, float]]:
    """Surfaces with both tokens, including less connected ones than ``_postings``."""
    out = []
    rights = _postings(index, right, MAX_PAIR_POSTINGS)
    for a, worth_a in _postings(index, left, MAX_PAIR_POSTINGS):
        for b, worth_b in rights:
            if max(len(a), len(b)) <= MAX_POSTINGS:
                continue
            short, long = (a, b) if len(a) <= len(b) else (b, a)
            at = np.minimum(np.searchsorted(long, short), len(long) - 1)
            both = short[long[at] == short][:MAX_POSTINGS]
            out += [(both, i, worth_a), (both, j, worth_b)]
    return out


def _group_mentions(
    surfaces: Int32[np.ndarray, "k"],
    places: Int64[np.ndarray, "k"],
    worths: Float64[np.ndarray, "k"],
    question: QuestionTokens,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Per mention (surface, neighbouring tokens): surface, first, last, worth.

    A word that comes again, behind others or in the plural, begins a new mention, as in
    "Alien and Aliens".
    """
    order = np.lexsort((-worths, places, surfaces))
    surfaces, places, worths = surfaces[order], places[order], worths[order]
    new = np.ones(len(surfaces), bool)
    new[1:] = (surfaces[1:] != surfaces[:-1]) | (places[1:] != places[:-1])
    surfaces, places, worths = surfaces[new], places[new], worths[new]
    starts = np.ones(len(surfaces), bool)
    gaps = places[1:] - places[:-1]
    again = question.hashes[places[1:]] == question.hashes[places[:-1]]
    written = np.array(question.words)[places]
    again &= (gaps > 1) | (written[1:] != written[:-1])
    starts[1:] = (surfaces[1:] != surfaces[:-1]) | (gaps > MAX_GAP) | again
    at = np.flatnonzero(starts)
    last = np.r_[at[1:], len(places)] - 1
    return surfaces[at], places[at], places[last], np.add.reduceat(worths, at)


def _compare(
    question: QuestionTokens,
    index: LinkIndex,
    surfaces: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    worths: np.ndarray,
) -> list[Candidate]:
    """The most promising mentions as candidates, compared letter by letter."""
    coverage = np.minimum(worths / np.maximum(index.tables.masses[surfaces], 1e-6), 1)
    # A rough order, used only to select the mentions to compare.
    rough = worths * (0.3 + coverage) + 0.05 * index.tables.degrees[surfaces]
    order = np.lexsort((surfaces, -rough))[:MAX_COMPARED]
    out = []
    for at in order.tolist():
        a, b, surface = int(first[at]), int(last[at]), int(surfaces[at])
        text = comparison_form(index.text_of(surface))
        if not numbers_agree(question.words, a, b, text.split()):
            continue
        words = " ".join(question.words[a : b + 1])
        likeness = (
            max(fuzz.ratio(words, text), fuzz.token_sort_ratio(words, text)) / 100
        )
        name_words = {_without_s(word) for word in text.split()}
        content = [w for w in question.words[a : b + 1] if w not in GRAMMAR]
        missing = sum(_without_s(word) not in name_words for word in content)
        alias = index.is_alias(surface) and likeness == 1
        out.append(
            Candidate(
                *(a, b, surface, "alias" if alias else "fuzzy", min(likeness, 0.99)),
                coverage=float(coverage[at]),
                misspelt=missing / max(len(content), 1),
                head=text.startswith(words),
                tail=text.endswith(words),
                start=question.starts[a],
                stop=question.stops[b],
            )
        )
    return out


def _without_s(word: str) -> str:
    """A word without its last s."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word
