"""The measured figures of training steps that predictions rest on."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.accelerator_model import Step
from benchmarks.program_counts import memory_moves
from benchmarks.train_ours import BUDGET, Ours
from benchmarks.train_settings import TrainBenchmark
from benchmarks.train_traffic import MODES, TINY, mode_traffic
from benchmarks.train_world import World, generated_world
from kgscout_jax.learn.resident_sets import step_numbers

QUESTIONS = 2
"""Batches of generated questions."""
COUNTED = 10
"""Steps of each mode that are counted: what they cost the host varies little."""
PREDICTED = (
    "closed form, streamed",
    "closed form, resident, 10 steps",
    "REINFORCE, host, streamed",
    "REINFORCE, host, resident",
)
"""Modes of ``train_traffic`` that are predicted."""
QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
"""Of a CPU's compiler: the analysis is of the optimised program; how well LLVM compiles
it for this processor does not change it, and takes most of the time."""
KERNEL = re.compile(
    r"^  (?:ROOT )?\S+ = [^=]*?\b(?:fusion|dot|scatter|custom-call|reduce)\(", re.M
)
"""Instructions of an optimised program's entry that are a kernel each."""


def measured_steps(
    candidates: int, dimension: int, *, batch_size: int, policy: str, seed: int
) -> list[Step]:
    """A step of each mode for questions of one size."""
    world = generated_world(
        QUESTIONS * batch_size, candidates, d=dimension, table=20_000, seed=seed
    )
    k = min(100, candidates - 1)
    settings = TrainBenchmark(batch_size=batch_size, k=k, candidates=candidates)
    compiled: dict[str, Compiled] = {}
    steps = []
    for name in PREDICTED:
        mode = MODES[name]
        more = {"samples": 128} | mode.settings
        estimator = mode.settings.get("estimator", "closed_form")
        if estimator not in compiled:
            config = settings.config(policy=policy, **more)
            compiled[estimator] = compiled_cost(Ours(world, config), world)
        tiny = settings.config(**{**more, **TINY})
        traffic = mode_traffic(world, tiny, mode, count=COUNTED)
        processor_us = traffic["host_processor_us_per_question"]
        program = compiled[estimator]
        steps.append(
            Step(
                mode=name,
                candidates=candidates,
                dimension=dimension,
                batch_size=batch_size,
                flops=program.flops,
                bytes=program.bytes,
                kernels=program.kernels,
                gathers=program.gathers,
                scatters=program.scatters,
                parameter_bytes=program.parameter_bytes,
                host_seconds=1e-6 * processor_us * batch_size,
                bytes_in=traffic["bytes_in_per_question"],
                bytes_out=traffic["bytes_out_per_question"],
                resident=mode.resident,
            )
        )
    return steps


class Compiled(NamedTuple):
    """What the programs of a step take."""

    flops: float
    bytes: float
    kernels: int
    gathers: int
    scatters: int
    parameter_bytes: int


def compiled_cost(one: Ours, world: World) -> Compiled:
    """FLOPs, bytes, kernels, gathers and scatters of a step's programs."""
    rows = np.arange(min(one.config.batch_size, len(world.split)))
    batch, numbers = one.read(rows), jnp.asarray(step_numbers(0, BUDGET))
    params, steps = one.state.params, one.steps
    calls: list[tuple[Any, tuple[Any, ...]]]
    if one.mode == "closed_form":
        calls = [(steps.update_closed_form, (one.state, one.tables, batch, numbers))]
    else:
        first = params, one.tables, batch, numbers
        # Shapes alone: nothing runs.
        proposal = jax.eval_shape(steps.propose, *first)
        total = jnp.ones(proposal.positions.shape[:2])
        calls = [
            (steps.propose, first),
            (steps.update_scored, (one.state, batch, proposal, total)),
        ]
    options = QUICK if jax.default_backend() == "cpu" else None
    flops, moved, kernels, gathers, scatters = 0.0, 0.0, 0, 0, 0
    for jitted, args in calls:
        traced = jitted.trace(*args)
        of_step = memory_moves(traced.jaxpr.jaxpr)
        gathers, scatters = gathers + of_step[0], scatters + of_step[1]
        program = traced.lower().compile(compiler_options=options)
        cost = program.cost_analysis()
        flops += float(cost["flops"])
        moved += float(cost["bytes accessed"])
        kernels += kernel_count(program.as_text())
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(params))
    return Compiled(flops, moved, kernels, gathers, scatters, size)


def kernel_count(text: str) -> int:
    """Kernels of the entry computation of an optimised program."""
    entry = text[text.index("\nENTRY ") :]
    return len(KERNEL.findall(entry))
