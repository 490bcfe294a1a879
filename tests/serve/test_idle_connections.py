"""Connections without a request end; callers with one are served beside them."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
import uvicorn

from kgscout_jax.serve.idle_connections import idle_limit, protocol_class

GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


async def app(scope, receive, send):
    """Replies after the seconds in the path."""
    await asyncio.sleep(float(scope["path"].strip("/") or 0))
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.asynccontextmanager
async def serving(seconds: float, most: int):
    """The port of a server."""
    config = uvicorn.Config(
        app, port=0, http=protocol_class(seconds, most), log_config=None, lifespan="off"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def send(port: int, data: bytes):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    return reader, writer


def in_time(work, seconds: float = 120):
    return asyncio.run(asyncio.wait_for(work, seconds))


@pytest.mark.parametrize("data", [b"", GET[:-2], b"GET / HTTP/1.1\r\nx: "])
def test_a_connection_without_a_whole_request_is_closed(data):
    async def work():
        async with serving(0.3, 99) as port:
            reader, writer = await send(port, data)
            began = time.monotonic()
            assert await reader.read() == b""
            assert 0.2 < time.monotonic() - began < 60
            writer.close()

    in_time(work())


def test_what_is_no_http_is_refused_in_one_line_of_json():
    async def work():
        async with serving(0.3, 99) as port:
            reader, writer = await send(port, GET[:-2] + b"Content-Length: -5\r\n\r\n")
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 ")
            assert body == b'{"error":"request: not valid HTTP"}'
            writer.close()

    in_time(work())


def test_bytes_that_trickle_in_do_not_hold_a_connection():
    async def work():
        async with serving(0.3, 99) as port:
            reader, writer = await send(port, b"GET / HTTP/1.1\r\n")
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    writer.write(b"a: b\r\n")
                    await writer.drain()
                    await asyncio.sleep(0.02)
            assert reader.at_eof() or reader.exception()

    in_time(work())


def test_a_request_under_way_and_those_after_it_are_served():
    async def work():
        async with serving(0.4, 99) as port:
            reader, writer = await send(port, GET.replace(b"/ ", b"/0.9 "))
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.2)
            writer.write(GET + GET)  # one after another in one packet
            for _ in range(2):
                assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            assert await reader.read() == b""  # idle again
            writer.close()

    in_time(work())


def test_many_idle_connections_keep_nobody_out():
    async def work():
        async with serving(60, 20) as port:
            idle = [await send(port, b"") for _ in range(60)]
            reader, writer = await send(port, GET)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            closed = [each.at_eof() for each, _ in idle]
            assert all(closed[:39]) and not any(closed[-15:])
            for _, one in [*idle, (reader, writer)]:
                one.close()

    in_time(work())


def test_the_limit_leaves_files_for_everything_else():
    assert 0 < idle_limit() <= 1024
