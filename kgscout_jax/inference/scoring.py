"""One call of the network for many questions: logits of triplets and of nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float16, Float32

from kgscout_jax.export.load import Exported
from kgscout_jax.inference.inputs import (
    Candidates,
    ProductRows,
    QuestionVectors,
    inputs_of,
)
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.registry import PolicyOutputs
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.utils.cpus import cpus
from kgscout_jax.utils.turns import native_work

ON_ACCELERATOR = 8
"""Maximum questions per call of the network on a GPU or TPU."""


def questions_per_call() -> int:
    """The most questions of a call of the network.

    One on a processor, so that a question has the same scores whoever else asks. More
    are no faster there: they leave its caches, and are padded to a power of two.
    """
    import jax

    return 1 if jax.default_backend() == "cpu" else ON_ACCELERATOR


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What the policy says of the candidates of one question."""

    logits: Float32[np.ndarray, "n"]
    seconds: float = 0.0
    """Time to rank: its share of a batch."""
    nodes: Float32[np.ndarray, "v"] | None = None
    """Logits of the local nodes to be an answer; None without an answer head."""
    follow: Float32[np.ndarray, "u f"] | None = None
    """The walkers' weights, see ``PolicyOutputs.follow``."""
    doubts: Float32[np.ndarray, "v"] | None = None
    """Of the nodes, see ``ConstrainedLogits``; None before the question is read."""
    stated: Bool[np.ndarray, "v"] | None = None
    """See ``QuestionConstraints``; None where the question states no relation."""


NO_SCORES = Scores(logits=np.empty(0, np.float32))


def walkers_of(exported: Exported) -> int:
    """The number of walkers of a policy with an answer head, else 0."""
    config = exported.config
    return config.walkers if isinstance(config, WalkConfig) and config.answers else 0


def network_outputs(exported: Exported, inputs: PolicyInputs) -> PolicyOutputs:
    """What the policy says; without an answer head exactly its logits."""
    if exported.has_answers:
        return exported.outputs(inputs)
    return PolicyOutputs(exported.logits(inputs))


@dataclass(frozen=True, kw_only=True)
class _Call:
    """A call of the network, whose outputs the device may still be computing."""

    rows: Sequence[int]
    """The questions."""
    candidates: Sequence[Candidates]
    """Of each."""
    outputs: PolicyOutputs
    seconds: float
    """Time to make the inputs and start the call."""

    def scores(self) -> Iterator[tuple[int, Scores]]:
        """Each question with its scores; waits for the outputs."""
        start = time.perf_counter()
        with native_work():
            logits, nodes, follow = (
                None if array is None else np.asarray(array) for array in self.outputs
            )
        assert logits is not None
        share = (self.seconds + time.perf_counter() - start) / len(self.rows)
        for j, (i, c) in enumerate(zip(self.rows, self.candidates, strict=True)):
            yield (
                i,
                Scores(
                    logits=logits[j, : len(c.ids)],
                    seconds=share + c.seconds,
                    nodes=None if nodes is None else nodes[j, : len(c.entities)],
                    follow=None if follow is None else follow[j, : len(c.relations)],
                ),
            )


@dataclass(frozen=True, kw_only=True)
class PendingScores:
    """Scores that the device computes while the host does something else."""

    count: int
    """Number of questions."""
    calls: Sequence[_Call]

    def wait(self) -> list[Scores]:
        """The scores of each question; ``NO_SCORES`` where it has no candidates."""
        scores = [NO_SCORES] * self.count
        for call in self.calls:
            for i, found in call.scores():
                scores[i] = found
        return scores


def start_scores(
    exported: Exported,
    questions: Sequence[QuestionVectors],
    candidates: Sequence[Candidates | None],
    relations: Sequence[Float16[np.ndarray, "r d"]],
    largest: int,
    products: Callable[[int, Candidates], ProductRows] | None = None,
) -> PendingScores:
    """Start the network on questions; wait for their scores on a single core.

    Args:
        exported: the policy.
        questions: embeddings of the questions.
        candidates: candidates of each question.
        relations: the relation table of each question's graph.
        largest: maximum number of candidates of a question.
        products: those of a question, given by position; None: none are kept.
    """
    import jax

    sizes = [(len(c.ids), i) for i, c in enumerate(candidates) if c is not None]
    order = [i for _, i in sorted(sizes)]
    calls, most = [], questions_per_call()
    for low in range(0, len(order), most):
        rows = order[low : low + most]
        start = time.perf_counter()
        batch = [c for i in rows if (c := candidates[i]) is not None]
        tables = [relations[i] for i in rows]
        kept = (
            None
            if products is None
            else [products(i, c) for i, c in zip(rows, batch, strict=True)]
        )
        vectors = [questions[i] for i in rows]
        inputs = inputs_of(vectors, batch, tables, largest, kept)
        with native_work():
            outputs = network_outputs(exported, inputs)
        seconds = time.perf_counter() - start
        calls.append(
            _Call(rows=rows, candidates=batch, outputs=outputs, seconds=seconds)
        )
    if jax.default_backend() == "cpu" and cpus() == 1:
        # Host and network in turns disturb each other's caches less.
        jax.block_until_ready([call.outputs for call in calls])
    return PendingScores(count=len(candidates), calls=calls)
