"""Settings of ``kgscout serve`` and ``kgscout mcp``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import GraphFileSettings, NamedGraphs
from kgscout_jax.utils.checks import check_at_least, check_both_or_neither

MAX_TOPICS = 64
"""The most topics of one request."""
MAX_NAME_CHARS = 1000
"""The longest name of a topic or graph in a request."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one request."""

    max_k: int = 200
    """Maximum triplets of one request."""
    max_question_chars: int = 2000
    """Maximum characters of a question."""

    def __post_init__(self) -> None:
        check_at_least(1, max_k=self.max_k, max_question_chars=self.max_question_chars)


@dataclass(frozen=True, kw_only=True)
class ServiceSettings(Limits):
    """Limits of the service, its batching, and its reader of answers."""

    max_batch: int = 32
    """Maximum questions of a batch."""
    batch_wait_ms: float = 5.0
    """Milliseconds that the first question of a batch waits for others."""
    max_queue: int = 256
    """Maximum waiting requests; further ones are refused with status 503."""
    timeout: float = 30.0
    """Seconds from the first byte of a request to its reply; then status 504."""
    allow_host: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Accepted name in the Host header; repeat the option for more. Default: any name;
    at a loopback address only that address and localhost."""
    form: Literal["lines", "answers"] = "lines"
    """Triplets: the best, or the best with the paths to the policy's own answers among
    them."""
    llm: str | None = None
    """Base URL of an OpenAI-compatible server that answers; default: the policy's own
    answers from the graph, offline."""
    model: str | None = None
    """The model's name on the server."""
    ask_below: float | None = None
    """Ask the model only where the best answer from the graph has a probability below
    this; default: ask it always."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the API key of the language model."""
    api_key_file: Path | None = None
    """File of the keys that callers must send (Authorization: Bearer KEY), one a line;
    default: everybody may ask."""
    rate_limit: int | None = None
    """Requests a minute of one key, or without keys of one address; then status 429."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, max_batch=self.max_batch, max_queue=self.max_queue)
        check_at_least(1, rate_limit=self.rate_limit)
        check_at_least(0, batch_wait_ms=self.batch_wait_ms)
        if not 0 < self.timeout < float("inf"):
            raise UserError(f"--timeout: {self.timeout:g}, expected above 0 seconds")
        check_both_or_neither(llm=self.llm, model=self.model)
        if self.ask_below is not None:
            if not 0 <= self.ask_below <= 1:
                found = self.ask_below
                raise UserError(f"--ask-below: {found}, expected a number from 0 to 1")
            if self.llm is None:
                raise UserError("--ask-below: expected --llm and --model with it")

    @property
    def max_body_bytes(self) -> int:
        """The largest body: any legal request fits, however its text is escaped."""
        names = (MAX_TOPICS + 1) * MAX_NAME_CHARS
        return 4096 + 12 * (self.max_question_chars + names)


@dataclass(frozen=True, kw_only=True)
class LoadSettings(GraphFileSettings):
    """The policy and the graphs to load."""

    many_graphs: ClassVar[bool] = True
    """Whether each ``--kg`` is a graph of its own, with a name."""

    policy: Annotated[
        tyro.conf.Positional[str | None],
        tyro.conf.arg(metavar="[POLICY]", help_behavior_hint="(default: kgscout-base)"),
    ] = None
    """The exported policy: a folder, or owner/name on the Hugging Face hub. Without it
    kgscout-base, which comes with the package."""
    kg: Annotated[
        tuple[tuple[str, ...], ...],
        tyro.conf.UseAppendAction,
        tyro.conf.arg(metavar="[NAME=]FILE|GRAPH", help_behavior_hint=""),
    ] = ()
    """Triplet files of one graph, or a GRAPH folder; NAME= is its name in requests
    (default: the file's own name). Repeat the option for more graphs; the first one is
    the default."""
    graphs: NamedGraphs = ()
    """Several graphs that are asked as one, besides those of --kg; it is called by
    their names, joined with +, and each of its triplets names its graphs."""
    embed_up_to: int = 20_000
    """Graphs of at most so many triplets are embedded at start; larger ones as
    needed, unless ``kgscout retrieve --embed`` has embedded them."""
    keep_products: Annotated[bool, tyro.conf.arg(name="keep-products")] = False
    """Keep products of embeddings and weights in memory, 1.5 kB a triplet: the network
    takes a third less time. For policies of kind thesis and mlp."""
    joint_encoding: Annotated[bool, tyro.conf.arg(name="joint-encoding")] = False
    """Encode questions that wait together in one pass: many callers get more answers a
    second. Embeddings then depend on who else asks, in their last bits; on accelerators
    scores do either way."""


@dataclass(frozen=True, kw_only=True)
class ServeSettings(ServiceSettings, LoadSettings):
    """Answer HTTP requests: POST /retrieve and /answer; a page to ask at /.

    Example: kgscout serve --kg triplets.tsv --port 8000
    """

    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 for every network (see --api-key-file)."""
    port: int = 8000
    """Port to listen at; 0 for any free one."""
    processes: int = 1
    """Processes that retrieve, each with the policy, the graphs and a share of the
    cores, for many callers; 1 where there is an accelerator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, processes=self.processes)
        if not 0 <= self.port <= 65535:
            raise UserError(f"--port: {self.port}, expected 0 to 65535")


@dataclass(frozen=True, kw_only=True)
class McpSettings(Limits, LoadSettings):
    """Serve retrieval to a language model: an MCP server over standard streams.

    Example: kgscout mcp --kg triplets.tsv
    """
