"""Questions as people word them over graphs of invented facts, to train on.

    python recipes/worded_graphs.py OUT

Each file of ``worded_graphs/`` has domains in the form of ``invented_graphs.json``,
with several wordings of each path. OUT/NAME gets one graph of all domains of a file,
``kg.tsv``, and ``questions/``: the last wording of each path is for dev, the others are
for train. No domain is one of ``invented_graphs.json``, which judge what was learned.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from invented_graphs import Domain, numbered, write

FOLDER = Path(__file__).with_suffix("")
EACH = 3
"""Questions of each wording in train."""


def wordings(definition: dict) -> Iterator[tuple[list[str], str]]:
    """The wordings of each path, and the path."""
    for line in definition["questions"]:
        asked, _, path = line.partition(" = ")
        yield asked.split(" | "), path


def questions(domain: Domain, name: str) -> tuple[list[dict], list[dict]]:
    """Questions of train and of dev."""
    train: dict[str, dict] = {}
    dev: dict[str, dict] = {}
    for asked, path in wordings(domain.definition):
        for wording in asked:
            into, each = (dev, 1) if wording == asked[-1] else (train, EACH)
            for _ in range(each):
                question = domain.question(wording, path)
                if question is not None:
                    into.setdefault(question["question"], question)
    return numbered(train.values(), name), numbered(dev.values(), f"{name}-dev")


def main(words: list[str] | None = None) -> int:
    """Write the graphs and their questions; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    args = parser.parse_args(words)
    for file in sorted(FOLDER.glob("*.json")):
        domains = {
            name: Domain(definition, name)
            for name, definition in json.loads(file.read_text("utf-8")).items()
        }
        triplets = sorted({t for domain in domains.values() for t in domain.triplets})
        made = [questions(domain, name) for name, domain in domains.items()]
        train, dev = (
            list(itertools.chain(*parts)) for parts in zip(*made, strict=True)
        )
        write(args.out / file.stem, triplets, {"train": train, "dev": dev})
        counts = f"{len(train):,} of train, {len(dev):,} of dev"
        print(f"{file.stem}: {len(triplets):,} triplets, questions: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
