"""Refusals and failures as replies: one line of JSON each."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kgscout_jax.errors import UserError
from kgscout_jax.serve.answers import ReaderFailed
from kgscout_jax.serve.batching import QueueFull
from kgscout_jax.serve.graphs import UnknownGraph
from kgscout_jax.serve.problems import body_problem, first_problem
from kgscout_jax.serve.responses import error_reply
from kgscout_jax.serve.schemas import ErrorReply, RequestError

logger = logging.getLogger("kgscout.serve")
MODEL_FAILED = "the language model gave no reply"
INTERNAL_ERROR = "internal error"
BUSY = "too many requests are waiting, come again later"
_REPLIES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": description}
    for status, description in {
        400: "A body that cannot be parsed",
        401: "No valid key",
        404: "No graph of this name",
        413: "The body is too large",
        421: "Called by a name that is not served",
        422: "Not a request, or one that asks too much",
        429: "Too many requests of this caller; come again after Retry-After seconds",
        500: "A failure of the server",
        502: "The language model gave no reply",
        503: "The queue is full; come again after Retry-After seconds",
        504: "No reply in time",
    }.items()
}
REFUSALS = {status: each for status, each in _REPLIES.items() if status != 502}
"""Of a request with a body."""
MODEL_REFUSALS = _REPLIES
"""Of one that a language model may answer."""
QUERY_REFUSALS = {status: each for status, each in REFUSALS.items() if status != 400}
"""Of one without a body."""


def _handler(reply: Callable[[Any], Response], log: str | None = None) -> Any:
    """An exception handler that replies, and logs the exception where ``log`` says."""

    async def handle(_: Request, error: Exception) -> Response:
        if log is not None:
            logger.error(log, error)
        return reply(error)

    return handle


async def _invalid_request(request: Request, error: Exception) -> Response:
    """What is wrong with a request, without its content: that may be large."""
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    # a body of another type is bytes, no fields
    if errors[0]["loc"] == ("body",) and "json" not in kind.lower():
        message = (
            f"content-type: found {kind[:80] or 'none'}, expected application/json"
        )
        return error_reply(422, message)
    return error_reply(422, first_problem(errors))


def _http_reply(error: HTTPException) -> Response:
    """The reply to a refusal of the framework's own."""
    unparsed = error.status_code == 400  # it says no more than that
    message = body_problem(error.__cause__) if unparsed else str(error.detail)
    return error_reply(error.status_code, message, dict(error.headers or {}))


EXCEPTION_HANDLERS: dict[Any, Any] = {
    RequestError: _handler(lambda error: error_reply(error.status, str(error))),
    RequestValidationError: _invalid_request,
    UnknownGraph: _handler(lambda error: error_reply(404, str(error))),
    # Requests were checked before: this concerns a file of the server.
    UserError: _handler(
        lambda _: error_reply(500, "the graph cannot be searched"),
        "a graph cannot be searched: %s",
    ),
    QueueFull: _handler(lambda _: error_reply(503, BUSY, {"Retry-After": "1"})),
    ReaderFailed: _handler(
        lambda _: error_reply(502, MODEL_FAILED),
        "the language model failed: %s",
    ),
    HTTPException: _handler(lambda error: _http_reply(error)),
    # The server logs the traceback; callers do not see it.
    Exception: _handler(lambda _: error_reply(500, INTERNAL_ERROR)),
}
