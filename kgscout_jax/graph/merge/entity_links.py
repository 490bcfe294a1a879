"""Which entities of two graphs are one: the same name, and a compatible neighbourhood.

Pairs of equal or nearly equal names are judged by what lies around them:

- *shared* neighbours speak for a pair, rare ones more than hubs (Adamic and Adar);
- *conflicts* speak against it: a relation of the same meaning, which has one value per
  entity in both graphs, leads elsewhere (Paris located in Texas, or in France), unless
  one value lies within the other (in Lamar County, which is in Texas);
- so does another *kind* of thing: an entity has a relation that the entities with the
  other's relations never have, as certain pairs show (an airport has no mayor);
- without either the same name is enough, if no other entity of a graph has it. A name
  that differs in accents, articles, punctuation or a bracket needs a shared neighbour.

An entity is linked to one entity of the other graph at most.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int32, Int64

from kgscout_jax.graph.merge.conflicts import conflicts, equal_pairs
from kgscout_jax.graph.merge.named_graph import NamedGraph, Side, sides_of
from kgscout_jax.graph.merge.neighbours import other_kinds, shared_weight

SAME_ID, AMBIGUOUS, NEAR = 2.0, -0.01, -0.3
"""Score before the neighbourhood: of one Q-id or mid, of a name that several entities
have, of names that are but nearly the same. A pair is linked from 0 on."""
CERTAIN = 0.5
"""Weight of shared neighbours from which a pair is certain."""
MOST_PAIRS = 64
"""Pairs that one name may give; more are no names."""


def link_entities(
    base: NamedGraph,
    graph: NamedGraph,
    roles: tuple[Int64[np.ndarray, "r"], Int64[np.ndarray, "s"]],
) -> Int32[np.ndarray, "e"]:
    """The entity of ``base`` that each entity of ``graph`` is, or -1.

    Args:
        base: a graph.
        graph: another.
        roles: the meaning of each relation, as numbers that both share.
    """
    left, right = sides_of(base, graph, roles)
    pairs, prior = name_pairs(left, right)
    shared = shared_weight(left, right, pairs)
    certain = (prior >= 0) & (shared >= CERTAIN)
    score = prior + shared - conflicts(left, right, pairs)
    score -= other_kinds((left, right), pairs, pairs[certain])
    out = np.full(len(graph.names), -1, np.int32)
    taken = np.zeros(len(base.names), bool)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -score))
    for i in order[score[order] >= 0].tolist():
        a, b = pairs[i]
        if out[b] < 0 and not taken[a]:
            out[b], taken[a] = a, True
    return out


def name_pairs(
    left: Side, right: Side
) -> tuple[Int64[np.ndarray, "p 2"], Float64[np.ndarray, "p"]]:
    """(pairs of entities that may be one, their scores before the neighbourhood)."""
    same_id = _entity_pairs(left.ids, right.ids)
    exact = _entity_pairs(left.exact, right.exact)
    near = _entity_pairs(left.near, right.near)
    alone = [np.bincount(side.exact[side.exact >= 0]) == 1 for side in (left, right)]
    unique = alone[0][left.exact[exact[:, 0]]] & alone[1][right.exact[exact[:, 1]]]
    pairs = np.concatenate([same_id, exact, near])
    prior = np.concatenate(
        [
            np.full(len(same_id), SAME_ID),
            np.where(unique, 0.0, AMBIGUOUS),
            np.full(len(near), NEAR),
        ]
    )
    _, first = np.unique(
        pairs[:, 0] * len(right.exact) + pairs[:, 1], return_index=True
    )
    return pairs[first], prior[first]


def _entity_pairs(
    left: Int64[np.ndarray, "e"], right: Int64[np.ndarray, "f"]
) -> Int64[np.ndarray, "p 2"]:
    """The pairs of entities with equal numbers; -1 equals none."""
    at = np.flatnonzero(left >= 0)
    pairs = equal_pairs(left[at], right, most=MOST_PAIRS)
    return np.stack([at[pairs[:, 0]], pairs[:, 1]], axis=1)
