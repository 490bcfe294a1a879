"""What ``kgscout serve`` and ``kgscout mcp`` are asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from kgscout_jax.errors import UserError

MAX_TOPICS = 64
"""The most topics of one request."""
MAX_NAME_CHARS = 1000
"""The longest name of a topic or graph in a request."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may ask for."""

    max_k: int = 200
    """The most triplets of one request."""
    max_question_chars: int = 2000
    """The longest question, in characters."""

    def __post_init__(self) -> None:
        at_least(self, 1, "max_k", "max_question_chars")


@dataclass(frozen=True, kw_only=True)
class ServiceSettings(Limits):
    """How many requests are taken on, how they are batched, and who answers."""

    max_batch: int = 32
    """The most questions that are scored together."""
    batch_wait_ms: float = 5.0
    """How long the first of a batch waits for others, in milliseconds."""
    max_queue: int = 256
    """Requests that may wait; the next one is told to come again (503)."""
    timeout: float = 30.0
    """Seconds from the first byte of a request to its reply; then 504."""
    allow_host: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Name in the Host header of requests that are served; give it again for others.
    Default: any, but at a loopback address only that and localhost."""
    llm: str | None = None
    """Base URL of an OpenAI-compatible server that /answer asks; without it, answers
    are read off the triplets."""
    model: str | None = None
    """The model's name there."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds its key."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, 1, "max_batch", "max_queue")
        at_least(self, 0, "batch_wait_ms")
        if not 0 < self.timeout < float("inf"):
            raise UserError(f"--timeout: {self.timeout:g}, expected above 0 seconds")
        if (self.llm is None) != (self.model is None):
            given, other = ("llm", "model") if self.llm else ("model", "llm")
            raise UserError(f"--{given} without --{other}: expected both, or neither")

    @property
    def max_body_bytes(self) -> int:
        """The largest body: any legal request fits, however its text is escaped."""
        names = (MAX_TOPICS + 1) * MAX_NAME_CHARS
        return 4096 + 12 * (self.max_question_chars + names)


@dataclass(frozen=True, kw_only=True)
class Loading:
    """Which policy and graphs are loaded, and how."""

    out: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OUT")]
    """The exported policy: a folder, or owner/name on the Hugging Face hub."""
    kg: Annotated[
        tuple[tuple[str, ...], ...],
        tyro.conf.UseAppendAction,
        tyro.conf.arg(metavar="[NAME=]FILE|GRAPH"),
    ]
    """Triplet files of one graph, or a GRAPH folder; NAME= says how requests call it
    (default: the file's own name). Give --kg again for another graph; the first one is
    searched when a request names none."""
    embed_up_to: int = 20_000
    """Graphs of at most so many triplets are embedded at start; of larger ones, what
    questions need, unless ``kgscout retrieve --embed`` has embedded them."""


@dataclass(frozen=True, kw_only=True)
class ServeSettings(ServiceSettings, Loading):
    """Answer HTTP requests: POST /retrieve and /answer, GET /healthz and /metrics.

    Example: kgscout serve policy/ --kg triplets.tsv --port 8000
    """

    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 for every network, with no one at the door."""
    port: int = 8000
    """Port to listen at; 0: any free one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.port <= 65535:
            raise UserError(f"--port: {self.port}, expected 0 to 65535")


@dataclass(frozen=True, kw_only=True)
class McpSettings(Limits, Loading):
    """Be a tool of a language model: an MCP server over standard input and output.

    Example: kgscout mcp policy/ --kg triplets.tsv
    """


def at_least(settings: object, least: float, *names: str) -> None:
    """Raise UserError unless these fields are at least ``least``; nan is not."""
    for name in names:
        value = getattr(settings, name)
        if not value >= least:
            flag = "--" + name.replace("_", "-")
            raise UserError(f"{flag}: {value}, expected at least {least:g}")
