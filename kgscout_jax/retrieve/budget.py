"""Adaptive budgets: the fewest triplets that likely contain an answer.

A policy's logits rank candidates. Its confidence is their distance above the inclusion
threshold c, at which the inclusion probabilities q_i = 1 - exp(-exp(s_i - c)) sum to a
pivot of 10 (``policy.inclusion``). From log u_r = s_r - c of the r-th best candidate
and from its rank, a logistic map gives

    h_r = P(the r-th contains an answer | none before it does)

so that ``1 - prod(1 - h_r)`` over the K best is the probability that an answer is among
them. This is the chain rule and assumes no independence, because triplets with answers
come in groups. The three parameters of the map are maximum-likelihood estimates (a
discrete-time survival model) on questions with known answers. The network must not have
been trained on these questions: it is far more confident on its training questions.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from jaxtyping import Bool, Float, Float64, Int

from kgscout_jax.errors import UserError
from kgscout_jax.utils.buckets import bucket
from kgscout_jax.utils.manifest import as_record

if TYPE_CHECKING:
    from kgscout_jax.retrieve.protocol import Rankings

PIVOT = 10.0
"""Budget that defines the threshold; at most half of the candidates."""
RANKS = 256
"""The map is fitted on this many ranks and extrapolated beyond."""
RIDGE = 1.0
"""Penalty on the standardised slopes, against overfitting a few questions."""
STEEPEST = 20.0
"""Log-intensities are clipped to this absolute value."""
BLOCK = 64
"""Questions per batch of thresholds."""
Finite = Annotated[float, msgspec.Meta(ge=-1e300, le=1e300)]
"""A finite number."""


class Calibration(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The map from a candidate's rank and logit to the probability h_r."""

    intercept: Finite
    log_rank: Finite
    """Slope in log(rank), ranks from 1."""
    log_intensity: Finite
    """Slope in the logit above the threshold."""
    questions: Annotated[int, msgspec.Meta(ge=1)]
    """Number of questions of the fit."""
    split: str
    """The split of those questions."""

    def presence(
        self,
        logits: Float[np.ndarray, "b k"],
        threshold: Float[np.ndarray, "b"],
        lengths: Int[np.ndarray, "b"],
    ) -> Float64[np.ndarray, "b k"]:
        """The probability that an answer is among the first 1, 2, ... k candidates.

        Args:
            logits: of the best candidates, descending; ignored beyond ``lengths``.
            threshold: see ``thresholds``.
            lengths: number of candidates of each question.
        """
        x = _features(logits, threshold, lengths)
        slopes = np.array([self.intercept, self.log_rank, self.log_intensity])
        # log(1 - sigmoid(z)) = -log(1 + exp(z)): sums lose nothing near 0 or 1.
        none = -np.logaddexp(0.0, x @ slopes)
        none[np.arange(logits.shape[1]) >= lengths[:, None]] = 0.0
        return -np.expm1(np.cumsum(none, axis=1))

    def to_dict(self) -> dict[str, Any]:
        """The fields as in ``config.json`` of an export."""
        return msgspec.structs.asdict(self)

    @staticmethod
    def from_dict(value: Any, where: str = "calibration") -> Calibration:
        """The inverse of ``to_dict``.

        Raises:
            UserError: a field is missing, unknown or of another type; names the field.
        """
        return as_record(value, Calibration, where)


def thresholds(logits: Float[np.ndarray, "b n"]) -> Float64[np.ndarray, "b"]:
    """The logit with inclusion probability 1 - 1 / e at the pivot's budget.

    The budget is at most half of the candidates. Without candidates the result is 0.

    Args:
        logits: of all candidates in any order; -inf or nan as padding.
    """
    logits = np.asarray(logits, np.float32)
    mask = np.isfinite(logits)
    width = bucket(logits.shape[1], 1 << 30)
    out = np.zeros(len(logits))
    size = BLOCK if len(logits) > 1 else 1
    for low in range(0, len(logits), size):
        real = mask[low : low + size]
        rows = np.zeros((size, width), np.float32)
        rows[: len(real), : real.shape[1]] = np.where(real, logits[low : low + size], 0)
        real_mask = np.zeros((size, width), bool)
        real_mask[: len(real), : real.shape[1]] = real
        block = np.asarray(_threshold()(rows, real_mask))
        out[low : low + size] = block[: len(real)]
    return np.where(mask.any(axis=1), out, 0.0)


@cache
def _threshold():
    """The jitted threshold function of a batch of questions."""
    import jax
    import jax.numpy as jnp

    from kgscout_jax.policy.inclusion import inclusion

    def of_one(logits: jax.Array, mask: jax.Array) -> jax.Array:
        k = jnp.minimum(PIVOT, 0.5 * mask.sum(dtype=jnp.float32))
        return inclusion(logits, mask, jnp.maximum(k, 1e-3)).threshold

    return jax.jit(jax.vmap(of_one))


