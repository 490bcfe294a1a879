"""A client for any OpenAI-compatible server: vLLM, Ollama, llama.cpp, hosted ones.

Many requests at a time, each with a deadline, asked again with back-off where that can
help, kept on disk once answered. A batch that is killed and started again asks only
what is missing; a server that dies in the middle costs what it did not answer, and
each of those requests comes back with an error instead of a reply.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgscout_jax.errors import UserError
from kgscout_jax.reason.completions import Completion, EndpointSettings, Request
from kgscout_jax.reason.prompts import PER_MESSAGE, estimate_tokens
from kgscout_jax.reason.reply_cache import ReplyCache, request_hash

if TYPE_CHECKING:
    from openai import AsyncOpenAI

logger = logging.getLogger("kgscout.reason")

HOPELESS = (401, 403, 404)
"""Statuses that every other request would get too: key, rights, address or model."""
AGAIN = (408, 409, 425, 429)
"""Statuses, beside 5xx, after which the same request may succeed."""
LONGEST_WAIT = 120.0
"""Seconds at most between two attempts, whatever the server asks for."""
GONE_AFTER = 3
"""Requests given up in a row, for want of any connection, before the rest is."""


class Endpoint:
    """A language model behind a URL."""

    def __init__(self, settings: EndpointSettings):
        self.settings = settings
        self.cache = ReplyCache(settings.cache) if settings.cache else None

    def body(self, request: Request) -> dict[str, Any]:
        """The fields of the HTTP request: what its hash is taken of."""
        settings = self.settings
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [
                {"role": role, "content": content} for role, content in request.messages
            ],
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
        }
        if settings.seed is not None:
            body["seed"] = settings.seed + request.sample
        return {**body, **settings.extra}

    def key(self, request: Request) -> str:
        """The hash under which the reply to this request is kept."""
        return request_hash({**self.body(request), "sample": request.sample})

    def ask_all(
        self,
        requests: Sequence[Request],
        *,
        on_completion: Callable[[int, Completion], None] | None = None,
    ) -> list[Completion]:
        """A completion per request, in order; the same request is asked once.

        Args:
            requests: what to ask.
            on_completion: called with a request's index and what came of it, as soon
                as that is known; in no particular order.

        Raises:
            UserError: no request can succeed: the key or the model is unknown to the
                server, or the address is not one of a model. What was answered before
                is in the cache.
        """
        return asyncio.run(_Batch(self, on_completion).run(requests))

    def ask(self, request: Request) -> Completion:
        """What came of one request; see ``ask_all``."""
        return self.ask_all([request])[0]


class _Batch:
    """One call of ``ask_all``: what its requests share."""

    def __init__(
        self,
        endpoint: Endpoint,
        on_completion: Callable[[int, Completion], None] | None,
    ):
        self.endpoint = endpoint
        self.settings = endpoint.settings
        self.on_completion = on_completion
        self.places = asyncio.Semaphore(self.settings.concurrency)
        self.unreachable = 0
        """Requests given up in a row because nothing answered at all."""
        self.hopeless = False
        """Whether the server refused what every other request would ask too."""
        # jitter only: results don't depend on it
        self.random = random.Random()

    async def run(self, requests: Sequence[Request]) -> list[Completion]:
        found: list[Completion | None] = [None] * len(requests)
        same: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            same.setdefault(self.endpoint.key(request), []).append(i)

        def done(key: str, completion: Completion) -> None:
            for i in same[key]:
                found[i] = completion
                if self.on_completion:
                    self.on_completion(i, completion)

        waiting = []
        for key, members in same.items():
            if (completion := self.from_cache(key)) is not None:
                done(key, completion)
            else:
                waiting.append((key, requests[members[0]]))
        if waiting:
            await self.ask_waiting(waiting, done)
        return [completion for completion in found if completion is not None]

    async def ask_waiting(
        self,
        waiting: Sequence[tuple[str, Request]],
        done: Callable[[str, Completion], None],
    ) -> None:
        async with self.client() as client:

            async def one(key: str, request: Request) -> None:
                async with self.places:
                    if self.hopeless:
                        return
                    try:
                        done(key, await self.complete(client, key, request))
                    except UserError:
                        self.hopeless = True
                        raise

            tasks = [asyncio.create_task(one(*each)) for each in waiting]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def client(self) -> AsyncOpenAI:
        try:
            from openai import AsyncOpenAI
        except ImportError:
            raise UserError(
                "the openai library is not installed: pip install 'kgscout-jax[llm]'"
            ) from None
        return AsyncOpenAI(
            base_url=self.settings.url,
            # the library insists on a key, local servers ignore it
            api_key=os.environ.get(self.settings.key_env) or "none",
            timeout=self.settings.timeout,
            max_retries=0,
        )

    def from_cache(self, key: str) -> Completion | None:
        cache = self.endpoint.cache
        if cache is None or (reply := cache.get(key)) is None:
            return None
        return Completion(
            text=reply["text"],
            prompt_tokens=int(reply.get("prompt_tokens", 0)),
            reply_tokens=int(reply.get("reply_tokens", 0)),
            estimated=bool(reply.get("estimated", False)),
            finish=reply.get("finish"),
            seconds=float(reply.get("seconds", 0.0)),
            cached=True,
            key=key,
        )

    async def complete(
        self, client: AsyncOpenAI, key: str, request: Request
    ) -> Completion:
        """Ask until there is a reply, no hope, or no attempt left."""
        error, attempt = "", 0
        for attempt in range(1, self.settings.retries + 2):
            if self.unreachable >= GONE_AFTER:
                return Completion(
                    text=None,
                    error="not asked: the server no longer answers"
                    if attempt == 1
                    else error,
                    attempts=attempt - 1,
                    key=key,
                )
            outcome = await self.attempt(client, request)
            if isinstance(outcome, dict):
                self.unreachable = 0
                if self.endpoint.cache is not None:
                    body = self.endpoint.body(request)
                    self.endpoint.cache.put(key, body, outcome)
                return Completion(**outcome, attempts=attempt, key=key)
            error = outcome.what
            if not outcome.unreachable:
                self.unreachable = 0
            if not outcome.again:
                break
            if attempt <= self.settings.retries:
                await asyncio.sleep(self.pause(attempt, outcome.wait))
            elif outcome.unreachable:
                self.unreachable += 1
                if self.unreachable == GONE_AFTER:
                    logger.warning("%s no longer answers: %s", self.settings.url, error)
        return Completion(text=None, error=error, attempts=attempt, key=key)

    def pause(self, attempt: int, wait: float | None) -> float:
        """Seconds before the next attempt: as the server wishes, or doubled."""
        jitter = self.random.uniform(0.75, 1.25)
        own = self.settings.backoff * 2 ** (attempt - 1) * jitter
        return min(LONGEST_WAIT, max(own, wait or 0.0))

    async def attempt(
        self, client: AsyncOpenAI, request: Request
    ) -> dict[str, Any] | _Failed:
        """The fields of a completion, or what went wrong."""
        import openai

        body = self.endpoint.body(request)
        standard = ("model", "messages", "temperature", "max_tokens", "seed")
        started = time.perf_counter()
        try:
            # a deadline for the whole: the library's own is per read, and a server
            # that sends a byte now and then would never meet it
            async with asyncio.timeout(self.settings.timeout):
                reply = await client.chat.completions.create(
                    **{name: body[name] for name in standard if name in body},
                    extra_body={k: v for k, v in body.items() if k not in standard},
                )
        except openai.APIStatusError as error:
            return self.refused(error)
        except (TimeoutError, openai.APITimeoutError):
            return _Failed(f"no reply in {self.settings.timeout:g} s", again=True)
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            what = f"{type(cause).__name__}: {cause}".rstrip(": ")
            return _Failed(f"no connection ({what})", again=True, unreachable=True)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # the library parses leniently, and fails in ways of its own
            return _Failed(f"not a completion ({type(error).__name__})", again=True)
        return self.read(request, reply, time.perf_counter() - started)

    def read(
        self, request: Request, reply: Any, seconds: float
    ) -> dict[str, Any] | _Failed:
        """The fields of a completion; the library checks none of their types."""
        choices = getattr(reply, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(first, "message", None)
        if message is None:
            return _Failed("not a completion (no message in it)", again=True)
        text = getattr(message, "content", None) or ""
        if not isinstance(text, str):
            return _Failed("not a completion (content is no text)", again=True)
        usage = getattr(reply, "usage", None)
        sent = getattr(usage, "prompt_tokens", None)
        got = getattr(usage, "completion_tokens", None)
        counted = isinstance(sent, int) and isinstance(got, int)
        if not counted:
            sent = sum(PER_MESSAGE + estimate_tokens(c) for _, c in request.messages)
            got = estimate_tokens(text)
        finish = getattr(first, "finish_reason", None)
        return {
            "text": text,
            "prompt_tokens": sent,
            "reply_tokens": got,
            "estimated": not counted,
            "finish": finish if isinstance(finish, str) else None,
            "seconds": round(seconds, 6),
        }

    def refused(self, error: Any) -> _Failed:
        """A status that is no success; raises UserError where all others would fail."""
        status, code = error.status_code, getattr(error, "code", None)
        said = " ".join(str(error.message).split())[:300]
        if status in HOPELESS or code == "insufficient_quota":
            hint = {
                401: f"; the key is read from ${self.settings.key_env}",
                403: f"; the key is read from ${self.settings.key_env}",
                404: f"; model {self.settings.model!r}",
            }.get(status, "")
            raise UserError(f"{self.settings.url}: HTTP {status}: {said}{hint}")
        return _Failed(
            f"HTTP {status}: {said}",
            again=status in AGAIN or status >= 500,
            wait=_seconds(error.response.headers.get("retry-after")),
        )


@dataclass(frozen=True)
class _Failed:
    """One attempt without a reply."""

    what: str
    again: bool
    """Whether the same request may succeed later."""
    unreachable: bool = False
    """Whether there was no answer of any kind."""
    wait: float | None = None
    """Seconds that the server asks to wait."""


def _seconds(header: str | None) -> float | None:
    """Seconds from now in a Retry-After header: a number, or a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
