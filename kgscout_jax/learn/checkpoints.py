"""A run's folder: config.json, metrics.jsonl, checkpoints/ (Orbax).

The latest two checkpoints and the best by dev reward are kept. A process killed in
mid-save leaves the previous one loadable. What is damaged is noticed, see ``seals.py``.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from orbax.checkpoint import v1 as ocp

from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoint_checksums import SEALS, broken, sealed
from kgscout_jax.learn.loggers import Loggers, open_loggers
from kgscout_jax.utils.io import read_json, read_json_lines, write_json, write_lines

logger = logging.getLogger("kgscout")

METRIC = "dev_reward"
DAMAGED = "damaged"
"""Folder in a run that damaged checkpoints are moved to."""
NO_ROOM = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up",
           errno.EFBIG: "the file would be larger than allowed"}  # fmt: skip


class Damaged(UserError):
    """A checkpoint is there, and is not what was saved."""

    def __init__(self, run: Path, step: int, why: str) -> None:
        super().__init__(f"{run}: the checkpoint of step {step} is damaged ({why})")
        self.why = why


def flatten(tree: Any) -> dict[str, Any]:
    """Leaves of a pytree by their path, a form that any later version can read."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): x for path, x in leaves
    }


def unflatten(like: Any, leaves: dict[str, Any]) -> Any:
    """The pytree shaped as ``like`` with the leaves that ``flatten`` named."""
    named, treedef = jax.tree_util.tree_flatten_with_path(like)
    names = [
        jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in named
    ]
    return jax.tree_util.tree_unflatten(treedef, [leaves[name] for name in names])


