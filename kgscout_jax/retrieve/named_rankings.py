"""Rankings of triplets that are known by their names alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kgscout_jax.data.shards import Shards
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings


class NamedRankings:
    """Collects the ranked triplets of a split, question by question.

    Names that are not in the shards stay in the ranking, because they may be answers.
    """

    def __init__(self, shards: Shards, b: int, k: int):
        """For ``b`` questions, at most ``k`` triplets each."""
        self.k = k
        self.names = NameSpace.of(shards).fork()
        self.ids = np.full((b, k, 3), -1, np.int32)
        self.scores = np.zeros((b, k), np.float32)
        self.lengths = np.zeros(b, np.int32)
        self.seconds = np.full(b, np.nan)
        self.traces = [""] * b

    def put(
        self,
        i: int,
        triplets: Iterable[tuple[str, str, str, float]],
        seconds: float = np.nan,
        trace: str = "",
    ) -> int:
        """Set the ranking of question ``i``; the number of repetitions left out."""
        unique: dict[tuple[int, int, int], float] = {}
        repeated = 0
        for head, relation, tail, score in triplets:
            key = self.names.add_triplet((head, relation, tail))
            repeated += key in unique
            unique.setdefault(key, score)
        self.lengths[i] = length = min(self.k, len(unique))
        if length:
            self.ids[i, :length] = list(unique)[:length]
            self.scores[i, :length] = list(unique.values())[:length]
        self.seconds[i], self.traces[i] = seconds, trace
        return repeated

    def rankings(self, retriever: str, notes: Mapping[str, int]) -> Rankings:
        """All that was put, under the retriever's name."""
        return Rankings(
            retriever=retriever,
            heads=self.ids[..., 0],
            relations=self.ids[..., 1],
            tails=self.ids[..., 2],
            scores=self.scores,
            lengths=self.lengths,
            seconds=self.seconds,
            names=self.names,
            notes=notes,
            traces=self.traces if any(self.traces) else (),
        )
