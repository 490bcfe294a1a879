"""A question and a graph in, triplets out: how long ``Scout.retrieve`` takes.

    python benchmarks/retrieve.py
    python benchmarks/retrieve.py --sizes 5000 --export OUT
    taskset -c 0,1 python benchmarks/retrieve.py

Generated graphs with power-law degrees and names made of words; topics with so many
triplets within two hops; topics are given but for linking, which is told apart, and the
graph is embedded. Each size runs in a process of its own. Without ``--export`` the
policy has its default size and the parameters that training starts with. Peers:

- torch_networkx: the same network in plain PyTorch, with the same weights, behind a
  ball, ``networkx.pagerank`` on it and a cosine (``retrieve_peers``);
- faiss_cosine: the question's nearest among all triplets of the graph, exact, by FAISS.
  It encodes and searches: no topics, no graph, no network.

The first call after loading is measured in fresh processes, with an empty and with a
filled compilation cache. Milliseconds are a question's, by the clock and of the
processor (all threads): on a busy machine they differ. Ends with one JSON line; ratios
are the peer's median over ours, the question's encoding included on both sides, at the
smallest size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.common import last_line, show
from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.errors import UserError

Peer = Literal["torch_networkx", "faiss_cosine"]
AIM_MS, AIM_FIRST_S = 15, 2


@dataclass(frozen=True, kw_only=True)
class RetrieveBenchmark:
    """Measure Scout.retrieve on generated graphs, and its peers.

    Example: python benchmarks/retrieve.py --sizes 5000 50000
    """

    export: Path | None = None
    """An exported policy; None: one of the default size, not trained."""
    sizes: tuple[int, ...] = (5_000, 50_000, 500_000)
    """Triplets within two hops of the topics, about."""
    graph_triplets: int | None = None
    """Of each graph; None: 2.4 times those around the topics, or more."""
    questions: int = 100
    """At each size; p99 is over these times the rounds."""
    rounds: int = 2
    """Times that all questions are asked; kinds of work take turns."""
    callers: int = 16
    """Threads that ask at once; 1: none beside the one."""
    peers: tuple[Peer, ...] = ("torch_networkx", "faiss_cosine")
    """What to compare with."""
    peer_questions: int = 10
    """That a peer gets in each round; at a hundred thousand triplets and more, one."""
    first_call: bool = True
    """Also measure the first call after loading, in fresh processes."""
    only: int | None = None
    """Measure this size here and print its figures: how each size is run."""
    first: bool = False
    """Load, call once and print the seconds: how the first call is run."""

    def __post_init__(self) -> None:
        if not self.sizes:
            raise UserError("--sizes: found none, expected at least one")
        for name in ("questions", "rounds", "callers", "peer_questions"):
            if getattr(self, name) < 1:
                found = getattr(self, name)
                flag = name.replace("_", "-")
                raise UserError(f"--{flag}: found {found}, expected at least 1")
        if self.graph_triplets is not None and self.graph_triplets < max(self.sizes):
            raise UserError(
                f"--graph-triplets: found {self.graph_triplets}, expected at least "
                f"{max(self.sizes)}, the largest of --sizes"
            )
        for size in self.sizes:
            if size < 100:
                raise UserError(f"--sizes: found {size}, expected at least 100")


def apart(*flags: str, **env: str) -> dict[str, Any]:
    """The figures that a fresh process prints last."""
    command = [sys.executable, __file__, *flags]
    done = subprocess.run(
        command, env=os.environ | env, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise UserError(f"{' '.join(flags)}: failed, see above")
    return json.loads(done.stdout.splitlines()[-1])


def first_call(export: Path) -> dict[str, float]:
    """Seconds that loading takes, and the first call after it; the second call's."""
    from time import perf_counter

    begin = perf_counter()
    from kgscout_jax import Scout

    scout = Scout.from_pretrained(export)
    load = perf_counter() - begin
    from benchmarks.retrieve_world import make_world

    world = make_world(5_000, 2, scout.encoder)
    laps = []
    for text, topic in zip(world.questions, world.topics, strict=True):
        begin = perf_counter()
        scout.retrieve(text, world.graph, topics=topic)
        laps.append(perf_counter() - begin)
    return {"load_s": load, "first_s": laps[0], "second_s": laps[1]}


