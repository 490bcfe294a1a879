"""The outermost layer: every request gets one reply, in time, and is counted."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgscout_jax.serve.metrics import Metrics
from kgscout_jax.serve.responses import error_reply

GONE = 499
"""Counted where the caller hung up before the request was whole; nobody is told."""


class Edge:
    """ASGI middleware: a deadline and a largest body for each request."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        timeout: float,
        max_body_bytes: int,
        paths: Collection[str],
        hosts: Collection[str] = (),
    ):
        """Take the application.

        Args:
            metrics: where requests are counted.
            timeout: seconds for a request, reading its body included.
            max_body_bytes: more are not read.
            paths: those that are told apart; all else is "other".
            hosts: names that requests may call the server by; () for any.
        """
        self.hosts = frozenset(host.lower() for host in hosts)
        self.app, self.metrics, self.timeout = app, metrics, timeout
        self.max_body_bytes, self.paths = max_body_bytes, frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; other kinds of events go through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self.paths else "other"
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {
                    **message,
                    "headers": [
                        *message.get("headers", ()),
                        (b"x-content-type-options", b"nosniff"),
                    ],
                }
            await send(message)

        started = time.perf_counter()
        deadline = asyncio.timeout(self.timeout)
        self.metrics.begin()
        try:
            async with deadline:
                if self.hosts and host_of(scope) not in self.hosts:
                    told = "host: requests by this name are not served"
                    await error_reply(421, told)(scope, receive, sent)
                    return
                body = await self._body(scope, receive)
                if body is None:
                    told = f"body: expected at most {self.max_body_bytes} bytes"
                    # what was not read is no next request
                    close = {"Connection": "close"}
                    await error_reply(413, told, close)(scope, receive, sent)
                else:
                    await self.app(scope, _replay(body, receive), sent)
        except ClientDisconnect:
            status = GONE
        except TimeoutError:
            if status or not deadline.expired():
                raise
            told, close = f"no reply within {self.timeout:g} s", {"Connection": "close"}
            await error_reply(504, told, close)(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - started
            self.metrics.end(path, status or 500, seconds)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body; None if it is too large."""
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit():
                if len(value) > 18 or int(value) > self.max_body_bytes:
                    return None
                break
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.max_body_bytes:
                return None
            if not message.get("more_body"):
                return b"".join(parts)


def host_of(scope: Scope) -> str:
    """The name that a request calls the server by: its Host header without the port."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    host = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
    return re.sub(r":\d*$", "", host)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, then what comes after it."""
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay
