"""Questions per second against the number of processes that share them.

    python -m data_prep world --out world/
    python benchmarks/engines.py --shards world/
    python benchmarks/engines.py --shards world/ --engines ray --workers 1 2 4 8

The work of three commands, by one process, by several, and by actors of a local Ray
cluster: ``kgscout retrieve`` on a GRAPH folder of the shards' triplets, embedded; the
logits of ``eval retrieval``; the answers and their paths of ``eval answers``. Each
engine runs in a process of its own. Its first pass over the questions starts
processes, opens policy and graph and compiles; the fastest of the others counts. What
is no question's work, such as intervals, tables and plots, is left out. Ends with one
JSON line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.common import last_line, show
from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.errors import UserError
from kgscout_jax.utils.engine import Engine
from kgscout_jax.utils.engine_settings import EngineName, engine_of

BATCH = 32
PATHS = 10
"""Answers of a question whose paths are found, as ``eval answers`` does."""


@dataclass(frozen=True, kw_only=True)
class EngineBenchmark:
    """Measure how many questions a second processes and Ray's actors do.

    Example: python benchmarks/engines.py --shards world/
    """

    shards: Path
    """Shards with the questions."""
    run: str = "kgscout-base"
    """The policy: an export with an answer head."""
    split: str = "test"
    """The split to work on."""
    questions: int = 500
    """The first so many of the split."""
    engines: tuple[EngineName, ...] = ("local", "ray")
    """What spreads questions; local with one worker is the process itself."""
    workers: tuple[int, ...] = (1, 2)
    """Numbers of processes."""
    passes: int = 3
    """Times that all questions are worked on after the first."""
    graph: Path | None = None
    """GRAPH folder to retrieve from, and measure here: how each engine is run."""

    def __post_init__(self) -> None:
        for name in ("questions", "passes"):
            if getattr(self, name) < 1:
                found = getattr(self, name)
                raise UserError(f"--{name}: found {found}, expected at least 1")


def make_graph(settings: EngineBenchmark, folder: Path) -> Path:
    """A GRAPH folder of the shards' triplets, embedded."""
    from kgscout_jax import KnowledgeGraph, Scout
    from kgscout_jax.data.shards import Shards
    from kgscout_jax.graph.build.driver import build_graph

    shards = Shards.open(settings.shards)
    names, relations = shards.entities, shards.relations
    with open(folder / "graph.tsv", "w", encoding="utf-8") as file:
        for head, relation, tail in shards.triplets.tolist():
            print(names[head], relations[relation], names[tail], sep="\t", file=file)
    build_graph([folder / "graph.tsv"], folder / "graph")
    encoder = Scout.from_pretrained(settings.run).encoder
    KnowledgeGraph.open(folder / "graph").embed(encoder)
    return folder / "graph"


def apart(settings: EngineBenchmark, graph: Path, name: str, n: int) -> dict[str, Any]:
    """The figures of one engine, from a process of its own."""
    flags = {
        "shards": settings.shards,
        "run": settings.run,
        "split": settings.split,
        "questions": settings.questions,
        "engines": name,
        "workers": n,
        "passes": settings.passes,
        "graph": graph,
    }
    words = [str(word) for key, value in flags.items() for word in (f"--{key}", value)]
    # Ray's processes are nicer than ours by default: on a busy machine they would wait.
    done = subprocess.run(
        [sys.executable, __file__, *words],
        env={"RAY_worker_niceness": "0"} | os.environ,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UserError(f"{name}, {n} workers: failed, see above")
    return json.loads(done.stdout.splitlines()[-1])


def measure(settings: EngineBenchmark) -> dict[str, dict[str, float]]:
    """Work -> seconds of the first pass, and questions per second of the fastest."""
    assert settings.graph is not None
    begin = perf_counter()
    (name,), (workers,) = settings.engines, settings.workers
    with engine_of(name, workers, gpus=True) as engine:
        started = perf_counter() - begin
        figures = {}
        for work, (count, once) in works(settings, settings.graph, engine).items():
            laps = []
            for _ in range(1 + settings.passes):
                begin = perf_counter()
                once()
                laps.append(perf_counter() - begin)
            figures[work] = {"first_s": laps[0], "per_second": count / min(laps[1:])}
    return {"start": {"first_s": started}, **figures}


def works(
    settings: EngineBenchmark, graph_folder: Path, engine: Engine
) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Command -> its number of questions, and the work on all of them."""
    import numpy as np

    from kgscout_jax.data.shards import Shards
    from kgscout_jax.export.load_trained import load_trained
    from kgscout_jax.inference.batch_lines import (
        BatchLines,
        Row,
        load_scout,
        open_graphs,
        settings_fingerprint,
    )
    from kgscout_jax.inference.settings import RetrieveSettings
    from kgscout_jax.retrieve.kgscout import KGScout
    from kgscout_jax.retrieve.split_answers import split_answers

    shards = Shards.open(settings.shards)
    split = shards.split(settings.split)
    policy = load_trained(Path(settings.run)).policy
    rows = np.arange(min(len(split), settings.questions))
    questions = [split.questions[i] for i in rows.tolist()]
    asked = [Row(id=q.id, question=q.text, topics=q.topics or None) for q in questions]
    batches = [asked[low : low + BATCH] for low in range(0, len(asked), BATCH)]
    retrieve = RetrieveSettings(
        policy=settings.run, kg=(graph_folder,), questions=Path(), out=Path()
    )
    scout, graph = load_scout(retrieve, open_graphs(retrieve))
    mark = settings_fingerprint(retrieve, scout, graph)
    lines = BatchLines(retrieve, mark, scout, graph)

    def answers() -> None:
        split_answers(policy, shards, split, rows, paths=PATHS, engine=engine)

    return {
        "retrieve": (len(rows), lambda: list(engine.map(lines, batches))),
        "eval retrieval": (
            len(rows),
            lambda: KGScout(policy, engine=engine).logits(shards, split, rows),
        ),
        "eval answers": (len(rows), answers),
    }


def run(settings: EngineBenchmark) -> None:
    """Every engine and number of workers; a table, then the last line."""
    with tempfile.TemporaryDirectory() as folder:
        graph = make_graph(settings, Path(folder))
        figures = {
            (name, n): apart(settings, graph, name, n)
            for name in settings.engines
            for n in settings.workers
        }
    rows = []
    for (name, n), each in figures.items():
        rates = [f"{e['per_second']:.0f}" for e in each.values() if "per_second" in e]
        first = sum(e["first_s"] for e in each.values())
        rows.append([name, str(n), *rates, f"{first:.0f}"])
    commands = ["retrieve", "eval retrieval", "eval answers"]
    show(
        f"questions a second, {settings.questions} of {settings.split}",
        ["engine", "workers", *commands, "start and first passes, s"],
        rows,
    )
    print()
    last_line(
        "engines",
        cores=len(os.sched_getaffinity(0)),
        **{f"{name}_{n}": each for (name, n), each in figures.items()},
    )


def work(settings: EngineBenchmark) -> None:
    """The whole benchmark, or one engine's part of it."""
    if settings.graph is None:
        run(settings)
        return
    from kgscout_jax.utils.jax_setup import setup_jax

    setup_jax()
    print(json.dumps(measure(settings)))


def main(args: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    given = sys.argv[1:] if args is None else args
    prog = "benchmarks/engines.py"
    return guarded(lambda: work(parse(EngineBenchmark, given, prog)))


if __name__ == "__main__":
    sys.exit(main())
