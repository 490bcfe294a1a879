"""Strict arguments of MCP tools, and a reply to every malformed message.

The SDK takes ``true`` and ``"5"`` for a number, ignores unknown arguments, and drops
messages that it cannot parse: a client waits for their reply forever.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Generic, TypeVar

import anyio
import mcp_types as types
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ConfigDict, ValidationError

from kgscout_jax.errors import escape
from kgscout_jax.serve.problems import first_problem

T = TypeVar("T")


def check_arguments_strictly(server: MCPServer) -> None:
    """Make all tools refuse arguments of another type, and unknown ones."""
    tools = server._tool_manager._tools
    for name, lax_tool in tools.items():
        tool = tools[name] = StrictTool.model_construct(**dict(lax_tool))
        lax = tool.fn_metadata.arg_model
        config = ConfigDict(**{**lax.model_config, "strict": True, "extra": "forbid"})
        strict: Any = type(lax.__name__, (lax,), {"model_config": config})
        tool.fn_metadata.arg_model = strict
        tool.parameters = strict.model_json_schema(by_alias=True)


class StrictTool(Tool):
    """A tool whose refusal of arguments is one line, where pydantic's has several."""

    async def run(self, *args: Any, **kwargs: Any) -> Any:
        """What the tool returns.

        Raises:
            ToolError: the arguments are refused, or the tool fails.
        """
        try:
            return await super().run(*args, **kwargs)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            problem = first_problem(error.__cause__.errors(include_url=False))
            line = f"{self.name}: {escape(problem)}"
            raise ToolError(line) from error.__cause__


async def serve_stdio(server: MCPServer) -> None:
    """Serve over standard input and output until the input ends."""
    lowlevel = server._lowlevel_server
    async with stdio_server() as (read, write):
        options = lowlevel.create_initialization_options()
        await lowlevel.run(AnsweredStream(read, write), write, options)


class AnsweredStream(Generic[T]):
    """A stream of messages; what is no message is answered here with an error."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read, self._write = read, write

    @property
    def last_context(self) -> Any:
        """The context of the message received last."""
        return self._read.last_context

    async def receive(self) -> Any:
        """The next message."""
        while isinstance(item := await self._read.receive(), Exception):
            if (reply := error_reply(item)) is not None:
                await self._write.send(SessionMessage(reply))
        return item

    async def aclose(self) -> None:
        await self._read.aclose()

    def __aiter__(self) -> AnsweredStream[T]:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AnsweredStream[T]:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        await self.aclose()
        return None


def error_reply(error: Exception) -> types.JSONRPCError | None:
    """The reply to a line that the SDK could not parse; None for an empty one."""
    message, problem = _message_of(error)
    if message is None:
        return None
    code, identity = types.PARSE_ERROR, None
    if isinstance(message, dict):
        code, identity = types.INVALID_REQUEST, message.get("id")
        if type(identity) not in (int, str) or not _is_text(identity):
            identity = None
    data = types.ErrorData(code=code, message=problem)
    return types.JSONRPCError(jsonrpc="2.0", id=identity, error=data)


def _is_text(value: Any) -> bool:
    return str(value).encode("utf-8", "replace").decode() == str(value)


def _message_of(error: Exception) -> tuple[Any, str]:
    """The line that an error is about, as JSON where it is, and what is wrong."""
    if not isinstance(error, ValidationError):
        return "", "the message cannot be read"
    problems = error.errors(include_url=False, include_context=False)
    for problem in problems:
        value = problem["input"]
        if problem["type"] == "json_invalid" and isinstance(value, str | bytes):
            if not value.strip():
                return None, ""
            try:
                # Python's parser takes lone surrogates, of which only the id is used.
                return json.loads(value), "not valid JSON text"
            except (ValueError, RecursionError):
                return "", "not valid JSON"
    # Each kind of message lacks some field: that problem's input is the whole message.
    whole = [p["input"] for p in problems if isinstance(p["input"], dict)]
    message = next((each for each in whole if "jsonrpc" in each or "id" in each), "")
    field = ".".join(str(part) for part in problems[0]["loc"][1:])[:40]
    return message, f"not a JSON-RPC message: {field}: {problems[0]['msg']}"[:200]
