"""Counts of an attack: refused, accepted or wrong, one damaged copy at a time."""

from __future__ import annotations

import dataclasses
import hashlib
import random
import shutil
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.mutations import changed_bytes

from kgscout_jax.errors import UserError, escape

MAX_SECONDS = 20.0
"""Processor time of one input; the inputs are small."""
Damage = Callable[[bytes, random.Random], bytes]


@dataclasses.dataclass
class Count:
    """What an attack did."""

    inputs: int = 0
    refused: int = 0
    accepted: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)
    """A line for each exception that is no UserError, and each wrong content."""

    def try_(self, use: Callable[[], str], expected: str | None, what: str) -> None:
        """Count one input; ``use`` gives a fingerprint of what a user would see.

        ``expected``: the only fingerprint that is right; None where any is.
        """
        self.inputs += 1
        started = time.process_time()
        try:
            found = use()
        except UserError as error:
            self.refused += 1
            if escape(str(error)) != str(error) or len(str(error)) > 2000:
                self.wrong.append(f"{what}: a message of several lines: {error!s:.300}")
            return
        except Exception:  # noqa: BLE001 (this is what the attack looks for)
            last = traceback.format_exc().strip().splitlines()
            self.wrong.append(f"{what}: {last[-1][:200]} | {last[-3].strip()[:200]}")
            return
        if (seconds := time.process_time() - started) > MAX_SECONDS:
            self.wrong.append(f"{what}: took {seconds:.0f} seconds")
        elif expected is not None and found != expected:
            self.wrong.append(f"{what}: other content, without a word")
        else:
            self.accepted += 1


def digest(*values: Any) -> str:
    """A fingerprint of arrays, names and records."""
    out = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            out.update(np.ascontiguousarray(value).tobytes())
        else:
            out.update(repr(value).encode("utf-8", "replace"))
    return out.hexdigest()


def damage_files(
    whole: Path,
    files: list[Path],
    use: Callable[[Path], str],
    count: int,
    rng: random.Random,
    damage: Damage = changed_bytes,
    *,
    exact: bool = True,
) -> Count:
    """Damage one file of a copy of ``whole`` at a time.

    ``exact``: what is not refused must be as before, since a checksum covers it.
    """
    result, copy = Count(), whole.with_name(whole.name + "-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole, copy)
    expected = use(copy)
    for number in range(count):
        if not copy.exists():
            shutil.copytree(whole, copy)
        file = copy / rng.choice(files).relative_to(whole)
        raw = file.read_bytes()
        file.write_bytes(damage(raw, rng))
        what = f"{whole.name} {file.relative_to(copy)} number {number}"
        result.try_(lambda: use(copy), expected if exact else None, what)
        if file.exists() and sorted(copy.rglob("*")) == sorted(
            copy / each.relative_to(whole) for each in whole.rglob("*")
        ):
            file.write_bytes(raw)
        else:  # the command deleted or added files
            shutil.rmtree(copy)
    shutil.rmtree(copy, ignore_errors=True)
    return result


def arrays(folder: Path, *suffixes: str) -> list[Path]:
    """The files with these suffixes below a folder."""
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes)
