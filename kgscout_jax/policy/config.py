"""What the configurations of all policy networks share: checks, and JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import jax.numpy as jnp

from kgscout_jax.errors import UserError

COMPUTE_DTYPES = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}

KIND = "kind"
"""Field of a config's JSON that names its network; absent in those of the thesis's."""

T = TypeVar("T")


def check_positive_int(name: str, value: object) -> None:
    """Nothing; raises UserError unless ``value`` is a whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UserError(f"policy.{name}: {value!r}, expected a whole number above 0")


def check_ppr(config: Any) -> None:
    """Make ``ppr_mean`` and ``ppr_std`` pairs of floats; UserError if they are none."""
    for name in ("ppr_mean", "ppr_std"):
        pair = tuple(float(value) for value in getattr(config, name))
        object.__setattr__(config, name, pair)
        if len(pair) != 2 or not all(map(math.isfinite, pair)):
            raise UserError(f"policy.{name}: {pair}, expected two finite numbers")
    if min(config.ppr_std) <= 0:
        raise UserError(f"policy.ppr_std: {config.ppr_std}, expected both above 0")


def check_dtype(name: object) -> None:
    """Nothing; raises UserError unless matmuls can be done in this dtype."""
    if name not in COMPUTE_DTYPES:
        raise UserError(
            f"policy.compute_dtype: {name!r}, expected one of "
            f"{', '.join(COMPUTE_DTYPES)}"
        )


def to_fields(config: Any) -> dict[str, Any]:
    """Every field of a config, as JSON knows them (tuples become lists)."""
    fields = dataclasses.asdict(config)
    return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}


def from_fields(kind: type[T], fields: Mapping[str, Any]) -> T:
    """The config that ``to_fields`` wrote.

    Raises:
        UserError: a field is unknown, missing or out of range.
    """
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in sorted(known ^ set(fields)):
        problem = "missing" if name in known else "unknown field"
        raise UserError(f"policy.{name}: {problem}; expected {sorted(known)}")
    return kind(**fields)
