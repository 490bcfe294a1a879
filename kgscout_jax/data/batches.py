"""Batches from shards: a few kilobytes of indices a question; tables do not move.

Widths are static, so that a jitted function compiles once for each of a few classes of
questions; see ``batch_widths``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from kgscout_jax.data.batch_widths import (
    Needs,
    WidthClasses,
    Widths,
    relation_counts,
)
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs
from kgscout_jax.text.words import WORDS, question_words
from kgscout_jax.utils.buckets import bucket

if TYPE_CHECKING:
    from kgscout_jax.data.sharded_table import RowLayout

T = TypeVar("T")

ROWS = 2**18
"""Rows of 384 dimensions and two bytes take 192 MiB."""


class Tables(NamedTuple):
    """The embedding tables, on the device."""

    triplets: Float[Array, "c d"] | Int8[Array, "c d"]
    relations: Float[Array, "r d"]
    triplet_scales: Float[Array, "c"] | None = None
    """The scale of each row of int8."""
    words: Float[Array, "w d"] | None = None
    """Of questions' words, see ``text.words``; None where shards hold none."""
    layout: RowLayout | None = None
    """The layout of triplet rows over devices, if they are split."""

    @staticmethod
    def of(*shards: Shards) -> Tables:
        """The tables of folders of shards, one below the other, on the default device.

        ``table_offsets`` says where those of each folder begin. The folders hold
        embeddings of one dtype. Rows of zeros follow, so that functions compiled for
        one data set serve others of similar size.
        """

        def below(tables: list[np.ndarray]) -> Array:
            parts = [jnp.asarray(not_empty(table)) for table in tables]
            n = sum(map(len, parts))
            if missing := table_rows(n) - n:
                parts.append(jnp.zeros((missing, *parts[0].shape[1:]), parts[0].dtype))
            return jnp.concatenate(parts) if len(parts) > 1 else parts[0]

        words = [e.word_embeddings for e in shards if e.word_embeddings is not None]
        scales = [e.triplet_scales for e in shards if e.triplet_scales is not None]
        return Tables(
            below([each.triplet_embeddings for each in shards]),
            below([each.relation_embeddings for each in shards]),
            below(scales) if scales else None,
            below(words) if len(words) == len(shards) else None,
        )

    def triplet_rows(
        self, ids: Int[Array, "b n"], mask: Bool[Array, "b n"] | None = None
    ) -> Float[Array, "b n d"]:
        """Embeddings of triplets: rows gathered, then scaled if they are int8.

        Where ``mask`` is False, rows on other devices are not fetched.
        """
        stored = self.triplets, self.triplet_scales
        if self.layout is None:
            rows, scales = jax.tree.map(lambda table: table[ids], stored)
        else:
            rows, scales = self.layout.rows(stored, ids, mask)
        if scales is None:
            return rows
        return rows.astype(jnp.float16) * scales[..., None]


class TableOffsets(NamedTuple):
    """Where the rows of a folder of shards begin in tables of several."""

    triplets: int = 0
    relations: int = 0
    words: int = 0


FIRST = TableOffsets()
"""Tables of one folder."""


def table_offsets(shards: Sequence[Shards]) -> list[TableOffsets]:
    """The offsets of each folder in ``Tables.of`` them all."""
    out, offsets = [], FIRST
    for each in shards:
        out.append(offsets)
        offsets = TableOffsets(
            offsets.triplets + len(not_empty(each.triplet_embeddings)),
            offsets.relations + len(not_empty(each.relation_embeddings)),
            offsets.words + max(len(each.words or ()), 1),
        )
    return out


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
        return WidthClasses.of(needs, self.width)

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
        mask = np.zeros((b, n), bool)
        mask[:k] = candidates >= 0
        padded = np.zeros((b, n), np.int32)
        padded[:k] = np.maximum(candidates, 0)
        relation_rows, relation_index = self._relations(padded, mask, widths.relations)
        on_path = np.zeros((b, n), bool)
        on_path[:k] = self._on_path(rows, candidates)
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
            "ppr": _filled(split.ppr_of(rows, n), b),
            "nodes": _filled(split.nodes[rows, :n].astype(np.int32), b),
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


def table_rows(n: int) -> int:
    """``n`` rows, rounded up: to a power of two, above ``ROWS`` to a multiple of it."""
    return -(-n // ROWS) * ROWS if n > ROWS else bucket(n)


def not_empty(table: np.ndarray) -> np.ndarray:
    """``table``, or one row of zeros for padding to point at if it is empty."""
    return table if len(table) else np.zeros((1, *table.shape[1:]), table.dtype)


def _filled(array: np.ndarray, size: int) -> np.ndarray:
    """``array`` with rows of zeros added at the end, up to ``size`` rows."""
    if len(array) == size:
        return np.ascontiguousarray(array)
    out = np.zeros((size, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
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


def by_size(
    n_real: Int[np.ndarray, "q"], rows: Int[np.ndarray, "k"], batch_size: int
) -> Iterator[Int[np.ndarray, "j"]]:
    """``rows`` in batches of questions of similar size, small ones first."""
    order = rows[np.argsort(n_real[rows], kind="stable")]
    for low in range(0, len(order), batch_size):
        yield order[low : low + batch_size]


def epoch_batches(
    n_real: Int[np.ndarray, "q"],
    rows: Int[np.ndarray, "k"],
    *,
    batch_size: int,
    window: int,
    seed: int,
    epoch: int,
    stream: int = 0,
) -> list[Int[np.ndarray, "j"]]:
    """The batches of one epoch: a function of (seed, epoch, stream) alone.

    Shuffled, then sorted by size within windows of ``window`` batches, so that a batch
    holds questions of similar size and padding costs little; then shuffled as batches.
    """
    rng = np.random.default_rng([seed, epoch, *([0, stream] if stream else [])])
    order = rng.permutation(rows)
    batches = []
    for low in range(0, len(order), batch_size * window):
        chunk = order[low : low + batch_size * window]
        batches += list(by_size(n_real, chunk, batch_size))
    return [batches[i] for i in rng.permutation(len(batches))]
