"""`kgscout perturb` on a large graph: each kind of mistake as a whole command.

    python benchmarks/perturb.py --triplets 1e6 --level 0.3

The graph is that of ``benchmarks/graph.py``, a GRAPH folder. A command opens it, makes
the mistakes, writes the new folder, trains the link predictor on the original, and
measures ATS, SC2D and SD2. It runs in a process of its own; its processor time, of all
threads, is what a machine that others use as well can measure. Ends with one JSON line.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import common
import graph

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

METHODS = ("rs", "rr", "er", "ed")


def perturb_seconds(kg: Path, out: Path, method: str, level: float) -> dict[str, Any]:
    """Seconds, processor seconds, peak gigabytes and measurements of one command."""
    command = [sys.executable, "-m", "kgscout_jax", "perturb", "--kg", str(kg)]
    command += ["--method", method, "--level", str(level), "--seed", "0", "--json"]
    with open(out.with_suffix(".json"), "w+b") as lines:
        usage = common.command_usage([*command, "--out", str(out)], lines)
        lines.seek(0)
        measured = json.loads(lines.read().splitlines()[-1])
    return {
        "method": method,
        **dict(zip(("seconds", "cpu_seconds", "peak_gb"), usage, strict=True)),
        **{key: measured[key] for key in ("changed", "ats", "sc2d", "sd2")},
    }


def main() -> None:
    """Print the table and the JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--triplets", type=float, default=1e6)
    parser.add_argument("--level", type=float, default=0.3)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--memory", type=float, default=4, help="building, GB")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        graph.generate(folder / "kg.tsv", int(given.triplets))
        graph.build_seconds(folder / "kg.tsv", folder / "kg", given.memory)
        known = KnowledgeGraph.open(folder / "kg")
        sizes = len(known.triplets), len(known.entities), len(known.relations)
        for method in given.methods:
            out = folder / method
            rows.append(perturb_seconds(folder / "kg", out, method, given.level))
    common.show(
        "{:,} triplets, {:,} entities, {} relations, level {:g}".format(
            *sizes, given.level
        ),
        ["method", "changed", "seconds", "CPU s", "peak GB", "ATS", "SC2D", "SD2"],
        [
            [
                row["method"], f"{row['changed']:,}", f"{row['seconds']:.0f}",
                f"{row['cpu_seconds']:.0f}", f"{row['peak_gb']:.1f}",
                *(f"{row[key]:.3f}" for key in ("ats", "sc2d", "sd2")),
            ]
            for row in rows
        ],
    )  # fmt: skip
    common.last_line("perturb", triplets=sizes[0], rows=rows)


if __name__ == "__main__":
    main()
