"""The memory-mapped graph: building, opening, and balls around two kinds of node.

    python benchmarks/graph.py --triplets 1e6 1e7
    python benchmarks/graph.py --triplets 1e8 --memory 4

A graph with power-law degrees is generated on the fly, a million triplets at a time,
as a TSV file; the density of tails falls with the inverse of the rank, so that one
entity alone has about one triplet in twenty. Building runs in a process of its own,
whose peak memory is reported; so does opening, after the files were dropped from the
page cache. The ordinary nodes are drawn from those of median degree, the median of
their balls is reported; the hub has the most triplets. Ends with one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import command_usage

from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.walk.guided_walk import walk_subgraphs
from kgscout_jax.graph.walk.subgraph import balls

CHUNK = 1_000_000
PER_ENTITY = 5
"""Triplets per entity that could be drawn."""
RELATIONS = 500
ORDINARY = 11
"""Ordinary nodes measured; the median is reported."""

OPEN = """
import json, sys, time
from kgscout_jax.graph import KnowledgeGraph
start = time.perf_counter()
graph = KnowledgeGraph.open(sys.argv[1])
middle = time.perf_counter()
entity = graph.find(sys.argv[2])
end = time.perf_counter()
print(json.dumps([middle - start, end - middle, graph.entities[entity]]))
"""


def chunks(n: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Rows (head, relation, tail) of numbers, up to n of them."""
    rng = np.random.default_rng(seed)
    n_entities = max(10, n // PER_ENTITY)
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        rows = np.empty((size, 3), np.int64)
        rows[:, 0] = n_entities * rng.random(size) ** 1.5  # density rank ** -1/3
        rows[:, 1] = RELATIONS ** rng.random(size)
        rows[:, 2] = n_entities ** rng.random(size)  # density 1 / rank
        yield rows


def generate(path: Path, n: int) -> None:
    """Write a graph of n triplets, repeats included, as TSV."""
    import pyarrow as pa
    from pyarrow import csv

    pc = compute()
    words = ("Entity number ", "relation.of.kind.", "Entity number ")
    names = ("head", "relation", "tail")
    schema = pa.schema([(name, pa.string()) for name in names])
    options = csv.WriteOptions(delimiter="\t", quoting_style="none")
    with csv.CSVWriter(path, schema, write_options=options) as writer:
        for rows in chunks(n):
            columns = [
                pc.binary_join_element_wise(
                    word, pc.cast(pa.array(rows[:, i]), pa.string()), ""
                )
                for i, word in enumerate(words)
            ]
            writer.write_table(pa.table(columns, schema=schema))


def build_seconds(kg: Path, out: Path, memory: float) -> tuple[float, float, float]:
    """Seconds, CPU seconds, peak gigabytes of building it in a process of its own."""
    command = [sys.executable, "-m", "data_prep", "graph", "--kg", str(kg)]
    return command_usage([*command, "--out", str(out), "--memory", str(memory)])


def open_seconds(folder: Path, name: str) -> tuple[float, float]:
    """Seconds to open a folder that is not in the page cache, and to find a name."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as handle:
                os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    process = subprocess.run(
        [sys.executable, "-c", OPEN, str(folder), name],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = json.loads(process.stdout)
    return seconds[0], seconds[1]


def time_ball(graph: KnowledgeGraph, node: int) -> tuple[float, int]:
    """Seconds for the 2-hop ball around a node, and its triplets."""
    start = time.perf_counter()
    ids = balls(graph, [np.array([node], np.int32)], 2)
    return time.perf_counter() - start, len(ids)


def time_walk(graph: KnowledgeGraph, node: int) -> tuple[float, int]:
    """Seconds for the guided 2-step walk from a node, and the triplets it selects."""
    rng = np.random.default_rng(node)
    cosines = rng.normal(0.1, 0.12, (1, len(graph.relations))).astype(np.float32)
    start = time.perf_counter()
    subgraphs = walk_subgraphs(graph, [np.array([node], np.int32)], cosines, hops=2)
    return time.perf_counter() - start, len(subgraphs.triplet_ids)


def measure(n: int, memory: float, scratch: Path) -> dict[str, Any]:
    """One row of the table."""
    kg, out = scratch / "kg.tsv", scratch / "graph"
    start = time.perf_counter()
    generate(kg, n)
    row: dict[str, Any] = {"drawn": n, "generate_s": time.perf_counter() - start}
    row["tsv_gb"] = kg.stat().st_size / 1e9
    row["build_s"], row["build_cpu_s"], row["peak_gb"] = build_seconds(kg, out, memory)
    kg.unlink()
    folder = GraphFolder.open(out)
    graph = KnowledgeGraph.of_folder(folder)
    degrees = np.diff(graph.by_head.offsets) + np.diff(graph.by_tail.offsets)
    hub = int(degrees.argmax())
    median = int(np.median(degrees))
    rng = np.random.default_rng(1)
    nodes = np.flatnonzero(degrees == median)
    ordinary = rng.choice(nodes, min(ORDINARY, len(nodes)), replace=False)
    size = sum(file["bytes"] for file in folder.manifest["files"].values())
    row |= {"triplets": len(graph.triplets), "entities": len(graph.entities)}
    row |= {"bytes_per_triplet": size / len(graph.triplets)}
    row["seconds"] = folder.manifest["seconds"]
    row["open_s"], row["first_find_s"] = open_seconds(
        out, graph.entities[int(ordinary[0])]
    )
    balls_around = sorted(time_ball(graph, int(node)) for node in ordinary)
    row["ordinary_degree"], row["hub_degree"] = median, int(degrees[hub])
    middle = balls_around[len(balls_around) // 2]
    row["ordinary_2hop_s"], row["ordinary_2hop_triplets"] = middle
    row["hub_2hop_s"], row["hub_2hop_triplets"] = time_ball(graph, hub)
    walks = sorted(time_walk(graph, int(node)) for node in ordinary)
    row["ordinary_walk_s"], row["ordinary_walk_triplets"] = walks[len(walks) // 2]
    row["ordinary_walk_slowest_s"] = walks[-1][0]
    row["hub_walk_s"], row["hub_walk_triplets"] = time_walk(graph, hub)
    shutil.rmtree(out)
    return row


def show(row: dict[str, Any]) -> None:
    """Print one row of a Markdown table."""
    cells = [
        f"{row['triplets']:,}",
        f"{row['entities']:,}",
        f"{row['build_s']:.0f} s ({row['build_cpu_s']:.0f})",
        f"{row['peak_gb']:.2f} GB",
        f"{row['bytes_per_triplet']:.1f}",
        f"{1000 * row['open_s']:.0f} + {1000 * row['first_find_s']:.0f} ms",
        f"{1000 * row['ordinary_2hop_s']:.0f} ms, {row['ordinary_2hop_triplets']:,}",
        f"{row['hub_2hop_s']:.1f} s, {row['hub_2hop_triplets']:,}",
        f"{row['hub_degree']:,}",
        f"{1000 * row['ordinary_walk_s']:.0f} ms",
        f"{row['hub_walk_s']:.2f} s",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--triplets", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--memory", type=float, default=2.0, help="GB to build in")
    parser.add_argument("--scratch", type=Path, help="where to write, default a temp")
    args = parser.parse_args()
    titles = [
        *("triplets", "entities", "build (CPU)", "peak memory", "bytes a triplet"),
        *("open + first find", "2 hops, ordinary", "2 hops, hub", "degree of hub"),
        *("walk, ordinary", "walk, hub"),
    ]
    print("| " + " | ".join(titles) + " |")
    print("|" + "---:|" * len(titles), flush=True)
    rows = []
    for n in args.triplets:
        with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
            rows.append(measure(int(n), args.memory, Path(folder)))
            show(rows[-1])
    print(json.dumps({"benchmark": "graph", "memory": args.memory, "rows": rows}))


if __name__ == "__main__":
    main()
