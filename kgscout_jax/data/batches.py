"""Batches from shards: a few kilobytes of indices a question; tables do not move.

Widths are static, so that a jitted function compiles once for each of a few classes of
questions; see ``batch_widths``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.data.batch_order import by_size
from kgscout_jax.data.batch_widths import (
    SMALLEST_SHARE,
    Needs,
    WidthClasses,
    Widths,
    relation_counts,
)
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.data.tables import FIRST, TableOffsets, Tables, not_empty
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs
from kgscout_jax.text.words import WORDS, question_words

T = TypeVar("T")


class Batch(NamedTuple):
    """b questions with n candidates, u unique relations and a answers, padded."""

    question: Float[Array, "b d"]
    candidates: Int[Array, "b n"]
    """Rows of the triplet table; 0 as padding."""
    relation_rows: Int[Array, "b u"]
    """Rows of the relation table; 0 as padding."""
    relation_index: Int[Array, "b n"]
    """Index of each candidate's relation among the unique relations."""
    ppr: Float[Array, "b n 2"]
    nodes: Int[Array, "b n 2"]
    """Local node ids of head and tail."""
    topics: Bool[Array, "b v"]
    """True at the local nodes of the question's topics."""
    answers: Int[Array, "b a"]
    """Local node ids, -1 as padding."""
    on_path: Bool[Array, "b n"]
    """Candidates on a shortest topic-answer path."""
    mask: Bool[Array, "b n"]
    """True at real candidates."""
    has_path: Bool[Array, "b"]
    """True where a question has a shortest path, among its candidates or not."""
    word_rows: Int[Array, "b l"] | None = None
    """Rows of the words' table; 0 as padding. None where shards hold none, or where
    the policy reads none."""
    word_places: Int[Array, "b l"] | None = None
    """See ``PolicyInputs.word_places``."""

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of its arrays: functions compile once for each."""
        return tuple(array.shape for array in jax.tree.leaves(self))

    def inputs(self, tables: Tables) -> PolicyInputs:
        """The inputs of the network: rows gathered from the tables, under jit."""
        return PolicyInputs(
            question=self.question,
            triplets=tables.triplet_rows(self.candidates, self.mask),
            relations=tables.relations[self.relation_rows],
            relation_index=self.relation_index,
            ppr=self.ppr,
            mask=self.mask,
            nodes=self.nodes,
            topics=self.topics,
            words=self._words(tables),
            word_places=self.word_places,
        )

    def _words(self, tables: Tables) -> Float[Array, "b l d"] | None:
        if tables.words is None or self.word_rows is None:
            return None
        return tables.words[self.word_rows]


class BatchReader:
    """Reads batches of a split; stateless, so any batch can be read at any time."""

    def __init__(
        self,
        shards: Shards,
        split: Split,
        direction: str = "both",
        offsets: TableOffsets = FIRST,
        *,
        words: bool = True,
    ) -> None:
        """
        Args:
            shards: the folder of the split.
            split: the questions.
            direction: direction of the shortest paths of ``on_path``.
            offsets: where the folder's rows begin in the tables; see ``Tables.of``.
            words: whether batches hold the words of questions, if shards do.
        """
        self.shards, self.split, self.offsets = shards, split, offsets
        self.relation_of = not_empty(np.asarray(shards.triplets[:, 1]))
        self.paths = split.path_triplets[direction]
        self.width = split.candidates.shape[1]
        self.reads_words = words

    @cached_property
    def words(self) -> tuple[Int[np.ndarray, "q l"], Int[np.ndarray, "q l"]] | None:
        """``words_of`` all questions; None where batches hold none."""
        table = self.shards.words if self.reads_words else None
        return None if table is None else words_of(table, self.split)

    @cached_property
    def widths(self) -> WidthClasses:
        """The widths of batches."""
        split = self.split
        needs = Needs(
            candidates=split.n_real,
            nodes=np.asarray(split.n_nodes),
            relations=self.n_relations,
            answers=(np.asarray(split.answers) >= 0).sum(axis=1),
        )
        on_cpu = jax.default_backend() == "cpu"
        return WidthClasses.of(needs, self.width, SMALLEST_SHARE if on_cpu else 1)

    @cached_property
    def n_relations(self) -> Int[np.ndarray, "q"]:
        """A bound on each question's unique relations, at most one too many."""
        return self._count_relations(np.arange(len(self.split)))

    def _count_relations(self, rows: Int[np.ndarray, "k"]) -> Int[np.ndarray, "k"]:
        """``n_relations`` of some questions."""
        return relation_counts(self.split.candidates, self.relation_of, rows)

    def widths_of(self, rows: Int[np.ndarray, "k"]) -> Widths:
        """The widths of a batch of these questions."""
        n_real = int(self.split.n_real[rows].max(initial=1))
        return self.widths[self.widths.index(n_real)]

    def read(self, rows: Int[np.ndarray, "k"], size: int | None = None) -> Batch:
        """The questions ``rows``, on the device, padded with empty ones to ``size``."""
        return jax.tree.map(jnp.asarray, self.arrays(rows, size))

    def arrays(
        self,
        rows: Int[np.ndarray, "k"],
        size: int | None = None,
        widths: Widths | None = None,
    ) -> Batch:
        """The batch of ``read``, in numpy; ``widths``: at least ``widths_of(rows)``."""
        split, b = self.split, size or len(rows)
        k = len(rows)
        widths = self.widths_of(rows) if widths is None else widths
        n, v = widths.candidates, widths.nodes
        candidates = split.candidates[rows, :n]
        mask = _filled(candidates >= 0, b, n)
        padded = _filled(np.maximum(candidates, 0).astype(np.int32), b, n)
        relation_rows, relation_index = self._relations(padded, mask, widths.relations)
        on_path = _filled(self._on_path(rows, candidates), b, n)
        topics = np.zeros((b, v), bool)
        slots = split.topics[rows]
        topics[np.nonzero(slots >= 0)[0], slots[slots >= 0]] = True
        answers = np.full((b, widths.answers), -1, np.int32)
        slots = split.answers[rows][:, : widths.answers]
        answers[:k, : slots.shape[1]] = slots
        has_path = np.zeros(b, bool)
        has_path[:k] = self.paths.offsets[rows + 1] > self.paths.offsets[rows]
        arrays = {
            "question": _filled(split.question_embeddings[rows], b),
            "candidates": padded + np.int32(self.offsets.triplets),
            "relation_rows": relation_rows + np.int32(self.offsets.relations),
            "relation_index": relation_index,
            "ppr": _filled(split.ppr_of(rows, n), b, n),
            "nodes": _filled(split.nodes[rows, :n].astype(np.int32), b, n),
            "topics": topics,
            "answers": answers,
            "on_path": on_path,
            "mask": mask,
            "has_path": has_path,
        }
        if self.words is not None:
            word_rows, word_places = self.words
            word_ids = np.zeros((b, WORDS), np.int32)
            places = np.full((b, WORDS), NO_WORD, np.int32)
            word_ids[:k], places[:k] = word_rows[rows], word_places[rows]
            arrays["word_rows"] = word_ids + np.int32(self.offsets.words)
            arrays["word_places"] = places
        return Batch(**arrays)

    def _relations(
        self,
        candidates: Int[np.ndarray, "b n"],
        mask: Bool[np.ndarray, "b n"],
        width: int,
    ) -> tuple[Int[np.ndarray, "b u"], Int[np.ndarray, "b n"]]:
        """Unique relations per question, and each candidate's index among them."""
        b, n = candidates.shape
        count = int(self.relation_of.max(initial=0)) + 1
        keys = np.arange(b)[:, None] * count + self.relation_of[candidates]
        unique, inverse = np.unique(keys[mask], return_inverse=True)
        owner = unique // count
        per_question = np.bincount(owner, minlength=b)
        first = np.cumsum(per_question) - per_question
        rows = np.zeros((b, width), np.int32)
        rows[owner, np.arange(len(unique)) - first[owner]] = unique % count
        index = np.zeros((b, n), np.int32)
        index[mask] = inverse - np.repeat(first, mask.sum(axis=1))
        return rows, index

    def _on_path(
        self, rows: Int[np.ndarray, "k"], candidates: Int[np.ndarray, "k n"]
    ) -> Bool[np.ndarray, "k n"]:
        """Which candidates lie on a shortest path of their question."""
        owner, on_path = self.paths.rows(rows)
        m = len(self.relation_of)
        keys = owner * m + on_path
        place = np.arange(len(rows))[:, None] * m + candidates
        return np.isin(place, keys) & (candidates >= 0)


