"""The working folder of a preparation: its locks, and the results of its tasks."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from data_prep.differences import preparation_difference
from data_prep.partition import Partition
from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import NPZ_DAMAGE, read_arrays, whole_file, write_json
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.manifest import fingerprint

PROGRAM = "data_prep"
PATIENCE = 2.0
"""Seconds that a partition waits for a run with exclusive use of the folder."""


@contextlib.contextmanager
def writing(out: Path, partition: Partition | None = None) -> Iterator[None]:
    """Lock ``out`` for this process and delete unfinished files of a killed one.

    Partitions share the lock; a whole run holds it exclusively.

    Raises:
        UserError: another run, or another process of the same partition, holds it; or
            it cannot be written.
    """
    if partition is None:
        with _no_empty_folder(out), locked(out, PROGRAM):
            for unfinished in out.rglob(".*.part"):
                unfinished.unlink()
            yield
        return
    name = f".lock-{partition.i}-of-{partition.n}"
    with (
        _no_empty_folder(out),
        locked(out, PROGRAM, shared=True, patience=PATIENCE),
        locked(out, f"{PROGRAM} --part {partition}", name=name),
    ):
        yield


@contextlib.contextmanager
def _no_empty_folder(out: Path) -> Iterator[None]:
    """If the block fails, the folders that it made on the way to ``out`` go again."""
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # there is something in one
            for folder in missing:
                folder.rmdir()
        raise


@contextlib.contextmanager
def assembling(out: Path, partition: Partition | None) -> Iterator[bool]:
    """Whether this process may write the shards: one partition does at a time."""
    if partition is None:
        yield True
        return
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(out, PROGRAM, name=".lock-writing"))
        except UserError:
            yield False
            return
        for unfinished in [*out.glob(".*.part"), *out.glob("[!.]*/.*.part")]:
            unfinished.unlink()
        yield True


def _read(file: Path) -> Any:
    """The value of a JSON file; None where it is missing or damaged."""
    try:
        return json.loads(file.read_text())
    except (FileNotFoundError, ValueError, RecursionError):
        return None


class Workspace:
    """Results of the tasks of one preparation, by task name, under ``out/.work``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def of(
        out: Path,
        config: Mapping[str, Any],
        partition: Partition | None = None,
        *,
        overwrite: bool = False,
    ) -> Workspace:
        """The workspace of this preparation.

        Args:
            out: folder of the shards.
            config: what determines them.
            partition: other partitions may be using the workspace; None for none.
            overwrite: delete the results of another preparation.

        Raises:
            UserError: there are some, and not ``overwrite``.
        """
        workspace = Workspace(out / ".work")
        folder = workspace.folder
        file, settings = folder / "fingerprint.json", folder / "settings.json"
        previous, current = _read(file), fingerprint(config)
        if previous == current:
            return workspace
        if previous and (partition or (any(folder.glob("*.npz")) and not overwrite)):
            before = _read(settings)
            found = "other settings"  # of a version that did not write them
            if isinstance(before, dict):
                found = preparation_difference(before, config)
            advice = (
                "give --overwrite to start over"
                if partition is None
                else "delete it, or give all parts the same settings"
            )
            raise UserError(f"{folder}: holds work of {found}; {advice}")
        if partition is None:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        write_json(settings, config)
        write_json(file, current)
        return workspace

    def file(self, name: str) -> Path:
        """The file of the result of task ``name``."""
        return self.folder / f"{name}.npz"

    def has(self, name: str) -> bool:
        """Whether task ``name`` is complete."""
        return self.file(name).exists()

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store the result of task ``name``."""
        size = sum(array.nbytes for array in arrays.values())
        with whole_file(self.file(name), "wb", size=size) as handle:
            np.savez(handle, allow_pickle=False, **arrays)

    def read(self, name: str, *keys: str) -> dict[str, np.ndarray]:
        """The arrays of a task's result: all, or those of ``keys``.

        Raises:
            UserError: it is damaged; it is deleted, so that the next run makes it.
        """
        file = self.file(name)
        try:
            # Each array has a CRC-32, which is compared when the array is read.
            return read_arrays(file, keys)
        except NPZ_DAMAGE as error:
            file.unlink(missing_ok=True)
            raise UserError(
                f"{file}: damaged ({error}), deleted: the same command makes it again"
            ) from None

    def remove(self) -> None:
        """Delete the folder: the shards are complete."""
        shutil.rmtree(self.folder, ignore_errors=True)
