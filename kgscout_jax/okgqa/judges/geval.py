"""G-Eval (Liu et al. 2023) on OKGQA's four criteria (appendix A.3).

The judge first writes evaluation steps for each criterion, once (auto-CoT), then fills
in a form: a score from 1 to 5. The score of an answer is the expectation

    score = sum over s of p(s) s

over the probabilities of the score's token, or its mean over samples where the server
tells none. Tables show (score - 1) / 4: 0% is the worst.

Different from the publication: p(s) is divided by the sum over the five scores, for a
server tells the likeliest tokens only. OKGQA does not say its range of scores; G-Eval's
own for such criteria is 1 to 5, each of them one token in every vocabulary, 10 is not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from kgscout_jax.okgqa.judges.protocol import (
    JUDGED,
    NO_ANSWER,
    UNREADABLE,
    Item,
    Judgement,
    context_text,
    text_of,
)
from kgscout_jax.okgqa.prompts import data, fill
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.completions import Completion
from kgscout_jax.reason.prompts import Message, prompt_text

SCORES: tuple[int, ...] = (1, 2, 3, 4, 5)
STEPS_TOKENS = 200
FORM_TOKENS = 8
LOGPROBS = {"logprobs": True, "top_logprobs": 20}
_SCALE = re.compile(r"\b(?:from\s+)?1\s*(?:-|–|to)\s*5\b(?!\s*/)", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?P<name>\b(?:score|rating)[^\d\n]{0,40}?)?"
    r"(?<![\w.])(?P<number>[-−]?\d+(?:\.\d+)?)(?!\w)"
    r"(?:\s*(?:/|out of)\s*(?P<best>\d+))?",
    re.IGNORECASE,
)


def score_span(text: str) -> tuple[int, int] | None:
    """(the score in a reply, where it stands); None where there is not one.

    The last number that is called a score or a rating, or is out of 5; else the only
    one. A scale (1 to 5) is none.

    >>> score_span("On the scale from 1 to 5: 4"), score_span("-4")
    ((4, 26), None)
    """
    blank = _SCALE.sub(lambda scale: " " * len(scale[0]), text)
    numbers = list(_NUMBER.finditer(blank))
    named = [each for each in numbers if each["name"] or each["best"] == "5"]
    chosen = named[-1:] or numbers
    found = {(each["number"], each["best"] or "5") for each in chosen}
    values = [_number(number) for number, best in found if best == "5"]
    if len(found) != 1 or not values or values[0] is None:
        return None
    return values[0], chosen[-1].start("number")


def token_score(
    logprobs: Sequence[Sequence[Sequence[Any]]],
) -> tuple[float | None, float]:
    """(the expected score, the probability of all scores) at the score's token.

    That is the token where the score stands in the likeliest reply. (None, 0) without
    one.

    >>> score, mass = token_score([[("4", -0.693147), ("2", -1.386294), ("x", -9.0)]])
    >>> round(score, 3), round(mass, 3)
    (3.333, 0.75)
    """
    likeliest = [
        max(token, key=lambda pair: pair[1], default=("", 0.0))[0] for token in logprobs
    ]
    span = score_span("".join(likeliest))
    if span is None:
        return None, 0.0
    ends = accumulate(map(len, likeliest))
    place = next(i for i, end in enumerate(ends) if span[1] < end)
    weights = dict.fromkeys(SCORES, 0.0)
    for text, logprob in logprobs[place]:
        if (number := _number(text)) is not None:
            weights[number] += math.exp(logprob)
    mass = sum(weights.values())
    if not mass:
        return None, 0.0
    return sum(s * p for s, p in weights.items()) / mass, mass


def sample_score(texts: Sequence[str]) -> tuple[float | None, int]:
    """(the mean of the scores in replies, their number); None where there is none.

    >>> sample_score(["4", "Score: 5", "none", "3/5"])
    (4.0, 3)
    """
    scores = [span[0] for text in texts if (span := score_span(text))]
    return (sum(scores) / len(scores), len(scores)) if scores else (None, 0)


def _number(token: str) -> int | None:
    text = token.strip()
    return int(text) if text in ("1", "2", "3", "4", "5") else None


@dataclass
class GEval:
    """The four criteria."""

    model: Model
    weights: Literal["auto", "logprobs", "samples"] = "auto"
    samples: int = 20
    """Replies per score, where weights are those of samples."""
    steps: dict[str, str] = field(default_factory=dict)
    """Criterion -> its evaluation steps, once they are written."""

    @property
    def metrics(self) -> Mapping[str, str]:
        """Metric -> how tables write it."""
        return {name: one["name"] for name, one in data("criteria").items()}

    def judge(self, items: Sequence[Item]) -> list[dict[str, Judgement]]:
        """Per item, metric -> judgement."""
        out: list[dict[str, Judgement]] = [
            dict.fromkeys(self.metrics, Judgement(outcome=NO_ANSWER)) for _ in items
        ]
        rows = [i for i, item in enumerate(items) if item.answer is not None]
        outcome = self._write_steps() if rows else JUDGED
        # the criteria of an answer follow each other: their prompts begin alike
        cells = [(i, name) for i in rows for name in self.metrics]
        known = [cell for cell in cells if cell[1] in self.steps]
        for i, name in set(cells) - set(known):
            out[i][name] = Judgement(outcome=outcome)
        prompts = [self._form(items[i], name) for i, name in known]
        judgements = self._ask(prompts) if prompts else []
        for (i, name), judgement in zip(known, judgements, strict=True):
            out[i][name] = judgement
        return out

    def _write_steps(self) -> str:
        """Ask for the steps that are missing; the outcome of what failed."""
        criteria = data("criteria")
        missing = [name for name in criteria if name not in self.steps]
        prompts = [
            fill("geval_steps", criteria=_definition(criteria[name]))
            for name in missing
        ]
        outcome = JUDGED
        replies = self.model.ask("geval steps", prompts, max_tokens=STEPS_TOKENS)
        for name, (reply,) in zip(missing, replies, strict=True):
            text, one = text_of(reply)
            if one == JUDGED:
                lines = [prompt_text(line) for line in text.splitlines()]
                self.steps[name] = "\n".join(line for line in lines if line)
            else:
                outcome = one
        return outcome

    def _form(self, item: Item, name: str) -> tuple[Message, ...]:
        criterion = data("criteria")[name]
        return fill(
            "geval",
            question=prompt_text(item.question),
            context=context_text(item.context),
            answer=prompt_text(item.answer or ""),
            criteria=_definition(criterion),
            steps=self.steps[name],
            name=criterion["name"],
        )

    def _ask(self, prompts: Sequence[tuple[Message, ...]]) -> list[Judgement]:
        """A judgement per form."""
        if self.weights == "auto":
            self.weights = self._choice(prompts[0])
        if self.weights == "logprobs":
            extra = {**self.model.settings.extra, **LOGPROBS}
            replies = self.model.ask(
                "geval", prompts, max_tokens=FORM_TOKENS, temperature=0.0, extra=extra
            )
            return [from_tokens(reply) for (reply,) in replies]
        replies = self.model.ask(
            "geval", prompts, samples=self.samples, max_tokens=FORM_TOKENS,
            temperature=1.0,
        )  # fmt: skip
        return [from_samples(samples) for samples in replies]

    def _choice(self, prompt: tuple[Message, ...]) -> Literal["logprobs", "samples"]:
        """Samples where the server refuses log-probabilities, or leaves them out."""
        extra = {**self.model.settings.extra, **LOGPROBS}
        ((reply,),) = self.model.ask(
            "geval", [prompt], max_tokens=FORM_TOKENS, temperature=0.0, extra=extra
        )
        refused = (reply.error or "").startswith(("HTTP 400", "HTTP 422"))
        silent = reply.text is not None and not reply.logprobs
        return "samples" if refused or silent else "logprobs"


def from_tokens(reply: Completion) -> Judgement:
    """The judgement in a reply with log-probabilities."""
    text, outcome = text_of(reply)
    score, mass = token_score(reply.logprobs)
    if outcome == JUDGED and score is None:
        outcome = UNREADABLE
    if score is None or outcome != JUDGED:
        return Judgement(outcome=outcome, details={"reply": text})
    details = {"score": score, "mass": mass, "by": "logprobs"}
    return Judgement(value=(score - 1) / 4, details=details)


def from_samples(replies: Sequence[Completion]) -> Judgement:
    """The judgement in several replies: the mean of those that hold a score."""
    read = [text_of(reply) for reply in replies]
    score, count = sample_score([text for text, _ in read])
    if score is None:
        outcomes = {outcome for _, outcome in read}
        outcome = UNREADABLE if outcomes - {read[0][1]} else read[0][1]
        outcome = UNREADABLE if outcome == JUDGED else outcome
        return Judgement(outcome=outcome, details={"reply": read[0][0]})
    details = {"score": score, "samples": count, "by": "samples"}
    return Judgement(value=(score - 1) / 4, details=details)


def _definition(criterion: Mapping[str, str]) -> str:
    return f"{criterion['name']} Criteria: {criterion['criteria']}"
