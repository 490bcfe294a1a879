"""Gradients of large batches, added up over turns of fewer questions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array

from kgscout_jax.learn.config import TrainConfig

MOST_QUESTIONS, MOST_ON_CPU = 1024, 128
"""That a device has in work at once, where no setting says so: 12 to 25 MB each."""


def turns_of(config: TrainConfig, questions: int, mesh: Mesh | None) -> int:
    """In how many equal turns the questions of an update go: the fewest that fit."""
    most = config.batch_per_device
    if most is None:
        most = MOST_ON_CPU if jax.default_backend() == "cpu" else MOST_QUESTIONS
    each = questions if mesh is None else questions // mesh.size
    return next(n for n in range(-(-each // most), each + 1) if each % n == 0)


def accumulated(function: Callable[[Any], Any], batch: Any, turns: int) -> Any:
    """The sum of ``function`` over parts of a batch: a pytree of arrays.

    Args:
        function: of a part.
        batch: a pytree of arrays whose first axis is that of the questions.
        turns: parts, of equal size.
    """
    parts = jax.tree.map(partial(split_turns, turns=turns), batch)

    def turn(sums: Any, part: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, sums, function(part)), None

    shapes = jax.eval_shape(function, jax.tree.map(lambda rows: rows[0], parts))
    zeros = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), shapes)
    return jax.lax.scan(turn, zeros, parts)[0]


def split_turns(rows: Array, turns: int) -> Array:
    """Every ``turns``-th row, then those after them: each device keeps its own."""
    return jnp.moveaxis(rows.reshape(-1, turns, *rows.shape[1:]), 1, 0)
