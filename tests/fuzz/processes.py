"""Attacks that need processes of their own: races for a lock, full disks."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from fuzz.counting import Count
from utils.small_disk import run_on_small_disk
from utils.test_disk_space import SCRIPT
from utils.test_lock import race


def races(count: int, rng: random.Random) -> Count:
    """Four processes race for a lock; an input is an acquisition, about ``count``/60 s.

    A process that meets another one inside ends with an error.
    """
    result = Count()
    with tempfile.TemporaryDirectory() as folder:
        for kinds in (["exclusive"] * 4, ["shared", "exclusive"] * 2):
            try:
                result.inputs += race(Path(folder), kinds, max(count / 120, 0.5))
            except AssertionError:
                result.wrong.append(f"{kinds}: two holders at once")
    result.accepted = result.inputs
    return result


def full_disks(count: int, rng: random.Random) -> Count:
    """Writers on disks that are too small, a twentieth of ``count``; each a process."""
    result = Count()
    table = "".join(f"h {i}\tr\tt {i % 9}\n" for i in range(9000))
    for _ in range(max(count // 20, 1)):
        task = rng.choice(["array", "graph", "embedding", "cache", "workspace"])
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "kg.tsv").write_text(table)
            size = rng.randrange(1 << 12, 1 << 20) // 4096 * 4096
            arguments = "tests", task, str(folder / "kg.tsv"), "0"
            done = run_on_small_disk(folder / "disk", size, SCRIPT, *arguments)
        told = [e for e in done.stderr.splitlines() if e.startswith("error: ")]
        result.inputs += 1
        result.refused += done.returncode == 2
        result.accepted += done.returncode == 0
        one_line = len(told) == 1 and "free there" in told[0]
        if done.returncode not in (0, 2) or (done.returncode == 2 and not one_line):
            last = done.stderr.strip().splitlines()[-1:]
            result.wrong.append(f"{task}, {size} bytes: {done.returncode} {last}")
    return result


def process_attacks(folder: Path) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack by processes -> the function that runs it."""
    return {"locks, races of four processes": races, "full disks": full_disks}
