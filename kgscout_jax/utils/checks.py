"""Checks of settings with uniform messages."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kgscout_jax.errors import UserError

LARGEST_K = 2**31 - 1
"""A larger one would not fit the integers of arrays."""


def type_name(value: object) -> str:
    """What a JSON value is, for an error message."""
    return "null" if value is None else type(value).__name__


def check_at_least(least: float, prefix: str = "--", **values: float | None) -> None:
    """Raise UserError if a number is below ``least``; None is not checked.

    Args:
        least: the smallest value allowed.
        prefix: the prefix of names: "--" for a flag (``token_budget`` is then
            written ``--token-budget``), or the record of a field.
        **values: the numbers by field name.
    """
    for name, value in values.items():
        if value is not None and not value >= least:  # also nan
            label = name.replace("_", "-") if prefix == "--" else name
            raise UserError(
                f"{prefix}{label}: found {value}, expected at least {least:g}"
            )


def check_at_most(most: int, **values: int | None) -> None:
    """Raise UserError if a flag is above ``most``; None is not checked."""
    for name, value in values.items():
        if value is not None and value > most:
            flag = name.replace("_", "-")
            raise UserError(f"--{flag}: found {value}, expected at most {most}")


def check_file_name(path: Path | None, flag: str) -> None:
    """Raise UserError if the file to write is a folder."""
    if path is not None and path.is_dir():
        raise UserError(f"{flag}: found the folder {path}, expected a file to write")


def check_both_or_neither(**values: object) -> None:
    """Raise UserError if only one of two flags is provided (not None)."""
    provided = [name for name, value in values.items() if value is not None]
    missing = [name for name, value in values.items() if value is None]
    if provided and missing:
        raise UserError(
            f"--{provided[0]} without --{missing[0]}: expected both, or neither"
        )


def check_folder(path: Path, what: str = "folder") -> None:
    """Raise UserError unless the path is a folder, naming ``what`` it should hold."""
    if not path.exists():
        raise UserError(f"{path}: no such {what}")
    if not path.is_dir():
        raise UserError(f"{path}: found a file, expected a {what}")


def check_no_input(out: Path | None, inputs: Iterable[Path], flag: str) -> None:
    """Raise UserError if the file to write is one of those to read."""
    for path in inputs:
        if out is None or not (os.path.exists(out) and os.path.exists(path)):
            continue
        if os.path.samefile(out, path):
            raise UserError(f"{flag} {out}: this is an input, expected another file")
