"""What of a store a question needs, as a small graph for the usual path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.topics import topic_names
from kgscout_jax.stores.neighbourhood import neighbourhood, question_nodes
from kgscout_jax.stores.protocol import Step, Store
from kgscout_jax.text.linearize import relation_phrase


def store_graph(
    store: Store,
    question: str,
    vector: Float[np.ndarray, "d"],
    topics: str | Sequence[str] | None,
    embed: Callable[[list[str]], Float[np.ndarray, "n d"]],
    hops: int,
) -> KnowledgeGraph:
    """The neighbourhood of a question's topics, in memory.

    Args:
        store: the graph.
        question: in natural language.
        vector: its embedding.
        topics: names of its entities; None: nodes that it names or is near to.
        embed: texts to embeddings.
        hops: steps from the topics.
    """
    if topics is None:
        nodes = question_nodes(store, question, vector)
    else:
        nodes = topic_names(topics)

    def order(steps: Sequence[Step]) -> list[Step]:
        phrases = [relation_phrase(step.relation) for step in steps]
        if not phrases:
            return []
        cosines = embed(phrases).astype(np.float32) @ vector.astype(np.float32)
        return [steps[i] for i in np.argsort(-cosines, kind="stable").tolist()]

    return neighbourhood(store, nodes, order, hops=hops)
