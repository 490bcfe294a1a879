"""Questions that name no entity: the triplets nearest to them by their vectors."""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Float32, Int

from kgscout_jax.graph.embedding_table import ROWS_PER_BLOCK
from kgscout_jax.graph.embeddings import Embeddings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Linker
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.search import Search
from kgscout_jax.inference.selection import SelectionConfig, subset
from kgscout_jax.inference.sources import first_of_fact, sources_of

MAX_EMBEDDED = 2000
"""The most triplets that are embedded for a question of a graph without a table."""
MAX_NAMES = 50
"""The most names alike to words of the question, whose triplets they are."""


def nearest_triplets(
    result: RetrievalResult, search: Search, k: int, selection: SelectionConfig
) -> RetrievalResult:
    """The result with the triplets of highest cosine, and ``nearest`` set.

    Of a graph with embeddings all triplets are compared; of a large one without them
    those at names that share words with the question.

    Args:
        result: of a question without topics.
        search: of the question; its graph is not empty.
        k: maximum number of triplets.
        selection: its token budget and form apply; a target does not.
    """
    graph, embedded = search.graph, search.table
    m = len(graph.triplets)
    if embedded.whole or m <= MAX_EMBEDDED:
        ids = np.arange(m)
    else:
        ids = triplets_of_similar_names(result.question, graph, linker_of(graph))
    if not len(ids):
        return result
    cosines = cosines_of(embedded, ids, search.vectors.whole.astype(np.float32))
    best = np.lexsort((ids, -cosines))
    best = best[first_of_fact(graph, ids[best])][:k]
    ranking = dataclasses.replace(
        result,
        triplets=tuple(graph.triplet(int(i)) for i in ids[best]),
        triplet_ids=ids[best].astype(np.int32),
        sources=sources_of(graph, ids[best]),
        scores=cosines[best],
        nearest=True,
    )
    kept, report = selection.positions(ranking, k, ranking.scores, None)
    return subset(ranking, kept, report)


def triplets_of_similar_names(
    question: str, graph: KnowledgeGraph, linker: Linker
) -> Int[np.ndarray, "n"]:
    """Ids of triplets of the entities whose names are most alike to the question."""
    found = np.empty(0, np.int64)
    for link in linker.ranking(question, MAX_NAMES):
        entity = np.array([link.entity])
        near = [each.rows(entity)[1] for each in (graph.by_head, graph.by_tail)]
        found = np.union1d(found, np.concatenate(near)[:MAX_EMBEDDED])
        if len(found) >= MAX_EMBEDDED:
            break
    return found[:MAX_EMBEDDED]


def cosines_of(
    embedded: Embeddings, ids: Int[np.ndarray, "n"], question: Float32[np.ndarray, "d"]
) -> Float32[np.ndarray, "n"]:
    """The cosine of the question and each triplet; rows are unit vectors."""
    out = np.empty(len(ids), np.float32)
    for low in range(0, len(ids), ROWS_PER_BLOCK):
        rows = embedded.rows(ids[low : low + ROWS_PER_BLOCK])
        out[low : low + len(rows)] = rows.astype(np.float32) @ question
    return out
