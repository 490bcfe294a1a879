"""Cross-validation where a data set has no test split: makes folds, pools their tables.

    python recipes/folds.py make QUESTIONS.jsonl ... --out FOLDS [--folds 5]
    python recipes/folds.py pool RESULTS/*/questions.jsonl --against cosine
    python recipes/folds.py pool ANSWERS/*/questions-scout-k100.jsonl

``make`` writes FOLDS/i/{train,dev,test}.jsonl: fold i is the test split, a tenth of
the other questions is dev, which picks the checkpoint, and the rest is train. ``pool``
takes what ``eval.py retrieval`` or ``eval.py answers`` wrote for each fold, and prints
means over all questions with 95% bootstrap intervals: every question is measured once,
by a policy that has never seen it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from kgscout_jax.evaluate.bootstrap import estimates
from kgscout_jax.utils.io import write_lines
from kgscout_jax.utils.tables import markdown_table

DEV_SHARE = 10
"""One in so many of the questions outside a fold is dev."""
ANSWER_METRICS = ("hits@1", "hit", "macro_f1", "em")


def make(files: list[Path], out: Path, folds: int, seed: int) -> None:
    """Write the folds of all questions in ``files``."""
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    order = np.random.default_rng(seed).permutation(len(lines))
    for fold in range(folds):
        test = order[fold::folds]
        rest = np.setdiff1d(order, test)
        rest = np.random.default_rng([seed, fold]).permutation(rest)
        dev, train = rest[: len(rest) // DEV_SHARE], rest[len(rest) // DEV_SHARE :]
        for name, rows in {"train": train, "dev": dev, "test": test}.items():
            write_lines(out / str(fold) / f"{name}.jsonl", [lines[i] for i in rows])


def pool(files: list[Path], against: str | None) -> str:
    """The table of all folds' questions: a row per retriever or per metric."""
    rows = [
        json.loads(line)
        for file in files
        for line in file.read_text("utf-8").splitlines()
    ]
    columns: dict[tuple[str, ...], np.ndarray] = {}
    if "retriever" not in rows[0]:
        for name, metrics in rows[0]["metrics"].items():
            for metric, by_k in metrics.items():
                for k in by_k:
                    values = [row["metrics"][name][metric][k] for row in rows]
                    columns[name, metric, k] = np.array(values, float)
        if against is not None:
            columns |= {
                (f"{name} - {against}", metric, k): values - columns[against, metric, k]
                for (name, metric, k), values in list(columns.items())
                if name != against
            }
    else:
        for metric in ANSWER_METRICS:
            columns[rows[0]["retriever"], metric, str(rows[0]["k"])] = np.array(
                [row["metrics"][metric] for row in rows], float
            )
    table = [
        [*key, f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]", one["n"]]
        for key, one in estimates(columns).items()
    ]
    return markdown_table(["row", "metric", "K", "mean", "n"], table)


def main() -> None:
    """Run ``make`` or ``pool``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("command", choices=("make", "pool"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("folds"))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--against")
    args = parser.parse_args()
    if args.command == "make":
        make(args.files, args.out, args.folds, args.seed)
    else:
        print(pool(args.files, args.against))


if __name__ == "__main__":
    main()
