"""Copies of an exported policy: in a folder, on and from the Hugging Face hub."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError, first_line
from kgscout_jax.export import bundled
from kgscout_jax.export.bundled import folder_of
from kgscout_jax.export.format import FILES, is_exported
from kgscout_jax.export.load import Exported, load_exported
from kgscout_jax.utils.disk_space import room_for

HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
"""owner/name, as on the Hugging Face hub."""


@contextlib.contextmanager
def atomic_folder(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder that becomes ``path`` when the block completes.

    An exception removes it and leaves ``path`` as it was.

    Args:
        path: absent, or an empty folder.
        overwrite: it may also be an exported policy.

    Raises:
        UserError: ``path`` holds something else, or a write fails.
    """
    path = path.absolute()
    check_free(path, overwrite)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    before = path.with_name(f".{path.name}.{os.getpid()}.old")
    try:
        with room_for(path, advice="make room, then give the same command again"):
            aside.mkdir(parents=True)
            yield aside
        for file in aside.iterdir():
            with open(file, "rb") as handle:
                os.fsync(handle.fileno())
        check_free(path, overwrite)
        if path.exists():
            os.rename(path, before)
        try:
            os.rename(aside, path)
        except OSError:
            if before.exists():
                os.rename(before, path)
            raise
    except UserError:
        raise
    except OSError as error:
        problem = error.strerror or error
        raise UserError(f"{path}: cannot be written ({problem})") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if path.exists():
            shutil.rmtree(before, ignore_errors=True)


def check_free(path: Path, overwrite: bool) -> None:
    """Raise UserError unless a folder may be written at ``path``."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not is_exported(path):
        raise UserError(f"{path}: is there and not an exported policy, choose another")
    if not overwrite:
        raise UserError(f"{path}: holds an exported policy; give --overwrite")


def is_hub_name(name: str) -> bool:
    """Whether ``name`` is on the hub: owner/name, and not a local path or folder."""
    if name.startswith((".", "/", "~", "-")) or os.path.isdir(name):
        return False
    return HUB_NAME.fullmatch(name) is not None


def from_pretrained(
    name_or_path: Path | str | None = None,
    *,
    revision: str | None = None,
    verify: bool = True,
) -> Exported:
    """The policy in a local folder, or on the Hugging Face hub by owner/name.

    Args:
        name_or_path: a folder that exists is preferred to the hub; None for the
            bundled policy, kgscout-base.
        revision: branch, tag or commit on the hub.
        verify: as ``load_exported``.

    Raises:
        UserError: it is on neither, or as ``load_exported``.
    """
    if name_or_path is None:
        return load_exported(bundled.FOLDER, verify=verify)
    name = str(name_or_path)
    if isinstance(name_or_path, Path) or not is_hub_name(name):
        return load_exported(Path(name).expanduser(), verify=verify)
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(name, revision=revision, allow_patterns=list(FILES))
    except Exception as error:  # any failure to reach the hub, in one line
        raise UserError(
            f"{name}: not a folder here, and the hub did not give it "
            f"({first_line(error)})"
        ) from error
    return load_exported(Path(folder), verify=verify)


def push(
    path: Path | str,
    repo: Path | str,
    *,
    private: bool = True,
    overwrite: bool = False,
    verify: bool = True,
) -> str:
    """Copy an exported policy; returns the folder, or the hub's URL.

    Args:
        path: an exported policy, or the name of the bundled one; checked before
            anything is written.
        repo: owner/name on the Hugging Face hub (log in first: ``hf auth login``), or
            a folder: a ``Path``, or a string that begins with ``/``, ``.`` or ``~`` or
            is a folder.
        private: whether a new repository is private.
        overwrite: replace the exported policy in a local folder.
        verify: as ``load_exported``.

    Raises:
        UserError: ``path`` is no exported policy, or the target refuses it.
    """
    path, target = folder_of(path), str(repo)
    load_exported(path, verify=verify)
    if isinstance(repo, Path) or not is_hub_name(target):
        out = Path(target).expanduser()
        with atomic_folder(out, overwrite=overwrite) as aside:
            for name in FILES:
                if (path / name).exists():
                    shutil.copyfile(path / name, aside / name)
        return str(out)
    from huggingface_hub import HfApi

    api = HfApi()
    try:
        url = api.create_repo(target, private=private, exist_ok=True)
        api.upload_folder(
            repo_id=target,
            folder_path=path,
            allow_patterns=list(FILES),
            commit_message="Export of a KG-Scout policy",
        )
    except Exception as error:  # any failure to reach the hub, in one line
        raise UserError(
            f"{target}: the hub did not take it ({first_line(error)})"
        ) from error
    return str(url)
