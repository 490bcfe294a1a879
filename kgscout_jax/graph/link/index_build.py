"""Builds a ``LinkIndex`` by sorting arrays of hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice

import numpy as np
from jaxtyping import Bool, Float32, Int32, Int64, UInt8, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.index import (
    MAX_TOKENS,
    SHORTEST_MISSPELT,
    LinkIndex,
    Tables,
    equal_ranges,
    rarity,
)
from kgscout_jax.graph.link.normalise import (
    camel_case_texts,
    cases,
    tokenise,
    tokenise_camel_case,
)
from kgscout_jax.graph.link.token_hashes import SubstringHashes
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.text.words import ARTICLES
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.progress import ProgressBar

MAX_CHARACTERS = 400
"""Longer names are never linked."""
CHUNK = 50_000
"""Names tokenised at once."""


def build_index(
    names: Sequence[str],
    *,
    aliases: Sequence[tuple[str, int]] = (),
    unnamed_mask: Bool[np.ndarray, "n"] | None = None,
    degrees: Int64[np.ndarray, "n"] | None = None,
) -> LinkIndex:
    """An index over ``names`` and ``aliases``.

    Args:
        names: display names; the position is the entity's id.
        aliases: further names, each with its entity.
        unnamed_mask: True where a name is never linked, such as an identifier.
        degrees: of each entity; the best connected of several matches wins.

    Raises:
        UserError: an alias is for no entity, or an array is of another length.
    """
    n = len(names)
    for what, array in (("unnamed_mask", unnamed_mask), ("degrees", degrees)):
        if array is not None and array.shape != (n,):
            raise UserError(
                f"{what}: expected {n} values, one per name, found {array.shape}"
            )
    for alias, entity in aliases:
        if not 0 <= entity < n:
            raise UserError(f"alias {alias!r}: entity {entity} is none of {n} names")
    packed = Strings.of([replace_surrogates(alias) for alias, _ in aliases])
    targets = np.fromiter((entity for _, entity in aliases), np.int32, len(aliases))

    rows = _tokenise_names(names, packed)
    linkable = rows.lengths > 0
    if unnamed_mask is not None:
        linkable[:n] &= ~np.asarray(unnamed_mask, bool)
    numbers = np.flatnonzero(linkable).astype(np.int32)
    entities = np.where(numbers < n, numbers, 0)
    entities[numbers >= n] = targets[numbers[numbers >= n] - n]
    prior = np.zeros(n) if degrees is None else np.asarray(degrees)
    weights = np.log1p(prior[entities]).astype(np.float32)
    order = np.argsort(-weights, kind="stable")
    numbers, weights = numbers[order], weights[order]

    surface_of = np.full(len(linkable), -1, np.int32)
    surface_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    words, offsets, postings = _invert(rows.token_hashes, surface_of[rows.token_rows])
    masses = _masses(offsets, postings, len(numbers))
    small = _small_share(rows, surface_of, words)
    cuts, cut_words = _cut_table(rows, words)
    others = surface_of[rows.camel_rows]
    keys = np.r_[rows.keys[numbers], rows.camel_keys[others >= 0]]
    keyed = np.r_[np.arange(len(numbers), dtype=np.int32), others[others >= 0]]
    by_key = np.lexsort((keyed, keys))
    tables = Tables(
        surfaces=numbers,
        lengths=rows.lengths[numbers],
        masses=masses,
        degrees=weights,
        keys=keys[by_key],
        keyed=keyed[by_key],
        words=words,
        small=small,
        offsets=offsets,
        postings=postings,
        cuts=cuts,
        cut_words=cut_words,
        alias_entities=targets,
    )
    return LinkIndex(names, packed, tables)


@dataclass(frozen=True, kw_only=True)
class _NameTokens:
    """The tokens of names and aliases; each name or alias is a row."""

    keys: UInt64[np.ndarray, "r"]
    camel_keys: UInt64[np.ndarray, "x"]
    """Of the words of names in camelCase, where they differ from ``keys``."""
    camel_rows: Int32[np.ndarray, "x"]
    lengths: UInt8[np.ndarray, "r"]
    """Number of tokens; 0 for a row that is never linked."""
    token_hashes: UInt64[np.ndarray, "t"]
    token_rows: Int32[np.ndarray, "t"]
    token_cases: UInt8[np.ndarray, "t"]
    cut_hashes: UInt64[np.ndarray, "z"]
    """Of words without one of their characters."""
    cut_words: UInt64[np.ndarray, "z"]
    """The hash of the whole word."""

    @staticmethod
    def of(texts: list[str], first: int, words: UInt64[np.ndarray, "w"]) -> _NameTokens:
        """The tokens of some texts, cut unless they are among ``words``.

        Args:
            first: row of the first text.
        """
        texts = [text if len(text) <= MAX_CHARACTERS else "" for text in texts]
        tokens = tokenise(texts)
        substrings = SubstringHashes(tokens.codes)
        hashes = substrings.hashes(tokens.starts, tokens.stops)
        counts = np.bincount(tokens.texts, minlength=len(texts))
        counts[counts > MAX_TOKENS] = 0
        begin = np.searchsorted(tokens.texts, np.arange(len(texts)))
        rows = np.flatnonzero(counts)
        head, last = begin[rows], begin[rows] + counts[rows] - 1
        head = head + ((counts[rows] > 1) & np.isin(hashes[head], ARTICLE_HASHES))
        keys = np.zeros(len(texts), np.uint64)
        keys[rows] = substrings.hashes(tokens.starts[head], tokens.stops[last])
        all_signs = cases(texts)
        camel = camel_case_texts(all_signs)
        camel = camel[counts[camel] == 1]
        camel_keys = _camel_case_keys([texts[i] for i in camel])
        differ = camel_keys != keys[camel]
        # An initial capital is not informative, a small letter is.
        signs = all_signs[tokens.places[tokens.starts]]
        initial = np.zeros(len(tokens), bool)
        initial[begin[rows]] = True
        signs[(signs == ord("U")) & initial] = ord("-")
        real = np.flatnonzero(counts[tokens.texts])
        new, at = np.unique(hashes[real], return_index=True)
        low, high = equal_ranges(words, new)
        at = real[at]
        uncut = (low == high) & (tokens.stops - tokens.starts >= SHORTEST_MISSPELT)[at]
        at = at[uncut]
        cuts, owners = substrings.without_one(tokens.starts[at], tokens.stops[at])
        return _NameTokens(
            keys=keys,
            camel_keys=camel_keys[differ],
            camel_rows=(camel[differ] + first).astype(np.int32),
            lengths=counts.astype(np.uint8),
            token_hashes=hashes[real],
            token_rows=(tokens.texts[real] + first).astype(np.int32),
            token_cases=signs[real],
            cut_hashes=cuts,
            cut_words=new[uncut][owners],
        )


def _camel_case_keys(texts: Sequence[str]) -> UInt64[np.ndarray, "x"]:
    """The keys of the words of names in camelCase."""
    tokens = tokenise_camel_case(texts)
    first, end = equal_ranges(tokens.texts, np.arange(len(texts)))
    substrings = SubstringHashes(tokens.codes)
    return substrings.hashes(tokens.starts[first], tokens.stops[end - 1])


def _tokenise_names(names: Sequence[str], aliases: Sequence[str]) -> _NameTokens:
    """Keys, tokens and cuts of all names and aliases."""
    chunks = [_NameTokens.of([], 0, np.empty(0, np.uint64))]
    words = np.empty(0, np.uint64)
    with ProgressBar(len(names) + len(aliases), "reading names", "name") as bar:
        for first, texts in _chunks(names, aliases):
            chunks.append(_NameTokens.of(texts, first, words))
            words = np.union1d(words, chunks[-1].token_hashes)
            bar.update(len(texts))
    return _NameTokens(
        **{
            field.name: np.concatenate([getattr(chunk, field.name) for chunk in chunks])
            for field in fields(_NameTokens)
        }
    )


def _chunks(
    names: Sequence[str], aliases: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """(row of the first, texts) of each chunk, names first."""
    first = 0
    for texts in (iter(names), iter(aliases)):
        while chunk := list(islice(texts, CHUNK)):
            yield first, chunk
            first += len(chunk)


def _word_hashes(words: Sequence[str]) -> UInt64[np.ndarray, "k"]:
    """The hash of each one-token word."""
    tokens = tokenise(words)
    return SubstringHashes(tokens.codes).hashes(tokens.starts, tokens.stops)


ARTICLE_HASHES = _word_hashes(sorted(ARTICLES))


def _invert(
    hashes: UInt64[np.ndarray, "t"], surfaces: Int32[np.ndarray, "t"]
) -> tuple[UInt64[np.ndarray, "w"], Int64[np.ndarray, "w+1"], Int32[np.ndarray, "p"]]:
    """Ascending words, and the unique ascending surfaces of each."""
    real = surfaces >= 0
    hashes, surfaces = hashes[real], surfaces[real]
    order = np.lexsort((surfaces, hashes))
    hashes, surfaces = hashes[order], surfaces[order]
    new = np.ones(len(hashes), bool)
    new[1:] = (hashes[1:] != hashes[:-1]) | (surfaces[1:] != surfaces[:-1])
    hashes, surfaces = hashes[new], surfaces[new]
    words, begin = np.unique(hashes, return_index=True)
    return words, np.r_[begin, len(hashes)].astype(np.int64), surfaces


def _masses(
    offsets: Int64[np.ndarray, "w+1"], postings: Int32[np.ndarray, "p"], surfaces: int
) -> Float32[np.ndarray, "s"]:
    """Per surface the sum of the rarity of its words."""
    counts = np.diff(offsets)
    weights = np.repeat(rarity(counts, surfaces), counts)
    return np.bincount(postings, weights, minlength=surfaces).astype(np.float32)


def _small_share(
    rows: _NameTokens,
    surface_of: Int32[np.ndarray, "r"],
    words: UInt64[np.ndarray, "w"],
) -> UInt8[np.ndarray, "w"]:
    """Share of lower case of each word, in 200ths, smoothed by that of all words."""
    real = surface_of[rows.token_rows] >= 0
    at = np.searchsorted(words, rows.token_hashes[real])
    signs = rows.token_cases[real]
    small = np.bincount(at, signs == ord("l"), minlength=len(words))
    large = np.bincount(at, signs == ord("U"), minlength=len(words))
    whole = (small.sum() + 1) / (small.sum() + large.sum() + 2)
    return np.rint(200 * (small + whole) / (small + large + 1)).astype(np.uint8)


def _cut_table(
    rows: _NameTokens, words: UInt64[np.ndarray, "w"]
) -> tuple[np.ndarray, Int32[np.ndarray, "z"]]:
    """Ascending hashes of words without one character, and the word of each."""
    if not len(words):
        return np.empty(0, np.uint32), np.empty(0, np.int32)
    at = np.minimum(np.searchsorted(words, rows.cut_words), len(words) - 1)
    real = words[at] == rows.cut_words
    halves = (rows.cut_hashes[real] >> np.uint64(32)).astype(np.uint32)
    owners = at[real].astype(np.int32)
    order = np.lexsort((owners, halves))
    return halves[order], owners[order]
