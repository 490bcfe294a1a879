"""The steps of an epoch, with the host one batch ahead of the device.

The next batch is read while the device works on this one, whatever the settings.
``--staleness 1`` also proposes its subsets before this update: the device is then busy
proposing while the host scores. An update thus applies the policy gradient at the
parameters its subsets were drawn from, which are one update old (delayed gradient
descent: the estimate is unbiased there, nothing is reweighted).

After each multiple of ``--save-every`` and at the start of an epoch nothing is ahead: a
checkpoint of such a step needs the state only, and whether a step is stale depends on
its number alone. A run that is told to stop elsewhere saves the older parameters, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimator_updates import Shown, Updates
from kgscout_jax.learn.update_steps import State


def is_stale(config: TrainConfig, step: int, batch_count: int) -> bool:
    """Whether ``step`` (from 0) proposes before the update of the step before it."""
    drained = step % config.save_every == 0 or step % batch_count == 0
    return config.stale and not drained


class Pipeline:
    """Calls give the state after one more step; one pipeline per epoch."""

    def __init__(
        self,
        updates: Updates,
        config: TrainConfig,
        batches: Sequence[Int[np.ndarray, "k"]],
        first: int,
        behind: Any = None,
    ) -> None:
        """
        Args:
            updates: what a step does.
            config: whether steps are stale.
            batches: those of a whole epoch.
            first: the step to start with, from 0.
            behind: the parameters at which its subsets are proposed, if not those
                of the state it starts from.
        """
        self.updates, self.config, self.batches = updates, config, batches
        self.step = first
        self.behind = behind
        """The older parameters that the next step needs; kept after a last call."""
        self._read: Any = None
        self._begun: Any = None

    def __call__(self, state: State, *, last: bool = False) -> tuple[State, Shown]:
        """The state after a step; with ``last``, no other call will come."""
        count, updates = len(self.batches), self.updates
        read = self._read or updates.read(self.batches[self.step % count], self.step)
        params = state.params if self.behind is None else self.behind
        begun = self._begun or updates.begin(params, read)
        self._read = self._begun = self.behind = None
        self.step += 1
        if self.step % count:
            ahead = is_stale(self.config, self.step, count)
            if last:
                # The update writes into these buffers.
                copy = jax.tree.map(jnp.copy, state.params) if ahead else None
                self.behind = copy
            else:
                rows = self.batches[self.step % count]
                self._read = updates.read(rows, self.step)
                if ahead:
                    self._begun = updates.begin(state.params, self._read)
        return updates.finish(state, begun)
