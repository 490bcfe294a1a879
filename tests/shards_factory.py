"""A shard folder that lives in memory, around a split of ``split_factory``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from split_factory import Built, Case, build_split

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.types import Triplet


class MemoryShards(Shards):
    """Shards whose one split and tables are given instead of read."""

    def split(self, name: str) -> Split:
        """The given split, whatever other is asked for is absent as on disk."""
        given = self.__dict__["given"]
        return given if name == given.name else super().split(name)


def memory_shards(built: Built, split: Split | None = None) -> MemoryShards:
    """Shards that hold one built split, or ``split`` in its place."""
    given = built.split if split is None else split
    shards = MemoryShards(Path("memory"), {"splits": {given.name: {}}})
    shards.__dict__.update(
        given=given,
        entities=list(built.graph.entities),
        relations=list(built.graph.relations),
        triplets=built.graph.triplets,
        triplet_embeddings=built.triplet_embeddings,
        relation_embeddings=built.relation_embeddings,
    )
    return shards


def shards_of(
    cases: Sequence[Case],
    *,
    relevant: Sequence[Sequence[Triplet]] = (),
    name: str = "dev",
    n: int | None = None,
    seed: int = 0,
) -> tuple[MemoryShards, Split]:
    """Shards with one split of ``cases``, and that split.

    Args:
        cases: the questions.
        relevant: labelled triplets of each question; empty: none has any.
        name: of the split.
        n: width of the candidate arrays.
        seed: of the random embeddings.
    """
    built = build_split(cases, name=name, n=n, seed=seed)
    questions = [
        dataclasses.replace(info, relevant_triplets=tuple(labelled))
        for info, labelled in zip(
            built.split.questions, relevant or [()] * len(cases), strict=True
        )
    ]
    split = dataclasses.replace(built.split, questions=questions)
    return memory_shards(built, split), split


def with_split(shards: MemoryShards, split: Split) -> MemoryShards:
    """The same shards with ``split`` in place of theirs."""
    other = MemoryShards(shards.path, {"splits": {split.name: {}}})
    tables = {
        k: v for k, v in shards.__dict__.items() if k not in ("given", "manifest")
    }
    other.__dict__.update(tables, given=split)
    return other
