"""From the logit of a node to the probability that it is an answer.

P(answer) = sigmoid(slope * logit + margin * how far the node is ahead + intercept -
``DOUBT`` * doubt), fitted by maximum likelihood on questions that the policy was not
trained on (Platt scaling with a second input, see ``readings``), over the best nodes of
each question: those that people see. Questions whose answers no node holds count: all
their nodes are wrong, and the probabilities say so.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np
from jaxtyping import Bool, Float, Float64

from kgscout_jax.errors import UserError
from kgscout_jax.utils.manifest import as_record

NODES = 10
"""The best nodes of each question take part in the fit."""
BINS = 15
"""Bins of the expected calibration error (Guo et al. 2017)."""
RIDGE = 1e-3
DOUBT = 0.25
"""Log-odds of a unit of doubt, see ``ConstrainedLogits``. Not fitted: the questions of
a fit have answers, so that it would call every doubt unfounded. Chosen on the written
graphs whose errors are read (``recipes/base.md``)."""

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class AnswerScale(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The fitted map of logits to probabilities, and where answers begin."""

    slope: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    margin: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Weight of ``readings.answer_margins``."""
    intercept: float = 0.0
    threshold: Share = 0.5
    """Nodes from this probability on are answers, and the best one always is, unless
    it lies below ``abstention``."""
    share: Share = 0.0
    """Nodes less probable than this share of the best one are no answers."""
    abstention: Share = 0.5
    """Below this probability of the best node there is no answer: it would more often
    be wrong than right."""
    questions: int = 0
    """Number of questions of the fit; 0 for no fit."""
    split: str = ""
    """The split of those questions."""

    def probability(
        self,
        logits: Float[np.ndarray, "*s"],
        margins: Float[np.ndarray, "*s"],
        doubts: Float[np.ndarray, "*s"] | float = 0.0,
    ) -> Float64[np.ndarray, "*s"]:
        """P(answer) of nodes with their margins; 0 where a logit is -inf.

        ``doubts``: by how much "there is no answer" is ahead, of general policies.
        """
        z = self.slope * np.asarray(logits, np.float64) + self.intercept
        z += self.margin * margins - DOUBT * doubts
        return 0.5 * (1.0 + np.tanh(0.5 * z))

    def least(self, best: float) -> float:
        """The probability from which on nodes are answers beside one of ``best``."""
        return max(self.threshold, self.share * best)

    def to_dict(self) -> dict[str, Any]:
        """The fields as in ``config.json`` of an export."""
        return msgspec.structs.asdict(self)

    @staticmethod
    def from_dict(value: Any, where: str = "answer_scale") -> AnswerScale:
        """The inverse of ``to_dict``.

        Raises:
            UserError: a field is missing, unknown or of another type; names the field.
        """
        return as_record(value, AnswerScale, where)


def fit_answer_scale(
    logits: Float[np.ndarray, "b v"],
    margins: Float[np.ndarray, "b v"],
    is_answer: Bool[np.ndarray, "b v"],
    counts: Float[np.ndarray, "b"],
    *,
    split: str,
    doubts: Float[np.ndarray, "b v"] | None = None,
    of_set: Bool[np.ndarray, "b v"] | None = None,
) -> AnswerScale:
    """The map of maximum likelihood; the threshold and the share of the best mean F1.

    Args:
        logits: of the nodes of each question, descending; -inf as padding.
        margins: of the same nodes, see ``readings``.
        is_answer: True at gold answers.
        counts: gold answers of each question, in the graph or not.
        split: name of the questions' split.
        doubts: of the same nodes; None: none.
        of_set: of the same nodes, see ``answer_set``; None: all may be answers.

    Raises:
        UserError: no question has an answer among its best nodes.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    doubts = np.zeros_like(logits) if doubts is None else doubts
    real = np.isfinite(logits[:, :NODES])
    doubted = DOUBT * doubts[:, :NODES][real].astype(np.float64)
    y = is_answer[:, :NODES][real].astype(np.float64)
    x = np.stack([
        *(each[:, :NODES][real].astype(np.float64) for each in (logits, margins)),
        np.ones(len(y)),
    ], axis=1)  # fmt: skip
    if not y.any():
        raise UserError(
            f"calibration: no question of split {split!r} has an answer among its "
            f"{NODES} best nodes, expected some"
        )

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = x @ w - doubted
        value = np.logaddexp(0.0, score).sum() - y @ score
        ridge = RIDGE * (w - start)
        gradient = (expit(score) - y) @ x + ridge
        return value + 0.5 * ridge @ ridge / RIDGE, gradient

    start = np.array([1.0, 0.0, 0.0])
    bounds = [(1e-3, None), (0.0, None), (None, None)]
    w = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
    scale = AnswerScale(slope=w[0], margin=w[1], intercept=w[2])
    probability = scale.probability(logits, margins, doubts)
    threshold, share = best_limits(probability, is_answer, counts, of_set)
    return msgspec.structs.replace(
        scale, threshold=threshold, share=share, questions=len(logits), split=split
    )


def best_limits(
    probability: Float[np.ndarray, "b v"],
    is_answer: Bool[np.ndarray, "b v"],
    counts: Float[np.ndarray, "b"],
    of_set: Bool[np.ndarray, "b v"] | None = None,
) -> tuple[float, float]:
    """The threshold, among 0.02, 0.04, ... 0.98, and the share of the best one, among
    0, 0.1, ... 0.9, of the best mean F1.

    ``of_set``: only these nodes are in a set; None: all may be.
    """
    pairs = [(i / 50, j / 10) for j in range(10) for i in range(1, 50)]
    if of_set is not None:
        probability = probability * of_set
    found = [mean_f1(probability, is_answer, counts, *pair) for pair in pairs]
    return pairs[int(np.argmax(found))]


def mean_f1(
    probability: Float[np.ndarray, "b v"],
    is_answer: Bool[np.ndarray, "b v"],
    counts: Float[np.ndarray, "b"],
    threshold: float,
    share: float = 0.0,
) -> float:
    """Mean F1 of the sets from ``threshold`` and ``share`` of the best node on, which
    is always in the set."""
    chosen = probability >= np.maximum(threshold, share * probability[:, :1])
    chosen[:, 0] = probability[:, 0] > 0
    right = (chosen & is_answer).sum(axis=1)
    total = chosen.sum(axis=1) + counts
    return float(np.mean(np.where(total > 0, 2 * right / np.maximum(total, 1), 0.0)))


def expected_calibration_error(
    probability: Float[np.ndarray, "k"], is_right: Bool[np.ndarray, "k"]
) -> float:
    """Mean distance of probability and share in ``BINS`` bins of equal width.

    Weighted by the number of values in each bin (Guo et al. 2017, equation 3).
    """
    if not len(probability):
        return 0.0
    place = np.minimum((probability * BINS).astype(int), BINS - 1)
    gap = np.bincount(place, weights=probability - is_right, minlength=BINS)
    return float(np.abs(gap).sum() / len(probability))
