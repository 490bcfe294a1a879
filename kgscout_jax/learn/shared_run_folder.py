"""The folder of a run that several processes share: the first reads and writes it.

The others see neither the folder nor Orbax: they are told what is read, and the error
if something cannot be written. So the folder need not be on a shared disk, and every
checkpoint is one of a single process, whatever the number that trained.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from orbax.checkpoint import checkpoint_manager
from orbax.checkpoint import v1 as ocp

from kgscout_jax.learn.checkpoint_checksums import SEALS, sealed
from kgscout_jax.learn.checkpoints import METRIC, RunFolder, flatten
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.trained_policy import (
    TrainedPolicy,
    chosen,
    load_policy,
    policy_with,
)

STEP = "\nstep"
"""Stands for the step among the names of leaves."""


def run_of(path: Path, devices: Devices) -> RunFolder:
    """The folder of a run, for any number of processes."""
    return RunFolder(path) if devices.processes == 1 else SharedRun(path, devices)


def shared_policy(path: Path, devices: Devices) -> TrainedPolicy:
    """``load_policy`` for any number of processes."""
    if devices.processes == 1:
        return load_policy(path)
    about = devices.told(lambda: RunFolder.existing(path).config)

    def read() -> dict[str, np.ndarray]:
        run = SharedRun(path, devices)
        try:
            step, leaves = chosen(run, None)
        finally:
            run.close()
        return {STEP: np.asarray(step), **leaves}

    leaves = devices.told(read)
    return policy_with(path, about, int(leaves.pop(STEP)), leaves)


class SharedRun(RunFolder):
    """A ``RunFolder``; all processes call the same methods in the same order."""

    def __init__(self, path: Path, devices: Devices) -> None:
        super().__init__(path)
        self.devices = devices

    @property
    def checkpointer(self) -> ocp.training.Checkpointer:
        """Orbax's, which waits for no other process; for the first one only."""
        if self._checkpointer is None:
            folder: Any = (self.path / "checkpoints").absolute()
            folder.mkdir(parents=True, exist_ok=True)
            options = ocp.options.MultiprocessingOptions(
                primary_host=0, active_processes={0}, barrier_sync_key_prefix="first"
            )
            whole = checkpoint_manager.CheckpointManagerOptions
            # Orbax v1 always asks for the folder to be made, and v0 refuses to make it
            # when some processes are left out.
            checkpoint_manager.CheckpointManagerOptions = functools.partial(
                whole, create=False
            )
            try:
                self._checkpointer = ocp.training.Checkpointer(
                    folder,
                    context=ocp.Context(multiprocessing_options=options),
                    preservation_policy=self._keep,
                )
            finally:
                checkpoint_manager.CheckpointManagerOptions = whole
        return self._checkpointer

    def latest_whole(self) -> tuple[int, dict[str, Any]] | None:
        def read() -> dict[str, np.ndarray] | None:
            found = RunFolder.latest_whole(self)
            return found and {STEP: np.asarray(found[0]), **found[1]}

        told = self.devices.told(read)
        return told and (int(told.pop(STEP)), told)

    def save(self, step: int, state: Any, dev_reward: float | None) -> None:
        def write() -> None:
            metrics: Any = None if dev_reward is None else {METRIC: float(dev_reward)}
            leaves = flatten(self.devices.one_copy(state))
            # Orbax takes no arrays of one process's devices when there are more.
            leaves = {name: np.asarray(leaf) for name, leaf in leaves.items()}
            leaves[SEALS] = np.asarray(sealed(leaves))
            with self._writing():
                self.checkpointer.save_async(step, leaves, metrics=metrics, force=True)

        self.devices.told(write)

    def log(self, row: dict[str, Any]) -> None:
        self.devices.told(lambda: RunFolder.log(self, row))

    def forget_after(self, step: int) -> None:
        self.devices.told(lambda: RunFolder.forget_after(self, step))
