"""A question with what is known before its search begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.topics import Topics
from kgscout_jax.stores.protocol import GraphOrStore

Linking = Callable[[str, KnowledgeGraph], list[Link]]
"""Links the words of a question to entities of a graph."""


class Query(NamedTuple):
    """One question, where it is asked, and for how much."""

    text: str
    graph: GraphOrStore
    budget: int
    """Maximum number of triplets."""
    topics: Topics
    """Names of entities; None: topics are linked."""


Retrieval = Callable[[Sequence[Query]], list[RetrievalResult]]
"""The results of queries, each of one step."""
