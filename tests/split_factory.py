"""A real ``Split`` in memory, from named triplets, topics and answers.

What ``data_prep`` does between a subgraph and a folder of shards, without the encoder:
node numbering, PageRank and shortest paths are the package's own, embeddings are random
unit vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float16, Int32

from kgscout_jax.data.shards import DIRECTIONS, Ragged, Split
from kgscout_jax.graph.builder import GraphBuilder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.pagerank import pagerank
from kgscout_jax.graph.walk.shortest_paths import shortest_path_edges
from kgscout_jax.types import Question, Triplet


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question with its own subgraph."""

    triplets: Sequence[Triplet]
    topics: Sequence[str] = ()
    answers: Sequence[str] = ()
    candidates: Sequence[int] | None = None
    """Positions in the subgraph's triplets (ascending triplet id, each once) that stay
    candidates, in this order; None for all of them, in id order."""
    hop: int | None = None


@dataclass(frozen=True, kw_only=True)
class Built:
    """A split, the graph whose rows its candidates are, and embedding tables."""

    split: Split
    graph: KnowledgeGraph
    triplet_embeddings: Float16[np.ndarray, "m d"]
    relation_embeddings: Float16[np.ndarray, "r d"]
    local_ids: Sequence[dict[int, int]]
    """Per question: entity id in ``graph`` -> local node id."""

    def triplets(self, row: int, positions: Sequence[int]) -> list[Triplet]:
        """Candidates of a question by name; position -1 is skipped."""
        ids = [self.split.candidates[row, p] for p in positions if p >= 0]
        return [self.graph.triplet(int(i)) for i in ids]


def random_units(
    rng: np.random.Generator, count: int, dim: int
) -> Float16[np.ndarray, "count dim"]:
    """Random unit vectors."""
    vectors = rng.normal(size=(count, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def build_split(
    cases: Sequence[Case],
    *,
    name: str = "train",
    n: int | None = None,
    dim: int = 8,
    seed: int = 0,
) -> Built:
    """A split of ``cases``.

    Args:
        cases: the questions. Names outside a question's triplets are dropped from its
            topics and answers, as in a subgraph that has lost them.
        name: name of the split.
        n: width of the candidate arrays; None for the longest list (at least 1).
        dim: dimension of the random embeddings.
        seed: of the random embeddings.
    """
    builder = GraphBuilder()
    for case in cases:
        builder.add(case.triplets)
    graph, subgraphs = builder.build()
    lists = [
        ids if case.candidates is None else ids[np.array(case.candidates, int)]
        for case, ids in zip(cases, subgraphs, strict=True)
    ]
    local_ids: list[dict[int, int]] = []
    topics: list[list[int]] = []
    answers: list[list[int]] = []
    for case, ids in zip(cases, subgraphs, strict=True):
        entities = np.unique(graph.triplets[ids][:, [0, 2]]).tolist()
        local = {entity: i for i, entity in enumerate(entities)}
        local_ids.append(local)
        for names, rows in ((case.topics, topics), (case.answers, answers)):
            found = graph.find_all(names).tolist()
            rows.append([local[entity] for entity in found if entity in local])

    width = max([1, *map(len, lists)]) if n is None else n
    sizes = np.array([len(local) for local in local_ids], np.int32)
    start = np.cumsum(sizes, dtype=np.int64) - sizes
    candidates = np.full((len(cases), width), -1, np.int32)
    nodes = np.zeros((len(cases), width, 2), np.int32)
    topic_rows, answer_rows = pad(topics), pad(answers)

    ends = np.concatenate(
        [
            start[i] + _local(local_ids[i], graph.triplets[ids][:, [0, 2]])
            for i, ids in enumerate(subgraphs)
        ]
        or [np.empty((0, 2), np.int64)]
    )
    heads, tails = ends[:, 0], ends[:, 1]
    n_nodes = int(sizes.sum())
    global_topics = np.where(topic_rows >= 0, topic_rows + start[:, None], -1)
    global_answers = np.where(answer_rows >= 0, answer_rows + start[:, None], -1)
    rank = pagerank(
        n_nodes,
        heads,
        tails,
        np.repeat(np.arange(len(cases)), sizes),
        global_topics[global_topics >= 0],
        direction="both",
    )
    for i, ids in enumerate(lists):
        kept = ids[:width]
        candidates[i, : len(kept)] = kept
        nodes[i, : len(kept)] = _local(local_ids[i], graph.triplets[kept][:, [0, 2]])

    is_answer = np.zeros(n_nodes, bool)
    is_answer[global_answers[global_answers >= 0]] = True
    path_edges, path_triplets = {}, {}
    bounds = np.append(start, n_nodes)
    triplet_bounds = np.cumsum([0, *map(len, subgraphs)])
    triplet_ids = np.concatenate([np.empty(0, np.int32), *subgraphs])
    for direction in DIRECTIONS:
        edges, on_path = shortest_path_edges(
            n_nodes,
            heads,
            tails,
            global_topics,
            is_answer,
            directed=direction == "directed",
        )
        offsets = np.searchsorted(edges[:, 1], bounds)
        owner = np.repeat(np.arange(len(cases)), np.diff(offsets))
        edges[:, 1:3] -= start[owner, None].astype(np.int32)
        path_edges[direction] = Ragged(edges, offsets)
        kept_before = np.concatenate([[0], np.cumsum(on_path)])
        path_triplets[direction] = Ragged(
            triplet_ids[on_path], kept_before[triplet_bounds]
        )

    rng = np.random.default_rng(seed)
    split = Split(
        name=name,
        questions=[_info(i, case, graph) for i, case in enumerate(cases)],
        question_embeddings=random_units(rng, len(cases), dim),
        candidates=candidates,
        node_ppr=Ragged.of_counts(rank.astype(np.float32), sizes),
        nodes=nodes,
        topics=topic_rows,
        answers=answer_rows,
        n_nodes=sizes,
        path_edges=path_edges,
        path_triplets=path_triplets,
    )
    return Built(
        split=split,
        graph=graph,
        triplet_embeddings=random_units(rng, len(graph.triplets), dim),
        relation_embeddings=random_units(rng, len(graph.relations), dim),
        local_ids=local_ids,
    )


def pad(rows: Sequence[Sequence[int]]) -> Int32[np.ndarray, "b t"]:
    """Rows as one array, padded with -1, at least one column wide."""
    padded = np.full((len(rows), max([1, *map(len, rows)])), -1, np.int32)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


def _local(local: dict[int, int], ids: np.ndarray) -> np.ndarray:
    """Local node ids of entity ids, same shape."""
    return np.array([local[int(e)] for e in ids.ravel()], np.int64).reshape(ids.shape)


def _info(i: int, case: Case, graph: KnowledgeGraph) -> Question:
    """The readable part of a case."""
    in_subgraph = {name for h, _, t in case.triplets for name in (h, t)}
    return Question(
        id=f"q{i}",
        text=f"question {i}",
        topics=tuple(case.topics),
        answers=tuple(case.answers),
        answers_in_graph=tuple(a for a in case.answers if graph.find(a) is not None),
        answers_in_subgraph=tuple(a for a in case.answers if a in in_subgraph),
        hop=case.hop,
        ball_triplets=len(case.triplets),
        answers_in_ball=sum(a in in_subgraph for a in case.answers),
        subgraph_triplets=len(case.triplets),
    )
