"""Writes rankings as ``retrieved.jsonl``, one JSON line per question, atomically."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.types import Retrieved
from kgscout_jax.utils.io import write_lines


def retrieved_records(
    shards: Shards, split: Split, rankings: Rankings
) -> Iterator[Retrieved]:
    """One record per question of the split, in order, with display names."""
    names = rankings.names or NameSpace.of(shards)
    for i, info in enumerate(split.questions):
        length = int(rankings.lengths[i])
        columns = (rankings.heads, rankings.relations, rankings.tails, rankings.scores)
        rows = zip(*(column[i, :length].tolist() for column in columns), strict=True)
        seconds = float(rankings.seconds[i])
        yield Retrieved(
            id=info.id,
            question=info.text,
            retriever=rankings.retriever,
            triplets=[
                (names.entities[h], names.relations[r], names.entities[t], score)
                for h, r, t, score in rows
            ],
            answers=info.answers,
            seconds=seconds if seconds == seconds else 0.0,
            extra={"trace": rankings.traces[i]} if rankings.traces else {},
        )


def write_retrieved(
    path: Path, shards: Shards, split: Split, rankings: Rankings
) -> None:
    """Write ``retrieved.jsonl``: all ranked triplets of all questions of the split."""
    records = retrieved_records(shards, split, rankings)
    write_lines(path, (record.to_json() for record in records))
