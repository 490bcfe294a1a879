"""What the shape of the candidate graph says of a candidate, inside jit.

All functions take b questions with n candidates and v local nodes. Padding is masked
out of every sum; a node that no candidate touches has zeros.

Both ends of all candidates are gathered, or summed at, in one call: on an accelerator a
gather or scatter costs a launch each, whatever it moves.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.policy.layers import gather_rows

DISTANCE_ROUNDS = 2
"""Rounds of ``topic_distances`` along the edges, and against them."""
DISTANCE_WIDTH = 2 * (1 + 2 * DISTANCE_ROUNDS)
"""Columns of ``topic_distances``."""


def sum_at(
    values: Float[Array, "b n c"], ends: Int[Array, "b n"], n_nodes: int
) -> Float[Array, "b v c"]:
    """Sums over the candidates whose end is each node; padding must hold zeros."""
    zeros = jnp.zeros((n_nodes, values.shape[-1]), values.dtype)
    return jax.vmap(lambda rows, index: zeros.at[index].add(rows))(values, ends)


def topic_distances(
    nodes: Int[Array, "b n 2"], topics: Bool[Array, "b v"], mask: Bool[Array, "b n"]
) -> Float[Array, "b n f"]:
    """``node_distances`` of both ends of each candidate, f = ``DISTANCE_WIDTH``."""
    return at_both_ends(node_distances(nodes, topics, mask), nodes)


def at_both_ends(
    of_nodes: Float[Array, "b v c"], nodes: Int[Array, "b n 2"]
) -> Float[Array, "b n f"]:
    """Of each candidate the columns of its head, then those of its tail: f = 2 c."""
    b, n, _ = nodes.shape
    return gather_rows(of_nodes, nodes.reshape(b, 2 * n)).reshape(b, n, -1)


def node_distances(
    nodes: Int[Array, "b n 2"], topics: Bool[Array, "b v"], mask: Bool[Array, "b n"]
) -> Float[Array, "b v c"]:
    """Directional distance encoding of the topics, of each node: c columns.

    Whether it is a topic; then the mean over its incoming edges of what their heads
    had, twice; then the same over its outgoing edges and their tails (SubgraphRAG, Li
    et al. 2025, section 3.1).
    """
    head, tail = nodes[..., 0], nodes[..., 1]
    v = topics.shape[1]
    real = jnp.concatenate([mask, mask], axis=1)[..., None].astype(jnp.float32)
    start = topics[..., None].astype(jnp.float32)
    # The nodes twice: as what incoming edges reach, then as what outgoing do.
    source = jnp.concatenate([head, tail + v], axis=1)
    target = jnp.concatenate([tail, head + v], axis=1)
    # Degrees and the first round in one scatter: it costs by rows, not by columns.
    first = gather_rows(jnp.concatenate([start, start], axis=1), source) * real
    sums = sum_at(jnp.concatenate([real, first], axis=-1), target, 2 * v)
    degree, current = jnp.maximum(sums[..., :1], 1.0), sums[..., 1:]
    rounds = [current := current / degree]
    for _ in range(DISTANCE_ROUNDS - 1):
        current = sum_at(gather_rows(current, source) * real, target, 2 * v) / degree
        rounds.append(current)
    both = jnp.concatenate(rounds, axis=-1)
    return jnp.concatenate([start, both[:, :v], both[:, v:]], axis=-1)
