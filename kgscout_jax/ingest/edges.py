"""Nested triplets as edges of a graph, as in figure 2b of KG-RAG.

A triplet within a triplet becomes a node, the triple hypernode, named by its full
meaning and linked to its own head and tail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kgscout_jax.graph.hypernodes import OBJECT, SUBJECT
from kgscout_jax.ingest.extract.protocol import NestedTriplet, Node, label
from kgscout_jax.types import Triplet


def with_names(node: Node, name: Callable[[str], str]) -> Node:
    """The node with other names of entities, at every depth."""
    if isinstance(node, str):
        return name(node)
    head, tail = with_names(node.head, name), with_names(node.tail, name)
    return NestedTriplet(head, node.relation, tail)


def edges(triplet: NestedTriplet) -> Iterator[Triplet]:
    """The triplets of names that store one nested triplet."""
    yield label(triplet.head), triplet.relation, label(triplet.tail)
    for inner in triplet.hypernodes():
        yield inner.label, SUBJECT, label(inner.head)
        yield inner.label, OBJECT, label(inner.tail)
