"""A reply that comes in pieces, put together as one that comes whole."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


async def streamed_reply(
    client: Any, fields: Any, on_text: Callable[[str], None]
) -> Any:
    """The reply with the fields that one that comes whole has.

    Args:
        client: of the openai library.
        fields: arguments of its ``chat.completions.create``.
        on_text: called with each piece of the text.
    """
    text, finish, usage = "", None, None
    options = {"stream": True, "stream_options": {"include_usage": True}}
    stream = await client.chat.completions.create(**fields, **options)
    async with stream:
        async for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            for choice in (getattr(chunk, "choices", None) or ())[:1]:
                piece = getattr(choice.delta, "content", None) or ""
                finish = getattr(choice, "finish_reason", None) or finish
                if isinstance(piece, str) and piece:
                    text += piece
                    on_text(piece)
    message = SimpleNamespace(content=text)
    choice = SimpleNamespace(message=message, finish_reason=finish)
    # Without a reason for its end, the stream broke off.
    return SimpleNamespace(choices=[choice] if finish else [], usage=usage)