class RunFolder:
    """Reads and writes one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.json"
        self.metrics_file = path / "metrics.jsonl"
        # What fails in Orbax's threads is raised to us as well; each of them logs it.
        logging.getLogger("absl").setLevel(logging.CRITICAL)
        policies = ocp.training.preservation_policies
        self._keep: Any = policies.AnyPreservationPolicy(
            [
                policies.LatestN(2),
                policies.BestN(
                    n=1,
                    get_metric_fn=lambda metrics: metrics[METRIC],
                    keep_checkpoints_without_metrics=False,
                ),
            ]
        )
        self._checkpointer: ocp.training.Checkpointer | None = None
        self.loggers: Loggers | None = None

    @staticmethod
    def existing(path: Path) -> RunFolder:
        """The run in ``path``; raises UserError if there is none."""
        run = RunFolder(path)
        if not path.is_dir():
            raise UserError(f"{path}: no such run")
        if not run.config_file.exists():
            raise UserError(f"{path}: no config.json, this is not a run")
        return run

    @property
    def config(self) -> dict[str, Any]:
        """What ``config.json`` holds: config, policy, encoder, shards."""
        return read_json(self.config_file)

    def write_config(self, config: dict[str, Any]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.config_file, config)

    @property
    def checkpointer(self) -> ocp.training.Checkpointer:
        if self._checkpointer is None:
            folder: Any = (self.path / "checkpoints").absolute()
            self._checkpointer = ocp.training.Checkpointer(
                folder, preservation_policy=self._keep
            )
        return self._checkpointer

    def _folders(self) -> list[Path]:
        """Folders of the checkpoints that are there, of whole and damaged ones."""
        folder = self.path / "checkpoints"
        found = folder.iterdir() if folder.is_dir() else ()
        return [path for path in found if path.name.isdigit()]

    @staticmethod
    def _metric(folder: Path) -> float | None:
        """The dev reward of a checkpoint, None without; raises UserError if damaged."""
        file = folder / "metrics" / "metrics"
        if not file.exists():
            return None
        metrics = read_json(file)
        if not isinstance(metrics, dict) or not isinstance(
            metrics.get(METRIC), (int, float)
        ):
            raise UserError(f"{file}: expected a number under {METRIC}")
        return float(metrics[METRIC])

    def _is_unreadable(self, folder: Path) -> bool:
        try:
            self._metric(folder)
        except UserError:
            return True
        return False

    @property
    def latest_step(self) -> int | None:
        """The step of the latest checkpoint; None before the first."""
        return max(self.steps, default=None)

    @property
    def steps(self) -> list[int]:
        """Steps of the checkpoints that are there, ascending."""
        # Orbax gives a folder its name only once it is complete.
        return sorted(int(folder.name) for folder in self._folders())

    @property
    def best_step(self) -> int | None:
        """The step with the best dev reward, else the latest; None before the first."""
        best = self.best_first
        return best[0] if best else None

    @property
    def best_first(self) -> list[int]:
        """Steps by dev reward, then those without one, the latest first."""
        scored, others = [], []
        for step in self.steps:
            folder = self.path / "checkpoints" / str(step)
            metric = None if self._is_unreadable(folder) else self._metric(folder)
            if metric is None:
                others.append(step)
            else:
                scored.append((metric, step))
        return [step for _, step in sorted(scored, reverse=True)] + others[::-1]

    def save(self, step: int, state: Any, dev_reward: float | None) -> None:
        """Save ``state`` in the background; a save still under way is awaited."""
        metrics: Any = None if dev_reward is None else {METRIC: float(dev_reward)}
        # Copies: the next step is given these buffers to write into.
        leaves = jax.tree.map(jnp.copy, flatten(state))
        leaves[SEALS] = sealed(leaves)
        with self._writing():
            self.checkpointer.save_async(step, leaves, metrics=metrics, force=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Around what writes: a disk that is full is told in one line."""
        try:
            yield
        except Exception as error:  # of asyncio, tensorstore or the system
            problem = no_room(error)
            if problem is None:
                raise
            self._clean()
            steps = ", ".join(map(str, self.steps))
            raise UserError(
                f"{self.path}: {problem} while saving; whole checkpoints: "
                f"{steps or 'none'}; make room, then give the same command again"
            ) from None

    def latest_whole(self) -> tuple[int, dict[str, Any]] | None:
        """The latest step with its leaves, after moving damaged ones aside; or None.

        For the process that holds the run only.
        """
        self._clean()
        for folder in self._folders():
            if self._is_unreadable(folder):
                self._set_aside(int(folder.name), "its metrics are not readable")
        for step in reversed(self.steps):
            try:
                return step, self.load(step)
            except Damaged as error:
                self._set_aside(step, error.why)
        return None

    def _clean(self) -> None:
        """Remove what saves that were never completed left behind."""
        for path in (self.path / "checkpoints").glob("*orbax-checkpoint-tmp*"):
            shutil.rmtree(path, ignore_errors=True)

    def _set_aside(self, step: int, why: str) -> None:
        """Move a checkpoint to where nothing looks for it."""
        self.close()
        folder = self.path / DAMAGED / str(step)
        folder.parent.mkdir(exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(self.path / "checkpoints" / str(step), folder)
        latest = self.latest_step
        left = (
            "none is left" if latest is None else f"the latest other is step {latest}"
        )
        logger.warning(
            "%s: the checkpoint of step %d is damaged (%s) and was moved to %s; %s",
            *(self.path, step, why, folder, left),
        )

    def load(self, step: int) -> dict[str, Any]:
        """The leaves saved at ``step``, as numpy arrays.

        Raises:
            Damaged: they are not those that were saved.
        """
        try:
            with _quiet():
                leaves = self._load(step)
        except MemoryError:
            raise
        except Exception as error:  # Orbax raises all kinds
            if "RESOURCE_EXHAUSTED" in str(error):  # of the device, no fault of a file
                raise
            raise Damaged(self.path, step, one_line(error)) from None
        seals = leaves.pop(SEALS, None)  # None: saved by an earlier version
        if seals is not None and (names := broken(leaves, seals)):
            raise Damaged(self.path, step, f"{names[0]} is not what was saved")
        return leaves

    def _load(self, step: int) -> dict[str, Any]:
        device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        # Orbax's list does not open if the metrics of one step are damaged.
        alone = any(map(self._is_unreadable, self._folders()))
        folder: Any = (self.path / "checkpoints" / str(step)).absolute()
        found = ocp.metadata(folder) if alone else self.checkpointer.metadata(step)
        metadata = found.metadata
        if metadata is None:
            raise ValueError("its list of arrays is not readable")
        wanted = {
            name: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device)
            for name, leaf in metadata.items()
        }
        if alone:
            leaves = ocp.load(folder, wanted)
        else:
            leaves = self.checkpointer.load(step, wanted)
        return {name: np.asarray(leaf) for name, leaf in leaves.items()}

    def close(self) -> None:
        """Wait for saves under way; raises UserError if there was no room for one."""
        checkpointer, self._checkpointer = self._checkpointer, None
        try:
            if checkpointer is not None:
                with self._writing():
                    checkpointer.close()
        finally:
            if self.loggers is not None:
                self.loggers.close()

    def show_in(self, names: Sequence[str]) -> None:
        """Show rows, those there are and those to come, in what ``--log`` names."""
        if names:
            self.loggers = open_loggers(names, self.path, self.config, self.metrics())

    def log(self, row: dict[str, Any]) -> None:
        """Append one row to ``metrics.jsonl``."""
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
        return rows if kind is None else [row for row in rows if row["kind"] == kind]

    def forget_after(self, step: int) -> None:
        """Drop rows of ``metrics.jsonl`` beyond ``step``: those steps come again."""
        if not self.metrics_file.exists():
            return
        kept = []
        for line in self.metrics_file.read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue  # the line a killed process was writing
            if row["step"] <= step:
                kept.append(line)
        write_lines(self.metrics_file, kept)


def check_leaves(path: Path, saved: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise UserError unless a checkpoint has the arrays, by name and shape, wanted."""
    for name in sorted(saved.keys() | wanted.keys()):
        if name not in saved or name not in wanted:
            where = "the checkpoint" if name in saved else "this configuration"
            raise UserError(f"{path}: {name} is only in {where}")
        found, expected = np.shape(saved[name]), np.shape(wanted[name])
        if found != expected:
            raise UserError(
                f"{path}: {name} has shape {found}, expected {expected}: another "
                "encoder or other sizes"
            )


def no_room(error: BaseException | None) -> str | None:
    """What is missing if ``error``, or one behind it, is about room on disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return NO_ROOM[error.errno]
        for number, what in NO_ROOM.items():
            if os.strerror(number) in str(error):  # tensorstore's are ValueErrors
                return what
        error = error.__cause__ or error.__context__
    return None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what libraries log of a checkpoint that cannot be read: we tell."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    except Exception:
        gc.collect()  # tasks whose errors nobody asked for are told as they go
        raise
    finally:
        logging.disable(before)


def one_line(error: Exception) -> str:
    """The start of an error's first line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) <= 80 else lines[0][:77] + "..."
