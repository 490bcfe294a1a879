"""Replies and events as valid JSON, whatever characters a graph's names hold."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import JSONResponse, StreamingResponse

Event = tuple[str, dict[str, Any]]
"""Name and data of a server-sent event."""


class JsonReply(JSONResponse):
    """JSON in UTF-8; unpaired surrogates become question marks."""

    def render(self, content: Any) -> bytes:
        """The body. Numbers must be finite: JSON has no others."""
        return _json(content)


async def event_stream(events: AsyncIterator[Event]) -> StreamingResponse:
    """The events as they come; what fails before the first is raised."""
    first = await anext(events)

    async def lines() -> AsyncIterator[bytes]:
        yield _lines(first)
        async for event in events:
            yield _lines(event)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)


def _lines(event: Event) -> bytes:
    name, data = event
    # JSON has no line breaks: one line of data is enough
    return b"event: " + name.encode() + b"\ndata: " + _json(data) + b"\n\n"


def _json(content: Any) -> bytes:
    text = json.dumps(
        content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode("utf-8", "replace")


def error_reply(
    status: int,
    message: str,
    headers: dict[str, str] | None = None,
    *,
    close: bool = False,
) -> JsonReply:
    """``{"error": message}``; ``close`` ends the connection after it."""
    if close:
        headers = {**(headers or {}), "Connection": "close"}
    return JsonReply({"error": message}, status, headers)
