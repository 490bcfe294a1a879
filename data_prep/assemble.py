"""Assembles the ragged results of all chunks into padded splits and shared tables.

Triplets are renumbered: shards hold only candidates and triplets on reward paths.
Candidates come first, because only they have an embedding. The order within both groups
does not change.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float16, Int32, Int64

from data_prep.question_chunks import Arrays, pad
from data_prep.topic_linking import SplitQuestions
from kgscout_jax.data.shards import DIRECTIONS, Split
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Question, display_name
from kgscout_jax.utils.ragged import Ragged

TRIPLET_ARRAYS = ("candidates", *(f"path_triplets_{way}" for way in DIRECTIONS))
"""The arrays of a chunk that hold triplet ids."""
MERGED = 64
"""Chunks whose triplet ids are merged at once."""


@dataclass(frozen=True, kw_only=True)
class ShardTriplets:
    """The subset of the graph in the shards, as ids of the graph."""

    triplets: Int32[np.ndarray, "m"]
    """Candidates, ascending, then the triplets only on paths, ascending."""
    n_candidates: int
    entities: Int32[np.ndarray, "e"]
    relations: Int32[np.ndarray, "r"]

    @staticmethod
    def of(graph: KnowledgeGraph, chunks: Iterable[Arrays]) -> ShardTriplets:
        """The triplets in ``chunks``, with their entities and relations.

        Reads only TRIPLET_ARRAYS, with few chunks in memory at once.
        """
        candidates = on_paths = np.empty(0, np.int32)
        remaining = iter(chunks)
        while batch := list(itertools.islice(remaining, MERGED)):
            ids = [chunk[TRIPLET_ARRAYS[0]] for chunk in batch]
            candidates = np.unique(np.concatenate([candidates, *ids]))
            ids = [chunk[key] for chunk in batch for key in TRIPLET_ARRAYS[1:]]
            on_paths = np.unique(np.concatenate([on_paths, *ids]))
        others = np.setdiff1d(on_paths, candidates, assume_unique=True)
        triplets = np.concatenate([candidates, others]).astype(np.int32)
        rows = graph.triplets[triplets]
        return ShardTriplets(
            triplets=triplets,
            n_candidates=len(candidates),
            entities=np.unique(rows[:, [0, 2]]).astype(np.int32),
            relations=np.unique(rows[:, 1]).astype(np.int32),
        )

    @cached_property
    def _ascending(self) -> Int64[np.ndarray, "m"]:
        return np.argsort(self.triplets)

    def shard_ids(self, triplets: Int32[np.ndarray, "k"]) -> Int32[np.ndarray, "k"]:
        """Shard ids of triplets by graph id; all must be in the shards."""
        order = self._ascending
        at = np.searchsorted(self.triplets, triplets, sorter=order)
        return order[at].astype(np.int32)

    def shard_rows(self, graph: KnowledgeGraph) -> Int32[np.ndarray, "m 3"]:
        """The triplets in the shards' own ids."""
        rows = graph.triplets[self.triplets]
        return np.stack(
            [
                np.searchsorted(self.entities, rows[:, 0]),
                np.searchsorted(self.relations, rows[:, 1]),
                np.searchsorted(self.entities, rows[:, 2]),
            ],
            axis=1,
        ).astype(np.int32)


def assemble_split(
    name: str,
    split: SplitQuestions,
    embeddings: Float16[np.ndarray, "b d"],
    chunks: Sequence[Arrays],
    graph: KnowledgeGraph,
    shard_triplets: ShardTriplets,
) -> Split:
    """One split, padded to its own largest question."""

    def column(key: str) -> np.ndarray:
        return np.concatenate([chunk[key] for chunk in chunks])

    def ragged(array: str, way: str) -> Ragged:
        values = column(f"{array}_{way}")
        if array == "path_triplets":
            values = shard_triplets.shard_ids(values)
        return Ragged.of_counts(values, column(f"{array}_{way}_count"))

    n_real = column("n_real")
    n_nodes = column("n_nodes")
    small = np.uint16 if n_nodes.max(initial=0) <= 65535 else np.int32
    answers_count = column("answers_count")
    return Split(
        name=name,
        questions=_with_facts(split, column, graph, answers_count),
        question_embeddings=embeddings,
        candidates=pad(shard_triplets.shard_ids(column("candidates")), n_real, -1),
        node_ppr=Ragged.of_counts(column("node_ppr"), n_nodes),
        nodes=pad(column("nodes").astype(small), n_real, 0),
        topics=Ragged.of_counts(column("topics"), column("topics_count")).padded(),
        answers=Ragged.of_counts(column("answers"), answers_count).padded(),
        n_nodes=n_nodes,
        path_edges={way: ragged("path_edges", way) for way in DIRECTIONS},
        path_triplets={way: ragged("path_triplets", way) for way in DIRECTIONS},
    )


def _with_facts(split, column, graph, answers_count) -> list[Question]:
    """The questions with the facts that preparation found."""
    stops = np.cumsum(answers_count)
    entities = column("answer_entities")
    hop, ball = column("hop"), column("sizes")
    in_ball, size = column("answers_in_ball"), column("subgraph_triplets")
    names = graph.entities
    return [
        dataclasses.replace(
            question,
            text=display_name(question.text),
            answers_in_graph=tuple(names[e] for e in split.entities[i].answers),
            answers_in_subgraph=tuple(
                names[e] for e in entities[stops[i] - answers_count[i] : stops[i]]
            ),
            hop=question.hop if question.hop is not None else _hop_or_none(hop[i]),
            ball_triplets=int(ball[i]),
            answers_in_ball=int(in_ball[i]),
            subgraph_triplets=int(size[i]),
        )
        for i, question in enumerate(split.questions)
    ]


def _hop_or_none(hop: int) -> int | None:
    return int(hop) if hop >= 0 else None
