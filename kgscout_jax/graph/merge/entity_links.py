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

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int, Int32, Int64
from scipy import sparse

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.normalise import comparison_form
from kgscout_jax.types import entity_key
from kgscout_jax.utils.ragged import offsets_of, ranges

SAME_ID, AMBIGUOUS, NEAR = 2.0, -0.01, -0.3
"""Score before the neighbourhood: of one Q-id or mid, of a name that several entities
have, of names that are but nearly the same. A pair is linked from 0 on."""
FUNCTIONAL, LEAST_FACTS = 0.9, 3
"""A relation has one value per entity if so many entities per fact have it, of so many
facts in both graphs."""
CERTAIN, LEAST_EXPECTED = 0.5, 3.0
"""Weight of shared neighbours from which a pair is certain, and how many certain pairs
with two relations chance would give where the lack of any tells two kinds."""
MOST_PAIRS = 64
"""Pairs that one name may give; more are no names."""
MOST_MEDIATED = 100
"""Degree of an unnamed neighbour up to which its neighbours count."""
_GLOBAL_ID = re.compile(r"[mg]\.[0-9][0-9a-z_]*|[Qq][1-9][0-9]*")
_BRACKET = re.compile(r"(?<=\S) \([^()]*\)$")
_ARTICLE = re.compile(r"(?:the|a|an) (?=\S)")


@dataclass(frozen=True, eq=False, kw_only=True)
class NamedGraph:
    """What linking needs of a graph."""

    names: Sequence[str]
    ids: Sequence[str]
    """See ``KnowledgeGraph.ids``."""
    unnamed_mask: Bool[np.ndarray, "e"]
    triplets: Int32[np.ndarray, "m 3"]

    @staticmethod
    def of(graph: KnowledgeGraph) -> NamedGraph:
        """The names and triplets of a graph."""
        return NamedGraph(
            names=list(graph.entities),
            ids=list(graph.ids),
            unnamed_mask=np.asarray(graph.unnamed_mask),
            triplets=np.asarray(graph.triplets),
        )


@dataclass(frozen=True, eq=False)
class _Side:
    """A graph in one of the two roles."""

    graph: NamedGraph
    exact: Int64[np.ndarray, "e"]
    """Number of each entity's name; -1 for an unnamed one."""
    near: Int64[np.ndarray, "e"]
    """Number of each entity's name without accents, articles and brackets."""
    ids: Int64[np.ndarray, "e"]
    """Number of each entity's Q-id or mid, or -1."""
    roles: Int64[np.ndarray, "r"]
    """Number of the meaning of each relation."""


@dataclass(frozen=True, eq=False)
class _Values:
    """The single values of entities under functional relations, sorted by entity."""

    offsets: Int64[np.ndarray, "e+1"]
    roles: Int64[np.ndarray, "v"]
    values: Int64[np.ndarray, "v"]
    """Entities."""


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
    left, right = _sides(base, graph, roles)
    pairs, prior = _candidates(left, right)
    shared = _shared(left, right, pairs)
    certain = (prior >= 0) & (shared >= CERTAIN)
    score = prior + shared - _conflicts(left, right, pairs)
    score -= _other_kinds((left, right), pairs, pairs[certain])
    out = np.full(len(graph.names), -1, np.int32)
    taken = np.zeros(len(base.names), bool)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -score))
    for i in order[score[order] >= 0].tolist():
        a, b = pairs[i]
        if out[b] < 0 and not taken[a]:
            out[b], taken[a] = a, True
    return out


def near_key(name: str) -> str:
    """What nearly equal names share; the name itself where it has no letters.

    >>> near_key("The Côte d'Ivoire (country)")
    'cote divoire'
    """
    form = comparison_form(_BRACKET.sub("", name))
    form = _ARTICLE.sub("", form)
    return form if any(map(str.isalpha, form)) else entity_key(name)


def _sides(
    base: NamedGraph, graph: NamedGraph, roles: Sequence[Int64[np.ndarray, "r"]]
) -> list[_Side]:
    numbers: dict[tuple[str, str], int] = {}

    def numbered(kind: str, texts: Sequence[str | None]) -> Int64[np.ndarray, "e"]:
        found = [
            -1 if text is None else numbers.setdefault((kind, text), len(numbers))
            for text in texts
        ]
        return np.array(found, np.int64)

    sides = []
    for each, meaning in zip((base, graph), roles, strict=True):
        names = [
            None if unnamed else name
            for name, unnamed in zip(each.names, each.unnamed_mask, strict=True)
        ]
        sides.append(
            _Side(
                graph=each,
                exact=numbered("name", [name and entity_key(name) for name in names]),
                near=numbered("near", [name and near_key(name) for name in names]),
                ids=numbered(
                    "id", [id if _GLOBAL_ID.fullmatch(id) else None for id in each.ids]
                ),
                roles=meaning,
            )
        )
    return sides


