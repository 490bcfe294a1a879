"""What nodes are by relations that name two types and lead both ways: drug_protein.

Undirected graphs of several types (PrimeKG) hold each triplet in both directions, under
the types of its ends. Which end is the drug, the name does not tell. A node's other
relations do: what is in ``drug_protein``, ``drug_drug`` and ``drug_effect`` is a drug.
So do the nodes beside it, where it has no other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.kinds import (
    KINDS,
    base_noun,
    has_participle_ending,
    is_finite,
    names_same,
    noun_kind,
)
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words

LEAST = 4
"""Triplets of a relation from which on it may be seen to lead both ways."""
SHARE = 0.9
"""Share of triplets that have a reverse, from which on a relation does."""


@cache
def type_pair(relation: str) -> tuple[str, str] | None:
    """The two types that a name begins with; None where it may not be of that form.

    >>> type_pair("drug_protein"), type_pair("anatomy_protein_present")
    (('drug', 'protein'), ('anatomy', 'protein'))
    >>> type_pair("located_in")
    """
    words = relation_words(relation)
    if len(words) not in (2, 3) or PREPOSITIONS.intersection(words):
        return None
    if any(is_finite(word) or has_participle_ending(word) for word in words[:2]):
        return None
    return base_noun(words[0]), base_noun(words[1])


@dataclass(frozen=True)
class TypePairs:
    """The types of one question's nodes by such relations."""

    relations: Bool[np.ndarray, "u"]
    """True at these relations."""
    nouns: list[str]
    """All types that they name."""
    votes: Int[np.ndarray, "v t"]
    """How many of a node's relations make it of each type."""

    @property
    def kinds(self) -> Float[np.ndarray, "v k"]:
        """The votes by kind."""
        out = np.zeros((len(self.votes), len(KINDS)))
        for i, noun in enumerate(self.nouns):
            out[:, KINDS.index(noun_kind(noun))] += self.votes[:, i]
        return out

    def named(self, asked: Collection[str]) -> Float[np.ndarray, "v"]:
        """The votes for types that are called as what is asked for."""
        nouns = frozenset(asked)
        same = np.array([names_same(noun, nouns) for noun in self.nouns], bool)
        return self.votes[:, same].sum(axis=1).astype(float)


def type_pairs(around: LocalGraph, v: int) -> TypePairs:
    """The types of nodes by relations that name two of them and lead both ways."""
    pairs = [type_pair(relation) for relation in around.relations]
    mask = np.array([pair is not None for pair in pairs], bool)
    if mask.any():
        mask &= _both_ways(around, v)
    nouns = sorted({noun for i in np.flatnonzero(mask) for noun in pairs[i] or ()})
    place = {noun: i for i, noun in enumerate(nouns)}
    votes = np.zeros((v, len(nouns)), np.int64)
    ends: list[tuple[Int[np.ndarray, "m 2"], int, int]] = []
    for i in np.flatnonzero(mask).tolist():
        first, second = (place[noun] for noun in pairs[i] or ())
        rows = around.nodes[around.relation_index == i]
        there = np.unique(rows)
        votes[there, first] += 1
        votes[there, second] += first != second
        ends.append((rows, first, second))
    chosen = np.zeros_like(votes)
    for rows, first, second in ends:
        there = np.unique(rows)
        lean = np.sign(votes[:, first] - votes[:, second])
        # What is in no other relation is what those beside it are not.
        beside = np.bincount(rows[:, 0], lean[rows[:, 1]], minlength=v)
        lean = np.where(lean == 0, -np.sign(beside), lean)[there]
        chosen[there, first] += lean >= 0
        chosen[there, second] += (lean <= 0) & (first != second)
    return TypePairs(mask, nouns, chosen)


def _both_ways(around: LocalGraph, v: int) -> Bool[np.ndarray, "u"]:
    """Whether each relation's triplets have a reverse."""
    head, tail = around.nodes.T.astype(np.int64)
    index, u = around.relation_index, len(around.relations)
    keys = (index * v + head) * v + tail
    has_reverse = np.isin((index * v + tail) * v + head, keys) & (head != tail)
    counts = np.bincount(index, minlength=u)
    reversed_ = np.bincount(index, has_reverse, minlength=u)
    return (counts >= LEAST) & (reversed_ >= SHARE * counts)
