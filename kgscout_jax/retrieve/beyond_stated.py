"""Nodes one step beyond those that a question states: writers that a firm publishes.

A firm publishes books, and books have writers.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.lacking import have_alike_nodes
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.record_nodes import leads_to
from kgscout_jax.text.kinds import TAIL, end_nouns
from kgscout_jax.text.relation_words import leads_to_class

_MAKERS = frozenset(
    "author writer director composer painter illustrator translator playwright".split()
)
"""Who made the heads of relations that are called so."""


def beyond_stated(
    stated: Bool[np.ndarray, "v"], nouns: frozenset[str], around: LocalGraph
) -> Bool[np.ndarray, "v"] | None:
    """What is asked for, one step from what a relation states, by one called so.

    None where no or several relations lead there, or where nodes stated are called so
    themselves: heads of ``author`` are no writers, friends of friends are friends.

    Args:
        stated: nodes that the question states.
        nouns: what is asked for.
        around: the candidates.
    """
    named = [leads_to(r, nouns) and not _may_be(r, nouns) for r in around.relations]
    leading = np.array(named, bool)[around.relation_index]
    heads, tails = around.nodes[leading].T
    slots = stated[heads]
    index = np.unique(around.relation_index[leading][slots])
    if len(index) != 1 or stated[tails].any():
        return None
    ends = [frozenset([TAIL] if n else []) for n in named]
    if have_alike_nodes(ends, around):
        return None  # The topic itself should have one.
    out = np.zeros_like(stated)
    out[tails[slots]] = True
    out &= ~around.topic_mask(len(stated))
    return out if out.any() else None


def _may_be(relation: str, nouns: frozenset[str]) -> bool:
    """Whether heads of a relation may be called so as well: firms have a
    ``parent_company``, and books an ``author``."""
    heads, tails = end_nouns(relation)
    of_works = not _MAKERS.isdisjoint(tails)
    known = of_works or (heads and nouns.isdisjoint(heads))
    return leads_to_class(relation) or not known
