"""Subgraphs by a question-guided walk: it chooses a relation, then one of its edges.

The walk starts at the topics and takes at most ``hops`` steps. It continues with
probability alpha at each step. At an entity it chooses a relation and direction with
probability proportional to exp(cos(question, relation) / temperature), and then one of
the relation's edges uniformly. A relation with a million edges weighs no more than one
with a single edge, so hubs need no further rule. A triplet's *flow* is the probability
that the walk ends at one of its ends and chooses to cross it. The triplets with the
largest flow are the subgraph.

Probability is pushed forward from the topics. Entities with little probability, in
total or per triplet, are not expanded and retain it. The cost depends on the
neighbourhood, not on the graph.

The walk derives from guided PageRank (edges weighted by the relation's similarity to
the question, triplets ranked by their ends). It differs in three ways: it chooses a
relation before an edge, ranks by flow and takes few steps. recipes/cuts.md measures
the effect of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int, Int32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.arcs import Arcs, ArcSource, GraphArcs, SubgraphArcs
from kgscout_jax.graph.walk.block_keys import (
    blocks_of,
    node_keys,
    positions,
    unique_keys,
)
from kgscout_jax.graph.walk.subgraph import Direction, Subgraphs, cut_rows

MAX_BATCH_ARCS = 1 << 22
"""Questions walk together while no step has more arcs (about 200 MB)."""
MAX_TABLE_CELLS = 1 << 22
"""Up to this many (entity, arc type) pairs are counted in a table, else by sorting."""


@dataclass(frozen=True, kw_only=True)
class Guide:
    """Parameters of the walk."""

    temperature: float = 0.1
    """Of the choice among relations; smaller values follow the cosine more."""
    alpha: float = 0.8
    """Probability of continuing at each step."""
    threshold: float = 1e-4
    """Entities with less probability are not expanded."""

    per_triplet: float = 1e-7
    """Entities with less probability per triplet, except topics, are not expanded. A
    later step thus has at most 1 / per_triplet triplets in any graph."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UserError(f"temperature: {self.temperature}, expected more than 0")
        if not 0 <= self.alpha <= 1:
            raise UserError(f"alpha: {self.alpha}, expected a number from 0 to 1")
        if not 0 <= self.threshold < 1:
            raise UserError(f"threshold: {self.threshold}, expected 0 <= it < 1")
        if not 0 <= self.per_triplet < 1:
            raise UserError(f"per_triplet: {self.per_triplet}, expected 0 <= it < 1")


def walk_subgraphs(
    graph: KnowledgeGraph,
    topics: Sequence[Int32[np.ndarray, "t"]],
    cosines: Float[np.ndarray, "b r"],
    *,
    guide: Guide | None = None,
    own_triplets: Sequence[Int32[np.ndarray, "m"]] | None = None,
    hops: int = 2,
    max_triplets: int | None = 2000,
    ppr_threshold: float | None = None,
    direction: Direction = "both",
) -> Subgraphs:
    """The subgraph of each question: the triplets with the largest flow.

    ``ppr`` of the result is the probability that the walk ends at an entity; it sums to
    1 over the entities of a question with a topic. A question's result does not depend
    on the others.

    Args:
        graph: the knowledge graph.
        topics: per question, entity ids of its topics.
        cosines: of each question with each relation of the graph.
        guide: temperature, alpha and thresholds.
        own_triplets: per question, ids of the triplets of its own subgraph, all of
            which take part in the cut. None to walk ``graph``.
        hops: the most steps.
        max_triplets: size of the cut, ties by triplet id; None for all.
        ppr_threshold: leave out triplets with less ``ppr`` at an end.
        direction: "directed" crosses triplets from head to tail only.
    """
    n, m = len(graph.entities), max(len(graph.triplets), 1)

    def walk(low: int, high: int) -> list[Subgraphs]:
        own = None
        arcs: ArcSource = GraphArcs(graph, direction)
        if own_triplets is not None:
            own = np.sort(node_keys(own_triplets[low:high], m))
            arcs = SubgraphArcs(graph, own, direction)
        try:
            result = push(
                arcs,
                node_keys(topics[low:high], n),
                np.asarray(cosines[low:high], np.float64),
                guide or Guide(),
                hops,
                n_entities=n,
                max_arcs=MAX_BATCH_ARCS if high - low > 1 else None,
            )
        except ArcLimitError:
            middle = (low + high) // 2
            return [*walk(low, middle), *walk(middle, high)]
        return [_cut(graph, result, own, high - low, max_triplets, ppr_threshold)]

    return Subgraphs.concatenate(walk(0, len(topics)), n)


class ArcLimitError(Exception):
    """A step of several questions has too many arcs."""


class WalkResult(NamedTuple):
    """Entities and triplets that a walk reached."""

    nodes: Int64[np.ndarray, "k"]
    """Keys of the entities, ascending."""
    rank: Float64[np.ndarray, "k"]
    """Probability that the walk ends at each entity."""
    triplets: Int64[np.ndarray, "m"]
    """Keys of the triplets, ascending."""
    flow: Float64[np.ndarray, "m"]


