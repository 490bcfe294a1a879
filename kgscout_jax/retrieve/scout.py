"""KG-Scout itself as a retriever: candidates by the final logit of a trained policy."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax
import numpy as np
from flax import nnx

from kgscout_jax.batches import BatchReader, Tables, by_size
from kgscout_jax.policy.network import ScoutPolicy
from kgscout_jax.progress import progress
from kgscout_jax.retrieve.base import Rankings, rank_candidates
from kgscout_jax.shards import Shards, Split


@dataclass(frozen=True)
class KGScout:
    """By the final logits of ``policy``."""

    policy: ScoutPolicy
    name: str = "kgscout"
    batch_size: int = 16

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, highest logit first."""
        reader = BatchReader(shards, split)
        tables = Tables.of(shards)
        graphdef, state = nnx.split(self.policy)

        @jax.jit
        def logits_of(state, tables, batch):
            return nnx.merge(graphdef, state)(batch.inputs(tables))

        scores = np.full(split.candidates.shape, -np.inf, np.float32)
        seconds = np.zeros(len(split))
        rows = np.arange(len(split))
        compiled: set[tuple[tuple[int, ...], ...]] = set()
        with progress(len(split), f"scoring with {self.name}", "questions") as bar:
            for chosen in by_size(split.n_real, rows, self.batch_size):
                batch = reader.read(chosen, self.batch_size)
                shapes = tuple(array.shape for array in batch)
                if shapes not in compiled:  # the clock measures scoring, not compiling
                    jax.block_until_ready(logits_of(state, tables, batch))
                    compiled.add(shapes)
                start = time.perf_counter()
                logits = np.asarray(logits_of(state, tables, batch))[: len(chosen)]
                seconds[chosen] = (time.perf_counter() - start) / len(chosen)
                scores[chosen, : logits.shape[1]] = logits
                bar.update(len(chosen))
        return rank_candidates(self.name, shards, split, scores, k, seconds=seconds)
