"""What each saving brings: the network with one of them taken away, and batches padded.

The network is timed forward and backward, alone. Variants take turns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from benchmarks.common import race, seconds, show
from benchmarks.roofline import Cost, cost_of
from benchmarks.train_ours import Ours
from benchmarks.train_plain import PerCandidatePolicy, PlainPolicy, trained_inputs
from benchmarks.train_settings import TrainBenchmark
from benchmarks.train_world import generated_world
from kgscout_jax.data.batch_order import epoch_batches
from kgscout_jax.data.batch_widths import Widths
from kgscout_jax.data.batches import Batch
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn.sharded_reader import ShardedReader
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.module import Policy

QUESTIONS = 4
"""At once: the plain network holds [n, n] per head of each."""
TAKEN_AWAY: dict[str, tuple[type[Policy], str, bool]] = {
    "ours": (Policy, "float32", False),
    "plain, not folded": (PlainPolicy, "float32", False),
    "relation terms per candidate": (PerCandidatePolicy, "float32", False),
    "gradient to frozen inputs": (Policy, "float32", True),
    "bfloat16 matmuls": (Policy, "bfloat16", False),
}
"""Name -> network, compute dtype, whether the gathered embeddings get gradients."""


def ablation(settings: TrainBenchmark) -> dict[str, Any]:
    """Figures for the last line: time with a saving taken away over time with all."""
    return {"ablation": network_variants(settings) | padding(settings)}


def network_variants(settings: TrainBenchmark) -> dict[str, float]:
    """Time of each variant of the network over ours."""
    world = generated_world(
        QUESTIONS,
        settings.candidates,
        d=settings.dimension,
        table=10 * settings.candidates,
        seed=settings.seed,
    )
    rows = np.arange(QUESTIONS)
    tables = Tables.of(world.shards)
    works: dict[str, Callable[[], Any]] = {}
    costs: dict[str, Cost] = {}
    for name, (kind, dtype, trained) in TAKEN_AWAY.items():
        config = settings.config(dtype=dtype, batch_size=QUESTIONS)
        one = Ours(world, config, kind=kind, tables=tables)
        batch = one.read(rows)
        params, inputs = one.state.params, batch.inputs(tables)
        jitted = gradient_of(one, batch, trained=trained)
        with trained_inputs() if trained else contextlib.nullcontext():
            costs[name] = cost_of(jitted, params, inputs).per(QUESTIONS)
            jax.block_until_ready(jitted(params, inputs))
        works[name] = lambda f=jitted, p=params, x=inputs: jax.block_until_ready(
            f(p, x)
        )
    laps = race(works, repeats=settings.rounds, clock=settings.clock)
    each = {name: float(np.median(lap.laps)) / QUESTIONS for name, lap in laps.items()}
    table = []
    for name, cost in costs.items():
        table.append(
            [
                name,
                seconds(each[name]),
                f"{each[name] / each['ours']:.2f}",
                f"{cost.flops / 1e9:.3f}",
                f"{cost.bytes / 1e6:.1f}",
            ]
        )
    header = ["network, both ways, a question", "time", "over ours", "GFLOP", "MB"]
    show(f"One saving taken away, {settings.candidates} candidates", header, table)
    return {name: value / each["ours"] for name, value in each.items()}


def gradient_of(one: Ours, batch: Batch, *, trained: bool) -> Any:
    """Jitted (params, inputs) -> gradient of a weighted sum of the logits.

    With ``trained`` also that of the gathered embeddings; trace it under
    ``trained_inputs``.
    """

    def total(params: Any, embeddings: Any, inputs: PolicyInputs) -> Any:
        question, triplets, relations = embeddings
        inputs = inputs._replace(
            question=question, triplets=triplets, relations=relations
        )
        logits = nnx.merge(one.steps.graphdef, params)(inputs)
        weights = jnp.arange(logits.shape[1], dtype=jnp.float32)
        return jnp.where(batch.mask, logits * weights[None], 0.0).sum()

    def gradient(params: Any, inputs: PolicyInputs) -> Any:
        embeddings = inputs.question, inputs.triplets, inputs.relations
        return jax.grad(total, (0, 1) if trained else 0)(params, embeddings, inputs)

    return jax.jit(gradient)


class PaddedReader(ShardedReader):
    """Pads every batch to the width of the shards."""

    def widths_of(self, rows: np.ndarray) -> Widths:
        """As if the widest question of the split were in the batch."""
        return self.widths[len(self.widths) - 1]


def padding(settings: TrainBenchmark) -> dict[str, float]:
    """Time of an epoch of questions of varied size, by how they are batched."""
    size = settings.batch_size
    world = generated_world(
        8 * size,
        settings.candidates,
        d=settings.dimension,
        table=10 * settings.candidates,
        varied=True,
        seed=settings.seed,
    )
    rows, split = np.arange(len(world.split)), world.split
    tables = Tables.of(world.shards)
    config = settings.config()
    sized = Ours(world, config, tables=tables)
    padded = Ours(
        world, config, reader=PaddedReader(world.shards, split), tables=tables
    )
    order = np.random.default_rng(settings.seed).permutation(rows)
    random = [order[i : i + size] for i in range(0, len(order), size)]
    by_size = epoch_batches(
        split.n_real, rows, batch_size=size, window=16, seed=0, epoch=0
    )

    def epoch(one: Ours, batches: list[np.ndarray]) -> Callable[[], None]:
        def work() -> None:
            for batch in batches:
                one.train(batch)

        return work

    works = {
        "by size (ours)": epoch(sized, by_size),
        "random batches": epoch(sized, random),
        "all padded to the widest": epoch(padded, random),
    }
    repeats = max(settings.rounds // 2, 1)
    laps = race(works, repeats=repeats, clock=settings.clock)
    each = {name: float(np.median(lap.laps)) / len(rows) for name, lap in laps.items()}
    ours = each["by size (ours)"]
    filled = split.n_real[rows].mean() / settings.candidates
    table = [[n, seconds(value), f"{value / ours:.2f}"] for n, value in each.items()]
    title = f"Batching {len(rows)} questions of varied size, {filled:.0%} of the widest"
    show(title, ["closed form, a question", "time", "over ours"], table)
    return {name: value / ours for name, value in each.items() if value != ours}
