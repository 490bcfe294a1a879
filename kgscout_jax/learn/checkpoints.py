"""A run's folder: config.json, metrics.jsonl, checkpoints/ (Orbax).

The folder retains the latest two checkpoints and the best by dev score. A process
killed during a save leaves the previous one loadable. Checksums reveal damage.

Only the first of several processes reads and writes the folder, and broadcasts what it
read. So the folder need not be on a shared disk, and the format of a checkpoint does
not depend on the number of processes.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from orbax.checkpoint import checkpoint_manager
from orbax.checkpoint import v1 as ocp

from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoint_errors import (
    DamagedCheckpoint,
    one_line,
    quiet,
)
from kgscout_jax.learn.checkpoint_leaves import (
    CHECKSUMS,
    changed_leaves,
    checksums,
    flatten,
)
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.loggers import Loggers, open_loggers
from kgscout_jax.utils.checks import check_folder
from kgscout_jax.utils.disk_space import no_room
from kgscout_jax.utils.io import read_json, read_json_lines, write_json, write_lines
from kgscout_jax.utils.manifest import as_record

logger = logging.getLogger("kgscout")

METRIC = "dev_score"
DAMAGED = "damaged"
"""Folder in a run that damaged checkpoints are moved to."""


class RunMetadata(TypedDict):
    """What ``config.json`` has at least."""

    config: dict[str, Any]
    policy: dict[str, Any]
    encoder: dict[str, Any]


class RunFolder:
    """Reads and writes one run.

    All processes call ``latest_whole``, ``save``, ``log`` and ``drop_rows_after`` in
    the same order; only the first process calls the rest.
    """

    def __init__(self, path: Path, devices: Devices | None = None) -> None:
        self.path = path
        self.devices = devices or Devices()
        self.config_file = path / "config.json"
        self.metrics_file = path / "metrics.jsonl"
        # Errors in Orbax's threads are raised to us too; no need for them in the log.
        logging.getLogger("absl").setLevel(logging.CRITICAL)
        self._checkpointer: ocp.training.Checkpointer | None = None
        self._pending: ocp.AsyncResponse[bool] | None = None
        self._had_no_room = False
        self.loggers: Loggers | None = None

    @staticmethod
    def existing(path: Path, devices: Devices | None = None) -> RunFolder:
        """The run in ``path``; raises UserError if there is none."""
        run = RunFolder(path, devices)
        check_folder(path, "run")
        if (path / "model.safetensors").exists():
            raise UserError(f"{path}: an exported policy, expected a run")
        if not run.config_file.exists():
            raise UserError(f"{path}: no config.json, this is not a run")
        return run

    @property
    def config(self) -> dict[str, Any]:
        """What ``config.json`` holds: config, policy, encoder, shards.

        Raises:
            UserError: it is missing or damaged.
        """
        value = read_json(self.config_file)
        as_record(value, RunMetadata, str(self.config_file))
        return value

    def write_config(self, config: dict[str, Any]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.config_file, config)

    # --- list of checkpoints

    def _folder(self, step: int) -> Path:
        return self.path / "checkpoints" / str(step)

    @property
    def steps(self) -> list[int]:
        """Steps of the checkpoints present, damaged ones too, ascending."""
        # Orbax gives a folder its name only once it is complete.
        names = (path.name for path in (self.path / "checkpoints").glob("[0-9]*"))
        return sorted(int(name) for name in names if name.isdigit())

    @property
    def latest_step(self) -> int | None:
        """The step of the latest checkpoint; None before the first."""
        return max(self.steps, default=None)

    def dev_score(self, step: int) -> float | None:
        """The dev score of a checkpoint, None without one; UserError if damaged.

        Checkpoints of earlier versions have it as ``dev_reward``.
        """
        file = self._folder(step) / "metrics" / "metrics"
        if not file.exists():
            return None
        metrics = read_json(file)
        value = _score_of(metrics) if isinstance(metrics, dict) else None
        if not isinstance(value, int | float):
            raise UserError(f"{file}: expected a number under {METRIC}")
        return float(value)

    @property
    def best_first(self) -> list[int]:
        """Steps by dev score, then those without one, the latest first."""
        scored, others = [], []
        for step in self.steps:
            reward = None
            with contextlib.suppress(UserError):
                reward = self.dev_score(step)
            (others if reward is None else scored).append((reward, step))
        return [step for _, step in (*sorted(scored, reverse=True), *others[::-1])]

    # --- reading

    def latest_whole(self) -> tuple[int, dict[str, Any]] | None:
        """The latest step with its leaves, after moving damaged ones aside; or None.

        Only for processes that hold the run's lock.
        """
        leaves = self.devices.broadcast(self._latest_whole)
        return None if leaves is None else (int(leaves["step"]), leaves)

    def _latest_whole(self) -> dict[str, Any] | None:
        self._clean()
        for step in self.steps:
            try:
                self.dev_score(step)
            except UserError:
                self._set_aside(step, "its metrics are not readable")
        for step in reversed(self.steps):
            try:
                return self.load(step)
            except DamagedCheckpoint as error:
                self._set_aside(step, error.why)
        return None

    def _clean(self) -> None:
        """Remove the files of incomplete saves."""
        for path in (self.path / "checkpoints").glob("*orbax-checkpoint-tmp*"):
            shutil.rmtree(path, ignore_errors=True)

    def _set_aside(self, step: int, why: str) -> None:
        """Move a damaged checkpoint out of the way."""
        folder = self.path / DAMAGED / str(step)
        folder.parent.mkdir(exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(self._folder(step), folder)
        latest = self.latest_step
        others = (
            "none is left" if latest is None else f"the latest other is step {latest}"
        )
        logger.warning(
            "%s: the checkpoint of step %d is damaged (%s) and was moved to %s; %s",
            *(self.path, step, why, folder, others),
        )

    def load(self, step: int) -> dict[str, Any]:
        """The leaves saved at ``step``, as numpy arrays.

        Raises:
            DamagedCheckpoint: they differ from what was saved.
        """
        try:
            with quiet(), self._context():
                leaves = self._load(step)
        except MemoryError:
            raise
        except Exception as error:  # Orbax raises all kinds
            if "RESOURCE_EXHAUSTED" in str(error):  # the device's memory, not the file
                raise
            raise DamagedCheckpoint(self.path, step, one_line(error)) from None
        expected = leaves.pop(CHECKSUMS, None)  # None: saved by an earlier version
        if expected is not None and (names := changed_leaves(leaves, expected)):
            why = f"{names[0]} is not what was saved"
            raise DamagedCheckpoint(self.path, step, why)
        return leaves

    def _load(self, step: int) -> dict[str, Any]:
        device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        folder: Any = self._folder(step).absolute()
        metadata = ocp.metadata(folder).metadata
        if metadata is None:
            raise ValueError("its list of arrays is not readable")
        shapes = {
            name: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device)
            for name, leaf in metadata.items()
        }
        leaves = ocp.load(folder, shapes)
        return {name: np.asarray(leaf) for name, leaf in leaves.items()}

    def _context(self) -> ocp.Context:
        """Orbax's settings, under which it does not wait for other processes."""
        if self.devices.processes == 1:
            return ocp.Context()
        options = ocp.options.MultiprocessingOptions(
            primary_host=0, active_processes={0}, barrier_sync_key_prefix="first"
        )
        return ocp.Context(multiprocessing_options=options)

    # --- writing

    @property
    def checkpointer(self) -> ocp.training.Checkpointer:
        if self._checkpointer is None:
            policies = ocp.training.preservation_policies
            policy: Any = policies.AnyPreservationPolicy(
                [
                    policies.LatestN(2),
                    policies.BestN(
                        n=1,
                        get_metric_fn=_score_of,
                        keep_checkpoints_without_metrics=False,
                    ),
                ]
            )
            folder: Any = (self.path / "checkpoints").absolute()
            folder.mkdir(parents=True, exist_ok=True)
            options = checkpoint_manager.CheckpointManagerOptions
            # Orbax v1 always requests that the folder is created, and v0 refuses to
            # create it when some processes take no part.
            checkpoint_manager.CheckpointManagerOptions = functools.partial(
                options, create=False
            )
            try:
                self._checkpointer = ocp.training.Checkpointer(
                    folder, context=self._context(), preservation_policy=policy
                )
            finally:
                checkpoint_manager.CheckpointManagerOptions = options
        return self._checkpointer

    def save(self, step: int, state: Any, dev_score: float | None) -> None:
        """Save ``state`` in the background, after any save in progress."""
        self.devices.broadcast(lambda: self._save(step, state, dev_score))

    def _save(self, step: int, state: Any, dev_score: float | None) -> None:
        metrics: Any = None if dev_score is None else {METRIC: float(dev_score)}
        # Copies: the next step overwrites these buffers. With several processes Orbax
        # accepts no arrays on the devices of one process.
        copy: Any = jnp.copy if self.devices.processes == 1 else np.asarray
        leaves = jax.tree.map(copy, flatten(self.devices.local_copy(state)))
        leaves[CHECKSUMS] = copy(checksums(leaves))
        with self._writing():
            self._wait()
            self._pending = self.checkpointer.save_async(
                step, leaves, metrics=metrics, force=True
            )

    def _wait(self) -> None:
        """Wait for the save in progress, if any, and raise its error.

        Each save of Orbax has a thread and three files open until its result is read.
        """
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Context of writes: reports a full disk in one line."""
        try:
            yield
        except Exception as error:  # from asyncio, tensorstore or the system
            problem = no_room(error)
            if problem is None:
                raise
            self._had_no_room = True
            self._clean()
            steps = ", ".join(map(str, self.steps))
            raise UserError(
                f"{self.path}: {problem} while saving; whole checkpoints: "
                f"{steps or 'none'}; make room, then give the same command again"
            ) from None

    def close(self) -> None:
        """Wait for saves in progress; raises UserError if the disk is full."""
        checkpointer, self._checkpointer = self._checkpointer, None
        try:
            if checkpointer is not None:
                with self._writing(), contextlib.closing(checkpointer):
                    self._wait()
        finally:
            if self._had_no_room:  # only now does nothing write any more
                self._clean()
            if self.loggers is not None:
                self.loggers.close()

    # --- metrics.jsonl

    def open_loggers(self, names: Sequence[str]) -> None:
        """Send all rows, past and future, to the loggers that ``--log`` names."""
        if names:
            self.loggers = open_loggers(names, self.path, self.config, self.metrics())

    def log(self, row: dict[str, Any]) -> None:
        """Append one row to ``metrics.jsonl``."""
        self.devices.broadcast(lambda: self._log(row))

    def _log(self, row: dict[str, Any]) -> None:
        with (
            self._writing(),
            open(self.metrics_file, "a", encoding="utf-8") as handle,
        ):
            handle.write(json.dumps(row) + "\n")
        if self.loggers is not None:
            self.loggers.log(row)

    def metrics(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The rows of ``metrics.jsonl``, all or of one kind."""
        if not self.metrics_file.exists():
            return []
        rows = [row for _, row in read_json_lines(self.metrics_file)]
        return [row for row in rows if kind in (None, row["kind"])]

    def drop_rows_after(self, step: int) -> None:
        """Drop rows of ``metrics.jsonl`` beyond ``step``: those steps are repeated."""
        self.devices.broadcast(lambda: self._drop_rows_after(step))

    def _drop_rows_after(self, step: int) -> None:
        if not self.metrics_file.exists():
            return
        lines = []
        for line in self.metrics_file.read_text("utf-8").splitlines():
            # A line that is not JSON was cut short by a killed process.
            with contextlib.suppress(json.JSONDecodeError):
                if json.loads(line)["step"] <= step:
                    lines.append(line)
        write_lines(self.metrics_file, lines)


def _score_of(metrics: dict[str, Any]) -> Any:
    """The dev score, or the dev reward of an earlier version's checkpoint."""
    return metrics.get(METRIC, metrics.get("dev_reward"))
