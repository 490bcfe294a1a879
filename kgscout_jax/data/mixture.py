"""Training on several sets: the set and the questions of each step.

A set's weight is its share of the steps. All questions of a step are of one set. Each
set has an endless stream of batches: pass after pass over its questions, each in a new
order. So all questions of a set are seen equally often, whatever its weight. The set
of a step is a function of the step alone, its questions of (seed, step).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from kgscout_jax.data.batch_order import epoch_batches
from kgscout_jax.data.question_sampling import epoch_length, epoch_rows

WINDOW = 16
"""Batches within which questions are sorted by size."""


def sets_of_steps(
    weights: Sequence[float], steps: int
) -> tuple[Int[np.ndarray, "t"], Int[np.ndarray, "t"]]:
    """The set of each step, and the number of earlier steps of the same set.

    Sets alternate as evenly as their weights allow: step j (from 0) of a set with
    weight w is due at time (j + 1/2) / w, and the steps follow in the order of these
    times, equal ones in the order of sets. With n sets, a set of share p is never more
    than (1 + (n - 2) p) / 2 steps from its share.
    """
    counts = [
        math.ceil(weight / math.fsum(weights) * steps) + len(weights)
        for weight in weights
    ]
    turns = [np.arange(min(count, steps)) for count in counts]
    times = [(turn + 0.5) / w for turn, w in zip(turns, weights, strict=True)]
    order = np.argsort(np.concatenate(times), kind="stable")[:steps]
    owner = np.repeat(np.arange(len(turns)), [len(turn) for turn in turns])
    return owner[order], np.concatenate(turns)[order]


@dataclass(frozen=True, kw_only=True)
class BatchStream:
    """The endless stream of batches of one set; stateless."""

    n_real: Int[np.ndarray, "q"]
    """Candidates of each question of the split."""
    rows: Int[np.ndarray, "k"]
    """The questions to train on."""
    batch_size: int
    seed: int
    number: int = 0
    """Of the set: sets of equal size have different orders."""
    sample: int | None = None
    """Questions drawn for each pass; None for all."""

    @property
    def pass_length(self) -> int:
        """Batches of a pass."""
        return epoch_length([len(self.rows)], self.batch_size, self.sample)

    def batches(self, first: int, last: int) -> list[Int[np.ndarray, "j"]]:
        """Batches ``first`` to ``last`` - 1 of the stream."""
        length = self.pass_length
        passes = range(first // length, -(-last // length))
        out = [batch for each in passes for batch in self._pass(each)]
        start = passes.start * length
        return out[first - start : last - start]

    def _pass(self, number: int) -> list[Int[np.ndarray, "j"]]:
        return epoch_batches(
            self.n_real,
            epoch_rows(self.rows, self.sample, seed=self.seed, epoch=number),
            batch_size=self.batch_size,
            window=WINDOW,
            seed=self.seed,
            epoch=number,
            stream=self.number,
        )


class Mixture:
    """The set and the questions of each step of a run."""

    def __init__(
        self, streams: Sequence[BatchStream], weights: Sequence[float], steps: int
    ) -> None:
        """``steps``: those of the whole run."""
        self.streams = streams
        self.sets, self.turns = sets_of_steps(weights, steps)

    def batches(self, first: int, last: int) -> list[tuple[int, np.ndarray]]:
        """Number of the set, and questions, of the steps ``first`` to ``last`` - 1."""
        sets, turns = self.sets[first:last], self.turns[first:last]
        batches = {}
        for number, stream in enumerate(self.streams):
            of_set = turns[sets == number]
            if len(of_set):
                start = int(of_set[0])
                some = stream.batches(start, int(of_set[-1]) + 1)
                batches |= {(number, start + i): rows for i, rows in enumerate(some)}
        pairs = zip(sets.tolist(), turns.tolist(), strict=True)
        return [(number, batches[number, turn]) for number, turn in pairs]
