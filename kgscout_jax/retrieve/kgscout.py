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
from kgscout_jax.retrieve.interleaving import interleaved_logits
from kgscout_jax.retrieve.policy_calls import PolicyCall, batch_results
from kgscout_jax.retrieve.protocol import Rankings, rank_candidates
from kgscout_jax.retrieve.split_constraints import split_constraints
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.progress import ProgressBar


@dataclass(frozen=True)
class KGScout:
    """Ranks by the final logits of ``policy``.

    A policy for any graph counts triplets less that lead to nothing of the kind that is
    asked for, see ``kind_mask``, and moves up those of likely answers, see
    ``interleaving``.
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
        general = is_general(self.policy.config)
        call = PolicyCall(self.policy, shards, only_logits=not general)
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
                if general:
                    start = time.perf_counter()
                    answers = np.asarray(outputs.answers)
                    scores[at] = general_logits(
                        shards, split, batch_rows, scores[at], answers
                    )
                    seconds[at] += (time.perf_counter() - start) / count
                bar.update(count)
        return scores, seconds


def general_logits(
    shards: Shards,
    split: Split,
    rows: Int[np.ndarray, "b"],
    logits: Float32[np.ndarray, "b n"],
    answers: Float32[np.ndarray, "c v"],
) -> Float32[np.ndarray, "b n"]:
    """The logits by which a policy for any graph ranks; -inf stays.

    Args:
        shards: the folder of the split.
        split: the questions.
        rows: those of the logits.
        logits: of their candidates.
        answers: of their nodes.
    """
    out = logits.copy()
    candidates = np.asarray(split.candidates[rows, : logits.shape[1]])
    asked = split_constraints(shards, split, rows, candidates >= 0)
    for i, (row, of_row) in enumerate(zip(rows.tolist(), asked, strict=True)):
        n, v = int(split.n_real[row]), int(split.n_nodes[row])
        if n:
            found = of_row.logits(logits[i, :n], answers[i, :v], general=True)
            nodes = np.asarray(split.nodes[row, :n]).astype(np.int64)
            relations = shards.triplets[candidates[i, :n], 1]
            topics = np.asarray(split.topics[row])
            out[i, :n] = interleaved_logits(
                found.triplets, found.nodes, nodes, relations, topics[topics >= 0]
            )
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
