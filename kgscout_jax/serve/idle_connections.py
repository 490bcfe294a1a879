"""HTTP connections without a complete request end after some seconds.

uvicorn closes a connection that is idle after a reply, but none whose first request
never comes, or never ends its headers. Many of those reached its limit of connections,
and everybody got 503. A request under way has the deadline of ``RequestLimits``.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgscout_jax.serve.responses import error_reply

IDLE_SECONDS = 10.0
"""Seconds that a connection may wait for a complete head of a request."""
MAX_IDLE = 1024
"""Connections without a request; further ones close those that wait longest."""


def idle_limit() -> int:
    """``MAX_IDLE``, or half of the files that this process may open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_IDLE if soft == resource.RLIM_INFINITY else min(MAX_IDLE, soft // 2)


def protocol_class(
    seconds: float = IDLE_SECONDS, most: int | None = None
) -> type[H11Protocol]:
    """uvicorn's protocol with bounded waiting, for one server.

    Args:
        seconds: that a connection may wait for a request.
        most: connections that wait at once; None for ``idle_limit``.
    """
    limit = idle_limit() if most is None else most
    idle: dict[Any, None] = {}  # in the order in which they began to wait

    class BoundedProtocol(H11Protocol):
        """Closes its connection when no request comes."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()
            if len(idle) > limit:
                next(iter(idle)).close_idle()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is not before and not self.cycle.response_complete:
                self._stop_waiting()

        def on_response_complete(self) -> None:
            self._wait()
            super().on_response_complete()  # may begin the next request of a pipeline

        def send_400_response(self, msg: str) -> None:
            """Refuse what is no HTTP with one line of JSON, as all else is."""
            reply = error_reply(400, "request: not valid HTTP", close=True)
            for event in (
                h11.Response(status_code=400, headers=reply.raw_headers),
                h11.Data(data=bytes(reply.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def close_idle(self) -> None:
            """Close the connection without a reply: there is no request."""
            self._stop_waiting()
            if not self.transport.is_closing():
                self.transport.close()

        def _wait(self) -> None:
            self._stop_waiting()
            idle[self] = None
            self._deadline = self.loop.call_later(seconds, self.close_idle)

        def _stop_waiting(self) -> None:
            idle.pop(self, None)
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return BoundedProtocol
