"""A GRAPH folder while it is written: held by one process, clean before and after."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.folder import read_manifest
from kgscout_jax.utils.io import sha256_file, write_json
from kgscout_jax.utils.lock import locked

_OURS = re.compile(r"\.lock|v[0-9]{4,}|\.v[0-9]{4,}\.part|\.manifest\.json\..*\.part")
"""What building may leave in a folder besides the manifest, when it is killed."""


@contextlib.contextmanager
def writing(out: Path) -> Iterator[None]:
    """Hold ``out`` to write a graph in; nothing unfinished is left there afterwards.

    Raises:
        UserError: another process holds it, or it holds something else than a graph.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"{out}: expected a folder to write, found a file")
    new = not out.exists()
    if not new:
        if (out / "manifest.json").exists():
            read_manifest(out)  # of shards, say: not ours to write in
        else:
            strange = sorted(p.name for p in out.iterdir() if not _ours(p))
            if strange:
                raise UserError(
                    f"{out}: expected a GRAPH folder or an empty one, found "
                    f"{strange[0]}"
                )
    try:
        with locked(out, "kgscout graph"):
            try:
                sweep(out)
                yield
            finally:
                sweep(out)
    except OSError as error:  # files that are read have messages of their own
        said = error.strerror or error
        raise UserError(f"{out}: cannot be written ({said})") from None
    finally:
        if new and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def _ours(path: Path) -> bool:
    return _OURS.fullmatch(path.name) is not None


def sweep(out: Path) -> None:
    """Delete data that no manifest names: left by a killed run, or just replaced."""
    current = None
    if (out / "manifest.json").exists():
        current = read_manifest(out)["data"]
    for path in out.iterdir():
        if path.is_dir() and _ours(path) and path.name != current:
            shutil.rmtree(path, ignore_errors=True)


def next_version(out: Path) -> str:
    """The name of the folder that the next data go to."""
    used = [int(p.name[1:]) for p in out.iterdir() if re.fullmatch(r"v\d{4,}", p.name)]
    return f"v{max(used, default=0) + 1:04d}"


def publish(out: Path, aside: Path, version: str, manifest: dict[str, Any]) -> None:
    """Make the data written ``aside`` those of the folder: from one moment to the next.

    The files are flushed to disk before the manifest names them.
    """
    files = {}
    for path in sorted(aside.iterdir()):
        with open(path, "rb") as handle:
            os.fsync(handle.fileno())
        files[f"{version}/{path.name}"] = {
            "bytes": path.stat().st_size,
            "sha256": sha256_file(path),
        }
    os.replace(aside, out / version)
    write_json(out / "manifest.json", {**manifest, "data": version, "files": files})
