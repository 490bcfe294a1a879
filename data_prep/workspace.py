"""The working folder of a preparation: one run at a time, finished pieces are kept."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from data_prep.partition import Part
from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import whole_file, write_json

logger = logging.getLogger("kgscout")

PATIENCE = 2.0
"""Seconds that a part waits for whoever holds the folder alone: a run that starts."""


def fingerprint(value: dict[str, Any]) -> str:
    """A hash of everything that decides what is written."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def writing(out: Path, part: Part | None = None) -> Iterator[None]:
    """Hold ``out`` for this process, rid of files that a killed one did not finish.

    Different parts may hold a folder together, and nobody else then.

    Raises:
        UserError: another run, or another process of the same part, holds it; or it
            cannot be written.
    """
    if part is None:
        with _held(out, ".lock"):
            for aside in out.rglob(".*.part"):
                aside.unlink()
            yield
        return
    with (
        _held(out, ".lock", shared=True),
        _held(out, f".lock-{part.i}-of-{part.n}", who=f"data_prep --part {part}"),
    ):
        yield


@contextlib.contextmanager
def assembling(out: Path, part: Part | None) -> Iterator[bool]:
    """Whether this process may write the shards: of parts, one does at a time."""
    if part is None:
        yield True
        return
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(_held(out, ".lock-writing"))
        except UserError:
            yield False
            return
        for aside in [*out.glob(".*.part"), *out.glob("[!.]*/.*.part")]:
            aside.unlink()
        yield True


@contextlib.contextmanager
def _held(
    folder: Path, name: str, *, shared: bool = False, who: str = "data_prep"
) -> Iterator[None]:
    """Hold the lock ``name`` in ``folder``; whoever holds it alone removes it."""
    lock = folder / name
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    until = time.monotonic() + (PATIENCE if shared else 0)
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = open(lock, "a")  # noqa: SIM115 (closed below, held meanwhile)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            if _same_file(handle.fileno(), lock):
                break
            handle.close()  # its last holder has just removed it: a new one is made
        except BlockingIOError:
            handle.close()
            if time.monotonic() > until:
                raise UserError(f"{folder}: another {who} is writing here") from None
            time.sleep(0.05)
    with handle:
        try:
            yield
        finally:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                lock.unlink(missing_ok=True)


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


class Workspace:
    """Finished pieces of one preparation, by name, under ``out/.work``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def of(out: Path, mark: str, part: Part | None = None) -> Workspace:
        """The workspace of the preparation ``mark``; pieces of another are deleted.

        Raises:
            UserError: there are some, and other parts may be at work on them.
        """
        work = Workspace(out / ".work")
        marker = work.folder / "fingerprint.json"
        try:
            known = json.loads(marker.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            known = None
        if known != mark and work.folder.exists() and (known or part is None):
            if part is not None:
                raise UserError(
                    f"{work.folder}: holds work of other settings; delete it, or give "
                    "all parts the same settings"
                )
            logger.info("%s: left by other settings, started over", work.folder)
            shutil.rmtree(work.folder)
        work.folder.mkdir(exist_ok=True)
        if known != mark:
            write_json(marker, mark)
        return work

    def file(self, name: str) -> Path:
        """Where the piece ``name`` lies, or will."""
        return self.folder / f"{name}.npz"

    def has(self, name: str) -> bool:
        """Whether the piece ``name`` is finished."""
        return self.file(name).exists()

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep a finished piece."""
        with whole_file(self.file(name), "wb") as handle:
            np.savez(handle, allow_pickle=False, **arrays)

    def read(self, name: str, *keys: str) -> dict[str, np.ndarray]:
        """The arrays of a finished piece: all, or those named."""
        with np.load(self.file(name), allow_pickle=False) as arrays:
            return {key: arrays[key] for key in keys or arrays.files}

    def piece(
        self, name: str, make: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The arrays of piece ``name``: from disk if finished, else made and kept."""
        if not self.has(name):
            self.write(name, make())
        return self.read(name)

    def remove(self) -> None:
        """Delete the folder: the shards are complete."""
        shutil.rmtree(self.folder, ignore_errors=True)
