"""A language model whose calls are counted and priced, by the stage that makes them."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kgscout_jax.reason.completions import Completion, EndpointSettings, Request
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.reason.prompts import Message
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")

GONE = ("not asked:", "no connection")
"""How the errors of a server that answers nothing at all begin."""


@dataclass
class Spending:
    """What a stage asked; equal requests count once, stored replies with their price.

    So the figures are those of the same command with an empty cache.
    """

    calls: int = 0
    """Different requests with a reply."""
    from_cache: int = 0
    """Those whose reply was stored before."""
    failed: int = 0
    """Different requests without a reply."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float = 0.0
    """Dollars, by the prices of the settings."""


@dataclass
class Model:
    """A language model, and what each stage has asked of it."""

    settings: EndpointSettings
    prices: tuple[float, float] = (0.0, 0.0)
    """Dollars per million tokens of prompts and of replies."""
    spending: dict[str, Spending] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def ask(
        self,
        stage: str,
        prompts: Sequence[tuple[Message, ...]],
        *,
        samples: int = 1,
        **changes: Any,
    ) -> list[list[Completion]]:
        """Per prompt its completions, ``samples`` of them.

        Args:
            stage: the key in ``spending``, shown beside the progress.
            prompts: the messages of each request.
            samples: replies per prompt.
            **changes: fields of ``EndpointSettings``, such as max_tokens.

        Raises:
            UserError: as ``Endpoint.ask_all``.
        """
        settings = dataclasses.replace(self.settings, **changes)
        endpoint = Endpoint(settings)
        requests = [
            Request(messages=prompt, sample=sample)
            for prompt in prompts
            for sample in range(samples)
        ]
        with ProgressBar(len(requests), stage, "replies") as bar:

            def advance(_: int, __: Completion) -> None:
                bar.update()

            completions = endpoint.ask_all(requests, on_completion=advance)
        spending = self.spending.setdefault(stage, Spending())
        for request, one in zip(requests, completions, strict=True):
            key = endpoint.key(request)
            if key in self._seen:
                continue
            if one.text is None:
                spending.failed += 1
                continue
            self._seen.add(key)
            spending.calls += 1
            spending.from_cache += one.cached
            spending.prompt_tokens += one.prompt_tokens
            spending.reply_tokens += one.reply_tokens
            tokens = one.prompt_tokens, one.reply_tokens
            pairs = zip(tokens, self.prices, strict=True)
            spending.cost += sum(count * price for count, price in pairs) / 1e6
        self._notice_absence(completions)
        return [completions[i : i + samples] for i in range(0, len(requests), samples)]

    def _notice_absence(self, completions: Sequence[Completion]) -> None:
        """Stop trying again once a server answers nothing at all."""
        new = [one for one in completions if not one.cached]
        gone = all((one.error or "").startswith(GONE) for one in new)
        if new and gone and self.settings.retries:
            logger.warning("the server is gone: from here on, what is in the cache")
            self.settings = dataclasses.replace(self.settings, retries=0)
