"""Sampling k candidates without replacement, and the probability of what was drawn.

Drawing one candidate after the other from softmax(logits), each time among those that
are left (thesis 3.3.2), is the Plackett-Luce distribution. Adding Gumbel noise once and
taking the k largest draws from it exactly, in the same order (Yellott 1977; Kool et
al. 2019, "Stochastic Beams and Where to Find Them").

All functions take one question; callers ``vmap`` over questions and samples. A question
with fewer real candidates than k gets all of them and a mask over the surplus.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, Key

LOWEST = -1e30
"""Stands for -inf inside: finite, so that no inf - inf arises in values or gradients.

A real candidate whose logit is below it is drawn after all others, never lost."""


def gumbel_top_k(
    key: Key[Array, ""], logits: Float[Array, "n"], mask: Bool[Array, "n"], k: int
) -> tuple[Int32[Array, "k"], Bool[Array, "k"]]:
    """k candidates in the order in which they were drawn, and which of them are real.

    Shapes:
        logits, mask: [n]; what stands outside the mask is ignored.
        returns: [k], [k]; where the second is False, the first is any valid index.
    """
    # "high" keeps the right tail, where the largest of n is decided, free of ties.
    noise = jax.random.gumbel(key, logits.shape, jnp.float32, mode="high")
    return greedy_top_k(logits.astype(jnp.float32) + noise, mask, k)


def greedy_top_k(
    logits: Float[Array, "n"], mask: Bool[Array, "n"], k: int
) -> tuple[Int32[Array, "k"], Bool[Array, "k"]]:
    """The k real candidates of highest logit, descending, ties by position.

    Shapes: as in ``gumbel_top_k``.
    """
    n = logits.shape[0]
    floored = jnp.where(mask, jnp.maximum(logits, LOWEST), -jnp.inf)
    _, indices = jax.lax.top_k(floored, min(k, n))
    selected_mask = mask[indices]
    surplus = (0, max(k - n, 0))
    return jnp.pad(indices, surplus), jnp.pad(selected_mask, surplus)


def plackett_luce_log_prob(
    logits: Float[Array, "n"],
    mask: Bool[Array, "n"],
    indices: Int32[Array, "k"],
    selected_mask: Bool[Array, "k"],
) -> Float[Array, ""]:
    """log-probability of drawing ``indices`` in this order, without replacement.

    The sum over positions j of ``l_j - logsumexp(l of all that are left at j)``. Those
    left at j are the never drawn and the drawn from j on: one logsumexp over the former
    and a reverse cumulative one over the latter. Nothing is subtracted, so a draw that
    leaves almost no mass loses no digits. 0 when nothing was drawn.

    Shapes:
        logits, mask: [n]; indices, selected_mask: [k], as ``gumbel_top_k`` gives them.
    """
    logits = jnp.where(mask, logits.astype(jnp.float32), LOWEST)
    logits = jnp.maximum(logits, LOWEST)
    # max, not set: a surplus position may repeat the index of a real one.
    sample_mask = jnp.zeros(mask.shape, bool).at[indices].max(selected_mask)
    rest_logits = jnp.where(mask & ~sample_mask, logits, LOWEST)
    sample_logits = jnp.where(selected_mask, logits[indices], LOWEST)
    later = jax.lax.cumlogsumexp(sample_logits, axis=0, reverse=True)
    log_mass = jnp.logaddexp(later, jax.nn.logsumexp(rest_logits))
    return jnp.sum(jnp.where(selected_mask, sample_logits - log_mass, 0.0))


def categorical_entropy(
    logits: Float[Array, "n"], mask: Bool[Array, "n"]
) -> Float[Array, ""]:
    """Entropy in nats of softmax(logits) over the real candidates: of the first draw.

    0 when there is none. Shapes: [n], [n].
    """
    logits = jnp.where(mask, logits.astype(jnp.float32), LOWEST)
    log_probs = jax.nn.log_softmax(jnp.maximum(logits, LOWEST))
    # p log p -> 0, whereas exp(-1e30) * -1e30 is right by luck only: cut it off.
    terms = jnp.where(mask & (log_probs > -80.0), log_probs, 0.0)
    return -jnp.sum(jnp.exp(log_probs) * terms)
