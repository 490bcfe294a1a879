"""A reader that asks a language model: one reading per question, whatever happens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from kgscout_jax.errors import UserError
from kgscout_jax.reason.completions import Completion, EndpointSettings, Request
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.reason.prompts import Prompt, render
from kgscout_jax.reason.readers.protocol import Evidence, Outcome, Reading
from kgscout_jax.reason.readers.replies import agree, read_reply
from kgscout_jax.reason.selection import (
    PromptSettings,
    check_token_budget,
    prompt_for,
)
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")


class ModelReader:
    """A language model behind an endpoint, with one prompt template.

    Every question has a reading: where the server gave no reply, or the budget does not
    even hold the question, its outcome is "error". Only what fails for every question
    raises: an unknown template, key or model, or a budget that the template alone
    exceeds.

    Raises:
        UserError: the prompt's settings cannot work, or a library is missing.
    """

    def __init__(self, endpoint: EndpointSettings, prompt: PromptSettings):
        _require_json_repair()
        if prompt.samples > 1 and endpoint.temperature == 0:
            raise UserError(
                f"samples: {prompt.samples} at temperature 0 would all be the same, "
                "expected a temperature above 0 (0.7 is usual)"
            )
        # an empty question: what fails here, fails for every question
        prompt.template()
        check_token_budget(prompt.token_budget, prompt, "token_budget")
        render(prompt.empty_template(), "", (), budget=prompt.token_budget)
        self.endpoint = Endpoint(endpoint)
        self.prompt = prompt

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.settings.model

    def read(
        self,
        evidence: Sequence[Evidence],
        on_text: Callable[[str], None] | None = None,
    ) -> list[Reading]:
        """A reading per question, in order.

        Args:
            evidence: the questions with their triplets.
            on_text: called with each piece of the reply to one question as it comes.

        Raises:
            UserError: no question can be answered: the key, the model or the address
                is wrong. Replies that came before are in the cache.
        """
        prompts: list[Prompt | str] = [self._prompt(each) for each in evidence]
        bare = sum(
            isinstance(prompt, Prompt) and bool(each.triplets) and not prompt.n_triplets
            for each, prompt in zip(evidence, prompts, strict=True)
        )
        if bare:
            logger.warning(
                "token_budget %s: not even the best triplet fits in %d of %d questions",
                *(self.prompt.token_budget, bare, len(evidence)),
            )
        requests = [
            Request(messages=prompt.messages, sample=sample)
            for prompt in prompts
            if isinstance(prompt, Prompt)
            for sample in range(self.prompt.samples)
        ]
        with ProgressBar(len(requests), f"asking {self.name}", "replies") as bar:
            failed = 0

            def count(_: int, completion: Completion) -> None:
                nonlocal failed
                failed += completion.text is None
                bar.update(1, failed=failed)

            completions = self.endpoint.ask_all(
                requests, on_completion=count, on_text=on_text
            )
        replies = iter(completions)
        readings = []
        for each, prompt in zip(evidence, prompts, strict=True):
            if isinstance(prompt, str):
                readings.append(
                    Reading(id=each.id, answers=(), outcome="error", error=prompt)
                )
                continue
            samples = [next(replies) for _ in range(self.prompt.samples)]
            readings.append(reading_of(each.id, prompt, samples))
        return readings

    def _prompt(self, evidence: Evidence) -> Prompt | str:
        """The prompt, or why there is none for this question."""
        try:
            return prompt_for(evidence, self.prompt)
        except UserError as error:
            return str(error)


def reading_of(id: str, prompt: Prompt, completions: Sequence[Completion]) -> Reading:
    """The reading of one question's replies: of several, what most agree on.

    Missing replies have no vote; without any reply, or where there is no answer because
    it was cut, the outcome is "error".
    """
    texts = tuple(completion.text for completion in completions)
    replies = [text for text in texts if text is not None]
    cut = [one for one in completions if one.finish == "length"]
    note = f"the reply was cut at {cut[0].reply_tokens} tokens" if cut else ""
    reply = agree(
        [
            read_reply(one.text, cut=one.finish == "length")
            for one in completions
            if one.text is not None
        ]
    )
    outcome: Outcome = "json" if reply.failure == "none" else reply.failure
    error = None
    if not replies:
        outcome = "error"
        error = next((one.error for one in completions if one.error), "no reply")
    elif len(cut) == len(replies) and not reply.answers and outcome != "not_available":
        outcome, error = "error", note
    return Reading(
        id=id,
        answers=reply.answers,
        outcome=outcome,
        raw=replies[0] if replies else None,
        samples=texts if len(texts) > 1 else (),
        error=error,
        note=note,
        prompt_hash=prompt.hash,
        prompt=prompt,
        prompt_tokens=sum(completion.prompt_tokens for completion in completions),
        reply_tokens=sum(completion.reply_tokens for completion in completions),
        seconds=sum(completion.seconds for completion in completions),
        cached=bool(completions) and all(one.cached for one in completions),
    )


def _require_json_repair() -> None:
    try:
        installed = find_spec("json_repair") is not None
    except ValueError:  # what a half-removed module raises
        installed = False
    if not installed:
        raise UserError(
            "the json-repair library is not installed: pip install json-repair"
        )