def _candidates(
    left: _Side, right: _Side
) -> tuple[Int64[np.ndarray, "p 2"], Float64[np.ndarray, "p"]]:
    """(pairs of entities that may be one, their scores before the neighbourhood)."""
    same_id = _joined(left.ids, right.ids)
    exact = _joined(left.exact, right.exact)
    near = _joined(left.near, right.near)
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


def _joined(
    left: Int64[np.ndarray, "e"], right: Int64[np.ndarray, "f"]
) -> Int64[np.ndarray, "p 2"]:
    """All pairs of positions with equal numbers; -1 equals none."""
    at = np.flatnonzero(left >= 0)
    order = np.argsort(right, kind="stable")
    low = np.searchsorted(right[order], left[at], "left")
    high = np.searchsorted(right[order], left[at], "right")
    counts = high - low
    of_name = np.bincount(left[at], counts, minlength=1)[left[at]]
    counts[of_name > MOST_PAIRS] = 0
    found = order[ranges(low, counts)]
    return np.stack([np.repeat(at, counts), found], axis=1)


def _shared(
    left: _Side, right: _Side, pairs: Int64[np.ndarray, "p 2"]
) -> Float64[np.ndarray, "p"]:
    """The weight of the neighbours that the entities of each pair share."""
    width = int(max(left.near.max(initial=0), right.near.max(initial=0))) + 1
    around = [_neighbours(side, width) for side in (left, right)]
    degrees = np.maximum(*(np.asarray(each.sum(axis=0)).ravel() for each in around))
    weights = 1 / np.log2(1 + np.maximum(degrees, 1))
    both = around[0][pairs[:, 0]].multiply(around[1][pairs[:, 1]])
    return np.asarray(both @ weights).ravel()


def _neighbours(side: _Side, width: int) -> sparse.csr_array:
    """Of each entity the names around it, through unnamed neighbours too.

    Shape [e, width], with 1 for a neighbour.
    """
    rows = np.asarray(side.graph.triplets).astype(np.int64)
    start = np.concatenate([rows[:, 0], rows[:, 2]])
    end = np.concatenate([rows[:, 2], rows[:, 0]])
    n = len(side.near)
    named = side.near[end] >= 0
    names = _binary(start[named], side.near[end[named]], (n, width))
    degrees = np.bincount(start, minlength=n)
    mediated = ~named & (degrees[end] <= MOST_MEDIATED)
    if mediated.any():
        steps = _binary(start[mediated], end[mediated], (n, n))
        names = names + steps @ names
        names.data[:] = 1
    return names


def _binary(
    rows: Int[np.ndarray, "k"], columns: Int[np.ndarray, "k"], shape: tuple[int, int]
) -> sparse.csr_array:
    """The matrix with 1 at these places."""
    values = np.ones(len(rows), np.float32)
    matrix = sparse.coo_array((values, (rows, columns)), shape).tocsr()
    matrix.data[:] = 1
    return matrix


