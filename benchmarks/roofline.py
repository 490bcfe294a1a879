"""What a compiled step costs and what the hardware allows, both measured on the spot.

Two counts of work. ``compiled_cost`` is the compiler's own, of the optimised program:
FLOPs of everything, and bytes that each of its kernels reads and writes. ``dot_flops``
counts the matmuls of the program as written, from its jaxpr: a check that needs no
compiler, and what the peak of matmuls may be divided into.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from benchmarks.common import Clock, race
from benchmarks.program_counts import equations

SIZES = (512, 1024)
"""Of the square matmuls; the best counts."""
STREAM_BYTES = 1 << 28
"""Larger than any cache."""
LARGE = 8192
"""Rows and columns of an accelerator's matmuls."""
TURNS = 20
"""Of its matmuls and copies, in one call."""


@dataclass(frozen=True, kw_only=True)
class Peaks:
    """What the machine does at best, with the threads that this process has."""

    flops: float
    """Of float32 matmuls, per second."""
    flops_bfloat16: float
    """Of bfloat16 matmuls with float32 sums, per second."""
    bandwidth: float
    """Bytes read and written per second, of arrays that fit no cache."""

    def seconds(self, cost: Cost) -> float:
        """The roofline: what ``cost`` takes if arithmetic hides memory or vice versa.

        All FLOPs, those of activations too, are taken at the matmul peak.
        """
        return max(cost.flops / self.flops, cost.bytes / self.bandwidth)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Work of one call of a compiled function."""

    flops: float
    bytes: float
    dots: float
    """FLOPs of the matmuls as written, see ``dot_flops``."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            flops=self.flops + other.flops,
            bytes=self.bytes + other.bytes,
            dots=self.dots + other.dots,
        )

    def per(self, count: int) -> Cost:
        """The same, divided among ``count`` questions."""
        return Cost(
            flops=self.flops / count, bytes=self.bytes / count, dots=self.dots / count
        )


def measured_peaks(clock: Clock = "wall", repeats: int = 3) -> Peaks:
    """Peaks of this machine now: the best of XLA and PyTorch, and of several sizes.

    Of an accelerator, where JAX has one: XLA alone.
    """
    if jax.default_backend() != "cpu":
        return accelerator_peaks(repeats)
    best: dict[str, float] = {}
    for name in ("float32", "bfloat16"):
        works: dict[str, Callable[[], Any]] = {}
        work_of: dict[str, float] = {}
        for size in SIZES:
            square = jnp.ones((size, size), name)
            product = jax.jit(partial(jnp.matmul, preferred_element_type=jnp.float32))
            matrix = torch.ones(size, size, dtype=getattr(torch, name))
            works[f"xla {size}"] = lambda f=product, x=square: jax.block_until_ready(
                f(x, x)
            )
            works[f"torch {size}"] = lambda x=matrix: x @ x
            work_of |= {f"{who} {size}": 2.0 * size**3 for who in ("xla", "torch")}
        laps = race(works, repeats=repeats, clock=clock)
        best[name] = max(work_of[key] / lap.best for key, lap in laps.items())
    source = torch.ones(STREAM_BYTES // 4)
    target = torch.empty_like(source)
    numbers = np.ones(STREAM_BYTES // 4, np.float32)
    other = np.empty_like(numbers)
    laps = race(
        {
            "torch copy": lambda: target.copy_(source),
            "torch scale": lambda: torch.mul(source, 2.0, out=target),
            "numpy copy": lambda: np.copyto(other, numbers),
        },
        repeats=repeats,
        clock=clock,
    )
    fastest = min(lap.best for lap in laps.values())
    return Peaks(
        flops=best["float32"],
        flops_bfloat16=best["bfloat16"],
        bandwidth=2 * STREAM_BYTES / fastest,
    )


def accelerator_peaks(repeats: int) -> Peaks:
    """Peaks of an accelerator: products of random matrices, and a copy with a factor.

    Each is taken many times in one call, so that launches do not count. Matmuls have
    the precision of their operands.
    """
    numbers = jax.random.normal(jax.random.key(0), (LARGE, LARGE), jnp.float32)

    @partial(jax.jit, static_argnames="kind")
    def products(x: jax.Array, kind: str) -> jax.Array:
        factor = x.astype(kind)

        def step(_: int, left: jax.Array) -> jax.Array:
            product = jnp.matmul(left, factor, precision="highest")
            return product / jnp.asarray(LARGE**0.5, kind)

        return jax.lax.fori_loop(0, TURNS, step, factor)

    @jax.jit
    def copies(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, TURNS, lambda _, y: y * 1.0001, x)

    stream = jnp.ones(STREAM_BYTES, jnp.float32)
    works = {
        kind: lambda kind=kind: jax.block_until_ready(products(numbers, kind))
        for kind in ("float32", "bfloat16")
    }
    laps = race(
        works | {"copy": lambda: jax.block_until_ready(copies(stream))},
        repeats=repeats,
    )
    flops = TURNS * 2.0 * LARGE**3
    return Peaks(
        flops=flops / laps["float32"].best,
        flops_bfloat16=flops / laps["bfloat16"].best,
        bandwidth=TURNS * 2 * stream.nbytes / laps["copy"].best,
    )


def cost_of(jitted: Any, *args: Any) -> Cost:
    """The work of ``jitted(*args)``; compiles, but does not run it."""
    traced = jitted.trace(*args)
    found = traced.lower().compile().cost_analysis()
    return Cost(
        flops=float(found["flops"]),
        bytes=float(found["bytes accessed"]),
        dots=dot_flops(traced.jaxpr.jaxpr),
    )


def dot_flops(jaxpr: Any) -> float:
    """FLOPs of every matmul of a jaxpr: two per product of a term and a factor.

    Loops count once per turn where the number of turns is known (scan), else once.
    Work that nobody needs, which the compiler drops, is counted as well.
    """
    total = 0.0
    for equation, turns in equations(jaxpr):
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            depth = math.prod(equation.invars[0].aval.shape[i] for i in contracted)
            size = math.prod(equation.outvars[0].aval.shape)
            total += turns * 2.0 * depth * size
    return total
