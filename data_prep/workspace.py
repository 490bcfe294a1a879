"""The working folder of a preparation: one run at a time, finished pieces are kept."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from data_prep.partition import Part
from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import whole_file, write_json
from kgscout_jax.utils.lock import locked

logger = logging.getLogger("kgscout")

WHO = "data_prep"
PATIENCE = 2.0
"""Seconds that a part waits for whoever holds the folder alone: a run that starts."""


@contextlib.contextmanager
def writing(out: Path, part: Part | None = None) -> Iterator[None]:
    """Hold ``out`` for this process, rid of files that a killed one did not finish.

    Different parts may hold a folder together, and nobody else then.

    Raises:
        UserError: another run, or another process of the same part, holds it; or it
            cannot be written.
    """
    if part is None:
        with locked(out, WHO):
            for aside in out.rglob(".*.part"):
                aside.unlink()
            yield
        return
    with (
        locked(out, WHO, shared=True, patience=PATIENCE),
        locked(out, f"data_prep --part {part}", name=f".lock-{part.i}-of-{part.n}"),
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
            stack.enter_context(locked(out, WHO, name=".lock-writing"))
        except UserError:
            yield False
            return
        for aside in [*out.glob(".*.part"), *out.glob("[!.]*/.*.part")]:
            aside.unlink()
        yield True


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
