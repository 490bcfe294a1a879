"""A run's folder: config.json, metrics.jsonl, checkpoints/ (Orbax).

The latest two checkpoints and the best by dev reward are kept. A process killed in
mid-save leaves the previous one loadable.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from orbax.checkpoint import v1 as ocp

from kgscout_jax.errors import UserError
from kgscout_jax.files import read_json, read_json_lines, write_json, write_lines

logger = logging.getLogger("kgscout")

METRIC = "dev_reward"


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

    @property
    def latest_step(self) -> int | None:
        """The step of the latest whole checkpoint; None before the first."""
        if not (self.path / "checkpoints").is_dir():
            return None
        latest = self.checkpointer.latest
        return None if latest is None else int(latest.step)

    @property
    def steps(self) -> list[int]:
        """Steps of the checkpoints that are there, ascending."""
        if self.latest_step is None:
            return []
        return sorted(int(point.step) for point in self.checkpointer.checkpoints)

    @property
    def best_step(self) -> int | None:
        """The step with the best dev reward, else the latest; None before the first."""
        if self.latest_step is None:
            return None
        scored = [
            (point.metrics[METRIC], point.step)
            for point in self.checkpointer.checkpoints
            if isinstance(point.metrics, dict)
        ]
        return int(max(scored)[1]) if scored else self.latest_step

    def save(self, step: int, state: Any, dev_reward: float | None) -> None:
        """Save ``state`` in the background; a save still under way is awaited."""
        metrics: Any = None if dev_reward is None else {METRIC: float(dev_reward)}
        # Copies: the next step is given these buffers to write into.
        leaves = jax.tree.map(jnp.copy, flatten(state))
        self.checkpointer.save_async(step, leaves, metrics=metrics, force=True)

    def load(self, step: int) -> dict[str, Any]:
        """The leaves saved at ``step``, as numpy arrays."""
        device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        wanted = {
            name: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device)
            for name, leaf in self.checkpointer.metadata(step).metadata.items()
        }
        leaves = self.checkpointer.load(step, wanted)
        return {name: np.asarray(leaf) for name, leaf in leaves.items()}

    def close(self) -> None:
        """Wait for saves under way."""
        if self._checkpointer is not None:
            self._checkpointer.close()
            self._checkpointer = None

    def log(self, row: dict[str, Any]) -> None:
        """Append one row to ``metrics.jsonl``."""
        with open(self.metrics_file, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(row) + "\n")

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
