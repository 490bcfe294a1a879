"""Data to train on: generated shards in memory, or a folder's, as both sides read them.

Generated questions are of the size that WebQSP's are: 1,000 candidates out of a cut of
2,000 triplets, 700 nodes, about 130 unique relations, one topic, up to four answers two
or three hops away. Rows of the embedding table are drawn at random, as a training step
meets them; embeddings are random unit vectors, since no cost depends on their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float16, Float32, Int

from kgscout_jax.data.shards import DIRECTIONS, Shards, Split
from kgscout_jax.graph.walk.pagerank import pagerank
from kgscout_jax.graph.walk.shortest_paths import hop_distances, shortest_path_edges
from kgscout_jax.text.words import distinct_words
from kgscout_jax.types import Question
from kgscout_jax.utils.ragged import Ragged

RELATIONS = 250
ENTITIES = 30_000
NODES_PER_CANDIDATE = 0.9
"""Drawn; about 0.7 of them are met by a candidate or a path."""
TOPIC_SHARE = 0.05
"""Of the triplets start at the topic: topics are hubs."""


QUESTION_WORDS = 6
"""Of each question, among these; none is a name's."""
VOCABULARY = [f"word{i}" for i in range(200)]


class MemoryShards(Shards):
    """Shards whose one split and tables are given instead of read."""

    def split(self, name: str) -> Split:
        """The given split, by its name."""
        given = self.__dict__["given"]
        return given if name == given.name else super().split(name)


@dataclass(frozen=True)
class World:
    """One training split and its tables, and what only a peer needs."""

    shards: Shards
    split: Split

    @property
    def d(self) -> int:
        """Width of the embeddings."""
        return self.shards.relation_embeddings.shape[1]

    def rows(self, k: int) -> Int[np.ndarray, "j"]:
        """Questions with an answer, a topic and more than ``k`` candidates."""
        split = self.split
        good = (split.answers >= 0).any(axis=1) & (split.topics >= 0).any(axis=1)
        return np.flatnonzero(good & (split.n_real > k))

    @cached_property
    def entity_embeddings(self) -> Float32[np.ndarray, "e d"]:
        """Random rows, one per entity: shards hold none, an MLP over [q; h; r; t]
        reads some, and its cost does not depend on their values."""
        count = int(self.shards.triplets[:, [0, 2]].max()) + 1
        return units(np.random.default_rng(1), count, self.d).astype(np.float32)


