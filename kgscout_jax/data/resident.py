"""A split's arrays on the device, and batches gathered from them inside jit.

Arrays lie without padding, one question's values after the other's, about 11 bytes a
candidate. A batch is a window of static width into each for every question, masked
beyond the question's end: the batch that ``BatchReader`` reads, value for value. Of a
step only the numbers of its questions cross to the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.data.batch_widths import Widths
from kgscout_jax.data.batches import Batch, BatchReader
from kgscout_jax.policy.inputs import NO_WORD
from kgscout_jax.policy.layers import gather_rows
from kgscout_jax.text.words import WORDS
from kgscout_jax.utils.progress import ProgressBar
from kgscout_jax.utils.ragged import offsets_of

CHUNK = 1024
"""Questions that are read at a time."""
CANDIDATE_BYTES, NODE_BYTES = 4 + 2 + 4 + 1, 4
"""Of each candidate, and of each local node."""


class Windows(NamedTuple):
    """Rows of different length on the device."""

    values: Any
    """A pytree of arrays [total + width, ...]: no window reaches beyond the end."""
    starts: Int[Array, "q"]
    counts: Int[Array, "q"]

    @staticmethod
    def of(values: Any, counts: np.ndarray, width: int) -> Windows:
        """Consecutive rows with ``counts`` values each, then an empty one.

        ``width``: of the widest window.
        """

        def padded(array: np.ndarray) -> np.ndarray:
            return np.concatenate(
                [array, np.zeros((width, *array.shape[1:]), array.dtype)]
            )

        # One row more, without values.
        starts, counts = offsets_of(counts).astype(np.int32), np.append(counts, 0)
        arrays: Any = (starts, counts.astype(np.int32))
        return Windows(jax.tree.map(padded, values), *arrays)

    def read(
        self, rows: Int[Array, "b"], width: int
    ) -> tuple[Any, Bool[Array, "b width"]]:
        """The first ``width`` values of each row, and which are real; for jit."""
        starts = self.starts[rows]

        def window(array: Array) -> Array:
            take = partial(jax.lax.dynamic_slice_in_dim, array, slice_size=width)
            return jax.vmap(lambda start: take(start))(starts)

        real = jnp.arange(width)[None] < self.counts[rows][:, None]
        return jax.tree.map(window, self.values), real


def filled(values: Array, real: Bool[Array, "b w"], filler: int = 0) -> Array:
    """The values, int32 if they are integers, ``filler`` where they are not real."""
    if jnp.issubdtype(values.dtype, jnp.integer):
        values = values.astype(jnp.int32)
    real = real.reshape(*real.shape, *[1] * (values.ndim - 2))
    return jnp.where(real, values, jnp.asarray(filler, values.dtype))


class ResidentArrays(NamedTuple):
    """The arrays of q questions; the last is an empty one, which fills batches."""

    question: Float[Array, "q d"]
    candidates: Windows
    """(rows of the triplet table, indices of relations, local nodes, on a path)."""
    relation_rows: Windows
    ppr: Windows
    """Of local nodes."""
    topics: Int[Array, "q t"]
    """Local nodes, -1 as padding."""
    answers: Windows
    has_path: Bool[Array, "q"]
    words: tuple[Int[Array, "q l"], Int[Array, "q l"]] | None
    """Rows of the words' table, and places."""

    def batch(self, rows: Int[Array, "b"], widths: Widths) -> Batch:
        """The batch of these questions; for use under jit."""
        n, v = widths.candidates, widths.nodes
        (candidates, index, nodes, on_path), mask = self.candidates.read(rows, n)
        relation_rows, is_relation = self.relation_rows.read(rows, widths.relations)
        answers, is_answer = self.answers.read(rows, widths.answers)
        ppr, _ = self.ppr.read(rows, v)
        nodes = filled(nodes, mask)
        at_ends = gather_rows(ppr[..., None], nodes.reshape(len(rows), -1))
        at_ends = at_ends.reshape(nodes.shape)
        topics = self.topics[rows][..., None]
        word_rows, word_places = (
            (None, None) if self.words is None else (w[rows] for w in self.words)
        )
        return Batch(
            question=self.question[rows],
            candidates=filled(candidates, mask),
            relation_rows=filled(relation_rows, is_relation),
            relation_index=filled(index, mask),
            ppr=jnp.where(mask[..., None], at_ends, 0.0),
            nodes=nodes,
            topics=(topics == jnp.arange(v)[None, None]).any(axis=1),
            answers=filled(answers, is_answer, -1),
            on_path=on_path & mask,
            mask=mask,
            has_path=self.has_path[rows],
            word_rows=word_rows,
            word_places=word_places,
        )


