"""A real server on a socket: many callers at once, deadlines, full queues."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
import uvicorn
from film_world import FILMS
from serve.gated_scout import GatedScout

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.serve.app import create_app
from kgscout_jax.serve.server import listen, local_names
from kgscout_jax.serve.settings import ServiceSettings

CALLERS = 16
SMALL = KnowledgeGraph.from_triplets([("a", "b", "c")])


@contextlib.contextmanager
def served(app: Any) -> Iterator[int]:
    """The port that ``app`` is served at, in a thread."""
    bound = listen("127.0.0.1", 0)
    config = uvicorn.Config(app, log_config=None, lifespan="on", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
        bound.close()


def post(port: int, path: str = "/retrieve", **asked: Any) -> tuple[int, Any, Any]:
    """(status, headers, body) of a request with a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        kind = {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(asked), kind)
        reply = connection.getresponse()
        return reply.status, reply.headers, json.loads(reply.read())
    finally:
        connection.close()


def get(port: int, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def test_many_callers_are_batched_and_get_what_they_would_get_alone(scout, graph):
    settings = ServiceSettings(max_batch=CALLERS, batch_wait_ms=1000, timeout=300)
    questions = [
        f"{verb} {FILMS[i % 8]}?"
        for i, verb in enumerate(["who directed", "where was made"] * (CALLERS // 2))
    ]
    alone = [scout.retrieve(q, graph, 3 + i) for i, q in enumerate(questions)]
    with (
        served(create_app(scout, {"films": graph}, settings)) as port,
        ThreadPoolExecutor(CALLERS) as callers,
    ):
        replies = list(
            callers.map(
                lambda i: post(port, question=questions[i], k=3 + i), range(CALLERS)
            )
        )
        metrics = get(port, "/metrics")
    for (status, _, body), found in zip(replies, alone, strict=True):
        assert status == 200
        assert body["question"] == found.question
        assert [tuple(row[:3]) for row in body["triplets"]] == list(found.triplets)
        scores = [row[3] for row in body["triplets"]]
        np.testing.assert_allclose(scores, found.scores, atol=1e-4)
    assert "kgscout_batch_size_sum 16.0" in metrics
    (count,) = [
        float(line.split()[1])
        for line in metrics.splitlines()
        if line.startswith("kgscout_batch_size_count")
    ]
    assert count <= 4  # a busy machine may not hold them all together


def test_a_full_queue_gets_503_with_retry_after():
    scout = GatedScout()
    settings = ServiceSettings(max_batch=1, max_queue=2, batch_wait_ms=0)
    with served(create_app(scout, {"g": SMALL}, settings)) as port:  # type: ignore[arg-type]
        scout.gate.clear()
        with ThreadPoolExecutor(3) as callers:
            first = callers.submit(post, port, question="first")
            assert scout.entered.wait(60)
            waiting = [callers.submit(post, port, question=q) for q in ("b", "c")]
            wait_for(lambda: "kgscout_queue_length 2.0" in get(port, "/metrics"))
            status, headers, body = post(port, question="one too many")
            assert status == 503 and int(headers["Retry-After"]) >= 1
            assert body["error"].startswith("too many requests")
            assert json.loads(get(port, "/healthz"))["status"] == "ok"
            scout.gate.set()
            assert [f.result()[0] for f in (first, *waiting)] == [200] * 3
        assert post(port, question="again")[0] == 200


def test_a_late_request_gets_504_and_is_not_scored():
    scout = GatedScout()
    settings = ServiceSettings(max_batch=1, timeout=0.3, batch_wait_ms=0)
    with served(create_app(scout, {"g": SMALL}, settings)) as port:  # type: ignore[arg-type]
        scout.gate.clear()
        with ThreadPoolExecutor(2) as callers:
            late = list(callers.map(lambda q: post(port, question=q), ["a", "b"]))
        assert [status for status, _, _ in late] == [504, 504]
        assert late[0][2] == {"error": "no reply within 0.3 s"}
        scout.gate.set()
        wait_for(lambda: post(port, question="after")[0] == 200)
        asked = [question for batch in scout.batches for question in batch]
        assert len({"a", "b"} & set(asked)) == 1  # the other one was never scored


def test_an_incomplete_body_gets_504():
    settings = ServiceSettings(timeout=0.3)
    app = create_app(GatedScout(), {"g": SMALL}, settings)  # type: ignore[arg-type]
    with served(app) as port, socket.create_connection(("127.0.0.1", port)) as slow:
        slow.settimeout(60)
        slow.sendall(
            b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b'Content-Length: 30\r\n\r\n{"que'
        )
        assert slow.recv(4096).startswith(b"HTTP/1.1 504 ")
        assert post(port, question="next")[0] == 200


@pytest.mark.parametrize(
    "head", [b"Content-Length: 4194304", b"Transfer-Encoding: chunked"]
)
def test_a_large_body_is_read_before_its_413(head):
    app = create_app(GatedScout(), {"g": SMALL})  # type: ignore[arg-type]
    body = b" " * (4 << 20)
    if b"chunked" in head:
        body = b"400000\r\n" + body + b"\r\n0\r\n\r\n"
    with served(app) as port, socket.create_connection(("127.0.0.1", port)) as caller:
        caller.settimeout(60)
        caller.sendall(b"POST /retrieve HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
        for start in range(0, len(body), 1 << 16):
            caller.sendall(body[start : start + (1 << 16)])
            time.sleep(0.001)  # the reply would reset the connection meanwhile
        reply = b"".join(iter(lambda: caller.recv(4096), b""))
    assert reply.startswith(b"HTTP/1.1 413 ") and b'{"error":' in reply


def test_an_endless_body_gets_413():
    app = create_app(GatedScout(), {"g": SMALL})  # type: ignore[arg-type]
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    with served(app) as port, socket.create_connection(("127.0.0.1", port)) as endless:
        endless.settimeout(60)
        endless.sendall(
            b"POST /retrieve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        with contextlib.suppress(ConnectionError):  # it no longer listens
            for _ in range(1000):
                endless.sendall(chunk)
        assert b" 413 " in endless.recv(4096)
        assert post(port, question="next")[0] == 200


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (["localhost"], 200),
        (["LOCALHOST:8000"], 200),
        (["127.0.0.1:1"], 200),
        (["kg.example.org"], 200),
        (["evil.example.org"], 421),
        (["localhost.evil.org:8000"], 421),
        ([""], 421),
        ([":8000"], 421),
    ],
)
def test_requests_by_other_host_names_get_421(names, hosts, status):
    head = "".join(f"Host: {host}\r\n" for host in hosts)
    with socket.create_connection(("127.0.0.1", names)) as caller:
        caller.settimeout(60)
        caller.sendall(f"GET /healthz HTTP/1.1\r\n{head}\r\n".encode())
        assert caller.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())


@pytest.fixture(scope="module")
def names():
    """The port of a server with names."""
    with listen("127.0.0.1", 0) as bound:
        allowed = ("kg.example.org", *local_names(bound))
    settings = ServiceSettings(allow_host=allowed)
    with served(create_app(GatedScout(), {"g": SMALL}, settings)) as port:  # type: ignore[arg-type]
        yield port


def test_only_loopback_addresses_check_host_names():
    with listen("0.0.0.0", 0) as everywhere, listen("localhost", 0) as here:
        assert local_names(everywhere) == ()
        assert local_names(here)[0] == "localhost"


def test_a_closed_connection_is_counted_as_499():
    app = create_app(GatedScout(), {"g": SMALL})  # type: ignore[arg-type]
    with served(app) as port:
        with socket.create_connection(("127.0.0.1", port)) as gone:
            gone.sendall(
                b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n{"
            )
        counted = 'kgscout_requests_total{path="/retrieve",status="499"} 1.0'
        wait_for(lambda: counted in get(port, "/metrics"))
        assert post(port, question="next")[0] == 200


def test_a_defect_gets_500_without_its_traceback(caplog):
    app = create_app(GatedScout(), {"g": SMALL})  # type: ignore[arg-type]
    with served(app) as port:
        status, _, body = post(port, question="poison")
        assert (status, body) == (500, {"error": "internal error"})
        assert post(port, question="next")[0] == 200
    assert "ZeroDivisionError" in caplog.text


def wait_for(true) -> None:
    """Return when ``true()`` is, within a minute."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
