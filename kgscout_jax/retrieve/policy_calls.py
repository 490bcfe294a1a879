"""Calls of a policy on batches of a split, here or in the processes of an engine.

Batches are read here and are a few kilobytes a question. Another process gets the
policy's weights with the function, and opens the tables of the shards once.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int

from kgscout_jax.data.batch_order import by_size
from kgscout_jax.data.batches import Batch, BatchReader
from kgscout_jax.data.shards import Shards
from kgscout_jax.data.tables import Tables
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import PolicyOutputs, PolicyWeights
from kgscout_jax.utils.engine import Engine
from kgscout_jax.utils.jax_setup import setup_jax

T = TypeVar("T")


def batch_results(
    function: Callable[[Batch], T],
    reader: BatchReader,
    rows: Int[np.ndarray, "k"],
    size: int,
    engine: Engine,
) -> Iterator[tuple[Int[np.ndarray, "j"], T]]:
    """The questions of each batch, of similar size, and the result of ``function``.

    Args:
        function: of a batch in numpy; picklable where the engine is remote.
        reader: of the split.
        rows: the questions.
        size: questions of a batch.
        engine: what calls the function.
    """
    batches = list(by_size(reader.split.n_real, rows, size))
    arrays = (reader.arrays(batch, size) for batch in batches)
    yield from zip(batches, engine.map(function, arrays), strict=True)


class PolicyCall:
    """A function of a batch: the outputs of a policy, in numpy, and their seconds."""

    def __init__(
        self, policy: Policy, shards: Shards, *, only_logits: bool = False
    ) -> None:
        """
        Args:
            policy: the policy.
            shards: the folder of the batches.
            only_logits: whether nothing else is computed.
        """
        self.policy, self.shards, self.only_logits = policy, shards, only_logits
        self._compiled_shapes: set[tuple[tuple[int, ...], ...]] = set()

    @cached_property
    def _on_device(self) -> tuple[Any, Any, Tables]:
        return *nnx.split(self.policy), Tables.of(self.shards)

    def __call__(self, batch: Batch) -> tuple[PolicyOutputs, float]:
        """The outputs; the seconds exclude compilation."""
        batch = jax.tree.map(jnp.asarray, batch)
        if batch.shapes not in self._compiled_shapes:
            jax.block_until_ready(self._outputs(batch))
            self._compiled_shapes.add(batch.shapes)
        start = time.perf_counter()
        outputs = jax.tree.map(np.asarray, self._outputs(batch))
        return outputs, time.perf_counter() - start

    def _outputs(self, batch: Batch) -> PolicyOutputs:
        if self.only_logits:
            return PolicyOutputs(logits_of_batch(*self._on_device, batch))
        return outputs_of_batch(*self._on_device, batch)

    @cached_property
    def _source(self) -> PolicySource:
        """What other processes get, under one key: they open it once."""
        return PolicySource(
            key=uuid.uuid4().hex,
            config=self.policy.config,
            weights=jax.tree.map(np.asarray, self.policy.weights),
            shards=self.shards.path,
            only_logits=self.only_logits,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return partial, (_call, self._source)


@partial(jax.jit, static_argnums=0)
def logits_of_batch(
    graphdef: Any, state: Any, tables: Tables, batch: Batch
) -> Float[Array, "b n"]:
    """The logits of the policy ``nnx.split`` into the first two; compiled once."""
    return nnx.merge(graphdef, state)(batch.inputs(tables))


@partial(jax.jit, static_argnums=0)
def outputs_of_batch(
    graphdef: Any, state: Any, tables: Tables, batch: Batch
) -> PolicyOutputs:
    """The outputs of the policy ``nnx.split`` into the first two; compiled once."""
    return nnx.merge(graphdef, state).outputs(batch.inputs(tables))


@dataclass(frozen=True, kw_only=True)
class PolicySource:
    """What another process makes a ``PolicyCall`` of; equal by its key alone."""

    key: str
    config: NetworkConfig = field(compare=False)
    weights: PolicyWeights = field(compare=False)
    """In numpy."""
    shards: Path = field(compare=False)
    only_logits: bool = field(compare=False)


def _call(source: PolicySource, batch: Batch) -> tuple[PolicyOutputs, float]:
    return _opened(source)(batch)


@lru_cache(maxsize=2)
def _opened(source: PolicySource) -> PolicyCall:
    """The call that another process described, held for the next batch."""
    setup_jax()
    weights = jax.tree.map(jnp.asarray, source.weights)
    return PolicyCall(
        Policy(source.config, weights),
        _shards(source.shards),
        only_logits=source.only_logits,
    )


@lru_cache(maxsize=1)
def _shards(path: Path) -> Shards:
    return Shards.open(path)
