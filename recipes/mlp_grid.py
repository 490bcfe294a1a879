"""Dev scores of the MLP's grid, for its table.

    python recipes/mlp_grid.py RUNS --into recipes/figures/mlp_grid.json

RUNS holds the runs of mlp.sh. Each row: learning rate, questions an update, weight of
the positives, epochs that ran, the best one, and its recall of path triplets on dev.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from kgscout_jax.utils.io import read_json, write_json

SCORE = "dev_path_triplet_recall"
SETTINGS = ("learning_rate", "batch_size", "positive_weight")


def grid_row(run: Path) -> dict[str, Any]:
    """One run's settings and its best epoch."""
    settings = read_json(run / "config.json")["config"]
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "epoch"]
    best = max(rows, key=lambda row: row[SCORE])
    measured = {"epochs": rows[-1]["epoch"], "best": best["epoch"], "dev": best[SCORE]}
    return {name: settings[name] for name in SETTINGS} | measured


def main() -> None:
    """Read all runs of a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args()
    runs = sorted(file.parent for file in given.runs.glob("rate_*/metrics.jsonl"))
    rows = sorted(map(grid_row, runs), key=lambda row: -row["dev"])
    write_json(given.into, {"kind": "grid", "runs": rows})


if __name__ == "__main__":
    main()
