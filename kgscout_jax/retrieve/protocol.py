"""Retrievers and rankings: by descending score, ties by triplet id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int, Int32

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.retrieve.name_space import NameSpace


@dataclass(frozen=True, kw_only=True)
class Rankings:
    """Ranked triplets of every question of a split, best first.

    Shapes: b questions in the order of the split, k ranks; beyond ``lengths`` ids are
    -1 and scores 0.
    """

    retriever: str
    heads: Int32[np.ndarray, "b k"]
    relations: Int32[np.ndarray, "b k"]
    tails: Int32[np.ndarray, "b k"]
    scores: Float32[np.ndarray, "b k"]
    """Scores of the retriever; only comparable within a question."""
    lengths: Int32[np.ndarray, "b"]
    seconds: Float64[np.ndarray, "b"]
    """Time to rank each question, encoding excluded; nan where it is unknown."""
    names: NameSpace | None = None
    """The name space of the ids; None for that of the shards."""
    keeps_all: bool = False
    """All triplets count regardless of K (the ceiling)."""
    notes: Mapping[str, int | float | str] = field(default_factory=dict)
    """Counts and settings to print beside the metrics, by short name."""
    traces: Sequence[str] = ()
    """How each question's triplets were found, for people; () where nobody says."""

    def __len__(self) -> int:
        return len(self.lengths)


@runtime_checkable
class Retriever(Protocol):
    """A method that ranks the triplets of a split's questions."""

    @property
    def name(self) -> str:
        """The key in ``metrics.json`` and the row's name in tables."""
        ...

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` triplets for each question, best first."""
        ...


def top_k(
    scores: Float[np.ndarray, "b n"],
    mask: Bool[np.ndarray, "b n"],
    triplet_ids: Int[np.ndarray, "b n"],
    k: int,
) -> tuple[Int32[np.ndarray, "b k"], Int32[np.ndarray, "b"]]:
    """Positions of the k best of each row, -1 as padding, and their number.

    The order is descending score, then ascending triplet id, on every machine. Scores
    are compared as float32, as files store them. NaN is never ranked.

    Args:
        scores: finite or infinite numbers are ranked.
        mask: True at candidates.
        triplet_ids: ties go to the lower one.
        k: at least 1; may exceed n.

    Returns:
        positions: into the columns of ``scores``.
        lengths: min(k, candidates whose score is a number).
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    scores = np.asarray(scores, np.float32)
    ranks = np.asarray(mask, bool) & ~np.isnan(scores)
    order = np.lexsort((triplet_ids, -scores, ~ranks), axis=-1)[:, :k]
    lengths = np.minimum(ranks.sum(axis=1), k).astype(np.int32)
    positions = np.full((len(scores), k), -1, np.int32)
    positions[:, : order.shape[1]] = order
    positions[np.arange(k) >= lengths[:, None]] = -1
    return positions, lengths


def holds_answer(split: Split, rows: Int[np.ndarray, "q"]) -> Bool[np.ndarray, "q n"]:
    """True at candidates with a gold answer as head or tail."""
    nodes = np.asarray(split.nodes[rows]).astype(np.int64)
    answers = np.asarray(split.answers[rows])
    width = int(split.n_nodes[rows].max(initial=1))
    is_answer = np.zeros((len(rows), width), bool)
    owner, _ = np.nonzero(answers >= 0)
    is_answer[owner, answers[answers >= 0]] = True
    ends = is_answer[np.arange(len(rows))[:, None, None], nodes]
    return ends.any(axis=2) & (np.asarray(split.candidates[rows]) >= 0)


def rank_candidates(
    retriever: str,
    shards: Shards,
    split: Split,
    scores: Float[np.ndarray, "b n"],
    k: int,
    *,
    seconds: Float64[np.ndarray, "b"] | None = None,
) -> Rankings:
    """The k best candidates of each question by score, as rankings.

    Args:
        retriever: its name.
        shards: the folder of the split.
        split: the questions.
        scores: one per candidate slot; padding slots are ignored, NaN is never ranked.
        k: the most triplets per question.
        seconds: time to rank each question; None if not measured.
    """
    ids = np.asarray(split.candidates)
    if scores.shape != ids.shape:
        raise ValueError(f"scores have shape {scores.shape}, candidates {ids.shape}")
    positions, lengths = top_k(scores, ids >= 0, ids, k)
    return rank_positions(
        retriever, shards, split, positions, lengths, scores, seconds=seconds
    )


def rank_positions(
    retriever: str,
    shards: Shards,
    split: Split,
    positions: Int[np.ndarray, "b k"],
    lengths: Int[np.ndarray, "b"],
    scores: Float[np.ndarray, "b n"],
    *,
    seconds: Float64[np.ndarray, "b"] | None = None,
    keeps_all: bool = False,
) -> Rankings:
    """Rankings of candidate positions in their order.

    Args:
        retriever: its name.
        shards: the folder of the split.
        split: the questions.
        positions: columns of ``split.candidates``, best first, -1 as padding.
        lengths: number of positions in each row.
        scores: one per candidate slot.
        seconds: time to rank each question; None if not measured.
        keeps_all: see ``Rankings``.
    """
    real = positions >= 0
    rows = np.zeros((*positions.shape, 3), np.int32)
    top_scores = np.zeros(positions.shape, np.float32)
    if split.candidates.shape[1]:
        at = np.maximum(positions, 0)
        ids = np.take_along_axis(np.asarray(split.candidates), at, axis=1)
        rows[real] = np.asarray(shards.triplets)[ids[real]]
        top_scores = np.take_along_axis(np.asarray(scores, np.float32), at, axis=1)
        top_scores[~real] = 0
    rows[~real] = -1
    if seconds is None:
        seconds = np.full(len(positions), np.nan)
    return Rankings(
        retriever=retriever,
        heads=rows[..., 0],
        relations=rows[..., 1],
        tails=rows[..., 2],
        scores=top_scores,
        lengths=np.asarray(lengths, np.int32),
        seconds=seconds,
        keeps_all=keeps_all,
    )
