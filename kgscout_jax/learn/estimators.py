"""Two estimators of the policy gradient, and the loss of the supervised baseline.

Both are pure functions of one question's logits; the caller vmaps. A question with no
more candidates than the budget selects all of them whatever the logits: weight 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.learn.answer_loss import node_mask
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.connectivity import connectivity
from kgscout_jax.policy.inclusion import inclusion, presence
from kgscout_jax.policy.sampling import plackett_luce_log_prob


class ClosedForm(NamedTuple):
    """Expectations under the Poissonised top-k of one question."""

    presence: Float[Array, ""]
    """Expected share of the gold answers that are selected (thesis: R_pres)."""
    hit: Float[Array, ""]
    """Probability that at least one triplet with a gold answer is selected."""
    path: Float[Array, ""]
    """Expected share of the candidates on shortest paths that are selected."""
    connectivity: Float[Array, ""] | None = None
    """Expected connectivity (thesis: R_conn), from below; None if not asked for."""


def closed_form(
    logits: Float[Array, "n"],
    mask: Bool[Array, "n"],
    nodes: Int[Array, "n 2"],
    answers: Int[Array, "a"],
    on_path: Bool[Array, "n"],
    k: Float[Array, ""],
    n_nodes: int,
    topics: Bool[Array, "v"] | None = None,
    *,
    directed: bool = True,
) -> ClosedForm:
    """Expected presence, hit and path share for a budget of k, without sampling.

    With ``topics`` also the connectivity, along edges only if ``directed``.

    With inclusion probabilities q_i = 1 - exp(-u_i) that sum to k, the probability of
    an answer's selection is 1 - exp(-sum of u_i over the triplets that hold it). This
    is exact for Poisson sampling and an approximation for Plackett-Luce.
    """
    included = inclusion(logits, mask, k)
    node_presence = presence(
        included.intensity, nodes[:, 0], nodes[:, 1], mask, n_nodes
    )
    answer_mask = answers >= 0
    at_answers = jnp.where(answer_mask, node_presence[jnp.maximum(answers, 0)], 0.0)
    holds_answer = node_mask(answers, n_nodes)[nodes].any(axis=1) & mask
    expected = jnp.where(holds_answer, included.intensity, 0.0).sum()
    on_path = on_path & mask
    path = jnp.where(on_path, included.probability, 0.0).sum()
    return ClosedForm(
        presence=at_answers.sum() / jnp.maximum(answer_mask.sum(), 1),
        hit=-jnp.expm1(-expected),
        path=path / jnp.maximum(on_path.sum(), 1),
        connectivity=None
        if topics is None
        else connectivity(included, mask, nodes, topics, answers, directed=directed),
    )


def cross_entropy(
    logits: Float[Array, "n"],
    mask: Bool[Array, "n"],
    on_path: Bool[Array, "n"],
    positive_weight: float = 1.0,
) -> Float[Array, ""]:
    """Mean binary cross-entropy of the real candidates; those on paths are positive.

    This is SubgraphRAG's loss, on the same candidates; it has no policy gradient. The
    losses of positives are multiplied by ``positive_weight``.
    """
    logits = jnp.where(mask, logits, 0.0)  # a double where: -inf outside the mask
    losses = jax.nn.softplus(jnp.where(on_path, -logits, logits))
    losses = jnp.where(on_path, positive_weight, 1.0) * losses
    return jnp.where(mask, losses, 0.0).sum() / jnp.maximum(mask.sum(), 1)


def reinforce(
    logits: Float[Array, "n"],
    mask: Bool[Array, "n"],
    indices: Int[Array, "g k"],
    selected_mask: Bool[Array, "g k"],
    advantage_g: Float[Array, "g"],
) -> Float[Array, ""]:
    """Mean over g samples of advantage times log-probability (thesis 3.3.5).

    Its gradient is the REINFORCE estimate of the expected reward's gradient.
    """
    log_prob_g = jax.vmap(plackett_luce_log_prob, in_axes=(None, None, 0, 0))(
        logits, mask, indices, selected_mask
    )
    return jnp.mean(jax.lax.stop_gradient(advantage_g) * log_prob_g)


def advantages(
    rewards: Any,
    weight: Any,
    *,
    baseline: str,
    greedy: Any = None,
    average: Any = 0.0,
    normalise: bool = True,
) -> Any:
    """Rewards less a baseline, [b, g] float32; numpy or JAX, as the rewards are.

    Args:
        rewards: [b, g], of g sampled subsets per question.
        weight: [b], 1 for questions that carry a gradient, else 0.
        baseline: "greedy" (the reward of the k best, self-critic), "moving_average"
            (one number for all questions) or "leave_one_out" (the mean of the
            question's other samples).
        greedy: [b], needed by "greedy".
        average: a scalar, needed by "moving_average".
        normalise: divide by the standard deviation over the batch.
    """
    xp = rewards.__array_namespace__()
    if baseline == "leave_one_out":
        g = rewards.shape[1]
        others = (rewards.sum(axis=1, keepdims=True) - rewards) / (g - 1)
    elif baseline == "greedy":
        assert greedy is not None
        others = greedy[:, None]
    else:
        others = average
    out = (rewards - others) * weight[:, None]
    if normalise:
        count = xp.maximum(weight.sum() * rewards.shape[1], 1.0)
        out = out / xp.maximum(xp.sqrt((out**2).sum() / count), 1e-6)
    return out.astype(xp.float32)


def advantages_and_average(
    config: TrainConfig, total: Any, learns: Any, mean: Any, average: Any, step: Any
) -> tuple[Any, Any]:
    """The advantages of the samples, and the next moving average of the reward.

    Args:
        config: the run's settings.
        total: [b, s] rewards of the samples, then of the greedy subset if there is one;
            numpy or JAX.
        learns: [b], 1 for questions that carry a gradient, else 0.
        mean: reward over those questions; ``average`` if there are none.
        average: the moving average so far.
        step: 0 starts the average.
    """
    xp = total.__array_namespace__()
    advantage = advantages(
        total[:, : config.samples],
        learns,
        baseline=config.baseline,
        greedy=total[:, -1],
        average=average,
        normalise=config.normalise_advantage,
    )
    return advantage, xp.where(step == 0, mean, 0.95 * average + 0.05 * mean)
