"""KG-Scout as a retriever: candidates ranked by the logits of a trained policy."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, Int

from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import is_general, needs_words
from kgscout_jax.retrieve.kind_mask import split_kinds
from kgscout_jax.retrieve.policy_calls import PolicyCall, batch_results
from kgscout_jax.retrieve.protocol import Rankings, rank_candidates
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.progress import ProgressBar


@dataclass(frozen=True)
class KGScout:
    """Ranks by the final logits of ``policy``.

    A policy for any graph counts triplets less that lead to nothing of the kind that is
    asked for, see ``kind_mask``.
    """

    policy: Policy
    name: str = "kgscout"
    batch_size: int = 16
    engine: Engine = HERE
    """What calls the policy."""

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, highest logit first."""
        return self.split_logits(shards, split).rank(shards, split, k)

    def split_logits(self, shards: Shards, split: Split) -> PolicyLogits:
        """The policy's logits of all candidates of a split, as a retriever."""
        scores, seconds = self.logits(shards, split, np.arange(len(split)))
        return PolicyLogits(self.name, scores, seconds)

    def logits(
        self, shards: Shards, split: Split, rows: Int[np.ndarray, "q"]
    ) -> tuple[Float32[np.ndarray, "q n"], Float64[np.ndarray, "q"]]:
        """Logits of all candidates of some questions, -inf beyond n_real; seconds."""
        reader = BatchReader(shards, split, words=needs_words(self.policy.config))
        call = PolicyCall(self.policy, shards, only_logits=True)
        scores = np.full((len(rows), split.candidates.shape[1]), -np.inf, np.float32)
        seconds = np.zeros(len(rows))
        place = np.zeros(len(split), int)
        place[rows] = np.arange(len(rows))
        with ProgressBar(len(rows), f"scoring with {self.name}", "questions") as bar:
            results = batch_results(call, reader, rows, self.batch_size, self.engine)
            for batch_rows, (outputs, elapsed) in results:
                count, at = len(batch_rows), place[batch_rows]
                seconds[at] = elapsed / count
                scores[at, : outputs.logits.shape[1]] = outputs.logits[:count]
                if is_general(self.policy.config):
                    start = time.perf_counter()
                    scores[at] = kind_logits(shards, split, batch_rows, scores[at])
                    seconds[at] += (time.perf_counter() - start) / count
                bar.update(count)
        return scores, seconds


def kind_logits(
    shards: Shards,
    split: Split,
    rows: Int[np.ndarray, "b"],
    logits: Float32[np.ndarray, "b n"],
) -> Float32[np.ndarray, "b n"]:
    """The logits of questions' candidates, see ``kind_mask``; -inf stays."""
    out = logits.copy()
    seen = np.asarray(split.candidates[rows, : logits.shape[1]]) >= 0
    kinds = split_kinds(shards, split, rows, seen)
    for i, (row, kind) in enumerate(zip(rows.tolist(), kinds, strict=True)):
        if kind is not None:
            n = int(split.n_real[row])
            out[i, :n] = kind.triplet_logits(logits[i, :n])
    return out


@dataclass(frozen=True)
class PolicyLogits:
    """A retriever of one split's questions from precomputed logits."""

    name: str
    scores: Float32[np.ndarray, "b n"]
    """One per candidate slot; ignored beyond n_real."""
    seconds: Float64[np.ndarray, "b"]

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, highest score first."""
        seconds = self.seconds.copy()
        return rank_candidates(
            self.name, shards, split, self.scores, k, seconds=seconds
        )
