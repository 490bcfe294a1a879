"""The state of training: fresh, as a checkpoint holds it, and back."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from kgscout_jax.learn.checkpoints import unflatten
from kgscout_jax.learn.update_steps import State
from kgscout_jax.policy.module import Policy


def fresh_state(policy: Policy, transform: Any) -> State:
    """The state before the first step."""
    _, params = nnx.split(policy, nnx.Param)
    return State(
        params, transform.init(params), jnp.zeros((), jnp.int32), jnp.zeros(())
    )


BEHIND = "behind"
"""Name of the older parameters among what is saved, see ``pipeline.py``."""


def as_pure(state: State, behind: Any = None) -> dict[str, Any]:
    """The state as a pytree of plain containers and arrays."""
    older = {} if behind is None else {BEHIND: nnx.to_pure_dict(behind)}
    return older | {
        "params": nnx.to_pure_dict(state.params),
        "opt_state": jax.tree.leaves(state.opt_state),
        "step": state.step,
        "average": state.average,
    }


def restored(like: State, leaves: dict[str, Any], behind: bool) -> tuple[State, Any]:
    """The state, and the older parameters or None, that ``as_pure`` saved."""
    shaped = as_pure(like, like.params if behind else None)
    pure = jax.tree.map(jnp.asarray, unflatten(shaped, leaves))
    older = None
    if behind:
        older = jax.tree.map(jnp.copy, like.params)
        nnx.replace_by_pure_dict(older, pure[BEHIND])
    nnx.replace_by_pure_dict(like.params, pure["params"])
    treedef = jax.tree.structure(like.opt_state)
    opt_state = jax.tree.unflatten(treedef, pure["opt_state"])
    return State(like.params, opt_state, pure["step"], pure["average"]), older
