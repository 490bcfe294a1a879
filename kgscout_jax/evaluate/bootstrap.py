"""Bootstrap intervals over questions, many columns at once.

The percentile bootstrap of a mean (Efron and Tibshirani, 1993, chapter 13). A paired
comparison is the bootstrap of per-question differences: both systems are measured on
the same resampled questions. A resample is a vector of counts per question, so that all
columns cost one matrix product, in chunks of bounded size.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float64, Int64

K = TypeVar("K", bound=Hashable)

RESAMPLES = 1000
LEVEL = 0.95
CHUNK = 1 << 20
"""Draws per chunk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A mean over questions with its interval; None throughout where n is 0."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Number of questions that count."""


def bootstrap_means(
    columns: Float64[np.ndarray, "b c"],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Estimate]:
    """The mean of each column with its interval, over the rows that are not nan.

    The draws depend only on ``seed`` and on the number of rows that count: the interval
    of a column does not depend on the others.

    Args:
        columns: one row per question, nan where it does not count.
        seed: seed of the resampling.
        resamples: number of resamples.
        level: share of the resampled means inside the interval.
    """
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"resamples {resamples}, level {level}")
    counts = ~np.isnan(columns)
    groups: dict[bytes, list[int]] = {}
    for c in range(columns.shape[1]):
        groups.setdefault(np.packbits(counts[:, c]).tobytes(), []).append(c)
    estimates: dict[int, Estimate] = {}
    tails = 50 * (1 - level), 100 - 50 * (1 - level)
    for members in groups.values():
        values = columns[counts[:, members[0]]][:, members]
        n = len(values)
        if n == 0:
            empty = Estimate(value=None, low=None, high=None, n=0)
            estimates |= dict.fromkeys(members, empty)
            continue
        low, high = np.percentile(_resampled_means(values, seed, resamples), tails, 0)
        for c, *figures in zip(members, values.mean(axis=0), low, high, strict=True):
            value, bottom, top = map(float, figures)
            estimates[c] = Estimate(value=value, low=bottom, high=top, n=n)
    return [estimates[c] for c in range(columns.shape[1])]


def estimates(
    columns: Mapping[K, Float64[np.ndarray, "b"]],
    *,
    scale: float = 1.0,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> dict[K, dict[str, Any]]:
    """Key -> the estimate of its column, as in ``metrics.json``.

    Args:
        columns: one value per question, nan where it does not count.
        scale: factor of every value: 100 for percentages.
        seed: seed of the resampling.
        resamples: number of resamples.
        level: share of the resampled means inside the interval.
    """
    table = scale * np.stack(list(columns.values()), axis=1)
    means = bootstrap_means(table, seed=seed, resamples=resamples, level=level)
    return {key: asdict(one) for key, one in zip(columns, means, strict=True)}


def as_difference(estimate: Mapping[str, Any]) -> dict[str, Any]:
    """An estimate of differences, with ``difference`` as the key of its value."""
    return {"difference" if k == "value" else k: v for k, v in estimate.items()}


def relative_gain(
    values: Float64[np.ndarray, "b"], reference: Float64[np.ndarray, "b"]
) -> float | None:
    """(mean - reference mean) / reference mean, where both count; None over 0.

    The arrow in the thesis's table 4.4.
    """
    both = ~np.isnan(values) & ~np.isnan(reference)
    if not both.any() or (base := float(reference[both].mean())) == 0:
        return None
    return (float(values[both].mean()) - base) / base


def _resampled_means(
    values: Float64[np.ndarray, "n c"], seed: int, resamples: int
) -> Float64[np.ndarray, "r c"]:
    rng = np.random.default_rng(seed)
    n = len(values)
    means = np.empty((resamples, values.shape[1]))
    step = max(1, CHUNK // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        draws: Int64[np.ndarray, "r n"] = rng.integers(0, n, (size, n))
        draws += n * np.arange(size)[:, None]
        times = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        means[start : start + size] = times.astype(np.float64) @ values / n
    return means
