"""Rows of metrics shown elsewhere too: TensorBoard and Weights & Biases, when asked.

``metrics.jsonl`` stays what holds. A run that goes on has dropped the rows beyond its
checkpoint and makes them again: TensorBoard's file is written anew from the rows that
were kept, and W&B, which forgets nothing, is sent only what it has not got. Either way
no point is there twice, and a run that is first logged when it is resumed is logged
from its beginning.
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
"""What each needs, by the name it is imported by."""


class Sink(Protocol):
    """Somewhere that rows go to."""

    def log(self, row: Row) -> None:
        """Show one row."""
        ...

    def close(self, failed: bool) -> None:
        """Finish; ``failed``: training ends by an error."""
        ...


class Loggers:
    """All that rows go to, beside ``metrics.jsonl``; a failing one is given up."""

    def __init__(self, sinks: Mapping[str, Sink]) -> None:
        self.sinks = dict(sinks)

    def log(self, row: Row) -> None:
        """Pass one row on."""
        self._each("log", lambda sink: sink.log(row))

    def close(self) -> None:
        """Finish all of them."""
        error = sys.exc_info()[1]
        stopped = isinstance(error, SystemExit) and not error.code
        failed = error is not None and not stopped
        self._each("finish", lambda sink: sink.close(failed))
        self.sinks = {}

    def _each(self, what: str, work: Callable[[Sink], None]) -> None:
        for name, sink in list(self.sinks.items()):
            try:
                work(sink)
            except Exception as error:  # noqa: BLE001 (training is worth more)
                told = "--log %s: cannot %s (%s); training goes on without it"
                logger.warning(told, name, what, error)
                del self.sinks[name]


def check_loggers(names: Sequence[str]) -> None:
    """Raise UserError where a library is not installed; nothing is imported."""
    for name in names:
        package = PACKAGES[name]
        try:
            found = find_spec(package) is not None
        except ValueError:  # what a half-removed module raises
            found = False
        if not found:
            raise UserError(
                f"--log {name}: {package} is not installed: "
                f"pip install 'kgscout-jax[{name}]'"
            )


def open_loggers(
    names: Sequence[str], run: Path, about: Mapping[str, Any], rows: Sequence[Row]
) -> Loggers:
    """What ``--log`` names, knowing all rows so far.

    Args:
        names: of PACKAGES.
        run: the run's folder: ``tensorboard/`` and ``wandb/`` are made in it.
        about: the run's ``config.json``, shown beside the curves.
        rows: those of ``metrics.jsonl`` that hold, in their order.

    Raises:
        UserError: a library is not installed, or cannot begin.
    """
    check_loggers(names)
    makers: dict[str, Callable[..., Sink]] = {
        "tensorboard": TensorBoard,
        "wandb": Wandb,
    }
    loggers = Loggers({name: makers[name](run, about) for name in dict.fromkeys(names)})
    for row in rows:
        loggers.log(row)
    return loggers


def scalars(row: Row) -> dict[str, float]:
    """The finite values of a row by ``kind/name``, in letters that all of them take."""
    return {
        f"{row['kind']}/{name.replace('@', '_at_')}": float(value)
        for name, value in row.items()
        if name not in ("kind", "step", "epoch")
        and isinstance(value, int | float)
        and math.isfinite(value)
    }


class TensorBoard:
    """Event files in ``RUN/tensorboard``: look with ``tensorboard --logdir RUN``."""

    def __init__(self, run: Path, about: Mapping[str, Any]) -> None:
        from tensorboardX import SummaryWriter

        folder = run / "tensorboard"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("events.out.tfevents.*"):
                old.unlink()
            # Who is looking meanwhile forgets what the removed files held.
            self.writer = SummaryWriter(str(folder), purge_step=0, flush_secs=20)
            config = json.dumps(about.get("config", {}), indent=2)
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
    """A run of Weights & Biases; it keeps its id, and what was sent, in ``wandb.json``.

    Project, entity, mode and the rest are set by W&B's own variables: WANDB_PROJECT,
    WANDB_ENTITY, WANDB_MODE=offline, ...
    """

    def __init__(self, run: Path, about: Mapping[str, Any]) -> None:
        import wandb

        self.file = run / "wandb.json"
        known = read_json(self.file) if self.file.exists() else {}
        self.id = str(known.get("id") or secrets.token_hex(4))
        self.step = int(known.get("step", -1))
        """Rows up to this step were sent, of this step those of ``kinds``."""
        self.kinds = set(known.get("kinds", ()))
        settings = wandb.Settings(console="off", quiet=True)
        try:
            self.run = wandb.init(
                project=os.environ.get("WANDB_PROJECT") or "kgscout",
                name=run.resolve().name,
                id=self.id,
                resume="allow",
                dir=str(run),
                config=dict(about.get("config", {})),
                settings=settings,
            )
        except wandb.Error as error:
            said = " ".join(str(error).split())
            raise UserError(
                f"--log wandb: {said} (log in with: wandb login; or keep it here: "
                "WANDB_MODE=offline)"
            ) from None
        # The run's own steps are the x axis: W&B's count never goes back.
        self.run.define_metric("step")
        self.run.define_metric("*", step_metric="step")
        self._keep()

    def log(self, row: Row) -> None:
        step, kind = row["step"], row["kind"]
        if step < self.step or (step == self.step and kind in self.kinds):
            return  # a step that comes again, with the same values
        self.run.log({"step": step, **scalars(row)})
        self.kinds = {kind} if step > self.step else {*self.kinds, kind}
        self.step = step
        self._keep()

    def close(self, failed: bool) -> None:
        self.run.finish(exit_code=int(failed))

    def _keep(self) -> None:
        kinds = sorted(self.kinds)
        write_json(self.file, {"id": self.id, "step": self.step, "kinds": kinds})
