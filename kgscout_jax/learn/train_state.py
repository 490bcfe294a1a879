"""The state of training, its form in a checkpoint, and the optimiser."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jaxtyping import Array, Float, Int

from kgscout_jax.learn.checkpoint_leaves import unflatten
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.policy.module import Policy

STALE_PARAMS = "behind"
"""Name in a checkpoint of the older parameters that the next step proposes with."""


class State(NamedTuple):
    """Everything that training changes and a checkpoint holds."""

    params: Any
    opt_state: Any
    step: Int[Array, ""]
    average: Float[Array, ""]
    """Moving average of the reward, for the baseline of that name."""


def optimizer(config: TrainConfig, total_steps: int) -> optax.GradientTransformation:
    """AdamW with clipping, warm-up and cosine decay to a tenth; matrices decay."""
    assert config.learning_rate is not None  # TrainConfig fills it in
    schedule = optax.warmup_cosine_decay_schedule(
        init_value=0.0,
        peak_value=config.learning_rate,
        warmup_steps=min(config.warmup_steps, total_steps // 10),
        decay_steps=max(total_steps, 1),
        end_value=config.learning_rate / 10,
    )

    def matrices(params: Any) -> Any:
        return jax.tree.map(lambda x: x.ndim >= 2, params)

    return optax.chain(
        optax.clip_by_global_norm(config.clip_norm),
        optax.adamw(schedule, weight_decay=config.weight_decay, mask=matrices),
    )


def initial_state(policy: Policy, transform: optax.GradientTransformation) -> State:
    """The state before the first step."""
    _, params = nnx.split(policy, nnx.Param)
    return State(
        params, transform.init(params), jnp.zeros((), jnp.int32), jnp.zeros(())
    )


def state_to_tree(state: State, stale_params: Any = None) -> dict[str, Any]:
    """The state as a pytree of plain containers and arrays, for a checkpoint."""
    older = {}
    if stale_params is not None:
        older = {STALE_PARAMS: nnx.to_pure_dict(stale_params)}
    return older | {
        "params": nnx.to_pure_dict(state.params),
        "opt_state": jax.tree.leaves(state.opt_state),
        "step": state.step,
        "average": state.average,
    }


def restored_state(
    like: State, leaves: dict[str, Any], stale: bool
) -> tuple[State, Any]:
    """The inverse of ``state_to_tree``: the state, and the older parameters or None."""
    shaped = state_to_tree(like, like.params if stale else None)
    tree = jax.tree.map(jnp.asarray, unflatten(shaped, leaves))
    stale_params = None
    if stale:
        stale_params = jax.tree.map(jnp.copy, like.params)
        nnx.replace_by_pure_dict(stale_params, tree[STALE_PARAMS])
    nnx.replace_by_pure_dict(like.params, tree["params"])
    treedef = jax.tree.structure(like.opt_state)
    opt_state = jax.tree.unflatten(treedef, tree["opt_state"])
    return State(like.params, opt_state, tree["step"], tree["average"]), stale_params
