"""What is asked of an endpoint, what comes back, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.reason.prompts import Message


@dataclass(frozen=True, kw_only=True)
class EndpointSettings:
    """Where a language model is served, and how it is asked."""

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
    input_price: float = 0.0
    """Dollars per million prompt tokens."""
    output_price: float = 0.0
    """Dollars per million tokens of replies."""
    cache: Path | None = None
    """Folder for replies; None: they are not kept."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UserError(f"url: {self.url!r}, expected http://... or https://...")
        if not self.model:
            raise UserError("model: none, expected the name the server knows it by")
        for name, least in (
            ("max_tokens", 1),
            ("concurrency", 1),
            ("retries", 0),
            ("temperature", 0),
            ("backoff", 0),
            ("input_price", 0),
            ("output_price", 0),
        ):
            if getattr(self, name) < least:
                found = getattr(self, name)
                raise UserError(f"{name}: {found}, expected at least {least}")
        if self.timeout <= 0:
            raise UserError(f"timeout: {self.timeout}, expected more than 0 seconds")


@dataclass(frozen=True, kw_only=True)
class Request:
    """One thing to ask."""

    messages: tuple[Message, ...]
    """(role, content), in order."""
    sample: int = 0
    """Which of several replies to the same messages: for self-consistency."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What came of one request: a reply, or an error."""

    text: str | None
    """The reply; None where there is none."""
    error: str | None = None
    """Why there is none."""
    prompt_tokens: int = 0
    """As the server counts."""
    reply_tokens: int = 0
    """As the server counts."""
    estimated: bool = False
    """Whether the server gave no counts, and these are reckoned."""
    finish: str | None = None
    """Why the reply ended: "stop", or "length" where it was cut off."""
    seconds: float = 0.0
    """From sending to the last byte, of the attempt that succeeded."""
    attempts: int = 0
    """How often it was asked, this time; 0: it was in the cache, or never asked."""
    cached: bool = False
    """Whether the reply comes from the cache."""
    key: str = ""
    """The request's hash."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What a batch took; replies from the cache and repeats cost nothing again."""

    requests: int
    answered: int
    """Requests with a reply, from the server or the cache."""
    cached: int
    failed: int
    """Requests without one: their questions still count."""
    retries: int
    """Attempts beyond the first."""
    prompt_tokens: int
    """Of all replies, cached ones included."""
    reply_tokens: int
    estimated: int
    """Replies whose token counts are reckoned."""
    cost: float
    """Dollars, for what was asked of the server this time."""
    full_cost: float
    """Dollars, had nothing been in the cache."""
    seconds: float
    """Sum over replies, as measured when they came, cached ones included."""

    def to_json(self) -> dict[str, int | float]:
        """As it stands in a result."""
        return asdict(self)


def spending(completions: Sequence[Completion], settings: EndpointSettings) -> Spending:
    """What these completions took, the same request counted once.

    Of a request asked again later, the first reply counts: that one was paid for.
    """
    first: dict[str, Completion] = {}
    for completion in completions:
        known = first.get(completion.key)
        if known is None or (known.text is None and completion.text is not None):
            first[completion.key] = completion
    asked = list(first.values())
    replies = [one for one in asked if one.text is not None]

    def cost(some: Sequence[Completion]) -> float:
        sent = sum(one.prompt_tokens for one in some) * settings.input_price
        got = sum(one.reply_tokens for one in some) * settings.output_price
        return (sent + got) / 1e6

    return Spending(
        requests=len(completions),
        answered=sum(one.text is not None for one in completions),
        cached=sum(one.cached for one in completions),
        failed=sum(one.text is None for one in completions),
        retries=sum(max(0, one.attempts - 1) for one in asked),
        prompt_tokens=sum(one.prompt_tokens for one in replies),
        reply_tokens=sum(one.reply_tokens for one in replies),
        estimated=sum(one.estimated for one in replies),
        cost=cost([one for one in replies if not one.cached]),
        full_cost=cost(replies),
        seconds=sum(one.seconds for one in replies),
    )