def resident_arrays(readers: Sequence[BatchReader]) -> ResidentArrays:
    """The arrays, in numpy, of the splits of ``readers``, one below the other.

    All hold words or none does. The split after the first starts at row
    ``len(first)``, and so on.
    """
    total = sum(len(reader.split) for reader in readers)
    parts = []
    with ProgressBar(total, "arrays for the device", "questions") as bar:
        for reader in readers:
            for low in range(0, len(reader.split), CHUNK):
                rows = np.arange(low, min(low + CHUNK, len(reader.split)))
                parts.append(unpadded_arrays(reader, rows))
                bar.update(len(rows))
    # The empty question has no values, and a row of padding elsewhere.
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
    (question, candidates, index, nodes, on_path, relation_rows, answers, has_path,
     n_real, n_relations, n_answers, *words) = columns  # fmt: skip
    splits = [reader.split for reader in readers]
    widest = [reader.widths[len(reader.widths) - 1] for reader in readers]
    width = Widths(*(max(sizes) for sizes in zip(*widest, strict=True)))
    n_nodes = np.concatenate([np.asarray(split.n_nodes) for split in splits])
    ppr = np.concatenate([np.asarray(split.node_ppr.values) for split in splits])
    t = max(split.topics.shape[1] for split in splits)
    topics = [
        np.pad(
            split.topics, ((0, 0), (0, t - split.topics.shape[1])), constant_values=-1
        )
        for split in splits
    ]
    arrays: Any = {
        "question": with_row(question),
        "candidates": Windows.of(
            (candidates, narrow(index), narrow(nodes), on_path),
            n_real,
            width.candidates,
        ),
        "relation_rows": Windows.of(relation_rows, n_relations, width.relations),
        "ppr": Windows.of(ppr, n_nodes, width.nodes),
        "topics": with_row(np.concatenate(topics), -1),
        "answers": Windows.of(answers, n_answers, width.answers),
        "has_path": with_row(has_path),
        "words": (with_row(words[0]), with_row(words[1], NO_WORD)) if words else None,
    }
    return ResidentArrays(**arrays)


def unpadded_arrays(
    reader: BatchReader, rows: Int[np.ndarray, "k"]
) -> tuple[np.ndarray, ...]:
    """The arrays of some questions without padding, and the counts of their values."""
    batch = reader.arrays(rows, widths=reader.widths_of(rows))
    mask = np.asarray(batch.mask)
    index = np.where(mask, batch.relation_index, -1)
    n_relations = index.max(axis=1, initial=-1) + 1
    is_relation = np.arange(batch.relation_rows.shape[1]) < n_relations[:, None]
    is_answer = np.asarray(batch.answers) >= 0
    out = (
        batch.question,
        batch.candidates[mask],
        batch.relation_index[mask],
        batch.nodes[mask],
        batch.on_path[mask],
        batch.relation_rows[is_relation],
        batch.answers[is_answer],
        batch.has_path,
        mask.sum(axis=1),
        n_relations,
        is_answer.sum(axis=1),
    )
    if batch.word_rows is not None:
        out = (*out, batch.word_rows, batch.word_places)
    return out  # pyright: ignore[reportReturnType]


def resident_bytes(readers: Sequence[BatchReader]) -> int:
    """About the bytes that ``resident_arrays`` takes."""
    total = 0
    for reader in readers:
        split = reader.split
        per_question = 2 * split.question_embeddings.shape[1] + 64
        if reader.words is not None:
            per_question += 8 * WORDS
        total += per_question * len(split)
        total += CANDIDATE_BYTES * int(split.n_real.sum())
        total += NODE_BYTES * len(split.node_ppr.values)
    return total


def narrow(values: np.ndarray) -> np.ndarray:
    """Integers of 16 bits if all fit."""
    return values.astype(np.uint16) if values.max(initial=0) <= 65535 else values


def with_row(array: np.ndarray, value: int = 0) -> np.ndarray:
    """``array`` with a last row of ``value``."""
    return np.concatenate([array, np.full((1, *array.shape[1:]), value, array.dtype)])
