"""All attacks, each with a count; ``python -m fuzz.attacks`` runs them.

An attack damages a copy of something whole, or makes something hostile, uses it as a
command does, and counts what happened: refused in one line, accepted, or wrong. Wrong
is an exception that is no ``UserError``, a message of several lines or with control
characters, more than 20 seconds, or other content under a checksum.

    PYTHONPATH=.:tests python -m fuzz.attacks --count 500
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fuzz.callers import caller_attacks
from fuzz.checked_files import checked_file_attacks
from fuzz.counting import Count
from fuzz.documents import document_attacks
from fuzz.processes import process_attacks
from fuzz.readers import reader_attacks
from fuzz.replies import reply_attacks
from fuzz.small_files import small_file_attacks
from fuzz.strange_graphs import strange_graph_attacks
from fuzz.structures import structure_attacks
from fuzz.training_runs import training_run_attacks
from fuzz.work_folders import work_folder_attacks

Attacks = dict[str, Callable[[int, random.Random], Count]]
GROUPS: tuple[Callable[[Path], Attacks], ...] = (
    *(checked_file_attacks, reader_attacks, structure_attacks, small_file_attacks),
    *(document_attacks, work_folder_attacks, strange_graph_attacks, reply_attacks),
    *(training_run_attacks, caller_attacks, process_attacks),
)
"""What makes the attacks of each file of this folder."""


def run_attacks(
    folder: Path, count: int, seed: int = 0, only: str = "", group: str = ""
) -> Iterator[tuple[str, Count, float]]:
    """(name, what happened, seconds) of each attack."""
    for make in GROUPS:
        if group not in ("", make.__module__.rpartition(".")[2]):
            continue
        place = folder / make.__module__
        place.mkdir()
        for name, attack in make(place).items():
            if only in name:
                started = time.monotonic()
                result = attack(count, random.Random(f"{seed} {name}"))
                yield name, result, time.monotonic() - started
            if name == only:
                return


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="inputs of each attack")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="attacks with this in their name")
    parser.add_argument("--group", default="", help="a file of attacks, by its name")
    args = parser.parse_args()
    wrong = 0
    print("| attack | inputs | refused | accepted | wrong | seconds |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        settings = args.count, args.seed, args.only, args.group
        runs = run_attacks(Path(folder), *settings)
        for name, result, seconds in runs:
            print(
                f"| {name} | {result.inputs:,} | {result.refused:,} | "
                f"{result.accepted:,} | {len(result.wrong)} | {seconds:.0f} |",
                flush=True,
            )
            for line in result.wrong[:5]:
                print(f"    {line}")
            wrong += len(result.wrong)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
