"""Replies as valid JSON, whatever characters a graph's names hold."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class JsonReply(JSONResponse):
    """JSON in UTF-8; unpaired surrogates become question marks."""

    def render(self, content: Any) -> bytes:
        """The body. Numbers must be finite: JSON has no others."""
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
