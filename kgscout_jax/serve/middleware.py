"""The outermost layer: counts every request, and bounds its time and its size."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Collection

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgscout_jax.serve.metrics import Metrics
from kgscout_jax.serve.responses import JsonReply, error_reply

DISCARDED_BYTES = 8 << 20
"""Bytes, at most, of a body that is too large that are read before its refusal."""
DISCARD_SECONDS = 2.0
"""Seconds that they may take."""
CLIENT_CLOSED = 499
"""Status in metrics of a request whose caller disconnected before its end."""


class RequestLimits:
    """ASGI middleware: a deadline, a largest body and host names for each request."""

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
        """Wrap the application.

        Args:
            app: the application.
            metrics: counts requests.
            timeout: seconds for a request, reading its body included.
            max_body_bytes: largest body that is read.
            paths: paths with their own metrics; all others count as "other".
            hosts: names by which requests may call the server; () for any.
        """
        self.hosts = frozenset(host.lower() for host in hosts)
        self.app, self.metrics, self.timeout = app, metrics, timeout
        self.max_body_bytes, self.paths = max_body_bytes, frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; other events pass through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0

        async def counted_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                nosniff = (b"x-content-type-options", b"nosniff")
                headers = [*message.get("headers", ()), nosniff]
                message = {**message, "headers": headers}
            await send(message)

        started = time.perf_counter()
        deadline = asyncio.timeout(self.timeout)
        self.metrics.under_way.inc()
        try:
            async with deadline:
                body = await self._body(scope, receive)
                if isinstance(body, JsonReply):
                    await body(scope, receive, counted_send)
                else:
                    await self.app(scope, _replay(body, receive), counted_send)
        except ClientDisconnect:
            status = CLIENT_CLOSED
        except TimeoutError:
            if status or not deadline.expired():
                raise
            late = error_reply(504, f"no reply within {self.timeout:g} s", close=True)
            await late(scope, receive, counted_send)
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.under_way.dec()
            self.metrics.requests.labels(path, str(status or 500)).inc()
            self.metrics.seconds.labels(path).observe(time.perf_counter() - started)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | JsonReply:
        """The whole body, or the reply that refuses the request."""
        if self.hosts and host_of(scope) not in self.hosts:
            return error_reply(421, "host: requests by this name are not served")
        # The connection ends: its unread bytes must not be parsed as the next request.
        too_large = error_reply(
            413, f"body: expected at most {self.max_body_bytes} bytes", close=True
        )
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit():
                size = int(value) if len(value) <= 18 else DISCARDED_BYTES + 1
                if size > self.max_body_bytes:
                    if size <= DISCARDED_BYTES and not _waits(scope):
                        await _discard(receive)
                    return too_large
                break
        chunks, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > self.max_body_bytes:
                if message.get("more_body"):
                    await _discard(receive)
                return too_large
            if not message.get("more_body"):
                return b"".join(chunks)


async def _discard(receive: Receive) -> None:
    """Read the rest of a body, in bounds: a close would reset the connection.

    The reset would take the reply from a caller that is still sending.
    """
    size, more = 0, True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while more and size <= DISCARDED_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                more = message.get("more_body", False)


def _waits(scope: Scope) -> bool:
    """Whether the caller sends its body only when it is asked to."""
    return any(name == b"expect" for name, _ in scope["headers"])


def host_of(scope: Scope) -> str:
    """The Host header without the port; "" if it is missing or repeated."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    host = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
    return re.sub(r":\d*$", "", host)


def _replay(body: bytes, receive: Receive) -> Receive:
    """``receive`` with the body, already read, as its first message."""
    messages: list[Message] = [
        {"type": "http.request", "body": body, "more_body": False}
    ]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
