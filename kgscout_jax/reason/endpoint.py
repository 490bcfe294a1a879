"""A client for any OpenAI-compatible server: vLLM, Ollama, llama.cpp, hosted ones.

Many requests at a time, each with a deadline, sent again with back-off where that can
help, stored on disk once answered. A batch that is killed and started again sends only
what is missing. A server that dies in the middle costs what it did not answer: each of
those requests returns an error instead of a reply.

The openai client's own retries are switched off. It fixes the back-off (0.5 to 8 s), so
``--backoff`` could not be honoured; it does not repeat a reply that is no completion;
it repeats a 429 that says "insufficient_quota"; and a deadline around its call would
cover all attempts together.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from kgscout_jax.errors import UserError
from kgscout_jax.reason.completions import Completion, EndpointSettings, Request
from kgscout_jax.reason.prompts import PER_MESSAGE, estimate_tokens
from kgscout_jax.reason.reply_cache import ReplyCache, request_fingerprint
from kgscout_jax.reason.streams import streamed_reply

if TYPE_CHECKING:
    from openai import AsyncOpenAI

logger = logging.getLogger("kgscout.reason")

FATAL = (401, 403, 404)
"""Statuses that every other request would get too: key, rights, address or model."""
TEMPORARY = (408, 409, 425, 429)
"""Statuses, beside 5xx, after which the same request may succeed."""
LONGEST_WAIT = 120.0
"""Seconds at most between two attempts; a request that has to wait longer fails."""
SILENT_WAIT = 5.0
"""A longer wait is logged."""
GONE_AFTER = 3
"""Requests that fail in a row without any connection before the rest is skipped."""
STANDARD = ("model", "messages", "temperature", "max_tokens", "seed")
"""Fields of a request that the library knows; the others go into its extra body."""

STORED = (
    "text", "prompt_tokens", "reply_tokens", "estimated", "finish", "seconds",
    "logprobs",
)  # fmt: skip
"""Fields of a completion that the cache holds."""


class Endpoint:
    """A language model behind a URL.

    Raises:
        UserError: the openai library is not installed.
    """

    def __init__(self, settings: EndpointSettings):
        # imported before there are threads, which would wait for each other's imports
        self.transport_error = _transport_error()
        self.settings = settings
        self.cache = ReplyCache(settings.cache) if settings.cache else None
        self.is_reached = False
        """Whether anything answered at the address so far."""

    def body(self, request: Request) -> dict[str, Any]:
        """The fields of the HTTP request."""
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
        """The fingerprint under which the reply to this request is stored."""
        return request_fingerprint({**self.body(request), "sample": request.sample})

    def ask_all(
        self,
        requests: Sequence[Request],
        *,
        on_completion: Callable[[int, Completion], None] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> list[Completion]:
        """A completion per request, in order; equal requests are sent once.

        Args:
            requests: the requests.
            on_completion: called with a request's index and its completion as soon as
                that is known; in no particular order.
            on_text: called with each piece of a reply as it comes, of one request; what
                is in the cache comes as one piece.

        Raises:
            UserError: no request can succeed: the key or the model is unknown to the
                server, or the address is not one of a model. What was answered before
                is in the cache.
        """
        return asyncio.run(_Batch(self, on_completion, on_text).run(requests))

    def ask(self, request: Request) -> Completion:
        """The completion of one request; see ``ask_all``."""
        return self.ask_all([request])[0]


@dataclass(frozen=True)
class _Failure:
    """One attempt without a reply."""

    reason: str
    retryable: bool = True
    """Whether the same request may succeed later."""
    unreachable: bool = False
    """Whether there was no answer of any kind."""
    wait: float = 0.0
    """Seconds that the server asks to wait."""
    malformed: bool = False
    """Whether something answered that is no model; asked once more only."""


class _Batch:
    """The state that the requests of one ``ask_all`` share."""

    def __init__(
        self,
        endpoint: Endpoint,
        on_completion: Callable[[int, Completion], None] | None,
        on_text: Callable[[str], None] | None = None,
    ):
        self.endpoint = endpoint
        self.settings = endpoint.settings
        self.on_completion, self.on_text = on_completion, on_text
        self.begun = False
        """Whether a piece of a reply was passed on: it cannot be asked for again."""
        self.slots = asyncio.Semaphore(self.settings.concurrency)
        self.unreachable = 0
        """Requests that failed in a row because nothing answered at all."""
        self.fatal = False
        """Whether the server refused what every other request would send too."""

    async def run(self, requests: Sequence[Request]) -> list[Completion]:
        rows: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            rows.setdefault(self.endpoint.key(request), []).append(i)
        completions: dict[int, Completion] = {}

        def complete(key: str, completion: Completion) -> None:
            for i in rows[key]:
                completions[i] = completion
                if self.on_completion:
                    self.on_completion(i, completion)

        missing = []
        for key in rows:
            cache = self.endpoint.cache
            if cache is not None and (reply := cache.get(key)) is not None:
                fields = {name: reply[name] for name in STORED if name in reply}
                complete(key, Completion(**fields, cached=True))
                if self.on_text:
                    self.on_text(reply.get("text") or "")
            else:
                missing.append(key)
        if missing:
            async with self.client() as client:

                async def send(key: str) -> None:
                    async with self.slots:
                        if not self.fatal:
                            request = requests[rows[key][0]]
                            complete(key, await self.send(client, key, request))

                try:
                    async with asyncio.TaskGroup() as group:
                        for key in missing:
                            group.create_task(send(key))
                except BaseExceptionGroup as errors:
                    raise errors.exceptions[0] from None
        return [completions[i] for i in range(len(requests))]

    def client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            base_url=self.settings.url,
            # the library insists on a key, local servers ignore it
            api_key=os.environ.get(self.settings.key_env) or "none",
            timeout=self.settings.timeout,
            max_retries=0,
        )

    async def send(self, client: AsyncOpenAI, key: str, request: Request) -> Completion:
        """The completion, after as many attempts as help and are allowed."""
        error = "not asked: the server no longer answers"
        attempt, retries, malformed = 0, self.settings.retries, 0
        while attempt <= retries and self.unreachable < GONE_AFTER:
            attempt += 1
            outcome = await self.attempt(client, request)
            if isinstance(outcome, dict):
                self.unreachable = 0
                if self.endpoint.cache is not None:
                    body = self.endpoint.body(request)
                    self.endpoint.cache.put(key, body, outcome)
                return Completion(**outcome)
            error = outcome.reason
            if not outcome.unreachable:
                self.unreachable = 0
            malformed += outcome.malformed
            if malformed and not self.settings.url.rstrip("/").endswith("/v1"):
                error += f"; {self.settings.url} may have to end in /v1"
            if outcome.wait > LONGEST_WAIT:
                error += f"; asked to wait {outcome.wait:.0f} s, at most "
                error += f"{LONGEST_WAIT:g} s are waited"
                break
            if not outcome.retryable or self.begun or malformed > 1:
                break
            if attempt <= retries:
                pause = self.pause(attempt, outcome.wait)
                if pause > SILENT_WAIT:
                    logger.warning("%s; asked again in %.0f s", error, pause)
                await asyncio.sleep(pause)
            elif outcome.unreachable:
                self.unreachable += 1
                if self.unreachable == GONE_AFTER:
                    logger.warning("%s no longer answers: %s", self.settings.url, error)
        return Completion(text=None, error=error)

    def pause(self, attempt: int, wait: float) -> float:
        """Seconds before the next attempt: as the server wishes, or doubled."""
        # jitter only: results don't depend on it
        own = self.settings.backoff * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
        return min(LONGEST_WAIT, max(own, wait))

    async def attempt(
        self, client: AsyncOpenAI, request: Request
    ) -> dict[str, Any] | _Failure:
        """The fields of a completion, or the failure."""
        import openai

        body = self.endpoint.body(request)
        started = time.perf_counter()
        try:
            # a deadline for the whole: the library's own is per read, and a server
            # that sends a byte now and then would never meet it
            async with asyncio.timeout(self.settings.timeout):
                fields = {name: body[name] for name in STANDARD if name in body}
                extra = {k: v for k, v in body.items() if k not in STANDARD}
                fields["extra_body"] = extra
                if self.on_text is None:
                    reply = await client.chat.completions.create(**fields)
                else:
                    reply = await streamed_reply(client, fields, self.pass_on)
        except openai.APIStatusError as error:
            self.endpoint.is_reached = True
            return self.status_failure(error)
        except (TimeoutError, openai.APITimeoutError):
            return _Failure(f"no reply in {self.settings.timeout:g} s")
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            reason = f"{type(cause).__name__}: {cause}".rstrip(": ")
            failed = "the reply broke off" if self.begun else "no connection"
            # A server that was there may be starting anew; else none is there.
            gone = _is_refused(error) and not self.endpoint.is_reached
            return _Failure(
                f"{failed} ({reason})", retryable=not gone, unreachable=True
            )
        except self.endpoint.transport_error as error:  # openai < 3: within a stream
            reason = f"the reply broke off ({type(error).__name__})"
            return _Failure(reason, unreachable=True)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # the library parses leniently, and fails in ways of its own
            return _malformed(type(error).__name__)
        self.endpoint.is_reached = True
        if self.begun and not reply.choices:
            return _Failure("the reply broke off")
        return _fields(request, reply, time.perf_counter() - started)

    def pass_on(self, text: str) -> None:
        """Give a piece of a reply to the caller."""
        assert self.on_text is not None
        self.begun = True
        self.on_text(text)

    def status_failure(self, error: Any) -> _Failure:
        """A status that is no success; raises UserError where all others would fail."""
        status, code = error.status_code, getattr(error, "code", None)
        message = " ".join(str(error.message).split())[:300]
        if status in FATAL or code == "insufficient_quota":
            self.fatal = True
            key = f"; the key is read from ${self.settings.key_env}"
            hints = {401: key, 403: key, 404: f"; model {self.settings.model!r}"}
            hint = hints.get(status, "")
            raise UserError(f"{self.settings.url}: HTTP {status}: {message}{hint}")
        return _Failure(
            f"HTTP {status}: {message}",
            retryable=status in TEMPORARY or status >= 500,
            wait=_retry_after(error.response.headers.get("retry-after")),
        )


def _is_refused(error: BaseException | None) -> bool:
    """Whether an error comes from a connection that was refused: nobody listens."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return True
        parts = getattr(error, "exceptions", ())  # an address for IPv4, one for IPv6
        if parts and all(map(_is_refused, parts)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _malformed(problem: str) -> _Failure:
    return _Failure(f"not a completion ({problem})", malformed=True)


def _transport_error() -> type[Exception]:
    """The base of the errors of openai's HTTP library: httpx, or httpx2 from 3 on."""
    try:
        import openai
        import openai.resources.chat  # which its client imports in the first call
    except ImportError:
        raise UserError(
            "the openai library is not installed: pip install 'kgscout-jax[llm]'"
        ) from None
    library = openai.DefaultAsyncHttpxClient.__mro__[1].__module__
    return importlib.import_module(library).HTTPError


def _fields(request: Request, reply: Any, seconds: float) -> dict[str, Any] | _Failure:
    """The fields of a completion; the library checks none of their types."""
    choices = getattr(reply, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(first, "message", None)
    if message is None:
        return _malformed("no message in it")
    text = getattr(message, "content", None) or ""
    if not isinstance(text, str):
        return _malformed("content is no text")
    usage = getattr(reply, "usage", None)
    prompt_tokens = getattr(usage, "prompt_tokens", None)
    reply_tokens = getattr(usage, "completion_tokens", None)
    counted = isinstance(prompt_tokens, int) and isinstance(reply_tokens, int)
    if not counted:
        lengths = (PER_MESSAGE + estimate_tokens(c) for _, c in request.messages)
        prompt_tokens, reply_tokens = sum(lengths), estimate_tokens(text)
    finish = getattr(first, "finish_reason", None)
    logprobs = _logprobs(first)
    return {
        **({"logprobs": logprobs} if logprobs else {}),
        "text": text,
        "prompt_tokens": prompt_tokens,
        "reply_tokens": reply_tokens,
        "estimated": not counted,
        "finish": finish if isinstance(finish, str) else None,
        "seconds": round(seconds, 6),
    }


def _logprobs(choice: Any) -> list[list[list[Any]]]:
    """Per token of a reply its likeliest tokens as [token, log-probability]; [] if the
    server gave none, or not in this form."""
    tokens = getattr(getattr(choice, "logprobs", None), "content", None)
    if not isinstance(tokens, list):
        return []
    try:
        return [
            [[str(one.token), float(one.logprob)] for one in token.top_logprobs]
            for token in tokens
        ]
    except (AttributeError, TypeError, ValueError):
        return []


def _retry_after(header: str | None) -> float:
    """Seconds from now in a Retry-After header: a number or a date; 0 without one."""
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header or "").timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0
