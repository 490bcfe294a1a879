"""Building a ``LinkIndex``: everything is a sort over arrays of hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from jaxtyping import Bool, Float32, Int32, Int64, UInt8, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.index import LinkIndex, Tables, between, encodable, rarity
from kgscout_jax.graph.link.normalise import cases, tokenise
from kgscout_jax.graph.link.token_hashes import Pieces
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.utils.progress import progress

MAX_TOKENS = 24
"""Longer names (descriptions, most often) are never linked."""
MAX_CHARACTERS = 400
"""Nor are these."""
CHUNK = 50_000
"""Names that are taken at once."""
SHORTEST_MISSPELT = 4
"""Words from this length on are found with one character wrong."""
ARTICLES = ("the", "a", "an")


def build_index(
    names: Sequence[str],
    aliases: Sequence[tuple[str, int]],
    unnamed_mask: Bool[np.ndarray, "n"] | None,
    degrees: Int64[np.ndarray, "n"] | None,
) -> LinkIndex:
    """The index over ``names`` and ``aliases``; see ``LinkIndex.build``."""
    n = len(names)
    for what, array in (("unnamed_mask", unnamed_mask), ("degrees", degrees)):
        if array is not None and array.shape != (n,):
            raise UserError(
                f"{what}: expected {n} values, one per name, found {array.shape}"
            )
    for alias, entity in aliases:
        if not 0 <= entity < n:
            raise UserError(f"alias {alias!r}: entity {entity} is none of {n} names")
    packed = Strings.of([encodable(alias) for alias, _ in aliases])
    targets = np.fromiter((entity for _, entity in aliases), np.int32, len(aliases))

    found = _read(names, packed)
    keep = found.linkable
    if unnamed_mask is not None:
        keep = keep.copy()
        keep[:n] &= ~np.asarray(unnamed_mask, bool)
    numbers = np.flatnonzero(keep).astype(np.int32)
    entities = np.where(numbers < n, numbers, 0)
    entities[numbers >= n] = targets[numbers[numbers >= n] - n]
    prior = np.zeros(n) if degrees is None else np.asarray(degrees)
    weights = np.log1p(prior[entities]).astype(np.float32)
    order = np.argsort(-weights, kind="stable")
    numbers, weights = numbers[order], weights[order]

    surface_of = np.full(len(keep), -1, np.int32)
    surface_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    words, offsets, postings = _invert(found.token_hashes, surface_of[found.token_rows])
    masses = _masses(offsets, postings, len(numbers))
    small = _small_share(found, surface_of, words)
    cuts, cut_words = _cut_table(found, words)
    keys = found.keys[numbers]
    by_key = np.argsort(keys, kind="stable")
    tables = Tables(
        surfaces=numbers,
        lengths=found.lengths[numbers],
        masses=masses,
        degrees=weights,
        keys=keys[by_key],
        keyed=by_key.astype(np.int32),
        words=words,
        small=small,
        offsets=offsets,
        postings=postings,
        cuts=cuts,
        cut_words=cut_words,
        alias_entities=targets,
    )
    return LinkIndex(names, packed, tables)


class _Read:
    """What the names and aliases, row by row, are made of."""

    def __init__(self, rows: int) -> None:
        self.keys: UInt64[np.ndarray, "r"] = np.zeros(rows, np.uint64)
        self.lengths = np.zeros(rows, np.uint8)
        self.linkable: Bool[np.ndarray, "r"] = np.zeros(rows, bool)
        self.token_hashes: UInt64[np.ndarray, "t"] = np.empty(0, np.uint64)
        self.token_rows: Int32[np.ndarray, "t"] = np.empty(0, np.int32)
        self.token_cases: UInt8[np.ndarray, "t"] = np.empty(0, np.uint8)
        self.cut_hashes: UInt64[np.ndarray, "z"] = np.empty(0, np.uint64)
        self.cut_owners: UInt64[np.ndarray, "z"] = np.empty(0, np.uint64)


def _read(names: Sequence[str], aliases: Sequence[str]) -> _Read:
    """Keys, tokens and cuts of all names and aliases."""
    out = _Read(len(names) + len(aliases))
    articles = _hashes_of(ARTICLES)
    token_hashes, token_rows, token_cases, cuts, owners = [], [], [], [], []
    seen = np.empty(0, np.uint64)
    with progress(len(out.keys), "reading names", "name") as bar:
        for first, texts in _chunks(names, aliases):
            texts = [t if len(t) <= MAX_CHARACTERS else "" for t in texts]
            tokens = tokenise(texts)
            pieces = Pieces(tokens.codes)
            hashes = pieces.hashes(tokens.starts, tokens.stops)
            counts = np.bincount(tokens.texts, minlength=len(texts))
            begin = np.cumsum(counts) - counts
            good = (counts > 0) & (counts <= MAX_TOKENS)
            rows = np.flatnonzero(good)
            head, last = begin[rows], begin[rows] + counts[rows] - 1
            head = head + ((counts[rows] > 1) & np.isin(hashes[head], articles))
            out.keys[first + rows] = pieces.hashes(
                tokens.starts[head], tokens.stops[last]
            )
            out.lengths[first + rows] = counts[rows]
            out.linkable[first + rows] = True
            wanted = good[tokens.texts]
            token_hashes.append(hashes[wanted])
            token_rows.append((tokens.texts[wanted] + first).astype(np.int32))
            # A capital at the beginning of a name tells nothing, a small letter does.
            signs = cases(texts, tokens)
            inner = np.ones(len(tokens), bool)
            inner[begin[rows]] = False
            signs[(signs == ord("U")) & ~inner] = ord("-")
            token_cases.append(signs[wanted])
            # Words that earlier chunks had are cut already.
            new, at = np.unique(hashes[wanted], return_index=True)
            low, high = between(seen, new)
            fresh = low == high
            new, at = new[fresh], np.flatnonzero(wanted)[at[fresh]]
            seen = np.sort(np.concatenate([seen, new]), kind="stable")
            long = tokens.stops[at] - tokens.starts[at] >= SHORTEST_MISSPELT
            at, new = at[long], new[long]
            cut, owner = pieces.without_one(tokens.starts[at], tokens.stops[at])
            cuts.append(cut)
            owners.append(new[owner])
            bar.update(len(texts))
    if token_hashes:
        out.token_hashes = np.concatenate(token_hashes)
        out.token_rows = np.concatenate(token_rows)
        out.token_cases = np.concatenate(token_cases)
        out.cut_hashes, out.cut_owners = np.concatenate(cuts), np.concatenate(owners)
    return out


def _chunks(
    names: Sequence[str], aliases: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """(row of the first, texts) piece by piece, names first."""
    first = 0
    for texts in (iter(names), iter(aliases)):
        while chunk := list(islice(texts, CHUNK)):
            yield first, chunk
            first += len(chunk)


def _hashes_of(words: Sequence[str]) -> UInt64[np.ndarray, "k"]:
    """The hash of each one-token word."""
    tokens = tokenise(words)
    return Pieces(tokens.codes).hashes(tokens.starts, tokens.stops)


def _invert(
    hashes: UInt64[np.ndarray, "t"], surfaces: Int32[np.ndarray, "t"]
) -> tuple[UInt64[np.ndarray, "w"], Int64[np.ndarray, "w+1"], Int32[np.ndarray, "p"]]:
    """Words ascending and the surfaces of each, ascending and each once."""
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
    found: _Read, surface_of: Int32[np.ndarray, "r"], words: UInt64[np.ndarray, "w"]
) -> UInt8[np.ndarray, "w"]:
    """How often each word is written small, of 200; as all words are, if unknown."""
    real = surface_of[found.token_rows] >= 0
    at = np.searchsorted(words, found.token_hashes[real])
    signs = found.token_cases[real]
    small = np.bincount(at, signs == ord("l"), minlength=len(words))
    large = np.bincount(at, signs == ord("U"), minlength=len(words))
    whole = (small.sum() + 1) / (small.sum() + large.sum() + 2)
    return np.rint(200 * (small + whole) / (small + large + 1)).astype(np.uint8)


def _cut_table(
    found: _Read, words: UInt64[np.ndarray, "w"]
) -> tuple[np.ndarray, Int32[np.ndarray, "z"]]:
    """Words without one of their characters, ascending, and which word each is of."""
    if not len(words):
        return np.empty(0, np.uint32), np.empty(0, np.int32)
    at = np.minimum(np.searchsorted(words, found.cut_owners), len(words) - 1)
    real = words[at] == found.cut_owners
    halves = (found.cut_hashes[real] >> np.uint64(32)).astype(np.uint32)
    owners = at[real].astype(np.int32)
    order = np.lexsort((owners, halves))
    return halves[order], owners[order]