def words_of(
    table: Sequence[str], split: Split
) -> tuple[Int[np.ndarray, "q l"], Int[np.ndarray, "q l"]]:
    """Rows of ``table`` and places of the words of each question; 0 and NO_WORD."""
    row_of = {word: row for row, word in enumerate(table)}
    rows = np.zeros((len(split), WORDS), np.int32)
    places = np.full((len(split), WORDS), NO_WORD, np.int32)
    for i, question in enumerate(split.questions):
        for j, word in enumerate(question_words(question.text, question.topics)):
            rows[i, j], places[i, j] = row_of[word.text], word.distance
    return rows, places


def _filled(array: np.ndarray, *sizes: int) -> np.ndarray:
    """``array`` with zeros added at the end of its first axes, up to ``sizes``."""
    old = array.shape
    new = (*sizes, *old[len(sizes) :])
    if old == new:
        return np.ascontiguousarray(array)
    out = np.zeros(new, array.dtype)
    out[tuple(map(slice, old))] = array
    return out


def batch_outputs(
    function: Callable[[Batch], T],
    reader: BatchReader,
    rows: Int[np.ndarray, "k"],
    batch_size: int,
) -> Iterator[tuple[Int[np.ndarray, "j"], T]]:
    """The questions of each batch, of similar size, and the result of ``function``."""
    for batch in by_size(reader.split.n_real, rows, batch_size):
        yield batch, function(reader.read(batch, batch_size))
