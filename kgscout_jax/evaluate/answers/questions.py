"""The questions of a batch: a whole split, or a draw that represents it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int64

from kgscout_jax.data.shards import Split
from kgscout_jax.errors import UserError
from kgscout_jax.utils.ragged import Ragged


def draw_order(split: Split, seed: int) -> Int64[np.ndarray, "b"]:
    """Rows of a split in an order whose every beginning is a fair draw.

    Questions are shuffled within their number of hops, then spread evenly: among the
    first n, every number of hops has about its share. A smaller draw is the beginning
    of a larger one with the same seed.
    """
    rng = np.random.default_rng(seed)
    hops = np.array([-1 if q.hop is None else q.hop for q in split.questions], np.int64)
    place = np.empty(len(hops))
    for hop in np.unique(hops):
        rows = np.flatnonzero(hops == hop)
        place[rng.permutation(rows)] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return np.argsort(place, kind="stable")


def limits_by_k(ks: Sequence[int], limit: Sequence[int]) -> dict[int, int | None]:
    """K, ascending -> how many questions are read at it; None: all.

    Raises:
        UserError: a K or a limit is below 1, or there is neither one limit nor one
            per K.
    """
    if not ks:
        raise UserError("--k: found nothing, expected at least one number")
    for flag, values in (("--k", ks), ("--limit", limit)):
        for value in values:
            if value < 1:
                raise UserError(f"{flag}: found {value}, expected at least 1")
    if len(limit) not in (0, 1, len(ks)):
        raise UserError(
            f"--limit: {len(limit)} numbers for {len(ks)} of --k, expected one for "
            "all or one each"
        )
    numbers = list(limit) * (len(ks) if len(limit) == 1 else 1) or [None] * len(ks)
    limits: dict[int, int | None] = {}
    for k, number in sorted(zip(ks, numbers, strict=True), key=lambda pair: pair[0]):
        if limits.setdefault(k, number) != number:
            raise UserError(f"--k: {k} twice, with limits {limits[k]} and {number}")
    return limits


def take_questions(split: Split, rows: Int64[np.ndarray, "q"]) -> Split:
    """The questions ``rows`` of a split, in that order, as a split of its own."""

    def take(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return np.asarray(value[rows])
        if isinstance(value, dict):
            return {key: take(each) for key, each in value.items()}
        counts = np.diff(np.asarray(value.offsets))[rows]
        return Ragged.of_counts(value.rows(rows)[1], counts)

    # by the fields that there are: whatever a split holds, it holds per question
    fields = {field.name for field in dataclasses.fields(split)}
    return dataclasses.replace(
        split,
        questions=[split.questions[row] for row in rows],
        **{name: take(getattr(split, name)) for name in fields - {"name", "questions"}},
    )
