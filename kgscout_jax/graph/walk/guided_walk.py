"""Subgraphs by a walk that follows the question: a relation first, then an edge of it.

The walker starts at the topics and takes at most ``hops`` steps, going on with
probability alpha each time. At an entity it chooses one of the relations that are
present there, each direction apart, with probability proportional to exp(cos(question,
relation) / temperature), and then one of that relation's edges uniformly. A relation
with a million edges weighs no more than one with a single edge: hubs control
themselves. A triplet's *flow* is the probability of standing at one of its ends, where
the walk ends, and choosing to cross it; the triplets with the largest flow are kept.

The walk is pushed forward from the topics. Entities that hold too little of the
probability, for themselves or for their many triplets, are not expanded, so the cost
depends on the neighbourhood and not on the graph; what they hold stays there.

Guided PageRank (edges weighted by the relation's similarity to the question, triplets
ranked by their ends) is the idea this grew from; it differs in the choice of a relation
before an edge, in ranking by flow, and in the bounded number of steps. recipes/cuts.md
has what each of these is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int, Int32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.arcs import Arcs, ArcSource, GivenArcs, SharedArcs
from kgscout_jax.graph.walk.block_keys import (
    blocks_of,
    node_keys,
    positions,
    unique_keys,
)
from kgscout_jax.graph.walk.subgraph import Direction, Subgraphs, cut_rows

ARCS_AT_ONCE = 1 << 22
"""Questions walk together while a step has no more arcs than this (about 200 MB)."""
COUNTERS = 1 << 22
"""Up to this many (entity, relation) pairs are counted in a table, else by sorting."""


@dataclass(frozen=True, kw_only=True)
class Guide:
    """How the question leads the walk."""

    temperature: float = 0.1
    """Of the choice among relations; smaller trusts the cosine more."""
    alpha: float = 0.8
    """Probability of going on rather than staying."""
    threshold: float = 1e-4
    """Entities that hold less probability are not expanded."""

    per_triplet: float = 1e-7
    """Nor, topics aside, are those that hold less than this for each of their triplets:
    no later step has more than 1 / per_triplet of them, whatever the graph."""

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
    given: Sequence[Int32[np.ndarray, "m"]] | None = None,
    hops: int = 2,
    max_triplets: int | None = 2000,
    ppr_threshold: float | None = None,
    direction: Direction = "both",
) -> Subgraphs:
    """The subgraph of each question: the triplets that its walk crosses most.

    ``ppr`` of the result is where the walk ends: it sums to 1 over the entities of a
    question that has a topic. A question's result does not depend on the others.

    Args:
        graph: the knowledge graph.
        topics: per question, entity ids of its topics.
        cosines: of each question with each relation of the graph.
        guide: temperature, alpha and threshold.
        given: per question, ids of the triplets of its own subgraph: all of them are in
            the result before the cut, crossed or not. None to walk ``graph``.
        hops: the most steps.
        max_triplets: the largest size kept, ties by triplet id; None keeps all.
        ppr_threshold: keep only triplets whose ends both hold this much.
        direction: "directed" crosses triplets from head to tail only.
    """
    n, m = len(graph.entities), max(len(graph.triplets), 1)
    guide = guide or Guide()

    def walk(low: int, high: int) -> list[Subgraphs]:
        own = None if given is None else np.sort(node_keys(given[low:high], m))
        arcs = (
            SharedArcs(graph, direction)
            if own is None
            else GivenArcs(graph, own, direction)
        )
        try:
            crossed = push(
                arcs,
                node_keys(topics[low:high], n),
                np.asarray(cosines[low:high], np.float64),
                guide,
                hops,
                n_entities=n,
                limit=ARCS_AT_ONCE if high - low > 1 else None,
            )
        except TooManyArcs:
            middle = (low + high) // 2
            return [*walk(low, middle), *walk(middle, high)]
        return [_cut(graph, crossed, own, high - low, max_triplets, ppr_threshold)]

    return Subgraphs.concatenate(walk(0, len(topics)), n)


class TooManyArcs(Exception):
    """A step of several questions is too wide to take together."""


class Crossed(NamedTuple):
    """What a walk did."""

    nodes: Int64[np.ndarray, "k"]
    """Keys of the entities reached, ascending."""
    rank: Float64[np.ndarray, "k"]
    """Probability that the walk ends there."""
    triplets: Int64[np.ndarray, "m"]
    """Keys of the triplets that were seen, ascending."""
    flow: Float64[np.ndarray, "m"]
    """Of those triplets."""


def push(
    source: ArcSource,
    topics: Int64[np.ndarray, "t"],
    cosines: Float64[np.ndarray, "b r"],
    guide: Guide,
    hops: int,
    *,
    n_entities: int,
    limit: int | None = None,
) -> Crossed:
    """The guided walks of b questions from their ``topics`` (node keys).

    Raises:
        TooManyArcs: a step has more than ``limit`` arcs.
    """
    n = max(n_entities, 1)
    n_relations = cosines.shape[1]
    cells = len(cosines) * n
    # Relative to the largest, which cancels: no temperature overflows.
    top = cosines.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp((cosines - top) / guide.temperature)
    nodes = np.unique(topics)
    per_block = np.bincount(nodes // n, minlength=1)
    mass = 1.0 / per_block[nodes // n]
    rank = np.zeros(len(nodes))
    expanded = np.zeros(len(nodes), bool)
    ways = _Ways.none()
    for step in range(hops):
        fresh = np.flatnonzero((mass >= guide.threshold) & ~expanded)
        arcs_of = source.counts(nodes[fresh])
        if step:
            wide = mass[fresh] < guide.per_triplet * arcs_of
            fresh, arcs_of = fresh[~wide], arcs_of[~wide]
        expanded[fresh] = True
        if limit is not None and arcs_of.sum() > limit:
            raise TooManyArcs
        arcs = source.of(nodes[fresh])
        probability = _probabilities(arcs, nodes[fresh] // n, weights, n_relations)
        ways = ways.extended(arcs, nodes[fresh], probability)
        reached = unique_keys(np.concatenate([nodes, arcs.target]), cells)
        at = positions(reached, nodes, cells)
        mass, rank, expanded = (
            _placed(values, at, len(reached)) for values in (mass, rank, expanded)
        )
        nodes = reached
        begin, end = (positions(nodes, keys, cells) for keys in ways.ends)
        leaves = np.zeros(len(nodes), bool)
        leaves[begin] = True
        leaves &= mass >= guide.threshold
        # What cannot leave, or is too little to, stays for good.
        here = np.where(leaves, (1 - guide.alpha) * mass, mass)
        rank += guide.alpha**step * here
        mass = np.bincount(
            end,
            weights=np.where(leaves, mass, 0.0)[begin] * ways.probability,
            minlength=len(nodes),
        )
    rank += guide.alpha**hops * mass
    begin = positions(nodes, ways.ends[0], cells)
    cells = int(ways.triplet.max(initial=-1)) + 1
    seen = unique_keys(ways.triplet, cells)
    flow = np.bincount(
        positions(seen, ways.triplet, cells),
        weights=rank[begin] * ways.probability,
        minlength=len(seen),
    )
    return Crossed(nodes, rank, seen, flow)


class _Ways(NamedTuple):
    """All arcs expanded so far, with their probabilities."""

    ends: tuple[Int64[np.ndarray, "a"], Int64[np.ndarray, "a"]]
    """Node keys of source and of target."""
    triplet: Int64[np.ndarray, "a"]
    probability: Float64[np.ndarray, "a"]

    @staticmethod
    def none() -> _Ways:
        empty = np.empty(0, np.int64)
        return _Ways((empty, empty), empty, np.empty(0))

    def extended(
        self,
        arcs: Arcs,
        nodes: Int64[np.ndarray, "k"],
        probability: Float64[np.ndarray, "a"],
    ) -> _Ways:
        """With the arcs out of ``nodes`` added."""
        return _Ways(
            (
                np.concatenate([self.ends[0], nodes[arcs.source]]),
                np.concatenate([self.ends[1], arcs.target]),
            ),
            np.concatenate([self.triplet, arcs.triplet]),
            np.concatenate([self.probability, probability]),
        )


def _probabilities(
    arcs: Arcs,
    blocks: Int64[np.ndarray, "k"],
    weights: Float64[np.ndarray, "b r"],
    n_relations: int,
) -> Float64[np.ndarray, "a"]:
    """Of each arc at its source: a relation by weight, then an edge of it uniformly.

    Args:
        arcs: all arcs out of some nodes.
        blocks: the question of each of these nodes.
        weights: of each relation for each question.
        n_relations: kinds are below twice this.
    """
    if not len(arcs.kind):
        return np.empty(0)
    kinds = 2 * n_relations
    pair = arcs.source * kinds + arcs.kind
    cells = len(blocks) * kinds
    if cells <= COUNTERS:
        counts = np.bincount(pair, minlength=cells)
        present = np.flatnonzero(counts)
        sizes = counts[present]
        which = np.empty(cells, np.int64)
        which[present] = np.arange(len(present))
        which = which[pair]
    else:
        present, which, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    node, kind = np.divmod(present, kinds)
    weight = weights[blocks[node], kind % n_relations]
    # A relation far from the best one may round to 0: it then just has no flow.
    total = np.bincount(node, weights=weight, minlength=len(blocks))
    share = weight / np.where(total > 0, total, 1.0)[node]
    return (share / sizes)[which]


def _placed(values: np.ndarray, at: Int[np.ndarray, "k"], size: int) -> np.ndarray:
    """``values`` at positions ``at`` of an array of zeros."""
    out = np.zeros(size, values.dtype)
    out[at] = values
    return out


def _cut(
    graph: KnowledgeGraph,
    crossed: Crossed,
    own: Int64[np.ndarray, "k"] | None,
    b: int,
    max_triplets: int | None,
    ppr_threshold: float | None,
) -> Subgraphs:
    """The cut subgraphs of b questions that walked together."""
    n, m = len(graph.entities), max(len(graph.triplets), 1)
    keys, flow = crossed.triplets, crossed.flow
    if own is not None:
        all_flow = np.zeros(len(own))
        all_flow[np.searchsorted(own, keys)] = flow
        keys, flow = own, all_flow
    blocks = blocks_of(keys, b, m)
    ids = keys - blocks * m
    ends = graph.triplets[ids][:, [0, 2]] + (blocks * n)[:, None]
    nodes = unique_keys(ends.ravel(), b * n)
    at = np.searchsorted(crossed.nodes, nodes)
    reached = np.append(crossed.nodes, -1)[at] == nodes
    rank = np.where(reached, np.append(crossed.rank, 0.0)[at], 0.0)
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
