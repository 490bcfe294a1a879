"""How likely a candidate is a topic of the question: a logistic model of few features.

The weights were fitted on training questions only (``fit``; ``benchmarks/linking.py
--fit``); each feature means the same whatever the graph is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from kgscout_jax.graph.link.candidates import Candidate
from kgscout_jax.graph.link.index import LinkIndex, between
from kgscout_jax.graph.link.question_tokens import Asked
from kgscout_jax.graph.link.stop_words import ARTICLES, GRAMMAR, PLAIN, PREPOSITIONS

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


def features(
    asked: Asked, index: LinkIndex, candidates: Sequence[Candidate]
) -> Float64[np.ndarray, "k f"]:
    """One row of ``FEATURES`` per candidate."""
    if not candidates:
        return np.zeros((0, len(FEATURES)))
    low, high = between(index.tables.words, asked.hashes)
    at = np.minimum(low, max(len(index.tables.words) - 1, 0))
    known = high > low
    counts = np.where(known, index.tables.offsets[at + 1] - index.tables.offsets[at], 0)
    rarities = index.rarity(counts).tolist()
    small = np.zeros(len(asked))
    if known.any():
        usual = float(np.mean(index.tables.small)) / 200
        small[known] = index.tables.small[at[known]] / 200 - usual
    words = asked.words
    grammar = np.array([w in GRAMMAR for w in words])
    content = ~np.array([w in PLAIN for w in words])
    capitals = np.array([asked.text[s].isupper() for s in asked.starts])
    # The first word of a question is in capitals whatever it is.
    tellable = bool(capitals[1:].any() and not capitals.all())
    telling = content.tolist()
    total = max(int(content.sum()), 1)
    # Sums over the first tokens: those of a span are a difference.
    contents, grammars, uppers, digits, smalls = (
        [0, *np.cumsum(values).tolist()]
        for values in (
            content,
            grammar,
            capitals,
            [w.isdigit() for w in words],
            np.where(grammar, 0, small),
        )
    )
    solid = sorted({(c.first, c.last) for c in candidates if c.how != "fuzzy"})
    surfaces = np.fromiter((c.surface for c in candidates), np.int64, len(candidates))
    # Relative to the graph's best connected entity; unknown, all are in the middle.
    top = float(index.tables.degrees[0])
    degrees = (
        index.tables.degrees[surfaces] / top if top else np.full(len(surfaces), 0.5)
    )
    degrees = degrees.tolist()
    best: dict[tuple[int, int, bool], float] = {}
    for c, degree in zip(candidates, degrees, strict=True):
        group = (c.first, c.last, c.how == "fuzzy")
        best[group] = max(best.get(group, 0.0), degree)
    rows = []
    for c, degree in zip(candidates, degrees, strict=True):
        begin, end = c.first, c.last + 1
        size = end - begin
        n = contents[end] - contents[begin]
        functional = grammars[end] - grammars[begin]
        upper = (uppers[end] - uppers[begin]) / size if tellable else 0.0
        before = begin - 1
        while before > 0 and words[before] in ARTICLES:
            before -= 1
        fuzzy = c.how == "fuzzy"
        rarest = max(
            (rarities[i] for i in range(begin, end) if telling[i]), default=0.0
        )
        rows.append(
            (
                1,
                c.how == "exact",
                c.how == "alias",
                fuzzy,
                1 - c.likeness,
                (1 - c.likeness) * fuzzy,
                max(c.likeness - 0.8, 0) * 5 * fuzzy * (size > 1),
                max(c.likeness - 0.8, 0) * 5 * fuzzy * (size == 1),
                1 - c.coverage,
                c.misspelt,
                c.head and fuzzy,
                c.tail and fuzzy,
                c.article,
                0 if fuzzy else min(size - 1, 5),
                min(n, 4),
                rarest,
                n == 0 and functional < size,
                functional == size,
                digits[end] - digits[begin] == size,
                (smalls[end] - smalls[begin]) / max(size - functional, 1),
                degree,
                degree * fuzzy,
                best[c.first, c.last, fuzzy] - degree,
                max(best.get((begin, end - 1, kind), 0.0) for kind in (False, True))
                - degree,
                upper,
                0 if fuzzy else upper,
                0 if fuzzy or n else upper,
                tellable and upper == 0,
                before >= 0 and words[before] in PREPOSITIONS,
                any(
                    a <= c.first and c.last <= b and (a, b) != (c.first, c.last)
                    for a, b in solid
                ),
                c.last == len(words) - 1,
                n / total,
            )
        )
    return np.array(rows, float)


def scores(
    asked: Asked,
    index: LinkIndex,
    candidates: Sequence[Candidate],
    weights: Float64[np.ndarray, "f"] | None = None,
) -> Float64[np.ndarray, "k"]:
    """The estimated probability of each candidate."""
    chosen = WEIGHTS if weights is None else weights
    values = features(asked, index, candidates) @ chosen
    return 1 / (1 + np.exp(-values))
