"""Chain of Explorations as a ``Retriever``: its path is the evidence."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.explore.chain import ChainOfExplorations
from kgscout_jax.explore.settings import Exploration
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.utils.progress import ProgressBar


class ExplorationRetriever:
    """Ranks the triplets of the path travelled, the latest first."""

    def __init__(
        self,
        chain: ChainOfExplorations,
        on_exploration: Callable[[Exploration], None] | None = None,
    ):
        """
        Args:
            chain: walks the graph that the shards were made of.
            on_exploration: gets each exploration, for reports.
        """
        self.chain, self.on_exploration = chain, on_exploration

    @property
    def name(self) -> str:
        """The row's name in tables."""
        return self.chain.name

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` triplets for each question: those of its path."""
        b = len(split)
        names = NameSpace.of(shards).fork()
        ids = np.full((b, k, 3), -1, np.int32)
        lengths, seconds = np.zeros(b, np.int32), np.zeros(b)
        calls = tokens = 0
        with ProgressBar(b, self.name, "questions") as bar:
            for i, info in enumerate(split.questions):
                started = time.perf_counter()
                found = self.chain.explore(info.text)
                seconds[i] = time.perf_counter() - started
                calls += found.calls
                tokens += found.prompt_tokens + found.reply_tokens
                path = [names.add_triplet(t) for t in found.path[::-1][:k]]
                lengths[i] = len(path)
                if path:
                    ids[i, : len(path)] = path
                if self.on_exploration is not None:
                    self.on_exploration(found)
                bar.update()
        scores = np.zeros((b, k), np.float32)
        scores[:] = -np.arange(k, dtype=np.float32)
        scores[np.arange(k) >= lengths[:, None]] = 0
        return Rankings(
            retriever=self.name,
            heads=ids[..., 0],
            relations=ids[..., 1],
            tails=ids[..., 2],
            scores=scores,
            lengths=lengths,
            seconds=seconds,
            names=names,
            notes={"calls": calls, "tokens": tokens},
        )
