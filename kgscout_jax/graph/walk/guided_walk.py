"""Subgraphs by a question-guided walk: it chooses a relation, then one of its edges.

The walk starts at the topics and takes at most ``hops`` steps. It continues with
probability alpha at each step. At an entity it chooses a relation and direction with
probability proportional to exp(cos(question, relation) / temperature), and then one of
the relation's edges uniformly. A relation with a million edges weighs no more than one
with a single edge, so hubs need no further rule. A triplet's *flow* is the probability
that the walk ends at one of its ends and chooses to cross it. The triplets with the
largest flow are the subgraph.

Probability is pushed forward from the topics. Entities with little probability, in
total or per triplet, are not expanded and retain it. There are two ways to compute it:
``question_walk`` has an array over all entities, ``keyed_walk`` looks up those that it
reaches. Which one a question gets depends on the graph and the question alone.

The walk derives from guided PageRank (edges weighted by the relation's similarity to
the question, triplets ranked by their ends). It differs in three ways: it chooses a
relation before an edge, ranks by flow and takes few steps. recipes/cuts.md measures
the effect of each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int32

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.arcs import ArcSource, GraphArcs, SubgraphArcs
from kgscout_jax.graph.walk.block_keys import node_keys
from kgscout_jax.graph.walk.guide import Guide
from kgscout_jax.graph.walk.keyed_walk import ArcLimitError, cut_walks, push
from kgscout_jax.graph.walk.question_walk import walk_question
from kgscout_jax.graph.walk.subgraph import CutRule, Direction, Subgraphs

MAX_BATCH_ARCS = 1 << 22
"""Questions walk together while no step has more arcs (about 200 MB)."""
ARRAY_ENTITIES = 1 << 17
"""In graphs of at most so many entities every question has an array over them."""
LISTED, KEYED = 4, 16
"""Arcs are listed while they are at most one in so many of the graph's triplets; looked
up by key, which costs more, likewise."""
ARRAY_TRIPLETS = 1 << 23
"""In graphs of at most so many triplets, questions that reach many of them have one."""


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
    all_nodes: bool = True,
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
        all_nodes: whether ``nodes_before_cut`` is needed; else it is empty.
    """
    n, m = len(graph.entities), max(len(graph.triplets), 1)
    wide = np.asarray(cosines, np.float64)
    guide = guide or Guide()
    # With a threshold of 0 an array cannot tell what was reached by what was not.
    array = own_triplets is None and m <= ARRAY_TRIPLETS and guide.threshold > 0
    cut = CutRule(
        max_triplets=max_triplets, ppr_threshold=ppr_threshold, all_nodes=all_nodes
    )

    def alone(i: int) -> Subgraphs:
        return walk_question(
            graph,
            topics[i],
            wide[i],
            guide,
            hops,
            listed=m / LISTED,
            direction=direction,
            cut=cut,
        )

    def together(low: int, high: int) -> list[Subgraphs]:
        own = None
        arcs: ArcSource = GraphArcs(graph, direction)
        if own_triplets is not None:
            own = np.sort(node_keys(own_triplets[low:high], m))
            arcs = SubgraphArcs(graph, own, direction)
        try:
            result = push(
                arcs,
                node_keys(topics[low:high], n),
                wide[low:high],
                guide,
                hops,
                n_entities=n,
                max_arcs=MAX_BATCH_ARCS if high - low > 1 else None,
                max_question_arcs=m / KEYED if array else None,
            )
        except ArcLimitError:
            if high - low == 1:
                return [alone(low)]
            middle = (low + high) // 2
            return [*together(low, middle), *together(middle, high)]
        return [cut_walks(graph, result, own, high - low, cut)]

    if array and n <= ARRAY_ENTITIES and len(topics):
        return Subgraphs.concatenate([alone(i) for i in range(len(topics))], n)
    return Subgraphs.concatenate(together(0, len(topics)), n)
