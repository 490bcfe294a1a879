"""The stages of a preparation, each resumable: cut, embed, choose."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float16, Int32

from data_prep.assemble import MERGED, TRIPLET_ARRAYS
from data_prep.embedding_table import EmbeddingTask
from data_prep.partition import Partition
from data_prep.question_chunks import Arrays
from data_prep.topic_linking import SplitQuestions
from data_prep.worker import Chunk, Job, task_name
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.linearize import question_text
from kgscout_jax.utils.engine import Engine, LocalEngine
from kgscout_jax.utils.progress import ProgressBar

CHUNK = 32
"""Questions per task; a killed run repeats at most one task per worker."""
CUT_KEYS = ("questions", "sizes", "answers_in_ball", "seconds")
"""The arrays of the first pass that are assembled."""
Start = tuple[str, int]
"""A chunk's split and its first question."""


def chunk_starts(splits: dict[str, SplitQuestions]) -> list[Start]:
    """The starts of all chunks; a split without questions has one."""
    return [
        (name, low)
        for name, split in splits.items()
        for low in range(0, len(split.questions) or 1, CHUNK)
    ]


def make_chunks(
    splits: dict[str, SplitQuestions], starts: Sequence[Start], cache: EmbeddingCache
) -> list[Chunk]:
    """The chunks of ``starts``, with embedded questions."""
    slices = [(splits[name], slice(low, low + CHUNK)) for name, low in starts]
    texts = [
        cache.encoder.identity.query_prefix + question_text(question.text)
        for split, rows in slices
        for question in split.questions[rows]
    ]
    batch_size = cache.encoder.prepared_questions_batch
    embeddings = cache.embed(texts, what="questions", batch_size=batch_size)
    chunks = []
    for (name, low), (split, rows) in zip(starts, slices, strict=True):
        entities = split.entities[rows]
        own, embeddings = embeddings[: len(entities)], embeddings[len(entities) :]
        chunks.append(Chunk(split=name, low=low, questions=entities, embeddings=own))
    return chunks


def word_vectors(
    cache: EmbeddingCache, words: Sequence[str]
) -> Float16[np.ndarray, "w d"]:
    """Embeddings of questions' words, each by itself, as ``Scout`` embeds them."""
    prefix = cache.encoder.identity.query_prefix
    texts = [prefix + word for word in words]
    batch_size = cache.encoder.prepared_questions_batch
    return cache.embed(texts, what="words", batch_size=batch_size)


def cut_all(job: Job, engine: Engine, chunks: Sequence[Chunk]) -> None:
    """Cut the subgraphs of all chunks."""
    _run_all(job, engine, chunks, "cut", "cutting subgraphs")


def choose_all(job: Job, engine: Engine, chunks: Sequence[Chunk]) -> None:
    """Choose the candidates of all chunks; their triplets are embedded."""
    _run_all(job, engine, chunks, "choose", "choosing candidates")


def _run_all(
    job: Job, engine: Engine, chunks: Sequence[Chunk], stage: str, what: str
) -> None:
    remaining = [chunk for chunk in chunks if not job.workspace.has(chunk.task(stage))]
    with ProgressBar(
        sum(len(c.questions) for c in remaining), what, "questions"
    ) as bar:
        results = engine.map(job.cut if stage == "cut" else job.choose, remaining)
        for chunk, _ in zip(remaining, results, strict=True):
            bar.update(len(chunk.questions))


def embed_all(
    job: Job, engine: Engine, chunks: Sequence[Chunk], partition: Partition
) -> tuple[int, tuple[int, int]]:
    """Embed the triplets of all chunks that the table lacks.

    Returns:
        The number of triplets of the chunks; of those embedded here, the numbers (from
        the cache, computed).
    """
    ids = np.empty(0, np.int32)
    remaining = iter(chunks)
    while batch := list(itertools.islice(remaining, MERGED)):  # memory is bounded
        results = [job.workspace.read(c.task("cut"), "triplet_ids") for c in batch]
        ids = np.unique(np.concatenate([ids, *(r["triplet_ids"] for r in results)]))
    ranges = partition.rotation(list(job.table.ranges(ids)))
    owner = f"{partition.i}-of-{partition.n}"
    total = [0, 0]
    sizes: list[int] = []
    with ProgressBar(len(ids), "embedding triplets", "triplets") as bar:

        def tasks() -> Iterator[EmbeddingTask]:
            for number, own in ranges:
                missing = job.table.missing(number, own)
                bar.update(len(own) - len(missing))
                if len(missing):
                    sizes.append(len(missing))
                    yield EmbeddingTask(number=number, owner=owner, ids=missing)

        embedder = engine if engine.embeds else LocalEngine(1)
        for counts, size in zip(embedder.map(job.embed, tasks()), sizes, strict=True):
            total = [a + b for a, b in zip(total, counts, strict=True)]
            bar.update(size)
    return len(ids), (total[0], total[1])


def count_remaining(job: Job, starts: Sequence[Start]) -> int:
    """The number of chunks without candidates yet."""
    return sum(not job.workspace.has(task_name("choose", *start)) for start in starts)


def triplet_arrays(job: Job, starts: Sequence[Start]) -> Iterator[Arrays]:
    """The arrays of triplet ids of each chunk, in order."""
    for start in starts:
        yield job.workspace.read(task_name("choose", *start), *TRIPLET_ARRAYS)


def chunk_results(job: Job, starts: Sequence[Start], split: str) -> list[Arrays]:
    """The results of both passes for each chunk of a split."""
    results = []
    for name, low in starts:
        if name == split:
            cut = job.workspace.read(task_name("cut", name, low), *CUT_KEYS)
            choice = job.workspace.read(task_name("choose", name, low))
            seconds = {
                "cut_seconds": cut.pop("seconds"),
                "choose_seconds": choice.pop("seconds"),
            }
            results.append(choice | cut | seconds)
    return results


def table_rows(job: Job, ids: Int32[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
    """Embeddings of ascending triplet ids, from the table's chunks."""
    return job.table.rows(ids, job.cache.encoder.identity.dimension)
