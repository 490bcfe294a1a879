"""The precision of matmuls: that of their operands, on every platform.

By default JAX rounds float32 operands to TF32 on a GPU and to bfloat16 on a TPU: three
digits or fewer, and other ones than where the policy was trained. Launches and memory
bound a step (predicted: benchmarks/README.md), so exact matmuls cost little; ``--dtype
bfloat16`` is the way to shorter operands, and means the same everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax

P = ParamSpec("P")
T = TypeVar("T")


def full_precision(function: Callable[P, T]) -> Callable[P, T]:
    """``function``, in whose tracing matmuls are given the precision of their operands.

    Gradients that it takes are included.
    """

    @functools.wraps(function)
    def traced(*args: P.args, **kwargs: P.kwargs) -> T:
        with jax.default_matmul_precision("highest"):
            return function(*args, **kwargs)

    return traced
