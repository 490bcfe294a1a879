"""The widths that batches are padded to: a few classes for each split.

A jitted function compiles once for each class. The classes of candidates are powers of
two, down to an eighth of the largest: smaller questions cost little beside the rest,
another compilation costs seconds. An accelerator has one class: a step of the walk
policy takes it most of a minute to compile, and narrow batches are launches as well.
There the sets of one training share it, so that a step is compiled once and not once a
set.
All other widths of a class are the same in all its batches: the most that any question
of the split with so many candidates needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.utils.buckets import SMALLEST, bucket

SMALLEST_SHARE = 8
"""On a CPU the largest class is at most so many times as wide as the smallest."""
WIDER = 4
"""Unique relations: the factor from one width to the next."""
MUCH_WIDER = 16
"""The same of answers, which cost next to nothing."""
FLAGS = 2**22
"""Flags that are held at a time when unique relations are counted."""


class Widths(NamedTuple):
    """Static widths of a batch, per question."""

    candidates: int
    nodes: int
    relations: int
    answers: int


class Needs(NamedTuple):
    """What each of q questions needs at least."""

    candidates: Int[np.ndarray, "q"]
    nodes: Int[np.ndarray, "q"]
    relations: Int[np.ndarray, "q"]
    answers: Int[np.ndarray, "q"]


@dataclass(frozen=True)
class WidthClasses:
    """The classes of a split, in ascending order of candidates."""

    classes: tuple[Widths, ...]

    @staticmethod
    def of(
        needs: Needs, largest: int, smallest_share: int = SMALLEST_SHARE
    ) -> WidthClasses:
        """The classes.

        Args:
            needs: of all questions.
            largest: the most candidates that a question can have.
            smallest_share: how many times as wide as the smallest class the largest is
                at most; 1 for a single class.
        """
        out: list[Widths] = []
        most_needed = int(needs.candidates.max(initial=1))
        for n in candidate_widths(most_needed, largest, smallest_share):
            held = needs.candidates <= n
            if out and held.sum() == (needs.candidates <= out[-1].candidates).sum():
                continue  # nobody's class
            most = [int(each[held].max(initial=1)) for each in needs[1:]]
            nodes, relations, answers = most
            out.append(
                Widths(
                    n,
                    # At least n: a few widths of the nodes for each of the candidates.
                    half_octave(max(nodes, n)),
                    bucket(relations, n, factor=WIDER),
                    bucket(answers, factor=MUCH_WIDER),
                )
            )
        return WidthClasses(tuple(out))

    @staticmethod
    def shared(splits: Sequence[WidthClasses]) -> WidthClasses:
        """One class, which holds the questions of all splits."""
        widest = np.array([each[-1] for each in splits]).max(axis=0)
        return WidthClasses((Widths(*map(int, widest)),))

    def index(self, n_real: int) -> int:
        """The number of the smallest class that holds so many candidates."""
        return next(
            i for i, each in enumerate(self.classes) if each.candidates >= n_real
        )

    def __getitem__(self, i: int) -> Widths:
        return self.classes[i]

    def __len__(self) -> int:
        return len(self.classes)


def candidate_widths(
    n_real: int, largest: int, smallest_share: int = SMALLEST_SHARE
) -> Iterator[int]:
    """Ascending widths, the last of which holds ``n_real`` candidates."""
    last = bucket(n_real)
    width = max(last // smallest_share, SMALLEST)
    while width < last:
        yield width
        width *= 2
    yield bucket(n_real, largest)


def half_octave(size: int) -> int:
    """The first of ``SMALLEST`` times 1, 1.5, 2, 3, 4, ... that holds ``size``."""
    width = bucket(size)
    between = width // 4 * 3
    return between if between >= SMALLEST and size <= between else width


def relation_counts(
    candidates: Int[np.ndarray, "q n"],
    relation_of: Int[np.ndarray, "m"],
    rows: Int[np.ndarray, "k"],
) -> Int[np.ndarray, "k"]:
    """A bound on the unique relations of some questions, at most one too many.

    Args:
        candidates: rows of the triplet table, -1 as padding.
        relation_of: the relation of each triplet; where it holds few relations,
            nothing is counted.
        rows: the questions.
    """
    count = int(relation_of.max(initial=0)) + 1
    out = np.full(len(rows), count)
    if count <= SMALLEST:
        return out
    step = max(FLAGS // count, 1)
    for low in range(0, len(rows), step):
        # Padding counts as the first triplet of the table.
        some = np.maximum(candidates[rows[low : low + step]], 0)
        found = np.zeros((len(some), count), bool)
        np.put_along_axis(found, relation_of[some], True, axis=1)
        out[low : low + step] = found.sum(axis=1)
    return out
