"""Names that are spellings of one entity (section 6 of KG-RAG names it as missing).

Three steps, from certain to doubtful:

1. spelling: equal but for case, accents, articles, punctuation, "Smith, John";
2. embedding: one letter of a long word differs, and the embeddings are near;
3. model: a pair that looks alike, or one name within the other, if a model says so.

Names with other digits are never joined. The table of all that was joined is kept, and
``--no-resolve`` undoes it: triplets are stored with the names of their documents.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgscout_jax.text.words import ARTICLES
from kgscout_jax.types import display_name

Encode = Callable[[list[str]], np.ndarray]
"""Names to embeddings of unit length, a row each."""
Judge = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
"""Pairs of names -> whether both name one entity."""
LIKE, NEAR, RELATED = 85.0, 0.7, 0.55
"""Likeness of spellings from which a pair is looked at, cosine from which an error of
typing is believed, and from which a model is asked."""
LONG_WORD = 6
"""Letters of a word in which one may be wrong."""
MOST_DOUBTS = 500
"""Pairs that a model is asked about, the nearest first."""


@dataclass(frozen=True, slots=True)
class Alias:
    """The name that is shown instead of another."""

    name: str
    how: str
    """``spelling``, ``embedding`` or ``model``."""
    score: float
    """Cosine of the pair that joined them; 1 for spellings."""


def spelling_key(name: str) -> str:
    """What spellings of one name share."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    surname, comma, given = plain.partition(", ")
    if comma and surname.isalpha() and re.fullmatch(r"[^\W\d]+( [^\W\d]+\.?)?", given):
        plain = f"{given} {surname}"
    words = re.sub(r"[^\w+#/ -]", "", plain.replace("&", " and "))
    words = re.sub(r"(?<=\w)-(?=\w)|_", " ", words).split()
    if len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    return " ".join(words) or name


def resolve(
    counts: Mapping[str, int], encode: Encode | None = None, judge: Judge | None = None
) -> dict[str, Alias]:
    """The names to replace: name -> its entity's most frequent name.

    Args:
        counts: how often each name occurs.
        encode: embeds names; None: only spellings are joined.
        judge: a model's word on doubtful pairs; None: those stay apart.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts):
        groups[spelling_key(name)].append(name)
    keys = sorted(groups)
    joined: dict[str, tuple[str, str, float]] = {}
    """Key -> (the key that it is joined to, how, cosine)."""
    frequency = {key: sum(counts[name] for name in groups[key]) for key in keys}

    def root(key: str) -> str:
        while key in joined:
            key = joined[key][0]
        return key

    def join(a: str, b: str, how: str, score: float) -> None:
        a, b = root(a), root(b)
        if a != b:
            small, large = sorted((a, b), key=lambda k: (frequency[k], len(k), k))
            joined[small] = large, how, score

    if encode is not None:
        pairs = list(_alike(keys))
        cosines = _cosines(pairs, groups, encode)
        doubts = []
        for (a, b), cosine in zip(pairs, cosines, strict=True):
            if cosine >= NEAR and _typing_error(a, b):
                join(a, b, "embedding", cosine)
            elif cosine >= RELATED:
                doubts.append((-cosine, a, b))
        if judge is not None:
            asked = sorted(doubts)[:MOST_DOUBTS]
            shown = [(_shown(groups[a], counts), _shown(groups[b], counts))
                     for _, a, b in asked]  # fmt: skip
            for (cosine, a, b), same in zip(asked, judge(shown), strict=True):
                if same:
                    join(a, b, "model", -cosine)
    table: dict[str, Alias] = {}
    names = {key: _shown(groups[key], counts) for key in keys}
    for key in keys:
        _, how, score = joined.get(key, (key, "spelling", 1.0))
        canonical = names[root(key)]
        for name in groups[key]:
            if name != canonical:
                table[name] = Alias(canonical, how, round(float(score), 3))
    return dict(sorted(table.items()))


def _shown(names: Sequence[str], counts: Mapping[str, int]) -> str:
    """The name that stands for several: the most frequent, then one with capitals."""

    def rank(name: str) -> tuple[int, int, int, str]:
        return -counts[name], -sum(map(str.isupper, name)), len(name), name

    return display_name(min(names, key=rank))


def _alike(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of keys that may be one entity: alike in letters, or one in the other."""
    from rapidfuzz import fuzz, process

    digits = {key: re.findall(r"\d+", key) for key in keys}
    blocks: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        for word in {w[:3] for w in key.split() if len(w) > 2}:
            blocks[word].append(key)
    seen: set[tuple[str, str]] = set()
    for block in blocks.values():
        if len(block) < 2 or len(block) > 2000:
            continue
        scores = process.cdist(block, block, scorer=fuzz.ratio, score_cutoff=LIKE)
        words = [frozenset(key.split()) for key in block]
        for i, a in enumerate(block):
            for j in range(i + 1, len(block)):
                b = block[j]
                inside = words[i] < words[j] or words[j] < words[i]
                if (scores[i, j] or inside) and digits[a] == digits[b]:
                    seen.add((a, b))
    yield from sorted(seen)


def _typing_error(a: str, b: str) -> bool:
    """Whether one letter inside of one long word differs; endings mean something."""
    from rapidfuzz.distance import Levenshtein

    first, second = a.split(), b.split()
    if len(first) != len(second):
        return False
    others = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
    if len(others) != 1:
        return False
    x, y = others[0]
    same_ends = x[0] == y[0] and x[-2:] == y[-2:]
    return min(len(x), len(y)) >= LONG_WORD and same_ends and (
        Levenshtein.distance(x, y) == 1
    )  # fmt: skip


def _cosines(
    pairs: Sequence[tuple[str, str]],
    groups: Mapping[str, Sequence[str]],
    encode: Encode,
) -> list[float]:
    """The cosine of each pair of keys."""
    if not pairs:
        return []
    keys = sorted({key for pair in pairs for key in pair})
    rows = encode([groups[key][0] for key in keys]).astype(np.float32)
    at = {key: i for i, key in enumerate(keys)}
    left = rows[[at[a] for a, _ in pairs]]
    right = rows[[at[b] for _, b in pairs]]
    return (left * right).sum(axis=1).tolist()
