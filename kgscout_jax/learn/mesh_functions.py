"""Functions of batches that are split over the devices of a mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool


def by_device(function: Callable[..., Any], mesh: Mesh | None) -> Callable[..., Any]:
    """``function`` of batches, run by each device on its own questions.

    The compiler alone would gather whole batches for top-k and synchronise all
    devices at each turn of a loop.
    """
    if mesh is None:
        return function
    spec = PartitionSpec(*mesh.axis_names)
    return jax.shard_map(
        function, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False
    )


def sharded_by_question(
    residual: Array, *, mesh: Mesh, mask: Bool[Array, "b n"]
) -> Array:
    """A residual of a pullback, split over devices if it is per candidate.

    Without the constraint the compiler may place a constant on any device.
    """
    if residual.shape[:2] != mask.shape:
        return residual
    sharding = NamedSharding(mesh, PartitionSpec(*mesh.axis_names))
    return jax.lax.with_sharding_constraint(residual, sharding)
