"""Settings of an endpoint, its requests, and their completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.reason.prompts import Message
from kgscout_jax.utils.checks import check_at_least


@dataclass(frozen=True, kw_only=True)
class EndpointSettings:
    """Where a language model is served, and the fields of a request to it."""

    url: str
    """Base URL, with the version: http://127.0.0.1:8080/v1."""
    model: str
    """Its name there."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; local servers need none."""
    temperature: float = 0.1
    """Of sampling; the thesis: 0.1."""
    max_tokens: int = 512
    """The longest reply."""
    seed: int | None = None
    """Of sampling, where the server knows one; sample i of a request gets seed + i."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request, such as {"cache_prompt": true} for llama.cpp."""
    concurrency: int = 4
    """Requests under way at a time."""
    timeout: float = 120.0
    """Seconds for one attempt, from sending to the last byte."""
    retries: int = 5
    """Further attempts after a failed one."""
    backoff: float = 1.0
    """Seconds before the first of them; doubled, and jittered, each time."""
    cache: Path | None = None
    """Folder for replies; None: they are not stored."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UserError(f"url: {self.url!r}, expected http://... or https://...")
        if not self.model:
            raise UserError("model: none, expected the name the server knows it by")
        tokens, requests = self.max_tokens, self.concurrency
        check_at_least(1, "", max_tokens=tokens, concurrency=requests)
        retries, pause = self.retries, self.backoff
        check_at_least(0, "", retries=retries, backoff=pause)
        check_at_least(0, "", temperature=self.temperature)
        if self.timeout <= 0:
            raise UserError(f"timeout: {self.timeout}, expected more than 0 seconds")


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request to a model."""

    messages: tuple[Message, ...]
    """(role, content), in order."""
    sample: int = 0
    """Which of several replies to the same messages: for self-consistency."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """The outcome of one request: a reply, or an error."""

    text: str | None
    """The reply; None where there is none."""
    error: str | None = None
    """Why there is none."""
    prompt_tokens: int = 0
    """As the server counts."""
    reply_tokens: int = 0
    """As the server counts."""
    estimated: bool = False
    """Whether the server gave no counts, and these are estimates."""
    finish: str | None = None
    """Why the reply ended: "stop", or "length" where it was cut off."""
    seconds: float = 0.0
    """From sending to the last byte, of the attempt that succeeded."""
    cached: bool = False
    """Whether the reply comes from the cache."""
    logprobs: Sequence[Sequence[Sequence[Any]]] = ()
    """Per token its likeliest ones as (token, log-probability), where they were asked
    for (``extra``: logprobs, top_logprobs) and the server gave them."""
