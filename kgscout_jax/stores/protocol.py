"""Five calls that a store of a graph answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Triplet, replace_surrogates


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """A node and how well it fits."""

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Step:
    """A relation of some nodes, and its direction."""

    relation: str
    forward: bool
    """Whether the nodes are the heads."""
    triplets: int = 0
    """How many there are."""
    example: Triplet | None = field(default=None, compare=False)
    """The first of them, in the order of the store."""

    def __str__(self) -> str:
        return self.relation if self.forward else f"is {self.relation} of (reversed)"


@runtime_checkable
class Store(Protocol):
    """A graph that is read by parts."""

    def nodes_by_text(self, text: str, limit: int) -> list[NodeMatch]:
        """Nodes that the text names, likeliest first."""
        ...

    def nodes_by_vector(
        self, vector: Float[np.ndarray, "d"], limit: int
    ) -> list[NodeMatch]:
        """Nodes whose embedding is nearest, best first; scores are cosines."""
        ...

    def relations(self, nodes: Sequence[str]) -> list[Step]:
        """The relations of the nodes in both directions, by name."""
        ...

    def targets(
        self, nodes: Sequence[str], steps: Sequence[Step], limit: int
    ) -> list[Triplet]:
        """Triplets of the nodes with these relations, in the order of the graph."""
        ...

    def write(
        self,
        triplets: Sequence[Triplet],
        vectors: dict[str, Float[np.ndarray, "d"]],
    ) -> None:
        """Add triplets, in bulk, and embeddings of nodes.

        Raises:
            UserError: the store cannot be changed.
        """
        ...


GraphOrStore = KnowledgeGraph | Store
"""Where triplets come from: a graph, or a store that is read by parts."""


def node_texts(names: Sequence[str]) -> list[str]:
    """What is embedded of nodes."""
    return [replace_surrogates(name.lower()) for name in names]


def batches(items: Sequence[Triplet], size: int) -> Iterator[Sequence[Triplet]]:
    """The items in parts of at most ``size``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
