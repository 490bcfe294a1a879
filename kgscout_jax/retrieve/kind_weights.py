"""How surely relations call what stands at their ends by a noun, or by a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial

import numpy as np
from jaxtyping import Float

from kgscout_jax.text.kinds import (
    KINDS,
    NAMED,
    end_nouns,
    is_attribute,
    names_same,
    noun_kind,
)
from kgscout_jax.text.relation_phrases import relation_forms, word_forms

_ROLES = frozenset(
    "author director producer composer publisher translator editor illustrator "
    "narrator reviewer photographer distributor actor writer screenwriter "
    "cinematographer designer coach referee conductor".split()
)
"""What several have done for one work or club, each something else."""
GENERIC_NOUNS = frozenset(
    "person human people individual member employee worker staff user contact owner "
    "thing object item one everything anything everyone anyone something entity "
    "product work company firm organization organisation institution group body "
    "animal species creature plant food device vehicle system project place location "
    "area type kind option example element".split()
)
"""Nouns for many things, which are called by others as well."""


@cache
def kind_weights(relation: str) -> Float[np.ndarray, "2 k"]:
    """Weights of the nouns at a relation's heads and tails, by their kind."""
    out = np.zeros((2, len(KINDS)))
    for side, nouns in enumerate(end_nouns(relation)):
        for noun, weight in nouns.items():
            out[side, KINDS.index(noun_kind(noun))] += weight
    return out


@lru_cache(maxsize=1 << 14)
def leads_to_asked(asked: frozenset[str], relation: str) -> bool:
    """Whether a relation leads to what is asked for.

    A "source package" is a package, and others may be packages too. "Includes company"
    and "starred actors" begin with a verb.
    """
    return any(
        noun in asked
        or (noun.partition(" ")[0].endswith(("s", "ed")) and names_same(noun, asked))
        for nouns in end_nouns(relation)
        for noun in nouns
    )


@lru_cache(maxsize=1 << 14)
def named_weights(asked: frozenset[str], relation: str) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that name what is asked."""
    return _weights(relation, partial(names_same, asked=asked))


@lru_cache(maxsize=1 << 14)
def other_roles(asked: frozenset[str], relation: str) -> tuple[bool, bool]:
    """Whether a relation calls its heads and tails by another role than is asked for.

    An author is no translator.
    """
    forms = frozenset[str]().union(*map(word_forms, asked & _ROLES))
    if not forms or not forms.isdisjoint(relation_forms(relation)):
        return False, False
    head, tail = (
        any(weight >= NAMED and noun in _ROLES for noun, weight in nouns.items())
        for nouns in end_nouns(relation)
    )
    return head, tail


@cache
def attribute_weights(relation: str) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that name properties."""
    return _weights(relation, is_attribute)


def attributes(relations: Sequence[str]) -> Float[np.ndarray, "u 2"]:
    """``attribute_weights`` of each relation."""
    return np.array([attribute_weights(relation) for relation in relations])


@cache
def all_weights(relation: str) -> tuple[float, float]:
    """Weights of all nouns at a relation's heads and tails."""
    return _weights(relation, bool)


def _weights(relation: str, is_meant: Callable[[str], bool]) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that are meant."""
    head, tail = (
        sum(weight for noun, weight in nouns.items() if is_meant(noun))
        for nouns in end_nouns(relation)
    )
    return head, tail
