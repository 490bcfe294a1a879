"""Places of another kind than a question asks for: no city is a country."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.place_names import place_kinds
from kgscout_jax.text.relation_words import last_word

_PLACES = {
    "country": frozenset(("country", "nation")),
    "city": frozenset(("city", "town", "village", "municipality")),
    "continent": frozenset(("continent",)),
}
"""Nouns for places, none of which is one of another group."""
_MOST = 0.5
"""Share of a relation's tails that are places of that kind, from which on it leads to
such places."""


def other_places(
    nouns: frozenset[str], around: LocalGraph, v: int
) -> Bool[np.ndarray, "v"]:
    """True at places of another kind: at cities, where a country is asked for.

    Relations called ``city`` lead to one; of countries and continents the names are
    known, and what lies in one of those that are asked for is none of them.
    """
    out = np.zeros(v, bool)
    wanted = [noun for noun, places in _PLACES.items() if not nouns.isdisjoint(places)]
    if len(wanted) != 1:
        return out
    (asked,) = wanted
    last = [base_noun(last_word(r)) for r in around.relations]
    right = np.array([noun in _PLACES[asked] for noun in last], bool)
    other = np.array([any(n in each for each in _PLACES.values()) for n in last], bool)
    heads, tails = around.nodes.T
    kinds = [place_kinds(name) for name in around.folded_names]
    called = np.zeros(v, bool)
    called[around.used] = [asked in each for each in kinds]
    out[around.used] |= [bool(each) for each in kinds]
    topics = around.topic_mask(v)
    if asked != "city" and (called & ~topics).any():
        within = np.array([needs_no_word(each) for each in around.relations], bool)
        # What is "part of" Norway is no country.
        within |= around.tail_shares(called) >= _MOST
        out[heads[within[around.relation_index]]] = True
    out |= _other_levels(asked, around, topics) & ~called
    out[called | topics] = False
    out[tails[(other & ~right)[around.relation_index]]] = True
    out[tails[right[around.relation_index]]] = False
    return out


def _other_levels(
    asked: str, around: LocalGraph, topics: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """True at the country, where a city is asked for that lies in it, and at the city,
    where the country is: what lies where is known, whatever the names."""
    within = np.array([needs_no_word(each) for each in around.relations], bool)
    heads, tails = around.nodes[within[around.relation_index]].T
    near, far, between = np.zeros((3, len(topics)), bool)
    near[tails[topics[heads]]] = True
    near &= ~topics
    far[tails[near[heads]]] = True
    far &= ~(near | topics)
    between[heads[near[heads] & far[tails]]] = True
    return far if asked == "city" else between
