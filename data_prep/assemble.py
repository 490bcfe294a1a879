"""From the ragged results of all chunks to padded splits and shared tables.

Ids change here for the last time: shards hold only the triplets that are some
question's candidate or lie on its reward paths, renumbered in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float16, Int, Int32

from data_prep.chunks import Arrays, Linked
from kgscout_jax.graph.store import KnowledgeGraph
from kgscout_jax.records import Question, display_name
from kgscout_jax.shards import DIRECTIONS, QuestionInfo, Ragged, Split


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What of the graph goes into the shards, as ids of the graph, ascending."""

    triplets: Int32[np.ndarray, "m"]
    entities: Int32[np.ndarray, "e"]
    relations: Int32[np.ndarray, "r"]

    @staticmethod
    def of(graph: KnowledgeGraph, chunks: Sequence[Arrays]) -> Kept:
        """The triplets that ``chunks`` name, with their entities and relations."""
        named = [np.empty(0, np.int32)]
        for chunk in chunks:
            named.append(chunk["candidates"])
            named += [chunk[f"path_triplets_{way}"] for way in DIRECTIONS]
        triplets = np.unique(np.concatenate(named)).astype(np.int32)
        rows = graph.triplets[triplets]
        return Kept(
            triplets=triplets,
            entities=np.unique(rows[:, [0, 2]]).astype(np.int32),
            relations=np.unique(rows[:, 1]).astype(np.int32),
        )

    def renumbered(self, graph: KnowledgeGraph) -> Int32[np.ndarray, "m 3"]:
        """The kept triplets in the shards' own ids."""
        rows = graph.triplets[self.triplets]
        return np.stack(
            [
                np.searchsorted(self.entities, rows[:, 0]),
                np.searchsorted(self.relations, rows[:, 1]),
                np.searchsorted(self.entities, rows[:, 2]),
            ],
            axis=1,
        ).astype(np.int32)


def pad(values: np.ndarray, counts: Int[np.ndarray, "b"], fill: float) -> np.ndarray:
    """Ragged rows as one padded array [b, max(counts), ...], at least one wide."""
    width = int(counts.max(initial=1))
    out = np.full((len(counts), width, *values.shape[1:]), fill, values.dtype)
    out[np.arange(width) < counts[:, None]] = values
    return out


def assemble_split(
    name: str,
    questions: Sequence[Question],
    linked: Sequence[Linked],
    embeddings: Float16[np.ndarray, "b d"],
    chunks: Sequence[Arrays],
    graph: KnowledgeGraph,
    kept: Kept,
) -> Split:
    """One split, padded to its own largest question."""

    def column(key: str) -> np.ndarray:
        return np.concatenate([chunk[key] for chunk in chunks])

    def ragged(kind: str, way: str) -> Ragged:
        values = column(f"{kind}_{way}")
        if kind == "path_triplets":
            values = np.searchsorted(kept.triplets, values).astype(np.int32)
        counts = column(f"{kind}_{way}_count")
        return Ragged(values, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))

    n_real = column("n_real")
    n_nodes = column("n_nodes")
    small = np.uint16 if n_nodes.max(initial=0) <= 65535 else np.int32
    candidates = np.searchsorted(kept.triplets, column("candidates")).astype(np.int32)
    answers_count = column("answers_count")
    return Split(
        name=name,
        questions=_infos(questions, linked, column, graph, answers_count),
        question_embeddings=embeddings,
        candidates=pad(candidates, n_real, -1),
        ppr=pad(column("ppr"), n_real, 0),
        nodes=pad(column("nodes").astype(small), n_real, 0),
        topics=pad(column("topics"), column("topics_count"), -1),
        answers=pad(column("answers"), answers_count, -1),
        n_nodes=n_nodes,
        path_edges={way: ragged("path_edges", way) for way in DIRECTIONS},
        path_triplets={way: ragged("path_triplets", way) for way in DIRECTIONS},
    )


def _infos(questions, linked, column, graph, answers_count) -> list[QuestionInfo]:
    stops = np.cumsum(answers_count)
    entities = column("answer_entities")
    hop, ball = column("hop"), column("sizes")
    in_ball, size = column("answers_in_ball"), column("subgraph_triplets")
    names = graph.entities
    return [
        QuestionInfo(
            id=question.id,
            question=display_name(question.text),
            topics=question.topics,
            answers=question.answers,
            answers_in_graph=tuple(names[e] for e in linked[i].answers),
            answers_in_subgraph=tuple(
                names[e] for e in entities[stops[i] - answers_count[i] : stops[i]]
            ),
            hop=question.hop if question.hop is not None else _known(hop[i]),
            relevant_triplets=question.relevant,
            ball_triplets=int(ball[i]),
            answers_in_ball=int(in_ball[i]),
            subgraph_triplets=int(size[i]),
        )
        for i, question in enumerate(questions)
    ]


def _known(hop: int) -> int | None:
    return int(hop) if hop >= 0 else None