def units(
    rng: np.random.Generator, count: int, d: int
) -> Float16[np.ndarray, "count d"]:
    """Random unit vectors; beyond 10,000 they repeat."""
    vectors = rng.normal(size=(min(count, 10_000), d)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.resize(vectors.astype(np.float16), (count, d))


def read_world(folder: Path) -> World:
    """The training split of a folder of shards."""
    shards = Shards.open(folder)
    return World(shards, shards.split("train"))


def generated_world(
    questions: int,
    n: int,
    *,
    d: int = 384,
    table: int = 100_000,
    varied: bool = False,
    seed: int = 0,
) -> World:
    """Generated shards with one training split.

    Args:
        questions: how many.
        n: candidates of each, and of the widest if ``varied``.
        d: width of the embeddings.
        table: rows of the triplet table, at least n.
        varied: as in WebQSP: six questions in ten have n, a quarter n / 8 at most.
        seed: of every draw.
    """
    rng = np.random.default_rng(seed)
    sizes = np.full(questions, n)
    if varied:
        small = rng.random(questions) >= 0.6
        sizes[small] = np.maximum(n * rng.random(small.sum()) ** 3.5, 8)
    width = max(int(NODES_PER_CANDIDATE * n), 8)
    # --- one block of nodes per question, topic first; twice the candidates as edges
    owner = np.repeat(np.arange(questions), 2 * sizes)
    m = len(owner)
    heads = (width * rng.random(m) ** 2).astype(np.int64)
    heads[rng.random(m) < TOPIC_SHARE] = 0
    heads, tails = heads + owner * width, rng.integers(0, width, m) + owner * width
    topics = np.arange(questions)[:, None] * width
    answers = _answers(rng, questions, width, heads, tails)
    is_answer = np.zeros(questions * width, bool)
    is_answer[answers[answers >= 0]] = True
    sizes_of_nodes = np.full(questions, width, np.int32)
    rank = pagerank(
        questions * width,
        heads,
        tails,
        np.repeat(np.arange(questions), width),
        topics[:, 0],
        direction="both",
    )
    # --- of a question's edges the first half are candidates, in rows drawn at random
    candidates = np.full((questions, n), -1, np.int32)
    nodes = np.zeros((questions, n, 2), np.int32)
    row_of_edge = np.full(m, -1, np.int32)
    first = np.cumsum(2 * sizes) - 2 * sizes
    for i, size in enumerate(sizes):
        edges = slice(first[i], first[i] + size)
        candidates[i, :size] = rng.choice(table, size, replace=False)
        nodes[i, :size] = np.stack([heads[edges], tails[edges]], axis=1) - i * width
        row_of_edge[edges] = candidates[i, :size]
    path_edges, path_triplets = {}, {}
    for direction in DIRECTIONS:
        hops, on_path = shortest_path_edges(
            questions * width,
            heads,
            tails,
            topics,
            is_answer,
            directed=direction == "directed",
        )
        asked = hops[:, 1] // width
        hops[:, 1:3] -= (asked * width)[:, None]
        path_edges[direction] = Ragged.of_counts(
            hops, np.bincount(asked, minlength=questions)
        )
        on_path &= row_of_edge >= 0
        path_triplets[direction] = Ragged.of_counts(
            row_of_edge[on_path], np.bincount(owner[on_path], minlength=questions)
        )
    split = Split(
        name="train",
        questions=[
            Question(id=f"q{i}", text=" ".join(rng.choice(VOCABULARY, QUESTION_WORDS)))
            for i in range(questions)
        ],
        question_embeddings=units(rng, questions, d),
        candidates=candidates,
        node_ppr=Ragged.of_counts(rank.astype(np.float32), sizes_of_nodes),
        nodes=nodes,
        topics=np.zeros((questions, 1), np.int32),
        answers=np.where(answers >= 0, answers % width, -1).astype(np.int32),
        n_nodes=sizes_of_nodes,
        path_edges=path_edges,
        path_triplets=path_triplets,
    )
    return World(_tables(rng, split, table, d), split)


def _answers(
    rng: np.random.Generator,
    questions: int,
    width: int,
    heads: np.ndarray,
    tails: np.ndarray,
) -> Int[np.ndarray, "b 4"]:
    """One to four nodes per question, two or three hops away; -1 as padding."""
    topics = np.arange(questions) * width
    hops = hop_distances(questions * width, heads, tails, topics, directed=True)
    answers = np.full((questions, 4), -1)
    for i, topic in enumerate(topics):
        far = topic + np.flatnonzero(hops[topic : topic + width] >= 2)
        chosen = rng.permutation(far)[: rng.integers(1, 5)]
        answers[i, : len(chosen)] = chosen
    return answers


def _tables(rng: np.random.Generator, split: Split, table: int, d: int) -> MemoryShards:
    """Shards in memory around ``split``."""
    # Few relations are frequent: 1,000 triplets have about 130 different ones.
    relations = np.minimum(rng.pareto(0.8, table) * 4, RELATIONS - 1)
    ends = rng.integers(0, ENTITIES, (table, 2))
    triplets = np.stack([ends[:, 0], relations.astype(int), ends[:, 1]], axis=1)
    shards = MemoryShards(
        Path("memory"), {"splits": {"train": {}}, "encoder": {"dimension": d}}
    )
    words = sorted(distinct_words(split.questions))
    shards.__dict__.update(
        given=split,
        triplets=triplets.astype(np.int32),
        triplet_embeddings=units(rng, table, d),
        triplet_scales=None,
        relation_embeddings=units(rng, RELATIONS, d),
        words=words,
        word_embeddings=units(rng, len(words), d),
    )
    return shards