def run(settings: RetrieveBenchmark) -> None:
    """Every size and the first call; tables on the way, the last line at the end."""
    if "faiss_cosine" in settings.peers:
        from benchmarks.retrieve_peers import import_faiss

        import_faiss()
    with tempfile.TemporaryDirectory() as folder:
        export = settings.export
        if export is None:
            export = Path(folder) / "policy"
            apart_export(Path(folder))
        elif not export.is_dir():
            raise UserError(f"--export: {export}: no such folder")
        first = {}
        if settings.first_call:
            for cache in ("cold", "warm"):  # the first fills what the second finds
                where = str(Path(folder) / "jax")
                first[cache] = apart(
                    *("--first", "--export", str(export)),
                    JAX_COMPILATION_CACHE_DIR=where,
                )
        sizes = {}
        for size in settings.sizes:
            figures = apart("--only", str(size), *flags_of(settings, export, size))
            sizes[size] = figures
            tell(size, figures)
    smallest = sizes[min(sizes)]
    if first:
        rows = [
            [name, *(f"{v:.2f}" for v in each.values())] for name, each in first.items()
        ]
        head = ["compilation cache", "load, s", "first call, s", "second, s"]
        show(f"first call after loading (aim: {AIM_FIRST_S} s, warm)", head, rows)
    print()
    last_line(
        "retrieve",
        ms={str(size): each["ms"] for size, each in sizes.items()},
        ratios=ratios_of(smallest, "p50"),
        ratios_cpu=ratios_of(smallest, "cpu"),
        ratios_by_size={str(s): ratios_of(each, "p50") for s, each in sizes.items()},
        aim_ms=AIM_MS,
        first_call=first,
        memory_mb={
            str(size): {k: v / 1e6 for k, v in each["memory"].items()}
            for size, each in sizes.items()
        },
        agreement=max(each.get("agreement", 0.0) for each in sizes.values()),
        cores=smallest["cores"],
        torch_threads=smallest["torch_threads"],
    )


def apart_export(folder: Path) -> None:
    """Write a policy of random parameters to ``folder``/policy."""
    from benchmarks.retrieve_world import make_export
    from kgscout_jax.text.encoder import SentenceEncoder

    make_export(folder, SentenceEncoder())


def flags_of(settings: RetrieveBenchmark, export: Path, size: int) -> list[str]:
    """What the process of one size is told."""
    peer_questions = settings.peer_questions if size < 100_000 else 1
    whole = settings.graph_triplets
    return [
        *(() if whole is None else ("--graph-triplets", str(whole))),
        *("--export", str(export), "--questions", str(settings.questions)),
        *("--rounds", str(settings.rounds), "--callers", str(settings.callers)),
        *("--peer-questions", str(peer_questions), "--peers", *settings.peers),
    ]


def ratios_of(figures: dict[str, Any], kind: str) -> dict[str, float]:
    """The peers' milliseconds over ours."""
    ms = figures["ms"]
    peers = ("torch_networkx", "faiss_cosine")
    return {p: ms[p][kind] / ms["encoded"][kind] for p in peers if p in ms}


def tell(size: int, figures: dict[str, Any]) -> None:
    """Print the table of one size."""
    rows = [
        [
            name,
            *(f"{each[kind]:.1f}" for kind in ("best", "p50", "p99", "cpu")),
            f"{each['per_second']:.0f}" if "per_second" in each else "–",
        ]
        for name, each in figures["ms"].items()
    ]
    title = (
        f"{figures['around']:,.0f} triplets around {figures['topics']} topics, "
        f"{figures['triplets']:,} in the graph; ms a question"
    )
    show(title, ["work", "best", "p50", "p99", "processor", "a second"], rows)
    memory = {
        name: f"{value / 1e6:,.0f} MB" for name, value in figures["memory"].items()
    }
    print()
    print(f"- memory: {', '.join(f'{k} {v}' for k, v in memory.items())}")
    print(f"- linker: made in {figures['linker_s']:.1f} s")
    print(f"- {figures['cores']} cores, PyTorch: {figures['torch_threads']} threads")
    if "agreement" in figures:
        print(f"- logits of the peer's network apart: {figures['agreement']:.1e}")


def work(settings: RetrieveBenchmark) -> None:
    """The whole benchmark, or the part that a process of its own is for."""
    if settings.export is not None and settings.first:
        print(json.dumps(first_call(settings.export)))
    elif settings.export is not None and settings.only is not None:
        from benchmarks.retrieve_size import measure_size

        figures = measure_size(
            settings.export,
            settings.only,
            questions=settings.questions,
            rounds=settings.rounds,
            callers=settings.callers,
            peers=settings.peers,
            peer_questions=settings.peer_questions,
            triplets=settings.graph_triplets,
        )
        print(json.dumps(figures))
    else:
        run(settings)


def main(args: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    given = sys.argv[1:] if args is None else args
    prog = "benchmarks/retrieve.py"
    return guarded(lambda: work(parse(RetrieveBenchmark, given, prog)))


if __name__ == "__main__":
    sys.exit(main())
