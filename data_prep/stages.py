"""The stages of a preparation: cut, embed, choose; each in pieces, each resumable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float16, Int32

from data_prep.assemble import MERGED, NAMING
from data_prep.embedding_table import Wanted
from data_prep.engine import Engine, LocalEngine
from data_prep.partition import Part
from data_prep.question_chunks import Arrays
from data_prep.topic_linking import LinkedSplit
from data_prep.worker import Chunk, Job, piece_name
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import QUESTION_BATCH
from kgscout_jax.text.linearize import question_text
from kgscout_jax.utils.progress import progress

CHUNK = 32
"""Questions per piece of work: what a killed run may have to do again."""
CUT_KEYS = ("questions", "sizes", "answers_in_ball", "seconds")
"""What is assembled of the first of the two passes."""


def places(splits: dict[str, LinkedSplit]) -> list[tuple[str, int]]:
    """(split, its first question) of every chunk; a split without questions has one."""
    return [
        (name, low)
        for name, split in splits.items()
        for low in range(0, len(split.linked) or 1, CHUNK)
    ]


def chunks_of(
    splits: dict[str, LinkedSplit],
    mine: Sequence[tuple[str, int]],
    cache: EmbeddingCache,
) -> list[Chunk]:
    """The chunks at these places, their questions embedded."""
    slices = [slice(low, low + CHUNK) for _, low in mine]
    texts = [
        cache.encoder.identity.query_prefix + question_text(question.text)
        for (name, _), here in zip(mine, slices, strict=True)
        for question in splits[name].questions[here]
    ]
    rows = cache.embed(texts, what="questions", batch_size=QUESTION_BATCH)
    out = []
    for (name, low), here in zip(mine, slices, strict=True):
        linked = splits[name].linked[here]
        own, rows = rows[: len(linked)], rows[len(linked) :]
        out.append(Chunk(split=name, low=low, questions=linked, embeddings=own))
    return out


def cut_all(job: Job, engine: Engine, chunks: Sequence[Chunk]) -> None:
    """Cut the subgraphs of all chunks."""
    _each(job, engine, chunks, "cut", "cutting subgraphs")


def choose_all(job: Job, engine: Engine, chunks: Sequence[Chunk]) -> None:
    """Choose the candidates of all chunks; their triplets are embedded."""
    _each(job, engine, chunks, "choose", "choosing candidates")


def _each(
    job: Job, engine: Engine, chunks: Sequence[Chunk], stage: str, what: str
) -> None:
    left = [chunk for chunk in chunks if not job.work.has(chunk.piece(stage))]
    with progress(sum(len(c.questions) for c in left), what, "questions") as bar:
        done = engine.map(job.cut if stage == "cut" else job.choose, left)
        for chunk, _ in zip(left, done, strict=True):
            bar.update(len(chunk.questions))


def embed_all(
    job: Job, engine: Engine, chunks: Sequence[Chunk], part: Part
) -> tuple[int, tuple[int, int]]:
    """Embed the triplets of all chunks that no finished piece holds.

    Returns:
        How many triplets the chunks have; of those embedded, (found in the cache,
        computed).
    """
    needed = np.empty(0, np.int32)
    remaining = iter(chunks)
    while some := list(itertools.islice(remaining, MERGED)):  # memory is bounded
        named = [
            job.work.read(chunk.piece("cut"), "triplet_ids")["triplet_ids"]
            for chunk in some
        ]
        needed = np.unique(np.concatenate([needed, *named]))
    ranges = part.rotated(list(job.table.ranges(needed)))
    total = [0, 0]
    with progress(len(needed), "embedding triplets", "triplets") as bar:

        def wanted() -> Iterator[Wanted]:
            for number, ids in ranges:
                missing = job.table.missing(number, ids)
                bar.update(len(ids) - len(missing))
                if len(missing):
                    who = f"{part.i}-of-{part.n}"
                    asked.append(len(missing))
                    yield Wanted(number=number, who=who, ids=missing)

        asked: list[int] = []
        embedder = engine if engine.embeds else LocalEngine(1)
        for counts, size in zip(embedder.map(job.embed, wanted()), asked, strict=True):
            total = [a + b for a, b in zip(total, counts, strict=True)]
            bar.update(size)
    return len(needed), (total[0], total[1])


def left(job: Job, every: Sequence[tuple[str, int]]) -> int:
    """How many chunks have no candidates yet."""
    return sum(not job.work.has(piece_name("choose", *place)) for place in every)


def naming(job: Job, every: Sequence[tuple[str, int]]) -> Iterator[Arrays]:
    """Of each chunk the arrays that name triplets, one chunk after the other."""
    for place in every:
        yield job.work.read(piece_name("choose", *place), *NAMING)


def finished(job: Job, every: Sequence[tuple[str, int]], split: str) -> list[Arrays]:
    """What both passes found of each chunk of a split."""
    out = []
    for name, low in every:
        if name == split:
            cut = job.work.read(piece_name("cut", name, low), *CUT_KEYS)
            chosen = job.work.read(piece_name("choose", name, low))
            spent = {
                "cut_seconds": cut.pop("seconds"),
                "choose_seconds": chosen.pop("seconds"),
            }
            out.append(chosen | cut | spent)
    return out


def table_rows(job: Job, ids: Int32[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
    """Embeddings of ascending triplet ids, from the pieces."""
    return job.table.rows(ids, job.cache.encoder.identity.dimension)
