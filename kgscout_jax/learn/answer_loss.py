"""The loss of the answer head: which nodes are answers, first and all of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


def answer_loss(
    logits: Float[Array, "v"], answers: Int[Array, "a"]
) -> Float[Array, ""]:
    """Loss of one question: listwise for the first answer, and of every node alone.

    The first is minus the log-probability that a softmax over the nodes gives to the
    answers together; 0 where no candidate touches an answer. The second is the sum of
    the nodes' binary cross-entropies, divided by one more than the number of answers,
    so that a question with a hundred answers weighs as much as one with a single one.
    A question without an answer among its nodes has only the second: it learns to
    abstain.

    Args:
        logits: of the nodes; -inf where no candidate touches them.
        answers: local node ids, -1 as padding.
    """
    is_real = jnp.isfinite(logits)
    is_answer = node_mask(answers, len(logits)) & is_real
    count = is_answer.sum()
    some = count > 0
    # Double where: -inf must not reach a gradient.
    safe = jnp.where(is_real, logits, 0.0)
    among = masked_logsumexp(safe, is_answer | ~some)
    listwise = jnp.where(some, masked_logsumexp(safe, is_real) - among, 0.0)
    losses = jax.nn.softplus(jnp.where(is_answer, -safe, safe))
    return listwise + jnp.where(is_real, losses, 0.0).sum() / (1.0 + count)


def node_mask(ids: Int[Array, "a"], v: int) -> Bool[Array, "v"]:
    """True at the nodes ``ids``, of which -1 is padding."""
    real = ids >= 0
    return jnp.zeros(v, bool).at[jnp.maximum(ids, 0)].max(real)


def masked_logsumexp(
    values: Float[Array, "v"], mask: Bool[Array, "v"]
) -> Float[Array, ""]:
    """log of the sum of exp over the mask; very low where the mask is empty."""
    return jax.nn.logsumexp(jnp.where(mask, values, -1e9))
