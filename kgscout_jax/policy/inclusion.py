"""Inclusion probabilities of a Gumbel-top-k policy in closed form, differentiable.

With logits s_i, let u_i = exp(s_i - c) and q_i = 1 - exp(-u_i), with the threshold c
chosen so that the q_i of the real candidates sum to k. Read the Gumbel-perturbed logits
as arrival times of independent exponential clocks of rate exp(s_i): q_i is the chance
that clock i has rung when k of them are expected to have rung. It approximates the
chance that Plackett-Luce sampling of k selects candidate i (Plackett-Luce stops at the
k-th ring, whenever that is) and is exact for Poisson sampling, in which candidates are
independent. So the chance that one of a set is selected is
``1 - prod(1 - q_i) = 1 - exp(-sum u_i)``, and its gradient needs no samples.

All functions take one question; callers ``vmap``.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

MOST_TURNS = 40
"""Of the search for the threshold; as halvings alone, more than float32 tells apart."""
CLOSE = 5e-7
"""A step below this share of the threshold, or of 1, ends the search."""

WIDEST = 1e3
"""Logits further below the highest count as if this far: the bracket stays finite."""

CERTAIN = 30.0
"""Intensity of a candidate that is surely selected: 1 - exp(-30) is 1 in float32."""


class Inclusion(NamedTuple):
    """The Poissonised top-k of one question; 0 outside the mask."""

    intensity: Float[Array, "n"]
    """u_i = exp(s_i - c): sums over sets of candidates, see ``presence``."""
    probability: Float[Array, "n"]
    """q_i = 1 - exp(-u_i): sums to k, or to n_real where that is at most k."""
    threshold: Float[Array, ""]
    """c, differentiable in the logits; -inf where every candidate is selected."""


class Search(NamedTuple):
    """Where the threshold lies."""

    turn: Int[Array, ""]
    low: Float[Array, ""]
    high: Float[Array, ""]
    threshold: Float[Array, ""]
    """The latest guess."""
    moved: Bool[Array, ""]
    """Whether it differs from the one before."""


def inclusion(
    logits: Float[Array, "n"], mask: Bool[Array, "n"], k: Float[Array, ""] | float
) -> Inclusion:
    """The probability that each candidate is among the k selected ones.

    Differentiable in ``logits``, through c as well: from sum q_i = k follows
    dc/ds_j = w_j / sum w with w_i = u_i exp(-u_i). First derivatives only; ``k`` is a
    constant. Where n_real <= k all are selected: q = 1, and no gradient.

    Shapes:
        logits, mask: [n]; what stands outside the mask is ignored.
        k: a scalar above 0, which may be traced: one compilation serves every budget.
    """
    k = jax.lax.stop_gradient(jnp.asarray(k, jnp.float32))
    n_real = mask.sum(dtype=jnp.float32)
    take_all = n_real <= k
    active = mask & ~take_all
    # Inactive logits become 0 before any exp: a double where, so that their inf or nan
    # cannot reach the gradient.
    logits = jnp.where(active, logits.astype(jnp.float32), 0.0)
    peak = jax.lax.stop_gradient(jnp.max(jnp.where(active, logits, -jnp.inf)))
    peak = jnp.where(active.any(), peak, 0.0)
    # Relative to the peak, a large common offset of the logits costs no digits.
    logits = jnp.where(active, jnp.maximum(logits - peak, -WIDEST), 0.0)
    constant = jax.lax.stop_gradient(logits)
    root = solve_threshold(constant, active, jnp.where(take_all, 0.5 * n_real, k))

    # c = root in value, with the implicit gradient. The weights are a softmax of
    # log w_i = x_i - exp(x_i): for k far below or near n_real every w_i may underflow.
    offset = jnp.minimum(constant - root, CERTAIN)
    log_weight = jnp.where(active, offset - jnp.exp(offset), -jnp.inf)
    weight = jax.nn.softmax(jnp.where(active.any(), log_weight, 0.0))
    weight = jnp.where(active, weight, 0.0)
    threshold = root + jnp.sum(weight * (logits - constant))

    # Above CERTAIN q is 1 to the last bit; exp without the bound would overflow.
    offset = jnp.minimum(logits - threshold, CERTAIN)
    intensity = jnp.where(active, jnp.exp(jnp.where(active, offset, 0.0)), 0.0)
    intensity = jnp.where(mask & take_all, CERTAIN, intensity)
    threshold = jnp.where(take_all, -jnp.inf, threshold + peak)
    return Inclusion(intensity, -jnp.expm1(-intensity), threshold)


def solve_threshold(
    logits: Float[Array, "n"], mask: Bool[Array, "n"], k: Float[Array, ""]
) -> Float[Array, ""]:
    """c with sum over the mask of 1 - exp(-exp(s_i - c)) = k.

    Newton's method on the logarithm of the smaller side, the selected or the rest, each
    of which is nearly exponential in c where it is small. A step that leaves the
    bracket is replaced by a halving of it. Few turns: each is a handful of launches on
    an accelerator.

    The highest logit is 0, and it is 0 outside the mask.
    Needs 0 < k < number of real candidates; otherwise some finite number.
    """
    n_real = jnp.maximum(mask.sum(dtype=jnp.float32), 1.0)
    share = jnp.clip(k / n_real, 1e-7, 1.0 - 1e-7)
    k = share * n_real
    is_small = 2 * k < n_real
    aim = jnp.log(jnp.where(is_small, k, n_real - k))
    # Upper end: q_i <= u_i, so k <= sum u. Lower end: every u_i >= -log(1 - k / n).
    total = jnp.sum(jnp.where(mask, jnp.exp(logits), 0.0))
    high = jnp.log(jnp.maximum(total, 1e-30)) - jnp.log(k)
    low = jnp.min(logits) - jnp.log(-jnp.log1p(-share))

    def turn(search: Search) -> Search:
        low, high, c = search.low, search.high, search.threshold
        u = jnp.exp(jnp.minimum(logits - c, CERTAIN))
        left = jnp.exp(-u)
        # Sum the smaller side: a sum near n hides a small rest.
        side = jnp.where(is_small, -jnp.expm1(-u), left)
        side = jnp.sum(jnp.where(mask, side, 0.0))
        slope = jnp.sum(jnp.where(mask, u * left, 0.0))
        excess = jnp.log(jnp.maximum(side, 1e-30)) - aim
        excess = jnp.where(is_small, excess, -excess)
        above = excess > 0
        low, high = jnp.where(above, c, low), jnp.where(above, high, c)
        newton = c + excess * side / jnp.maximum(slope, 1e-30)
        inside = (newton >= low) & (newton <= high)
        following = jnp.where(inside, newton, 0.5 * (low + high))
        moved = jnp.abs(following - c) > CLOSE * jnp.maximum(jnp.abs(c), 1.0)
        return Search(search.turn + 1, low, high, following, moved)

    def goes_on(search: Search) -> Bool[Array, ""]:
        return search.moved & (search.turn < MOST_TURNS)

    first = jnp.where(is_small, high, 0.5 * (low + high))
    start = Search(jnp.int32(0), low, high, first, jnp.bool_(True))
    return jax.lax.while_loop(goes_on, turn, start).threshold


def presence(
    intensity: Float[Array, "n"],
    head: Int[Array, "n"],
    tail: Int[Array, "n"],
    mask: Bool[Array, "n"],
    n_nodes: int,
) -> Float[Array, "n_nodes"]:
    """The probability that each node is an end of a selected triplet.

    ``1 - exp(-sum of u)`` over the triplets that hold the node; a self-loop holds its
    node once. Exact for independent candidates.

    Shapes:
        intensity, head, tail, mask: [n], node ids from 0 to n_nodes - 1.
        returns: [n_nodes]; ``n_nodes`` is static.
    """
    at_head = jnp.where(mask, intensity, 0.0)
    at_tail = jnp.where(head == tail, 0.0, at_head)
    total = jnp.zeros(n_nodes, at_head.dtype).at[head].add(at_head)
    return -jnp.expm1(-total.at[tail].add(at_tail))
