"""How many questions a second ``kgscout serve`` answers, by processes and callers.

    python benchmarks/serve.py
    python benchmarks/serve.py --processes 1 2 4 --callers 16

The service runs as users run it, over HTTP, with the bundled policy and a generated
graph; callers are threads of this process, each with a connection of its own, which ask
again as soon as they have a reply. The callers use the same cores. All numbers of
processes take turns in each round. Ends with one JSON line.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.common import last_line, show
from benchmarks.retrieve_size import Figures, by_callers
from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least

START_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class ServeBenchmark:
    """Measure kgscout serve with one process and with several.

    Example: python benchmarks/serve.py --processes 1 2
    """

    processes: tuple[int, ...] = (1, 2)
    """Values of ``--processes`` to measure."""
    callers: int = 16
    """Threads that ask at once."""
    size: int = 5_000
    """Triplets within two hops of the topics, about."""
    questions: int = 400
    """In each round."""
    rounds: int = 3
    """The best one is reported."""
    k: int = 100
    """Triplets of a reply."""
    serve: str = "--joint-encoding"
    """Further options of the service, in one string."""

    def __post_init__(self) -> None:
        check_at_least(1, callers=self.callers, size=self.size, rounds=self.rounds)
        check_at_least(1, questions=self.questions, k=self.k)
        check_at_least(1, processes=min(self.processes, default=0))


@dataclass(frozen=True, kw_only=True)
class Service:
    """A running service, and the bodies of the requests it is sent."""

    port: int
    bodies: Sequence[bytes]
    connections: threading.local

    def ask(self, i: int) -> None:
        """Send the i-th question over the connection of this thread."""
        body = self.bodies[i % len(self.bodies)]
        try:
            status, text = self._post(body)
        except (ConnectionError, http.client.HTTPException):  # idle: it was closed
            self.connections.http = None
            status, text = self._post(body)
        if status != 200:
            raise UserError(f"the service replies {status}: {text[:200]!r}")

    def _post(self, body: bytes) -> tuple[int, bytes]:
        if (connection := getattr(self.connections, "http", None)) is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            self.connections.http = connection
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/retrieve", body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()


def write_world(size: int, folder: Path, k: int) -> tuple[Path, list[bytes]]:
    """A GRAPH folder, embedded, and bodies of requests that ask about it."""
    from benchmarks.retrieve_world import make_world
    from kgscout_jax import KnowledgeGraph
    from kgscout_jax.graph.build.driver import build_graph
    from kgscout_jax.text.encoder import SentenceEncoder

    encoder = SentenceEncoder()
    world = make_world(size, 40, encoder)
    path = folder / "world.tsv"
    with open(path, "w", encoding="utf-8") as file:
        for i in range(len(world.graph)):
            file.write("\t".join(world.graph.triplet(i)) + "\n")
    bodies = [
        json.dumps({"question": text, "topics": [topic], "k": k}).encode()
        for text, topic in zip(world.questions, world.topics, strict=True)
    ]
    graph = KnowledgeGraph.of_folder(build_graph([path], folder / "world"))
    graph.embed(encoder)
    return folder / "world", bodies


@contextmanager
def service(
    path: Path, bodies: Sequence[bytes], processes: int, more: str
) -> Iterator[Service]:
    """A service that listens."""
    command = [
        *(sys.executable, "-m", "kgscout_jax", "serve", "--kg", str(path)),
        *("--port", "0", "--processes", str(processes), *more.split()),
    ]
    log = path.with_name(f"serve_{processes}.log")
    with open(log, "wb") as errors:
        running = subprocess.Popen(command, stderr=errors)
    try:
        port = int(wait_for(running, log, "listening on").rpartition(":")[2])
        yield Service(port=port, bodies=bodies, connections=threading.local())
    finally:
        running.terminate()
        running.wait()


def wait_for(running: subprocess.Popen[bytes], log: Path, text: str) -> str:
    """The first line of a service's log that holds ``text``."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and running.poll() is None:
        for line in log.read_text("utf-8", "replace").splitlines():
            if text in line:
                return line.strip()
        time.sleep(0.2)
    raise UserError(f"the service does not say {text!r}: {log.read_text()[-500:]}")


def warm(rate: Callable[[], float]) -> None:
    """Ask until no round is faster than those before: all shapes are compiled."""
    best = 0.0
    while (found := rate()) > best * 1.03:
        best = found


def run(settings: ServeBenchmark) -> None:
    """All numbers of processes in turns."""
    rows, figures = [], {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path, bodies = write_world(settings.size, Path(folder), settings.k)
        services = {
            n: stack.enter_context(service(path, bodies, n, settings.serve))
            for n in dict.fromkeys(settings.processes)
        }

        def measure(each: Service) -> Figures:
            return by_callers(each.ask, settings.callers, settings.questions)

        for each in services.values():
            warm(lambda each=each: measure(each)["per_second"])
        runs = [
            (n, measure(each))
            for _ in range(settings.rounds)
            for n, each in services.items()
        ]
    for n in services:
        best = max((f for m, f in runs if m == n), key=lambda f: f["per_second"])
        figures[n] = best
        keys = ("per_second", "p50", "p99")
        rows.append([str(n), *(f"{best[key]:.0f}" for key in keys)])
    title = (
        f"kgscout serve {settings.serve}: {settings.callers} callers over HTTP, about "
        f"{settings.size:,} triplets around the topics, {os.cpu_count()} cores"
    )
    show(title, ["processes", "a second", "p50, ms", "p99, ms"], rows)
    print()
    last_line(
        "serve",
        per_second={str(n): each["per_second"] for n, each in figures.items()},
        p50_ms={str(n): each["p50"] for n, each in figures.items()},
        callers=settings.callers,
        cores=os.cpu_count(),
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    given = sys.argv[1:] if args is None else args
    prog = "benchmarks/serve.py"
    return guarded(lambda: run(parse(ServeBenchmark, given, prog)))


if __name__ == "__main__":
    sys.exit(main())
