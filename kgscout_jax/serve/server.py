"""``kgscout serve``: load, listen, and serve until a signal."""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI

from kgscout_jax.errors import UserError
from kgscout_jax.serve.app import create_app
from kgscout_jax.serve.idle_connections import idle_limit, protocol_class
from kgscout_jax.serve.settings import ServeSettings
from kgscout_jax.serve.startup import compilation, load

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.inference.scout import Scout
    from kgscout_jax.serve.processes import ScoutProcesses

logger = logging.getLogger("kgscout.serve")
BACKLOG = 2048
GRACE = 5
"""Seconds beyond the deadline of requests that stopping may take."""


def serve(settings: ServeSettings) -> int:
    """Serve until SIGTERM or Ctrl-C; returns 0 after the accepted requests.

    Raises:
        UserError: the policy or a graph is missing, or the address is taken.
    """
    listening = listen(settings.host, settings.port)
    with listening:
        scout, graphs = load(settings)
        hosts = settings.allow_host + local_names(listening)
        settings = dataclasses.replace(settings, allow_host=hosts)
        if settings.processes > 1:
            with scout_processes(settings, scout, graphs) as processes:
                run(create_app(scout, graphs, settings, processes), listening, settings)
            return 0
        app = create_app(scout, graphs, settings)
        with compilation(scout, graphs.values(), settings.max_batch) as compiler:
            run(app, listening, settings)
    if compiler.is_alive():
        end_process()
    return 0


@contextlib.contextmanager
def scout_processes(
    settings: ServeSettings, scout: Scout, graphs: Mapping[str, KnowledgeGraph]
) -> Iterator[ScoutProcesses]:
    """Processes that have loaded and end with the context.

    Raises:
        UserError: there is an accelerator, which one process takes whole, or a process
            ended while it loaded.
    """
    import jax

    from kgscout_jax.serve.processes import ScoutProcesses

    if (platform := jax.default_backend()) != "cpu":
        found = settings.processes
        raise UserError(f"--processes: found {found}, expected 1 on a {platform}")
    processes = ScoutProcesses(settings, scout.exported, graphs)
    try:
        yield processes
    finally:
        processes.close()


def end_process() -> None:
    """End this process at once, with exit code 0.

    Python waits for threads and would crash in one that runs the compiler. All
    requests have their replies; what the compiler had finished is cached.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # closed by the other side
            stream.flush()
    os._exit(0)


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address, not listening yet; raises UserError."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise UserError(f"--host: {host!r} is no address ({error})") from None
    bound = socket.socket(family, kind, proto)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise UserError(
            f"--host, --port: cannot listen at {host}:{port} ({error.strerror})"
        ) from None
    return bound


def local_names(bound: socket.socket) -> tuple[str, ...]:
    """Host names of a loopback address, () for other addresses.

    They prevent DNS rebinding, by which a web page could read replies as its own.
    """
    host = bound.getsockname()[0]
    if not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        return ()
    return ("localhost", f"[{host}]" if ":" in host else host)


def run(app: FastAPI, bound: socket.socket, settings: ServeSettings) -> None:
    """Serve ``app`` at ``bound`` until a signal; then finish accepted requests."""
    config = uvicorn.Config(
        app,
        http=protocol_class(),
        log_config=None,
        access_log=False,  # questions are private
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=int(settings.timeout) + GRACE,
        # connections: those that wait, and far beyond what the queue takes on
        limit_concurrency=idle_limit() + 8 * settings.max_queue + 64,
    )
    server = uvicorn.Server(config)
    bound.listen(BACKLOG)  # callers can connect from here on
    host, port = bound.getsockname()[:2]
    display = f"[{host}]" if ":" in host else host
    logger.info("listening on http://%s:%d", display, port)
    # uvicorn handles a signal, then raises it again: these handlers ignore that.
    before = {
        number: signal.signal(number, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        server.run(sockets=[bound])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if not server.started:
        raise UserError("the server did not start")
    logger.info("stopped")
