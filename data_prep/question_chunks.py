"""The two passes over a chunk of questions: cut the subgraphs, choose the candidates.

Between them every remaining triplet is embedded. Both passes treat the questions of a
chunk as blocks of one graph. Their results are ragged arrays that ``assemble`` pads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float16, Float32, Int, Int32, Int64

from data_prep.settings import PrepSettings
from kgscout_jax.data.shards import DIRECTIONS
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.block_keys import (
    blocks_of,
    node_keys,
    positions,
    unique_keys,
)
from kgscout_jax.graph.walk.shortest_paths import hop_distances, shortest_path_edges
from kgscout_jax.retrieve.candidates import (
    CutSettings,
    cut_questions,
    relation_cosines,
    select_rows,
    triplet_cosines,
)

__all__ = [
    "QuestionEntities",
    "choose_chunk",
    "cosines",
    "cut_chunk",
    "relation_cosines",
]

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class QuestionEntities:
    """The topics and answers of a question as ids of the graph."""

    topics: Int32[np.ndarray, "t"]
    answers: Int32[np.ndarray, "a"]
    """Gold answers that are in the graph."""
    subgraph: Int32[np.ndarray, "m"] | None = None
    """Triplet ids of the question's own subgraph, if any."""


def cut_chunk(
    graph: KnowledgeGraph,
    questions: Sequence[QuestionEntities],
    relation_cosines: Float32[np.ndarray, "b r"],
    settings: PrepSettings,
) -> Arrays:
    """A chunk's cut: blocks, triplet_ids, ppr, scores, sizes, answers_in_ball.

    ``scores`` are the second ranking of candidates beside the cosine: the flow of the
    guided walk, or PageRank weighted by the relation's similarity to the question.
    """
    own = [q.subgraph for q in questions if q.subgraph is not None]
    cut = cut_questions(
        graph,
        [q.topics for q in questions],
        relation_cosines,
        cut_settings(settings),
        own_triplets=own if own else None,
    )
    answer_keys = node_keys([q.answers for q in questions], len(graph.entities))
    in_ball = answer_keys[np.isin(answer_keys, cut.nodes_before_cut)]
    return {
        "blocks": cut.blocks,
        "triplet_ids": cut.triplet_ids,
        "ppr": cut.ppr.astype(np.float32),
        "scores": cut.scores.astype(np.float32),
        "sizes": cut.sizes_before_cut,
        "answers_in_ball": np.bincount(
            in_ball // max(len(graph.entities), 1), minlength=cut.n_blocks
        ),
    }


def cut_settings(settings: PrepSettings) -> CutSettings:
    """The resolved settings of subgraphs and candidates."""
    return CutSettings(
        hops=settings.radius,
        cut=settings.cut,
        max_triplets=settings.size,
        ppr_threshold=settings.ppr_threshold,
        hub_degree=settings.hub_degree,
        select=settings.select,
        candidates=settings.candidates,
        direction=settings.direction,
    )


def cosines(
    cut: Arrays,
    question_embeddings: Float16[np.ndarray, "b d"],
    table_ids: Int32[np.ndarray, "u"],
    table: Float16[np.ndarray, "u d"],
) -> np.ndarray:
    """Cosine of each row's triplet with its question, float32, as stored embeddings."""
    rows = np.searchsorted(table_ids, cut["triplet_ids"])
    return triplet_cosines(cut["blocks"], rows, question_embeddings, table)