def push(
    source: ArcSource,
    topics: Int64[np.ndarray, "t"],
    cosines: Float64[np.ndarray, "b r"],
    guide: Guide,
    hops: int,
    *,
    n_entities: int,
    max_arcs: int | None = None,
) -> WalkResult:
    """The guided walks of b questions from their ``topics`` (node keys).

    Raises:
        ArcLimitError: a step has more than ``max_arcs``.
    """
    n = max(n_entities, 1)
    cells = len(cosines) * n
    # The largest cosine cancels: no temperature overflows.
    top = cosines.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp((cosines - top) / guide.temperature)
    nodes = np.unique(topics)
    per_block = np.bincount(nodes // n, minlength=1)
    mass = 1.0 / per_block[nodes // n]
    rank = np.zeros(len(nodes))
    expanded = np.zeros(len(nodes), bool)
    keys = np.empty(0, np.int64)
    # All arcs so far: source, target and triplet keys, and probability at the source.
    walked = keys, keys, keys, np.empty(0)
    for step in range(hops):
        fresh = np.flatnonzero((mass >= guide.threshold) & ~expanded)
        counts = source.counts(nodes[fresh])
        if step:
            narrow = mass[fresh] >= guide.per_triplet * counts
            fresh, counts = fresh[narrow], counts[narrow]
        expanded[fresh] = True
        if max_arcs is not None and counts.sum() > max_arcs:
            raise ArcLimitError
        arcs = source.arcs(nodes[fresh])
        share = _probabilities(arcs, nodes[fresh] // n, weights)
        new = nodes[fresh][arcs.source], arcs.target, arcs.triplet, share
        walked = tuple(map(np.concatenate, zip(walked, new, strict=True)))
        reached = unique_keys(np.concatenate([nodes, arcs.target]), cells)
        at = positions(reached, nodes, cells)
        mass, rank, expanded = (
            _scatter(values, at, len(reached)) for values in (mass, rank, expanded)
        )
        nodes = reached
        begin, end = (positions(nodes, ends, cells) for ends in walked[:2])
        moving = np.zeros(len(nodes), bool)
        moving[begin] = True
        moving &= mass >= guide.threshold
        # Entities without arcs, or with too little probability, retain all of it.
        rank += guide.alpha**step * np.where(moving, (1 - guide.alpha) * mass, mass)
        outflow = np.where(moving, mass, 0.0)[begin] * walked[3]
        mass = np.bincount(end, weights=outflow, minlength=len(nodes))
    rank += guide.alpha**hops * mass
    begins, _, triplet, share = walked
    begin = positions(nodes, begins, cells)
    cells = int(triplet.max(initial=-1)) + 1
    triplets = unique_keys(triplet, cells)
    flow = np.bincount(
        positions(triplets, triplet, cells),
        weights=rank[begin] * share,
        minlength=len(triplets),
    )
    return WalkResult(nodes, rank, triplets, flow)


def _probabilities(
    arcs: Arcs,
    blocks: Int64[np.ndarray, "k"],
    weights: Float64[np.ndarray, "b r"],
) -> Float64[np.ndarray, "a"]:
    """The probability of each arc: relations by weight, their edges uniformly.

    Args:
        arcs: all arcs out of some nodes.
        blocks: the question of each of these nodes.
        weights: of each relation for each question.
    """
    if not len(arcs.source):
        return np.empty(0)
    n_relations = weights.shape[1]
    n_types = 2 * n_relations
    pair = arcs.source * n_types + arcs.arc_type
    cells = len(blocks) * n_types
    if cells <= MAX_TABLE_CELLS:
        counts = np.bincount(pair, minlength=cells)
        present = np.flatnonzero(counts)
        sizes = counts[present]
        which = np.empty(cells, np.int64)
        which[present] = np.arange(len(present))
        which = which[pair]
    else:
        present, which, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    node, arc_type = np.divmod(present, n_types)
    weight = weights[blocks[node], arc_type % n_relations]
    # A weight far below the largest may round to 0: the relation has no flow.
    total = np.bincount(node, weights=weight, minlength=len(blocks))
    share = weight / np.where(total > 0, total, 1.0)[node]
    return (share / sizes)[which]


def _scatter(values: np.ndarray, at: Int[np.ndarray, "k"], size: int) -> np.ndarray:
    """``values`` at positions ``at`` of an array of zeros."""
    out = np.zeros(size, values.dtype)
    out[at] = values
    return out


def _cut(
    graph: KnowledgeGraph,
    walk: WalkResult,
    own: Int64[np.ndarray, "k"] | None,
    b: int,
    max_triplets: int | None,
    ppr_threshold: float | None,
) -> Subgraphs:
    """The cut subgraphs of b questions."""
    n, m = len(graph.entities), max(len(graph.triplets), 1)
    keys, flow = walk.triplets, walk.flow
    if own is not None:
        all_flow = np.zeros(len(own))
        all_flow[np.searchsorted(own, keys)] = flow
        keys, flow = own, all_flow
    blocks = blocks_of(keys, b, m)
    ids = keys - blocks * m
    ends = graph.triplets[ids][:, [0, 2]] + (blocks * n)[:, None]
    nodes = unique_keys(ends.ravel(), b * n)
    at = np.searchsorted(walk.nodes, nodes)
    reached = np.append(walk.nodes, -1)[at] == nodes
    rank = np.where(reached, np.append(walk.rank, 0.0)[at], 0.0)
    ppr = rank[positions(nodes, ends, b * n)]
    return cut_rows(
        blocks=blocks,
        ids=ids,
        ppr=ppr,
        scores=flow,
        nodes=nodes,
        n_blocks=b,
        max_triplets=max_triplets,
        ppr_threshold=ppr_threshold,
    )
