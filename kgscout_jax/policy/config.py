"""What the configurations of all policy networks share: fields, checks, and JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import jax.numpy as jnp
from jaxtyping import Array, Float

from kgscout_jax.errors import UserError

COMPUTE_DTYPES = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}


class FirstKernels(NamedTuple):
    """What embeddings meet first in a network that treats all questions alike."""

    triplets: Float[Array, "d w"]
    relations: Float[Array, "d x"]


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Sizes and constants of a network; JSON by ``to_dict`` and ``from_dict``."""

    architecture: ClassVar[str]
    """Name in ``registry.ARCHITECTURES``, in run folders and in exports."""
    sizes: ClassVar[tuple[str, ...]] = ()
    """Fields that hold a whole number above 0, beside ``dimension``."""
    absent: ClassVar[Mapping[str, Any]] = {}
    """Fields that older files lack, with the value that they stand for there."""

    dimension: int = 384
    """Of the sentence embeddings: d."""
    compute_dtype: str = "float32"
    """Operands of matmuls over candidates: float32 or bfloat16. Sums are float32."""

    def __post_init__(self) -> None:
        for name in ("dimension", *self.sizes):
            check_int(name, getattr(self, name))
        if self.compute_dtype not in COMPUTE_DTYPES:
            raise UserError(
                f"policy.compute_dtype: {self.compute_dtype!r}, expected one of "
                f"{', '.join(COMPUTE_DTYPES)}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Every field, with lists for tuples as in JSON."""
        fields = dataclasses.asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """The config that ``to_dict`` wrote.

        Raises:
            UserError: a field is unknown, missing or out of range.
        """
        fields = {**cls.absent, **fields}
        known = {field.name for field in dataclasses.fields(cls)}
        for name in sorted(known ^ set(fields)):
            problem = "missing" if name in known else "unknown field"
            raise UserError(f"policy.{name}: {problem}; expected {sorted(known)}")
        return cls(**fields)


@dataclass(frozen=True, kw_only=True)
class PprNetworkConfig(NetworkConfig):
    """The same, of a network that reads Personalized PageRank."""

    ppr_mean: tuple[float, float] = (0.0, 0.0)
    """Mean of log(ppr + 1e-8) of heads and of tails over the training candidates."""
    ppr_std: tuple[float, float] = (1.0, 1.0)
    """Standard deviation of the same."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ppr_mean", "ppr_std"):
            pair = tuple(float(value) for value in getattr(self, name))
            object.__setattr__(self, name, pair)
            if len(pair) != 2 or not all(map(math.isfinite, pair)):
                raise UserError(f"policy.{name}: {pair}, expected two finite numbers")
        if min(self.ppr_std) <= 0:
            raise UserError(f"policy.ppr_std: {self.ppr_std}, expected both above 0")


def check_int(name: str, value: object, least: int = 1) -> None:
    """Raises UserError unless ``value`` is a whole number from ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UserError(
            f"policy.{name}: {value!r}, expected a whole number from {least}"
        )
