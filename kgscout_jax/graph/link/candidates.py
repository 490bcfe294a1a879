"""Which surfaces a question may mean: by key, then by words and misspelt words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32, Int64, UInt64
from rapidfuzz import fuzz

from kgscout_jax.graph.link.index import LinkIndex, between
from kgscout_jax.graph.link.index_build import MAX_TOKENS, SHORTEST_MISSPELT
from kgscout_jax.graph.link.normalise import plain
from kgscout_jax.graph.link.question_tokens import Asked
from kgscout_jax.graph.link.stop_words import ARTICLES, GRAMMAR, PLAIN
from kgscout_jax.types import entity_key

SAME_KEY = 4
"""Surfaces of one key that are looked at, best connected first."""
VARIANTS = 16
"""Words that a misspelt word may stand for, commonest first."""
POSTINGS = 300
"""Surfaces of one word that are looked at, best connected first."""
PAIRED = 20_000
"""The same, where two neighbouring words must both be in the surface."""
COMPARED = 48
"""Surfaces per question that rapidfuzz compares."""
FUZZY_TOKENS = 48
"""Tokens of a question that are looked up word by word."""
GAP = 2
"""Tokens that may stand between words of one mention."""


@dataclass(slots=True)
class Candidate:
    """A span of tokens (``last`` included) and a surface it may mean."""

    first: int
    last: int
    surface: int
    how: str
    likeness: float
    """How alike the span and the surface are, 0 to 1."""
    coverage: float = 1.0
    """How much of the surface, by rarity, is in the question."""
    misspelt: float = 0.0
    """Share of the span's telling words that the surface has not."""
    head: bool = True
    """The surface begins with the span."""
    tail: bool = True
    """The surface ends with the span."""
    article: int = 0
    """1 if span and surface share their article, -1 if only the surface has one."""
    start: int = 0
    stop: int = 0


def by_key(asked: Asked, index: LinkIndex) -> list[Candidate]:
    """Surfaces whose key is the key of a span of the question."""
    if not len(asked) or not len(index):
        return []
    first, last = asked.spans(MAX_TOKENS)
    low, high = between(index.tables.keys, asked.keys(first, last))
    found = []
    for at in np.flatnonzero(high > low).tolist():
        stop = min(int(high[at]), int(low[at]) + SAME_KEY)
        for surface in index.tables.keyed[int(low[at]) : stop].tolist():
            candidate = _graded(asked, index, int(first[at]), int(last[at]), surface)
            if candidate is not None:
                found.append(candidate)
    return found


def _graded(
    asked: Asked, index: LinkIndex, first: int, last: int, surface: int
) -> Candidate | None:
    """The candidate with how it matches; None if the hashes only collide."""
    start, stop = asked.starts[first], asked.stops[last]
    text = index.text_of(surface)
    how = "alias" if index.is_alias(surface) else "normalised"
    key = entity_key(text)
    begins = [start, start - 1]
    if first and asked.words[first - 1] in ARTICLES:
        begins.append(asked.starts[first - 1])
    for begin in begins:
        end = begin + len(key)
        if begin < 0 or asked.lower[end : end + 1].isalnum():
            continue
        if end >= stop and asked.lower.startswith(key, begin):
            exact = how if how == "alias" else "exact"
            article = int(begin < start - 1)
            return Candidate(
                *(first, last, surface, exact, 1.0),
                article=article,
                start=begin,
                stop=end,
            )
    words, wanted = " ".join(asked.words[first : last + 1]), plain(text)
    article = 0
    if wanted.startswith(("the ", "a ", "an ")) and not words.startswith(wanted[:3]):
        opening, _, wanted = wanted.partition(" ")
        article = 1 if first and asked.words[first - 1] == opening else -1
    likeness = 1.0 if words == wanted else fuzz.ratio(words, wanted) / 100
    if likeness < 0.5:
        return None
    likeness = min(likeness, 0.99) if words != wanted else 1.0
    return Candidate(
        *(first, last, surface, how, likeness), article=article, start=start, stop=stop
    )


def by_words(
    asked: Asked, index: LinkIndex, skip: Bool[np.ndarray, "t"]
) -> list[Candidate]:
    """Surfaces that share words, perhaps misspelt, with the question.

    Args:
        skip: True for tokens that need no further candidates.
    """
    wanted = [
        i
        for i in range(len(asked))
        if not skip[i] and asked.words[i] not in PLAIN and len(asked.words[i]) > 1
    ][:FUZZY_TOKENS]
    if not wanted or not len(index):
        return []
    words = [_variants(asked, index, i) for i in wanted]
    found = [
        (surfaces, np.full(len(surfaces), i), np.full(len(surfaces), worth))
        for i, variants in zip(wanted, words, strict=True)
        for surfaces, worth in _postings(index, variants, POSTINGS)
    ]
    for (i, left), (j, right) in zip(
        zip(wanted, words, strict=True),
        list(zip(wanted, words, strict=True))[1:],
        strict=False,
    ):
        if j - i <= GAP:
            found += _paired(index, i, left, j, right)
    if not found:
        return []
    surfaces = np.concatenate([f[0] for f in found])
    places = np.concatenate([f[1] for f in found])
    worths = np.concatenate([f[2] for f in found])
    return _compared(asked, index, *_groups(surfaces, places, worths))


Variants = tuple[Int64[np.ndarray, "v"], Float32[np.ndarray, "v"]]
"""Words by number, and how much of a match each is, 1 for the very word."""