def choose_chunk(
    graph: KnowledgeGraph,
    questions: Sequence[QuestionEntities],
    cut: Arrays,
    cosine: np.ndarray,
    n_candidates: int,
    select: str = "hybrid",
) -> Arrays:
    """Candidates, local node ids, topics, answers and shortest paths of a chunk.

    ``select``: "hybrid" for the better of two ranks, by cosine and by the cut's scores;
    "cosine" for the first alone. Candidates are ordered by their cosine in both cases.

    Ragged arrays come with their lengths per question, ``*_count``. Local node ids
    number the nodes that a question needs, in the order of their entity ids.
    """
    n = len(graph.entities)
    b = len(questions)
    blocks = cut["blocks"].astype(np.int64)
    ids = cut["triplet_ids"]
    ends = graph.triplets[ids][:, [0, 2]].astype(np.int64) + (blocks * n)[:, None]
    nodes = unique_keys(ends.ravel(), b * n)
    heads, tails = positions(nodes, ends, b * n).T
    block_of = blocks_of(nodes, b, n)

    topic_at, topic_block = _locate(nodes, [q.topics for q in questions], n)
    answer_at, answer_block = _locate(nodes, [q.answers for q in questions], n)
    is_answer = np.zeros(len(nodes), bool)
    is_answer[answer_at] = True
    topic_count = np.bincount(topic_block, minlength=b)
    slots = pad(topic_at, topic_count, -1)

    selection = select_rows(
        blocks, ids, cosine, cut["scores"], candidates=n_candidates, select=select
    )
    used = np.zeros(len(nodes), bool)
    used[heads[selection]] = used[tails[selection]] = used[topic_at] = used[
        answer_at
    ] = True
    paths = {}
    for direction in DIRECTIONS:
        edges, on_path = shortest_path_edges(
            len(nodes), heads, tails, slots, is_answer, directed=direction == "directed"
        )
        used[edges[:, 1:3].ravel()] = True
        paths[direction] = edges, on_path

    node_ppr = np.zeros(len(nodes), np.float32)
    node_ppr[heads], node_ppr[tails] = cut["ppr"].T
    n_nodes = np.bincount(block_of[used], minlength=b)
    local = np.cumsum(used) - 1 - (np.cumsum(n_nodes) - n_nodes)[block_of]
    distance = hop_distances(len(nodes), heads, tails, topic_at, directed=False)
    reached = answer_at[distance[answer_at] >= 0]
    hop = np.full(b, np.iinfo(np.int64).max)
    np.minimum.at(hop, block_of[reached], distance[reached])
    out: Arrays = {
        "n_real": np.bincount(blocks[selection], minlength=b),
        "candidates": ids[selection],
        "node_ppr": node_ppr[used],
        "nodes": np.stack([local[heads[selection]], local[tails[selection]]], axis=1),
        "n_nodes": n_nodes,
        "topics": local[topic_at],
        "topics_count": topic_count,
        "answers": local[answer_at],
        "answers_count": np.bincount(answer_block, minlength=b),
        "answer_entities": nodes[answer_at] % max(n, 1),
        "hop": np.where(hop == np.iinfo(np.int64).max, -1, hop),
        "subgraph_triplets": np.bincount(blocks, minlength=b),
    }
    for direction, (edges, on_path) in paths.items():
        slot, u, v, depth = edges.T
        out[f"path_edges_{direction}"] = np.stack(
            [slot, local[u], local[v], depth], axis=1
        )
        out[f"path_edges_{direction}_count"] = np.bincount(block_of[u], minlength=b)
        out[f"path_triplets_{direction}"] = ids[on_path]
        out[f"path_triplets_{direction}_count"] = np.bincount(
            blocks[on_path], minlength=b
        )
    return {key: _narrow(array) for key, array in out.items()}


def _locate(
    nodes: Int64[np.ndarray, "k"], entities: Sequence[Int32[np.ndarray, "t"]], n: int
) -> tuple[Int64[np.ndarray, "f"], Int64[np.ndarray, "f"]]:
    """Positions in ``nodes`` of the entities that occur there, and their blocks."""
    keys = node_keys(entities, n)
    at = np.minimum(np.searchsorted(nodes, keys), max(len(nodes) - 1, 0))
    is_node = nodes[at] == keys if len(nodes) else np.zeros(len(keys), bool)
    return at[is_node], keys[is_node] // max(n, 1)


def pad(values: np.ndarray, counts: Int[np.ndarray, "b"], fill: float) -> np.ndarray:
    """Ragged rows as one padded array [b, max(counts), ...], at least one wide."""
    width = int(counts.max(initial=1))
    out = np.full((len(counts), width, *values.shape[1:]), fill, values.dtype)
    out[np.arange(width) < counts[:, None]] = values
    return out


def _narrow(array: np.ndarray) -> np.ndarray:
    """int64 as int32, which holds every id and count."""
    return array.astype(np.int32) if array.dtype == np.int64 else array
