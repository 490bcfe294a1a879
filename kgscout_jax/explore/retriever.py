"""Chain of Explorations as a ``Retriever``: its path is the evidence."""

from __future__ import annotations

import time
from collections.abc import Callable

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.explore.chain import ChainOfExplorations
from kgscout_jax.explore.settings import Exploration
from kgscout_jax.retrieve.named_rankings import NamedRankings
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
        ranked = NamedRankings(shards, len(split), k)
        calls = tokens = 0
        with ProgressBar(len(split), self.name, "questions") as bar:
            for i, info in enumerate(split.questions):
                started = time.perf_counter()
                found = self.chain.explore(info.text)
                path = enumerate(found.path[::-1])
                latest = [(*triplet, -float(rank)) for rank, triplet in path]
                ranked.put(i, latest, time.perf_counter() - started, found.log())
                calls += found.calls
                tokens += found.prompt_tokens + found.reply_tokens
                if self.on_exploration is not None:
                    self.on_exploration(found)
                bar.update()
        return ranked.rankings(self.name, {"calls": calls, "tokens": tokens})
