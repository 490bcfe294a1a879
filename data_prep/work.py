"""The working folder of a preparation: one run at a time, finished pieces are kept."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.files import whole_file, write_json

logger = logging.getLogger("kgscout")


def fingerprint(value: dict[str, Any]) -> str:
    """A hash of everything that decides what is written."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold ``out`` for this process; raises UserError if another one prepares it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = open(out / ".lock", "w")  # noqa: SIM115 (closed below, held meanwhile)
    except OSError as error:
        raise UserError(f"{out}: cannot be written ({error.strerror})") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{out}: another data_prep is writing here") from None
        for part in out.rglob(".*.part"):  # files that a killed run did not finish
            part.unlink()
        try:
            yield
        finally:
            (out / ".lock").unlink(missing_ok=True)


class Workspace:
    """Finished pieces of one preparation, by name, under ``out/.work``."""

    def __init__(self, out: Path, mark: str) -> None:
        self.folder = out / ".work"
        marker = self.folder / "fingerprint.json"
        try:
            known = json.loads(marker.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            known = None
        if known != mark and self.folder.exists():
            logger.info("%s: left by other settings, started over", self.folder)
            shutil.rmtree(self.folder)
        self.folder.mkdir(exist_ok=True)
        write_json(marker, mark)

    def piece(
        self, name: str, make: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The arrays of piece ``name``: from disk if finished, else made and kept."""
        file = self.folder / f"{name}.npz"
        if file.exists():
            with np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        made = make()
        with whole_file(file, "wb") as handle:
            np.savez(handle, allow_pickle=False, **made)
        return made

    def remove(self) -> None:
        """Delete the folder: the shards are complete."""
        shutil.rmtree(self.folder)
