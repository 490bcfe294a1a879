"""The part of a store around some nodes, as a graph in memory, by its calls alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.stores.protocol import Step, Store
from kgscout_jax.types import Triplet, entity_key

NAMED, NEAR = 50, 3
"""Nodes that a question names, and that are nearest to it by vector, at most."""
MAX_TRIPLETS = 5000
"""Triplets of a neighbourhood, at most."""


def question_nodes(
    store: Store, question: str, vector: Float[np.ndarray, "d"]
) -> list[str]:
    """Nodes that a question may be about: by its words, then by its vector."""
    found = [
        *store.nodes_by_text(question, NAMED),
        *store.nodes_by_vector(vector, NEAR),
    ]
    return list(dict.fromkeys(match.name for match in found))


def neighbourhood(
    store: Store,
    nodes: Sequence[str],
    order: Callable[[Sequence[Step]], Sequence[Step]],
    *,
    hops: int,
    limit: int = MAX_TRIPLETS,
) -> KnowledgeGraph:
    """The triplets within ``hops`` steps of the nodes.

    Each step may take an equal share of what is left of the limit. Where there are
    more triplets, those of the relations that ``order`` puts first are taken.

    Args:
        store: the graph.
        nodes: names to start from.
        order: the relations of some nodes, best first.
        hops: how many steps.
        limit: of triplets.
    """
    found: dict[Triplet, None] = {}
    seen = {entity_key(node) for node in nodes}
    edge = list(nodes)
    for hop in range(hops):
        room = (limit - len(found)) // (hops - hop)
        new = step_triplets(store, edge, order, room) if edge else []
        found |= dict.fromkeys(new)
        ends = {
            entity_key(name): name for head, _, tail in new for name in (head, tail)
        }
        edge = [name for key, name in ends.items() if key not in seen]
        seen |= ends.keys()
    return KnowledgeGraph.from_triplets(found)


def step_triplets(
    store: Store,
    nodes: Sequence[str],
    order: Callable[[Sequence[Step]], Sequence[Step]],
    room: int,
) -> list[Triplet]:
    """At most ``room`` triplets of the nodes, of the first relations."""
    whole: list[Step] = []
    for step in order(store.relations(nodes)):
        if step.triplets > room:
            rest = store.targets(nodes, [step], room) if room else []
            return [*store.targets(nodes, whole, sum(s.triplets for s in whole)), *rest]
        whole.append(step)
        room -= step.triplets
    return store.targets(nodes, whole, sum(step.triplets for step in whole))
