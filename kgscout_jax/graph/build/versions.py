"""Atomic versions of a GRAPH folder's data, written by one process at a time."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.folder import read_manifest, write_blocks
from kgscout_jax.graph.provenance import FOLDER
from kgscout_jax.utils.disk_space import room_for
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.manifest import file_entry

_UNFINISHED = re.compile(
    r"\.lock|v[0-9]{4,}|\.v[0-9]{4,}\.part|\.manifest\.json\..*\.part"
)
"""Names that a killed build leaves beside the manifest."""


@contextlib.contextmanager
def exclusive_writer(out: Path) -> Iterator[None]:
    """Lock ``out`` for a build; deletes unfinished data before and after.

    Raises:
        UserError: another process holds it, or it holds something else than a graph.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"{out}: expected a folder to write, found a file")
    new = not out.exists()
    if not new:
        if (out / "manifest.json").exists():
            read_manifest(out)  # refuses a folder of shards
        else:
            foreign = sorted(
                p.name
                for p in out.iterdir()
                if not _is_unfinished(p) and p.name != FOLDER  # of kgscout ingest
            )
            if foreign:
                raise UserError(
                    f"{out}: expected a GRAPH folder or an empty one, found "
                    f"{foreign[0]}"
                )
    advice = "make room, then give the same command again"
    try:
        with locked(out, "kgscout graph"):
            try:
                delete_unlisted(out)
                with room_for(out, advice=advice):
                    yield
            finally:
                delete_unlisted(out)
    except UserError:
        raise
    except OSError as error:  # input files have their own messages
        problem = error.strerror or error
        raise UserError(f"{out}: cannot be written ({problem})") from None
    finally:
        if new and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def _is_unfinished(path: Path) -> bool:
    return _UNFINISHED.fullmatch(path.name) is not None


def delete_unlisted(out: Path) -> None:
    """Delete data that the manifest does not name: unfinished or replaced."""
    current = None
    if (out / "manifest.json").exists():
        current = read_manifest(out)["data"]
    for path in out.iterdir():
        if path.is_dir() and _is_unfinished(path) and path.name != current:
            shutil.rmtree(path, ignore_errors=True)


def next_version(out: Path) -> str:
    """The name of the next version's folder."""
    used = [int(p.name[1:]) for p in out.iterdir() if re.fullmatch(r"v\d{4,}", p.name)]
    return f"v{max(used, default=0) + 1:04d}"


def publish(out: Path, staging: Path, version: str, manifest: dict[str, Any]) -> None:
    """Make the data in ``staging`` the folder's current version, atomically.

    The files are flushed to disk before the manifest names them.
    """
    write_blocks(staging)
    files = {}
    for path in sorted(staging.iterdir()):
        with open(path, "rb") as handle:
            os.fsync(handle.fileno())
        files[f"{version}/{path.name}"] = file_entry(path, ends=True)
    os.replace(staging, out / version)
    write_json(out / "manifest.json", {**manifest, "data": version, "files": files})
