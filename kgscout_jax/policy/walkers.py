"""The walkers of the walk policy: what they follow, and where they arrive."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.policy.layers import add_bias, matmul
from kgscout_jax.policy.topology import at_both_ends, sum_at
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.policy.walk_weights import WalkerWeights

FLOW_FLOOR = 1e-4
"""Added to what walkers carry before the logarithm."""
FLOW_NONE = 1e-6
"""Added to the largest, for a walker that is stuck."""
RARE = -1.0
"""A walker's weight before training is about sigmoid(RARE)."""


def walker_weights(
    weights: WalkerWeights,
    conditions: Float[Array, "b u g"],
    question: Float[Array, "b d"],
    by_words: Float[Array, "b u f"] | None = None,
) -> Float[Array, "b u f"]:
    """How readily each walker follows each unique relation, in (0, 1).

    f = steps * 2 * walkers, as in ``WalkerWeights.output``.
    """
    row = weights.bias[None]
    if weights.question is not None:
        row = row + question @ weights.question
    if weights.hidden is not None and weights.hidden_output is not None:
        layer = add_bias(question @ weights.hidden.kernel, weights.hidden.bias)
        row = row + jax.nn.gelu(layer) @ weights.hidden_output
    hidden = jax.nn.gelu(conditions + row[:, None])
    out = matmul(hidden, weights.output.kernel, jnp.float32)
    out = add_bias(out, weights.output.bias)
    if by_words is not None:
        out = out + by_words
    return jax.nn.sigmoid(out + RARE)


def walk(
    follow: Float[Array, "b n f"],
    nodes: Int[Array, "b n 2"],
    topics: Bool[Array, "b v"],
    mask: Bool[Array, "b n"],
    config: WalkConfig,
    returns: Float[Array, "c"] | None,
) -> tuple[Float[Array, "b n o"], Float[Array, "b v h"]]:
    """What the walkers carry over each candidate and hold at each node, as logarithms.

    A walker holds 1 at each topic. At a step each candidate takes what its head holds,
    times its weight, to its tail, and what its tail holds, times the other weight, to
    its head; what arrives is summed and divided by the walker's largest, so that hubs
    and long walks stay in range. With gates, what arrives at a topic counts as at most
    the largest elsewhere, and the walker's gate says how much of it goes on.

    Shapes:
        follow: weights of each candidate, f = steps * 2 * walkers.
        returns: logits of the walkers' gates; None for walks without.
        returns: o = 2 * walkers * (steps + 1) columns: for each step what goes along
            the candidate and against it; then what its head and tail hold in the end.
            h = steps * walkers columns: what each node holds after each step.
    """
    (b, n), v, c = mask.shape, topics.shape[1], config.walkers
    follow = follow * mask[..., None]
    follow = follow.reshape(b, n, config.steps, 2, c)
    mass = jnp.broadcast_to(topics[..., None].astype(jnp.float32), (b, v, c))
    start = topics[..., None]
    other_ends = nodes[..., ::-1].reshape(b, 2 * n)
    columns, held = [], []
    for step in range(config.steps):
        moving = mass
        if returns is not None and step:
            moving = jnp.where(start, mass * jax.nn.sigmoid(returns)[None, None], mass)
        # What heads hold goes along, to the tails; what tails hold, the other way.
        carried = at_both_ends(moving, nodes) * follow[:, :, step].reshape(b, n, -1)
        columns.append(carried)
        inflow = sum_at(carried.reshape(b, 2 * n, c), other_ends, v)
        elsewhere = inflow if returns is None else jnp.where(start, 0.0, inflow)
        mass = inflow / (elsewhere.max(axis=1, keepdims=True) + FLOW_NONE)
        if returns is not None:
            mass = jnp.minimum(mass, 1.0)
        held.append(mass)
    columns.append(at_both_ends(mass, nodes))
    return log_scale(columns), log_scale(held)


def log_scale(columns: list[Float[Array, "b m c"]]) -> Float[Array, "b m w"]:
    """Masses side by side, from about -1.3 for nothing to 1 for the most."""
    return 1.0 + jnp.log(jnp.concatenate(columns, axis=-1) + FLOW_FLOOR) / 4
