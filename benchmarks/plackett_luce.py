"""What Plackett-Luce sampling of k keeps, exactly: the oracle of the estimators.

Give every candidate an exponential clock of rate exp(s_i); the k that ring first are a
Plackett-Luce sample. None of a set S is among them if k of the others ring before the
first of S, which comes at rate L = sum of exp(s_i) over S. With N(t) the number of the
others that have rung by t (Poisson-binomial, each with 1 - exp(-exp(s_j) t)),

    P(some of S kept) = integral of L exp(-L t) P(N(t) < k) dt

One integral over log t, Gauss-Legendre around the threshold, the distribution of N by
its recursion over candidates: differentiable, and exact but for rounding. Slow (n x k x
nodes a set), so it measures estimators and trains nothing.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from kgscout_jax.policy.inclusion import inclusion

NODES = 96
"""Points of the quadrature."""
REACH = 7.0
"""It covers so much of log t to either side of the threshold; below it nothing is sure
to be missing: k clocks cannot have rung. Above, they surely have."""

SURE = 4.5
"""Log of a count of rings that leaves no doubt: exp(-exp(4.5)) is 0."""


@partial(jax.jit, static_argnames="k")
def kept_probability(
    logits: Float[Array, "n"],
    mask: Bool[Array, "n"],
    sets: Bool[Array, "m n"],
    k: int,
) -> Float[Array, "m"]:
    """The chance that some of each set is among ``k`` drawn without replacement.

    Shapes:
        logits, mask: [n]; needs more than k real candidates.
        sets: [m, n], ignored outside the mask; an empty one is never kept.
    """
    real = jnp.where(mask, logits, 0.0)
    centre = -jax.lax.stop_gradient(inclusion(logits, mask, float(k)).threshold)
    x, weight = np.polynomial.legendre.leggauss(NODES)
    log_t = centre + REACH * jnp.asarray(x, jnp.float32)
    weight = REACH * jnp.asarray(weight, jnp.float32)
    # log of the chance that a clock has not rung: -exp(s + log t), bounded for exp.
    rates = jnp.clip(real[:, None] + log_t[None, :], -60.0, SURE)
    rung = -jnp.expm1(-jnp.exp(rates))

    def of_set(members: Array) -> Array:
        members = members & mask
        others = jnp.where((mask & ~members)[:, None], rung, 0.0)

        def add(count: Array, q: Array) -> tuple[Array, None]:
            # count[c]: the chance that c of those so far have rung, c below k.
            up = jnp.pad(count[:-1], ((1, 0), (0, 0)))
            return count * (1 - q)[None, :] + up * q[None, :], None

        none = jnp.zeros((k, NODES)).at[0].set(1.0)
        fewer = jax.lax.scan(add, none, others)[0].sum(axis=0)
        # Logs until the last: one very likely member would overflow the rate.
        rate = jax.nn.logsumexp(jnp.where(members, real, -1e9))
        first = jnp.exp(jnp.minimum(rate + log_t, SURE))
        inside = (weight * first * jnp.exp(-first) * fewer).sum()
        return inside - jnp.expm1(-jnp.exp(jnp.minimum(rate + centre - REACH, SURE)))

    return jax.lax.map(of_set, sets)
