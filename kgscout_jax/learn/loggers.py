"""Optional loggers of the rows of metrics: TensorBoard and Weights & Biases.

``metrics.jsonl`` stays the reference. A resumed run drops the rows beyond its
checkpoint and repeats those steps. TensorBoard's file is rewritten from the remaining
rows; W&B, which deletes nothing, receives only new rows. So no point appears twice, and
a run whose logging starts when it is resumed is logged from its beginning.
"""

from __future__ import annotations

import json
import logging
import math
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json, write_json

logger = logging.getLogger("kgscout")

Row = Mapping[str, Any]
PACKAGES = {"tensorboard": "tensorboardX", "wandb": "wandb"}
"""The package that each logger imports."""


class Sink(Protocol):
    """A destination of rows."""

    def log(self, row: Row) -> None:
        """Log one row."""
        ...

    def close(self, failed: bool) -> None:
        """Finish; ``failed``: training ends with an error."""
        ...


class Loggers:
    """All sinks of a run, beside ``metrics.jsonl``; one that fails is dropped."""

    def __init__(self, sinks: Mapping[str, Sink]) -> None:
        self.sinks = dict(sinks)

    def log(self, row: Row) -> None:
        """Log one row to each sink."""
        self._each("log", lambda sink: sink.log(row))

    def close(self) -> None:
        """Finish all sinks."""
        error = sys.exc_info()[1]
        stopped = isinstance(error, SystemExit) and not error.code
        failed = error is not None and not stopped
        self._each("finish", lambda sink: sink.close(failed))
        self.sinks = {}

    def _each(self, action: str, function: Callable[[Sink], None]) -> None:
        for name, sink in list(self.sinks.items()):
            try:
                function(sink)
            except Exception as error:  # noqa: BLE001 (logging must not stop training)
                message = "--log %s: cannot %s (%s); training goes on without it"
                logger.warning(message, name, action, error)
                del self.sinks[name]


def check_loggers(names: Sequence[str]) -> None:
    """Raise UserError if a library is not installed; imports nothing."""
    for name in names:
        package = PACKAGES[name]
        try:
            installed = find_spec(package) is not None
        except ValueError:  # raised for a partly removed module
            installed = False
        if not installed:
            raise UserError(
                f"--log {name}: {package} is not installed: "
                f"pip install 'kgscout-jax[{name}]'"
            )


def open_loggers(
    names: Sequence[str], run: Path, metadata: Mapping[str, Any], rows: Sequence[Row]
) -> Loggers:
    """The loggers that ``--log`` names, with all rows so far.

    Args:
        names: keys of PACKAGES.
        run: the run's folder: ``tensorboard/`` and ``wandb/`` are created in it.
        metadata: the run's ``config.json``, shown beside the curves.
        rows: the rows of ``metrics.jsonl``, in order.

    Raises:
        UserError: a library is not installed, or cannot start.
    """
    check_loggers(names)
    makers: dict[str, Callable[..., Sink]] = {
        "tensorboard": TensorBoard,
        "wandb": Wandb,
    }
    sinks = {name: makers[name](run, metadata) for name in dict.fromkeys(names)}
    loggers = Loggers(sinks)
    for row in rows:
        loggers.log(row)
    return loggers


def scalars(row: Row) -> dict[str, float]:
    """The finite values of a row by ``kind/name``; all loggers accept the names."""
    return {
        f"{row['kind']}/{name.replace('@', '_at_')}": float(value)
        for name, value in row.items()
        if name not in ("kind", "step", "epoch")
        and isinstance(value, int | float)
        and math.isfinite(value)
    }


class TensorBoard:
    """Event files in ``RUN/tensorboard``, for ``tensorboard --logdir RUN``."""

    def __init__(self, run: Path, metadata: Mapping[str, Any]) -> None:
        from tensorboardX import SummaryWriter

        folder = run / "tensorboard"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("events.out.tfevents.*"):
                old.unlink()
            # An open TensorBoard discards the points of the removed files.
            self.writer = SummaryWriter(str(folder), purge_step=0, flush_secs=20)
            config = json.dumps(metadata.get("config", {}), indent=2)
            self.writer.add_text("config", f"```\n{config}\n```", 0)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None

    def log(self, row: Row) -> None:
        for name, value in scalars(row).items():
            self.writer.add_scalar(name, value, row["step"])

    def close(self, failed: bool) -> None:
        del failed
        self.writer.close()


class Wandb:
    """A run of Weights & Biases; ``wandb.json`` holds its id and the last step sent.

    W&B's own variables set the project, entity, mode and more: WANDB_PROJECT,
    WANDB_ENTITY, WANDB_MODE=offline, ...
    """

    def __init__(self, run: Path, metadata: Mapping[str, Any]) -> None:
        import wandb

        self.file = run / "wandb.json"
        record = read_json(self.file) if self.file.exists() else {}
        self.id = str(record.get("id") or secrets.token_hex(4))
        self.step = int(record.get("step", -1))
        """The last step sent; of this step, the rows of ``kinds``."""
        self.kinds = set(record.get("kinds", ()))
        settings = wandb.Settings(console="off", quiet=True)
        try:
            self.run = wandb.init(
                project=os.environ.get("WANDB_PROJECT") or "kgscout",
                name=run.resolve().name,
                id=self.id,
                resume="allow",
                dir=str(run),
                config=dict(metadata.get("config", {})),
                settings=settings,
            )
        except wandb.Error as error:
            reason = " ".join(str(error).split())
            raise UserError(
                f"--log wandb: {reason} (log in with: wandb login; or keep it here: "
                "WANDB_MODE=offline)"
            ) from None
        # The run's own steps are the x axis: W&B's own count never decreases.
        self.run.define_metric("step")
        self.run.define_metric("*", step_metric="step")
        self._write_record()

    def log(self, row: Row) -> None:
        step, kind = row["step"], row["kind"]
        if step < self.step or (step == self.step and kind in self.kinds):
            return  # a repeated step, with the same values
        self.run.log({"step": step, **scalars(row)})
        self.kinds = {kind} if step > self.step else {*self.kinds, kind}
        self.step = step
        self._write_record()

    def close(self, failed: bool) -> None:
        self.run.finish(exit_code=int(failed))

    def _write_record(self) -> None:
        kinds = sorted(self.kinds)
        write_json(self.file, {"id": self.id, "step": self.step, "kinds": kinds})
