"""A reader that asks a language model: prompts out, replies in, nothing dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

from kgscout_jax.errors import UserError
from kgscout_jax.reason.completions import (
    Completion,
    EndpointSettings,
    Request,
    Spending,
    spending,
)
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.reason.prompt_settings import PromptSettings, prompt_for
from kgscout_jax.reason.prompts import Prompt, render
from kgscout_jax.reason.readers.protocol import Evidence, Outcome, Reading
from kgscout_jax.reason.replies import agree, read_reply
from kgscout_jax.utils.progress import progress


class ModelReader:
    """A language model behind an endpoint, asked with one kind of prompt.

    Every question comes back with a reading: where the server gave no reply, or the
    budget does not even hold the question, its outcome is "error". Only what no
    question could survive raises: an unknown template, key or model, or a budget that
    the template alone exceeds.

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
        for template in (prompt.template(), prompt.empty_template()):
            render(template, "", (), budget=prompt.token_budget)
        self.endpoint = Endpoint(endpoint)
        self.prompt = prompt
        self._completions: list[Completion] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.settings.model

    def read(self, evidence: Sequence[Evidence]) -> list[Reading]:
        """A reading per question, in order.

        Raises:
            UserError: no question can be answered: the key, the model or the address
                is wrong. Replies that came before are in the cache.
        """
        prompts: list[Prompt | str] = [self._prompt(each) for each in evidence]
        requests = [
            Request(messages=prompt.messages, sample=sample)
            for prompt in prompts
            if isinstance(prompt, Prompt)
            for sample in range(self.prompt.samples)
        ]
        with progress(len(requests), f"asking {self.name}", "replies") as bar:
            failed = 0

            def told(_: int, completion: Completion) -> None:
                nonlocal failed
                failed += completion.text is None
                bar.update(1, failed=failed)

            completions = self.endpoint.ask_all(requests, on_completion=told)
        # the texts live on in the readings; what they cost is all that is summed up
        self._completions += [
            one if one.text is None else replace(one, text="") for one in completions
        ]
        replies = iter(completions)
        readings = []
        for each, prompt in zip(evidence, prompts, strict=True):
            if isinstance(prompt, str):
                readings.append(
                    Reading(id=each.id, answers=(), outcome="error", error=prompt)
                )
                continue
            mine = [next(replies) for _ in range(self.prompt.samples)]
            readings.append(reading_of(each.id, prompt, mine))
        return readings

    def spending(self) -> Spending:
        """What everything read so far took."""
        return spending(self._completions, self.endpoint.settings)

    def _prompt(self, evidence: Evidence) -> Prompt | str:
        """The prompt, or why there is none for this question."""
        try:
            return prompt_for(evidence, self.prompt)
        except UserError as error:
            return str(error)


def reading_of(id: str, prompt: Prompt, completions: Sequence[Completion]) -> Reading:
    """What the replies to one question say: of several, what most agree on.

    Replies that did not come have no vote; without any, the outcome is "error".
    """
    texts = tuple(completion.text for completion in completions)
    came = [text for text in texts if text is not None]
    answers: tuple[str, ...] = ()
    outcome: Outcome = "error"
    error = None
    if came:
        reply = agree([read_reply(text) for text in came])
        answers = reply.answers
        outcome = "json" if reply.failure == "none" else reply.failure
    else:
        error = next((one.error for one in completions if one.error), "no reply")
    return Reading(
        id=id,
        answers=answers,
        outcome=outcome,
        raw=came[0] if came else None,
        samples=texts if len(texts) > 1 else (),
        error=error,
        prompt_hash=prompt.hash,
        prompt=prompt,
        prompt_tokens=sum(completion.prompt_tokens for completion in completions),
        reply_tokens=sum(completion.reply_tokens for completion in completions),
        seconds=sum(completion.seconds for completion in completions),
        cached=bool(completions) and all(one.cached for one in completions),
    )


def _require_json_repair() -> None:
    try:
        found = find_spec("json_repair") is not None
    except ValueError:  # what a half-removed module raises
        found = False
    if not found:
        raise UserError(
            "the json-repair library is not installed: pip install json-repair"
        )
