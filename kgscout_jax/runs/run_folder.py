"""A run's folder, read without JAX and in whatever state it is.

The run may be training at this moment, or have been killed at any. What cannot be read
is reported as a problem; the rest is read all the same.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_folder
from kgscout_jax.utils.io import read_json
from kgscout_jax.utils.lock import is_locked

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """The content of a run's folder."""

    path: Path
    metadata: dict[str, Any]
    """``config.json``; {} where it cannot be read."""
    rows: list[Row]
    """Of ``metrics.jsonl``, in their order, without a torn last line."""
    checkpoints: list[int]
    """Steps of the complete checkpoints, ascending."""
    disk_bytes: int
    running: bool
    """Whether a live process holds the folder's lock."""
    updated: float | None
    """When the last row was written, in seconds since 1970; None before the first."""
    problems: list[str] = field(default_factory=list)
    """What is damaged, a line each."""

    def of_kind(self, kind: str) -> list[Row]:
        """The rows of one kind; of those of the same step, the last."""
        return rows_of_kind(self.rows, kind)


def rows_of_kind(rows: Sequence[Row], kind: str) -> list[Row]:
    """The rows of one kind; of those of the same step, the last."""
    return list({row["step"]: row for row in rows if row["kind"] == kind}.values())


def best_epoch(epochs: Sequence[Row]) -> Row | None:
    """The row of the epoch with the best dev score; of equal ones the last."""
    scored = [row for row in epochs if dev_score(row) is not None]
    return max(scored, key=lambda row: (dev_score(row), row["step"]), default=None)


def dev_score(row: Row) -> float | None:
    """What the best checkpoint has most of; earlier versions logged the reward only."""
    return finite_number(row.get("dev_score", row.get("dev_reward")))


def finite_number(value: Any) -> float | None:
    """The value if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits
        return float(value) if math.isfinite(value) else None
    return None


def find_runs(paths: Sequence[Path]) -> list[Path]:
    """The folders of runs: ``paths`` themselves, or those directly in them, by name.

    Raises:
        UserError: a path is no folder, or neither a run nor a folder of runs.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        check_folder(path, "run")
        if (path / "model.safetensors").exists():
            raise UserError(f"{path}: an exported policy, expected a run")
        runs = [path]
        if not is_run(path):
            runs = sorted(each for each in path.iterdir() if is_run(each))
        if not runs:
            raise UserError(
                f"{path}: no config.json, in it or in a folder of it: this is not a run"
            )
        folders |= dict.fromkeys(runs)
    return list(folders)


def is_run(path: Path) -> bool:
    """Whether a folder looks like a run, be it a damaged one."""
    return (
        path.is_dir()
        and not (path / "model.safetensors").exists()
        and ((path / "metrics.jsonl").exists() or is_run_config(path / "config.json"))
    )


def is_run_config(file: Path) -> bool:
    """Whether a ``config.json`` is a run's; a damaged one may be."""
    try:
        config = read_json(file)
    except UserError:
        return file.exists() and (file.parent / "checkpoints").is_dir()
    return isinstance(config, dict) and "config" in config and "policy" in config


def read_run(path: Path) -> StoredRun:
    """The run in ``path``, in whatever state."""
    problems: list[str] = []
    # The lock first: a run that ends meanwhile is reported as running, not as stopped.
    running = is_locked(path)
    metadata = {}
    try:
        value = read_json(path / "config.json")
        if isinstance(value, dict) and isinstance(value.get("config"), dict):
            metadata = value
        else:
            problems.append(f"{path / 'config.json'}: no settings of a run")
    except UserError as error:
        problems.append(str(error))
    metrics = path / "metrics.jsonl"
    rows, updated = [], None
    if metrics.exists():
        rows = list(read_rows(metrics, problems))
        updated = metrics.stat().st_mtime
    best = best_epoch(rows_of_kind(rows, "epoch"))
    best_step = None if best is None else best["step"]
    steps = list(complete_checkpoints(path / "checkpoints", best_step, problems))
    return StoredRun(
        path=path,
        metadata=metadata,
        rows=rows,
        checkpoints=sorted(steps),
        disk_bytes=bytes_in(path),
        running=running,
        updated=updated if rows else None,
        problems=problems,
    )


def read_rows(file: Path, problems: list[str]) -> Iterator[Row]:
    """The rows of ``metrics.jsonl``; others are reported as problems.

    The last line may be torn: a killed process was writing it, or a live one is.
    """
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        problems.append(f"{file}: cannot be read ({error.strerror})")
        return
    torn = lines.pop()  # nothing, where the last line is whole
    for number, line in enumerate(lines, start=1):
        row = as_row(line)
        if row is not None:
            yield row
        elif line.strip():
            problems.append(f"{file}:{number}: not a row of metrics")
    row = as_row(torn)
    if row is not None:
        yield row


def as_row(line: bytes) -> Row | None:
    """The row that a line holds, None if it holds none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    good = isinstance(row, dict) and isinstance(row.get("kind"), str)
    if not good or type(row.get("step")) is not int:
        return None
    return row


def complete_checkpoints(
    folder: Path, best: int | None, problems: list[str]
) -> Iterator[int]:
    """Steps of the complete checkpoints; damaged ones are reported as problems.

    Orbax gives a checkpoint its name, the step, only when it is written; other names
    are saves under way, or what a killed process left of one. Checkpoints other than
    the newest and the best are deleted: of one there may be a part left, which is no
    problem.

    Args:
        folder: ``checkpoints`` of the run.
        best: the step with the best dev score; None if there is none.
        problems: gets a line for each damaged checkpoint.
    """
    if not folder.is_dir():
        return
    names = (each for each in folder.iterdir() if each.name.isdecimal())
    steps = {int(each.name): each for each in names}
    newest = max(steps, default=None)
    for step, each in steps.items():
        needed = ("_CHECKPOINT_METADATA", "state/_METADATA", "state/manifest.ocdbt")
        missing = [name for name in needed if not (each / name).exists()]
        if not missing:
            yield step
        elif step in (newest, best) and each.exists():  # or deleted meanwhile
            problems.append(f"{each}: damaged checkpoint, no {missing[0]}")


def bytes_in(folder: Path) -> int:
    """Bytes of all files below a folder; those that vanish meanwhile count nothing."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue
    return total
