"""Which candidates the model sees first: by vectors, or by KG-Scout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.stores.protocol import GraphOrStore, Step, Store
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.types import entity_key

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import Scout

Embed = Callable[[list[str]], np.ndarray]


class Ranker(Protocol):
    """Orders what may come next."""

    @property
    def name(self) -> str:
        """For tables."""
        ...

    def nodes(self, question: str, text: str, limit: int) -> list[str]:
        """Names of nodes for a step, best first."""
        ...

    def relations(
        self, question: str, text: str, nodes: Sequence[str], steps: Sequence[Step]
    ) -> list[Step]:
        """The steps, best first."""
        ...


@dataclass(frozen=True)
class VectorRanker:
    """As the paper: vector search for nodes, cosine of relation and step."""

    store: Store
    embed: Embed
    name: str = "vector"

    def nodes(self, question: str, text: str, limit: int) -> list[str]:
        """The nodes that are called so, then the nearest by embedding."""
        named = self.store.nodes_by_text(text, 3)
        vector = self.embed([text.lower()])[0]
        near = self.store.nodes_by_vector(vector, limit)
        exact = [n.name for n in named if entity_key(n.name) == entity_key(text)]
        return list(dict.fromkeys([*exact, *(match.name for match in near)]))[:limit]

    def relations(
        self, question: str, text: str, nodes: Sequence[str], steps: Sequence[Step]
    ) -> list[Step]:
        """The relations by the cosine of their phrase and the step's text."""
        if not steps:
            return []
        phrases = [relation_phrase(step.relation) for step in steps]
        rows = self.embed([text.lower(), *phrases]).astype(np.float32)
        scores = rows[1:] @ rows[0]
        return [steps[i] for i in np.argsort(-scores, kind="stable").tolist()]


@dataclass(frozen=True)
class ScoutRanker:
    """KG-Scout ranks: its topics, and the relations of its best triplets."""

    scout: Scout
    graph: GraphOrStore
    name: str = "kgscout"
    depth: int = 100
    """Triplets that KG-Scout selects."""

    def nodes(self, question: str, text: str, limit: int) -> list[str]:
        """The entities that the step, then the question, is linked to."""
        graph = self.graph
        if isinstance(graph, KnowledgeGraph):
            find = linker_of(graph).ranking
        else:
            find = graph.nodes_by_text
        links = [*find(text, limit), *find(question, limit)]
        return list(dict.fromkeys(link.name for link in links))[:limit]

    def relations(
        self, question: str, text: str, nodes: Sequence[str], steps: Sequence[Step]
    ) -> list[Step]:
        """The relations in the order of KG-Scout's triplets around the nodes."""
        result = self.scout.retrieve(
            f"{question} {text}", self.graph, self.depth, topics=list(nodes)
        )
        at = {entity_key(node) for node in nodes}
        rank: dict[tuple[str, bool], int] = {}
        for place, (head, relation, tail) in enumerate(result.triplets):
            if entity_key(head) in at:
                rank.setdefault((relation, True), place)
            if entity_key(tail) in at:
                rank.setdefault((relation, False), place)
        last = self.depth + 1

        def place_of(step: Step) -> int:
            return rank.get((step.relation, step.forward), last)

        return sorted(steps, key=place_of)