def _variants(asked: Asked, index: LinkIndex, i: int) -> Variants:
    """The word that token ``i`` is, and words it may be a misspelling of."""
    t = index.tables
    start, stop = int(asked.tokens.starts[i]), int(asked.tokens.stops[i])
    own = _word_numbers(t.words, asked.hashes[i : i + 1])
    near: list[np.ndarray] = []
    # A word that names have is rarely misspelt, and short ones have too many near.
    shortest = SHORTEST_MISSPELT + 2 * len(own)
    share = 0.5 if len(own) else 0.75
    if stop - start >= shortest:
        bounds = np.array([start]), np.array([stop])
        shorter, _ = asked.pieces.without_one(*bounds)
        near.append(_word_numbers(t.words, shorter))
        halves = np.unique(np.r_[shorter, asked.hashes[i]] >> np.uint64(32))
        low, high = between(t.cuts, halves.astype(np.uint32))
        near += [t.cut_words[a:b] for a, b in zip(low, high, strict=True) if b > a]
        near.append(
            _word_numbers(
                t.words, asked.pieces.prefixes(start, stop, SHORTEST_MISSPELT)
            )
        )
    others = np.setdiff1d(np.concatenate([*near, np.empty(0, np.int64)]), own)
    others = others.astype(np.int64)
    if len(others) > VARIANTS:
        counts = t.offsets[others + 1] - t.offsets[others]
        others = others[np.argsort(-counts, kind="stable")[:VARIANTS]]
    shares = np.r_[np.ones(len(own)), np.full(len(others), share)].astype(np.float32)
    return np.r_[own, others].astype(np.int64), shares


def _word_numbers(
    words: UInt64[np.ndarray, "w"], hashes: UInt64[np.ndarray, "k"]
) -> Int64[np.ndarray, "j"]:
    """Numbers of those hashes that are words."""
    low, high = between(words, hashes)
    return low[high > low]


def _postings(
    index: LinkIndex, variants: Variants, most: int
) -> list[tuple[Int32[np.ndarray, "k"], float]]:
    """The best connected surfaces of each variant, and what the word is worth."""
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


def _paired(
    index: LinkIndex, i: int, left: Variants, j: int, right: Variants
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Surfaces with a word of both tokens, beyond the first ``POSTINGS`` of each."""
    found = []
    rights = _postings(index, right, PAIRED)
    for a, worth_a in _postings(index, left, PAIRED):
        for b, worth_b in rights:
            if max(len(a), len(b)) <= POSTINGS:
                continue
            short, long = (a, b) if len(a) <= len(b) else (b, a)
            at = np.minimum(np.searchsorted(long, short), len(long) - 1)
            both = short[long[at] == short][:POSTINGS]
            found.append((both, np.full(len(both), i), np.full(len(both), worth_a)))
            found.append((both, np.full(len(both), j), np.full(len(both), worth_b)))
    return found


def _groups(
    surfaces: Int32[np.ndarray, "k"],
    places: Int64[np.ndarray, "k"],
    worths: Float64[np.ndarray, "k"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Per mention (surface, neighbouring tokens): surface, first, last, worth."""
    order = np.lexsort((-worths, places, surfaces))
    surfaces, places, worths = surfaces[order], places[order], worths[order]
    new = np.ones(len(surfaces), bool)
    new[1:] = (surfaces[1:] != surfaces[:-1]) | (places[1:] != places[:-1])
    surfaces, places, worths = surfaces[new], places[new], worths[new]
    starts = np.ones(len(surfaces), bool)
    starts[1:] = (surfaces[1:] != surfaces[:-1]) | (places[1:] - places[:-1] > GAP)
    at = np.flatnonzero(starts)
    last = np.r_[at[1:], len(places)] - 1
    return surfaces[at], places[at], places[last], np.add.reduceat(worths, at)


def _compared(
    asked: Asked,
    index: LinkIndex,
    surfaces: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    worths: np.ndarray,
) -> list[Candidate]:
    """The most promising mentions, compared letter by letter."""
    coverage = np.minimum(worths / np.maximum(index.tables.masses[surfaces], 1e-6), 1)
    # What matches of the name, what is matched of the question, and how well connected
    # the entity is: a rough order, only to choose whom to compare.
    rough = worths * (0.3 + coverage) + 0.05 * index.tables.degrees[surfaces]
    order = np.lexsort((surfaces, -rough))[:COMPARED]
    found = []
    for at in order.tolist():
        a, b, surface = int(first[at]), int(last[at]), int(surfaces[at])
        text = plain(index.text_of(surface))
        words = " ".join(asked.words[a : b + 1])
        likeness = (
            max(fuzz.ratio(words, text), fuzz.token_sort_ratio(words, text)) / 100
        )
        have = {_single(word) for word in text.split()}
        telling = [w for w in asked.words[a : b + 1] if w not in GRAMMAR]
        missed = sum(_single(word) not in have for word in telling)
        alias = index.is_alias(surface) and likeness == 1
        found.append(
            Candidate(
                *(a, b, surface, "alias" if alias else "fuzzy", min(likeness, 0.99)),
                coverage=float(coverage[at]),
                misspelt=missed / max(len(telling), 1),
                head=text.startswith(words),
                tail=text.endswith(words),
                start=asked.starts[a],
                stop=asked.stops[b],
            )
        )
    return found


def _single(word: str) -> str:
    """A word without its last s."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word
