"""How far probabilities of answers can be trusted: abstention, calibration, routing.

Selective answering (El-Yaniv and Wiener 2010; Geifman and El-Yaniv 2017): questions
are answered in order of falling confidence, the rest is left unanswered. Questions of
equal confidence are answered together; inside such a group the area counts the mean
over all orders, so that no figure depends on the order of a file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float64, Int

from kgscout_jax.retrieve.answer_scale import BINS

POINTS = 100
"""The most points of a curve in ``metrics.json``."""


class RiskCoverage(NamedTuple):
    """Accuracy of the answered questions against the share that is answered."""

    coverage: Float64[np.ndarray, "c"]
    """Share of questions answered, ascending, one per distinct confidence."""
    accuracy: Float64[np.ndarray, "c"]
    """Mean figure of the answered questions."""
    confidence: Float64[np.ndarray, "c"]
    """Questions from this confidence on are answered."""
    area: float
    """Mean accuracy over all numbers of answered questions; 1 minus the area under
    the risk-coverage curve."""


def risk_coverage(
    confidence: Float[np.ndarray, "q"], right: Float[np.ndarray, "q"]
) -> RiskCoverage:
    """The curve of questions that are answered in order of falling confidence.

    Args:
        confidence: probability of each question's best answer; 0 for no answer.
        right: figure of each question in [0, 1], such as Hits@1.
    """
    last, value, order = _groups(-confidence)
    figures = np.asarray(right, np.float64)[order]
    count = np.arange(1, len(order) + 1)
    accuracy = (np.cumsum(figures) / count)[last]
    size = np.diff(np.concatenate([[-1], last]))
    total = np.cumsum(figures)[last]
    means = np.diff(np.concatenate([[0.0], total])) / size
    area = (np.cumsum(np.repeat(means, size)) / count).mean() if len(order) else 0.0
    return RiskCoverage((last + 1) / max(1, len(order)), accuracy, -value, float(area))


class Routing(NamedTuple):
    """Accuracy against the share of questions that a language model answers."""

    share: Float64[np.ndarray, "c"]
    """Share of questions sent to the model, ascending from 0."""
    accuracy: Float64[np.ndarray, "c"]
    """Mean figure of all questions."""
    below: Float64[np.ndarray, "c"]
    """Questions below or at this confidence are sent; -1 where none is."""


def routing(
    confidence: Float[np.ndarray, "q"],
    graph: Float[np.ndarray, "q"],
    model: Float[np.ndarray, "q"],
) -> Routing:
    """The curve of questions sent to a model in order of rising confidence.

    It ends before the first question that the model was not asked.

    Args:
        confidence: probability of each question's best answer from the graph.
        graph: figure of the graph's answers to each question.
        model: figure of the model's; nan where it was not asked.
    """
    last, value, order = _groups(confidence)
    gain = (np.asarray(model, np.float64) - graph)[order]
    accuracy = (np.sum(graph) + np.cumsum(gain)[last]) / max(1, len(order))
    asked = ~np.isnan(accuracy)
    start = float(np.mean(graph)) if len(order) else 0.0
    return Routing(
        np.concatenate([[0.0], (last + 1)[asked] / max(1, len(order))]),
        np.concatenate([[start], accuracy[asked]]),
        np.concatenate([[-1.0], value[asked]]),
    )


def _groups(
    key: Float[np.ndarray, "q"],
) -> tuple[Int[np.ndarray, "c"], Float64[np.ndarray, "c"], Int[np.ndarray, "q"]]:
    """Last place of each distinct key in ascending order, the keys, and the order."""
    order = np.argsort(key, kind="stable")
    ordered = np.asarray(key, np.float64)[order]
    last = np.flatnonzero(np.append(np.diff(ordered) > 0, True)[: len(ordered)])
    return last, ordered[last], order


class Reliability(NamedTuple):
    """Mean probability and share of right answers in bins of equal width."""

    probability: Float64[np.ndarray, "c"]
    """Mean probability of each bin that is not empty, ascending."""
    share: Float64[np.ndarray, "c"]
    """Share of right answers in it."""
    size: Int[np.ndarray, "c"]
    """Number of values in it."""


def reliability(
    probability: Float[np.ndarray, "k"], is_right: Bool[np.ndarray, "k"]
) -> Reliability:
    """The bins of ``expected_calibration_error`` that are not empty."""
    place = np.minimum((np.asarray(probability) * BINS).astype(int), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    some = count > 0
    mean, share = (
        np.bincount(place, weights=values, minlength=BINS)[some] / count[some]
        for values in (probability, is_right)
    )
    return Reliability(mean, share, count[some])


def thin(points: int, most: int = POINTS) -> Int[np.ndarray, "c"]:
    """Positions of at most ``most`` of so many points, the first and last included."""
    return np.unique(np.linspace(0, points - 1, min(points, most)).round().astype(int))
