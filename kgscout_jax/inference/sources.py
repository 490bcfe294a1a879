"""The sources of triplets: graphs of a merged graph, documents of an ingested one."""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Int, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.stores.protocol import GraphOrStore


def first_of_fact(
    graph: KnowledgeGraph, ids: Int[np.ndarray, "n"]
) -> Int64[np.ndarray, "k"]:
    """Positions of the triplets that state a fact which none before them states."""
    if graph.members is None:
        return np.arange(len(ids))
    return np.sort(np.unique(graph.members.facts[ids], return_index=True)[1])


def sources_of(
    graph: KnowledgeGraph, ids: Int[np.ndarray, "k"]
) -> tuple[tuple[str, ...], ...]:
    """The names of the graphs that state each triplet; () unless it is merged."""
    return () if graph.members is None else graph.members.sources(ids)


def with_provenance(result: RetrievalResult, graph: GraphOrStore) -> RetrievalResult:
    """The result with the documents that state its triplets, if a graph knows them."""
    members = getattr(graph, "members", None)
    if members is None:
        if (provenance := getattr(graph, "provenance", None)) is None:
            return result
        places = tuple(map(provenance.of, result.triplets))
        return dataclasses.replace(result, provenance=places)
    if all(each.provenance is None for each in members.graphs):
        return result
    places = tuple(
        tuple(
            place
            for member, triplet in members.places(row)
            if member.provenance is not None
            for place in member.provenance.of(triplet)
        )
        for row in result.triplet_ids.tolist()
    )
    return dataclasses.replace(result, provenance=places)
