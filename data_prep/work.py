"""The working folder of a preparation: one run at a time, finished pieces are kept."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.files import locked, whole_file, write_json

logger = logging.getLogger("kgscout")


def fingerprint(value: dict[str, Any]) -> str:
    """A hash of everything that decides what is written."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def writing(out: Path) -> Iterator[None]:
    """Hold ``out`` for this process, rid of files that a killed one did not finish."""
    with locked(out, "data_prep"):
        for part in out.rglob(".*.part"):
            part.unlink()
        yield


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