def _features(
    logits: Float[np.ndarray, "b k"],
    threshold: Float[np.ndarray, "b"],
    lengths: Int[np.ndarray, "b"],
) -> Float64[np.ndarray, "b k 3"]:
    """1, log of the rank and log-intensity of each of the best candidates."""
    b, k = logits.shape
    real = np.arange(k) < lengths[:, None]
    above = np.where(real, logits, 0.0).astype(np.float64) - threshold[:, None]
    rank = np.broadcast_to(np.log(np.arange(1, k + 1)), (b, k))
    above = np.clip(np.where(real, above, 0.0), -STEEPEST, STEEPEST)
    return np.stack([np.ones((b, k)), rank, above], axis=-1)


def fit_calibration(
    logits: Float[np.ndarray, "b k"],
    threshold: Float[np.ndarray, "b"],
    lengths: Int[np.ndarray, "b"],
    holds: Bool[np.ndarray, "b k"],
    *,
    split: str,
) -> Calibration:
    """The maximum-likelihood calibration.

    Args:
        logits: of the best candidates, descending.
        threshold: see ``thresholds``.
        lengths: number of candidates of each question.
        holds: True at candidates that contain an answer.
        split: name of the questions' split.

    Raises:
        UserError: no question has an answer among its best candidates.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    k = min(RANKS, logits.shape[1])
    lengths = np.minimum(lengths, k)
    place = np.arange(k)
    holds = holds[:, :k] & (place < lengths[:, None])
    if not holds.any():
        raise UserError(
            f"calibration: no question of split {split!r} has an answer among its "
            f"{k} best candidates, expected some"
        )
    # A question has an outcome at each rank up to its first answer.
    first = np.where(holds.any(axis=1), holds.argmax(axis=1), k)
    at_risk = (place <= first[:, None]) & (place < lengths[:, None])
    x = _features(logits[:, :k], threshold, lengths)[at_risk]
    y = holds[at_risk].astype(np.float64)
    mean, deviation = x[:, 1:].mean(axis=0), x[:, 1:].std(axis=0)
    deviation[deviation < 1e-9] = 1.0
    z = np.concatenate([x[:, :1], (x[:, 1:] - mean) / deviation], axis=1)
    ridge = np.array([0.0, RIDGE, RIDGE])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        score = z @ w
        value = np.logaddexp(0.0, score).sum() - y @ score + 0.5 * ridge @ w**2
        return value, z.T @ (expit(score) - y) + ridge * w

    w = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B").x
    slopes = w[1:] / deviation
    return Calibration(
        intercept=float(w[0] - slopes @ mean),
        log_rank=float(slopes[0]),
        log_intensity=float(slopes[1]),
        questions=len(logits),
        split=split,
    )


def cross_fitted_presence(
    logits: Float[np.ndarray, "b k"],
    threshold: Float[np.ndarray, "b"],
    lengths: Int[np.ndarray, "b"],
    holds: Bool[np.ndarray, "b k"],
    *,
    split: str,
) -> Float64[np.ndarray, "b k"]:
    """``Calibration.presence`` of each half of the questions, fitted on the other half.

    No question is evaluated with a calibration that was fitted on it. Arguments and
    errors are those of ``fit_calibration``.
    """
    out = np.zeros(logits.shape)
    odd = np.arange(len(logits)) % 2 == 1
    for half in (odd, ~odd):
        rest = logits[~half], threshold[~half], lengths[~half], holds[~half]
        calibration = fit_calibration(*rest, split=split)
        out[half] = calibration.presence(logits[half], threshold[half], lengths[half])
    return out


def budgets(
    presence: Float[np.ndarray, "b k"],
    lengths: Int[np.ndarray, "b"],
    target: float,
) -> Int[np.ndarray, "b"]:
    """The fewest candidates of each question whose presence reaches ``target``.

    If none does, all of them, at most k.

    Args:
        presence: of the first 1, 2, ... k candidates.
        lengths: number of candidates of each question.
        target: above 0, below 1.
    """
    check_target(target)
    most = np.minimum(lengths, presence.shape[1])
    fewest = (presence < target).sum(axis=1) + 1
    return np.minimum(fewest, most).astype(np.int32)


def check_target(target: float) -> None:
    """Raise UserError unless ``target`` is above 0 and below 1."""
    if not 0 < target < 1:
        raise UserError(f"--target: {target}, expected a number between 0 and 1")


def truncate_rankings(rankings: Rankings, lengths: Int[np.ndarray, "b"]) -> Rankings:
    """The rankings cut to at most ``lengths`` triplets each."""
    lengths = np.minimum(lengths, rankings.lengths).astype(np.int32)
    padding = np.arange(rankings.heads.shape[1]) >= lengths[:, None]
    columns = {
        name: np.where(padding, np.int32(-1), getattr(rankings, name))
        for name in ("heads", "relations", "tails")
    }
    scores = np.where(padding, np.float32(0), rankings.scores)
    return dataclasses.replace(rankings, **columns, scores=scores, lengths=lengths)
