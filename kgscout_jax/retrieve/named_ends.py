"""Ends of relations where names say what they name: a Rotwand Hut is a hut.

Where no relation and no class calls anything what a question asks for, the names of
nodes may, and codes such as INC-34612. One name is not enough: a firm may be called
Corvina Books.
"""

from __future__ import annotations

import re
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

_CODE = re.compile(r"([A-Z]{3,5})[-_ ]?\d")
"""A name that is a code: INC-34612. Two letters stand for too many nouns."""
_OF_FIRMS = frozenset("records books films pictures games foods motors".split())
"""Last words of the names of firms: Sire Records is no record."""


def named_ends(asked: Collection[str], around: LocalGraph) -> Bool[np.ndarray, "u 2"]:
    """True at the heads or tails of a relation that are called what is asked for.

    Args:
        asked: what is asked for may be called, in singular.
        around: the candidates.
    """
    nouns = frozenset(asked)
    called = np.array([_is_called(name, nouns) for name in around.names], bool)
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
def _is_called(name: str, nouns: frozenset[str]) -> bool:
    """Whether a name says that it is of one of these nouns, or is a code for one.

    >>> _is_called("Rossio Station", frozenset(["station"]))
    True
    >>> [_is_called(n, frozenset(["incident"])) for n in ("INC-34612", "INC", "CHG-7")]
    [True, False, False]
    """
    if not name_nouns(name).isdisjoint(nouns):
        return True
    code = _CODE.match(name)
    return code is not None and any(_is_short(code[1].lower(), each) for each in nouns)


def _is_short(code: str, noun: str) -> bool:
    """Whether letters stand in a noun, in their order, and it begins with the first."""
    rest = iter(noun)
    return noun[:1] == code[0] and all(letter in rest for letter in code)


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
