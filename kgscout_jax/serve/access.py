"""API keys and a rate limit: who may ask, and how often."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import OrderedDict
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from kgscout_jax.errors import UserError
from kgscout_jax.serve.responses import error_reply
from kgscout_jax.utils.io import open_text

MIN_KEY = 16
"""Characters of the shortest key."""
MAX_CALLERS = 10_000
"""Callers whose rate is remembered; the one that was silent longest is forgotten."""
OPEN_PATHS = frozenset({"/", "/docs", "/openapi.json", "/healthz"})
"""Served without a key and without a limit: they say nothing of a graph's facts."""


def read_keys(file: Path) -> tuple[bytes, ...]:
    """Digests of the keys in a file: one a line, ``#`` begins a comment.

    Raises:
        UserError: the file cannot be read, holds no key, or a short one.
    """
    with open_text(file) as handle:
        lines = [line.partition("#")[0].strip() for line in handle]
    for number, line in enumerate(lines, start=1):
        if line and (len(line) < MIN_KEY or not line.isascii() or " " in line):
            raise UserError(
                f"{file}:{number}: a key of {len(line)} characters, expected at least "
                f"{MIN_KEY}, ASCII without spaces"
            )
    if not any(lines):
        raise UserError(f"{file}: found no key, expected one a line")
    return tuple(_digest(line.encode()) for line in lines if line)


class Access:
    """ASGI middleware: 401 without a valid key, 429 above the rate."""

    def __init__(
        self, app: ASGIApp, *, keys: tuple[bytes, ...] = (), per_minute: int | None
    ) -> None:
        """Wrap the application.

        Args:
            app: the application.
            keys: of ``read_keys``; () serves everybody.
            per_minute: requests of one key, or of one address without keys, in a
                minute; None for any number.
        """
        self.app, self.keys, self.per_minute = app, keys, per_minute
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; other events pass through."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        caller = (scope.get("client") or ("",))[0].encode()
        if self.keys:
            caller = _digest(key_of(scope))
            # Every comparison takes the same time, and so do all together.
            if not sum(hmac.compare_digest(caller, key) for key in self.keys):
                reply = error_reply(
                    401,
                    "key: expected a valid one as Authorization: Bearer KEY",
                    {"WWW-Authenticate": "Bearer"},
                )
                await reply(scope, receive, send)
                return
        if self.per_minute is not None and (wait := self._wait(caller)) > 0:
            reply = error_reply(
                429,
                f"more than {self.per_minute} requests a minute",
                {"Retry-After": str(int(wait) + 1)},
            )
            await reply(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _wait(self, caller: bytes) -> float:
        """Seconds until the caller may ask; 0 takes one request from its bucket."""
        assert self.per_minute is not None
        now, size = time.monotonic(), float(self.per_minute)
        left, since = self._buckets.pop(caller, (size, now))
        left = min(size, left + (now - since) * size / 60)
        allowed = left >= 1
        self._buckets[caller] = (left - allowed, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) * 60 / size


def key_of(scope: Scope) -> bytes:
    """The key in a request's headers; b"" without one."""
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            return value[7:].strip()
        if name == b"x-api-key":
            return value.strip()
    return b""


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
