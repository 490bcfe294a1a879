"""Ends of relations where names say what they name: a Rotwand Hut is a hut.

Where no relation and no class calls anything what a question asks for, the names of
nodes may. One name is not enough: a firm may be called Corvina Books.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.relation_words import head_noun, split_words

SHARE = 0.3
"""Share of the names at an end of a relation that hold a noun, from which on all of
them are called so."""

_OF_FIRMS = frozenset("records books films pictures games foods motors".split())
"""Last words of the names of firms: Sire Records is no record."""


def named_ends(asked: Collection[str], around: LocalGraph) -> Bool[np.ndarray, "u 2"]:
    """True at the heads or tails of a relation that are called what is asked for.

    Args:
        asked: what is asked for may be called, in singular.
        around: the candidates.
    """
    nouns = frozenset(asked)
    called = np.array([not name_nouns(n).isdisjoint(nouns) for n in around.names], bool)
    near = np.isin(around.nodes, around.starts).any(axis=1)
    if not called[np.searchsorted(around.used, around.nodes[near].ravel())].any():
        narrower = [_is_narrower(name, nouns) for name in around.names]
        called &= ~np.array(narrower, bool)
    node, end = around.ends
    width = 2 * len(around.relations)
    hits = np.bincount(end, called[np.searchsorted(around.used, node)], width)
    counts = np.bincount(end, minlength=width)
    return (hits >= SHARE * np.maximum(counts, 1)).reshape(-1, 2)


@lru_cache(maxsize=1 << 14)
def _is_narrower(name: str, nouns: frozenset[str]) -> bool:
    """Whether a name says what it is by more words than are asked for.

    A railway station is not just a station; far from the topic, it is another one.

    >>> _is_narrower("Rossio railway station", frozenset(["station"]))
    True
    >>> _is_narrower("Rossio Station", frozenset(["station"]))
    False
    """
    before, noun = (["", "", *name.split()])[-2:]
    phrase = f"{before} {base_noun(noun)}"
    return before.isalpha() and phrase.islower() and phrase not in nouns


@lru_cache(maxsize=1 << 14)
def name_nouns(name: str) -> frozenset[str]:
    """The nouns of a name that may say what it is the name of, in singular.

    What stands in brackets only tells some from others: "Dune (1984 film)".

    >>> sorted(name_nouns("University of Porto")), sorted(name_nouns("CVE-2017-3581"))
    (['porto', 'university'], ['cve'])
    >>> sorted(name_nouns("Sale of Goods Act 1979"))
    ['act', 'sale']
    """
    whole = name.partition(" (")[0]
    words = [word for word in split_words(whole) if word.isalpha()]
    if not words:
        return frozenset()
    nouns = (words[head_noun(words)], words[-1])
    return frozenset(base_noun(noun) for noun in nouns if noun not in _OF_FIRMS)