def _conflicts(
    left: _Side, right: _Side, pairs: Int64[np.ndarray, "p 2"]
) -> Float64[np.ndarray, "p"]:
    """How many single-valued relations lead the entities of each pair elsewhere."""
    tables = _single_values(left, right)
    n_roles = 2 * int(max(side.roles.max(initial=0) for side in (left, right))) + 2
    keys, values = [], []
    for i, table in enumerate(tables):
        lengths = np.diff(table.offsets)[pairs[:, i]]
        rows = ranges(table.offsets[pairs[:, i]], lengths)
        owners = np.repeat(np.arange(len(pairs)), lengths)
        keys.append(owners * n_roles + table.roles[rows])
        values.append(table.values[rows])
    # every value on the left beside every one on the right, of a pair and a relation
    at = _joined_all(keys[0], keys[1])
    a, b = values[0][at[:, 0]], values[1][at[:, 1]]
    key = keys[0][at[:, 0]]
    role = key % n_roles
    agree = (left.near[a] == right.near[b]) | (left.near[a] < 0) | (right.near[b] < 0)
    agree |= _leads_to(tables[0], left.near, a, role, right.near[b])
    agree |= _leads_to(tables[1], right.near, b, role, left.near[a])
    against = np.setdiff1d(key, key[agree])
    return np.bincount(against // n_roles, minlength=len(pairs)).astype(np.float64)


def _other_kinds(
    sides: tuple[_Side, _Side],
    pairs: Int64[np.ndarray, "p 2"],
    certain: Int64[np.ndarray, "c 2"],
) -> Float64[np.ndarray, "p"]:
    """1 where the relations of a pair never meet in the certain pairs, else 0."""
    arcs = [_arcs(side.graph) for side in sides]
    out = np.zeros(len(pairs))
    for i, j in ((0, 1), (1, 0)):
        known, other = arcs[i][certain[:, i]], arcs[j][certain[:, j]]
        met = known.T @ other  # how many certain pairs have both
        own, of = arcs[i][pairs[:, i]], arcs[j][pairs[:, j]].tocoo()
        counts = np.asarray(known.sum(axis=0)).ravel()
        mean = (own @ counts) / np.maximum(np.diff(own.indptr), 1)
        rows, columns = of.coords
        totals = np.asarray(other.sum(axis=0)).ravel()
        expected = mean[rows] * totals[columns] / max(len(certain), 1)
        seen = (own @ met).multiply(of).tocoo()
        width = of.shape[1]
        never = ~np.isin(
            rows.astype(np.int64) * width + columns,
            seen.coords[0].astype(np.int64) * width + seen.coords[1],
        )
        out[rows[never & (expected >= LEAST_EXPECTED)]] = 1
    return out


def _arcs(graph: NamedGraph) -> sparse.csr_array:
    """Of each entity its relations, out of it and into it; [e, 2 r]."""
    rows = np.asarray(graph.triplets).astype(np.int64)
    n = int(rows[:, 1].max(initial=0)) + 1
    owner = np.concatenate([rows[:, 0], rows[:, 2]])
    arcs = np.concatenate([rows[:, 1], rows[:, 1] + n])
    return _binary(owner, arcs, (len(graph.names), 2 * n))


def _joined_all(
    left: Int64[np.ndarray, "k"], right: Int64[np.ndarray, "l"]
) -> Int64[np.ndarray, "p 2"]:
    """All pairs of positions with equal numbers."""
    order = np.argsort(right, kind="stable")
    low = np.searchsorted(right[order], left, "left")
    counts = np.searchsorted(right[order], left, "right") - low
    found = order[ranges(low, counts)]
    return np.stack([np.repeat(np.arange(len(left)), counts), found], axis=1)


def _single_values(left: _Side, right: _Side) -> list[_Values]:
    """The values under relations that have one per entity in both graphs.

    A relation from head to tail has an even number, from tail to head an odd one.
    """
    n = int(max(side.roles.max(initial=0) for side in (left, right))) + 1
    listed, functional = [], np.ones(2 * n, bool)
    facts = np.zeros(2 * n, np.int64)
    for side in (left, right):
        rows = np.asarray(side.graph.triplets).astype(np.int64)
        roles = side.roles[rows[:, 1]]
        owner = np.concatenate([rows[:, 0], rows[:, 2]])
        role = np.concatenate([2 * roles, 2 * roles + 1])
        value = np.concatenate([rows[:, 2], rows[:, 0]])
        pairs = np.bincount(role, minlength=2 * n)
        sources = np.unique(role * len(side.near) + owner) // max(len(side.near), 1)
        functional &= np.bincount(sources, minlength=2 * n) >= FUNCTIONAL * pairs
        functional &= pairs > 0
        facts += pairs
        listed.append((owner, role, value))
    functional &= facts >= LEAST_FACTS
    tables = []
    for side, (owner, role, value) in zip((left, right), listed, strict=True):
        use = np.flatnonzero(functional[role])
        use = use[np.argsort(owner[use], kind="stable")]
        counts = np.bincount(owner[use], minlength=len(side.near))
        tables.append(_Values(offsets_of(counts), role[use], value[use]))
    return tables


def _leads_to(
    table: _Values,
    near: Int64[np.ndarray, "e"],
    start: Int64[np.ndarray, "k"],
    roles: Int64[np.ndarray, "k"],
    names: Int64[np.ndarray, "k"],
) -> Bool[np.ndarray, "k"]:
    """Whether the same relation leads on from each start to a name."""
    lengths = np.diff(table.offsets)[start]
    rows = ranges(table.offsets[start], lengths)
    owner = np.repeat(np.arange(len(start)), lengths)
    hit = (table.roles[rows] == roles[owner]) & (
        near[table.values[rows]] == names[owner]
    )
    out = np.zeros(len(start), bool)
    out[owner[hit]] = True
    return out
