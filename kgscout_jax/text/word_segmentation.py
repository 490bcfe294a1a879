"""Words that are written as one, as in "athleteplaysforteam" of NELL.

The most probable sequence of words by their frequencies: a word's cost is the logarithm
of its rank in a list of English words (Zipf's law), and the cheapest sequence is found
by dynamic programming. A word of the list is never split, nor one that has a part that
is no word of it.

``english_words.txt``: the words of BERT's uncased vocabulary (Apache License 2.0),
the most frequent first (of three letters or less only frequent ones), and words of
``kinds.json`` that it lacks.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from pathlib import Path

SHORTEST = 6
"""Letters of the shortest word that is split: "bornin"."""
LONGEST_PART = 16
"""Letters of the longest word of which others consist."""

_ENDINGS = ("s", "es", "ed", "ing", "er", "ers", "ly")


@cache
def word_costs() -> dict[str, float]:
    """The cost of each word of the list, the less the more frequent it is."""
    words = Path(__file__).with_name("english_words.txt").read_text("ascii").split()
    scale = math.log(len(words))
    return {word: math.log((i + 1) * scale) for i, word in enumerate(words)}


def _bases(word: str) -> list[str]:
    """What a word may be a form of: "mentored" of "mentor"."""
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    return [*stems, *(f"{stem}e" for stem in stems)]


@lru_cache(maxsize=1 << 14)
def segmented(word: str) -> str:
    """The words that a word in lower case consists of, with spaces.

    >>> segmented("athleteplaysforteam"), segmented("containedby")
    ('athlete plays for team', 'contained by')
    >>> segmented("nationality"), segmented("hypernym")
    ('nationality', 'hypernym')
    >>> segmented("mentored")
    'mentored'
    """
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    costs = word_costs()
    if word in costs or any(base in costs for base in _bases(word)):
        return word
    best: list[tuple[float, str]] = [(0.0, "")]
    for stop in range(1, len(word) + 1):
        ways = [
            (best[start][0] + costs[part], f"{best[start][1]} {part}")
            for start in range(max(0, stop - LONGEST_PART), stop)
            if (part := word[start:stop]) in costs
        ]
        best.append(min(ways, default=(math.inf, "")))
    cost, words = best[-1]
    return words.strip() if math.isfinite(cost) else word
