"""Manifests: typed JSON files that list files with size and checksum.

The checksum of a file's ends is cheap enough to compare at every opening of a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json, sha256_file

T = TypeVar("T")

END_BYTES = 1 << 16
"""Bytes that ``sha256_ends`` reads at each end of a file."""
WHOLE_BYTES = 1 << 24
"""Files up to this size are cheap enough (12 ms) to be read whole on opening."""


class FileEntry(TypedDict):
    """Size and checksums of a file."""

    bytes: int
    sha256: str
    sha256_ends: NotRequired[str]


def fingerprint(value: Any) -> str:
    """The hex sha256 of a JSON value, independent of the order of its fields."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_ends(path: Path) -> str:
    """The hex sha256 of a file's first and last 64 KiB, or of all of a small file.

    Detects truncated, swapped and rewritten files in constant time.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        digest.update(handle.read(END_BYTES))
        handle.seek(max(END_BYTES, handle.seek(0, os.SEEK_END) - END_BYTES))
        digest.update(handle.read(END_BYTES))
    return digest.hexdigest()


def file_entry(path: Path, *, ends: bool = False) -> dict[str, Any]:
    """The manifest item of a file: ``bytes``, ``sha256``, optional ``sha256_ends``."""
    entry = {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
    return entry | ({"sha256_ends": sha256_ends(path)} if ends else {})


def check_files(
    folder: Path,
    files: Mapping[str, Mapping[str, Any]],
    *,
    verify: bool = False,
    whole: int = 0,
) -> None:
    """Raise UserError unless all listed files exist unchanged.

    Args:
        folder: the folder of the files.
        files: name -> result of ``file_entry``.
        verify: compare every byte with ``sha256``, not only the size and the ends.
        whole: compare every byte of files of at most so many bytes.
    """
    for name, entry in files.items():
        file = folder / name
        if not file.is_file():
            raise UserError(f"{file}: missing, though the manifest lists it")
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise UserError(
                f"{file}: {size} bytes, expected {entry['bytes']}: truncated or "
                "changed since it was written"
            )
        ends = entry.get("sha256_ends")
        if verify or size <= whole:
            is_good = sha256_file(file) == entry["sha256"]
        else:
            is_good = not ends or sha256_ends(file) == ends
        if not is_good:
            raise UserError(f"{file}: damaged: checksum differs from the manifest")
    before = _opened.pop(folder.absolute(), {})
    _opened[folder.absolute()] = {**before, **files}


_opened: dict[Path, Mapping[str, Mapping[str, Any]]] = {}
"""The folders whose files were checked, for ``damage``; the latest last."""


def forget_opened() -> None:
    """``damage`` looks at folders that are opened from here on."""
    _opened.clear()


def damage() -> str | None:
    """What is wrong with the folders opened since ``forget_opened``; None: nothing.

    Reads every byte. It tells damaged data, which may raise anything anywhere, from a
    defect of the program.
    """
    for folder, files in reversed(list(_opened.items())):
        # Others were replaced since; what was mapped of them stays as it was.
        there = {
            name: entry for name, entry in files.items() if (folder / name).exists()
        }
        try:
            check_files(folder, there, verify=True)
        except (UserError, OSError) as error:
            return str(error)
    return None


def read_record(file: Path, record: type[T]) -> T:
    """A JSON file as a ``msgspec.Struct``, dataclass or other annotated type.

    Raises:
        UserError: no such file, invalid JSON, or a field is missing, forbidden or of
            another type; the message names file and field.
    """
    return as_record(read_json(file), record, str(file))


def as_record(value: Any, record: type[T], where: str) -> T:
    """A JSON value as an annotated type; raises UserError as ``read_record`` does."""
    import msgspec

    try:
        return msgspec.convert(value, record)
    except UnicodeEncodeError:  # JSON allows lone surrogates
        raise UserError(f"{where}: a lone surrogate, expected Unicode text") from None
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        field = place.rstrip("`").lstrip(".")
        problem = problem.replace("Expected", "expected").replace("got", "found")
        raise UserError(
            f"{where}: {field}: {problem}" if field else f"{where}: {problem}"
        ) from None
