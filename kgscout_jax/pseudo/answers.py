"""Answers from given facts alone; without any fact there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgscout_jax.pseudo.facts import FactSource
from kgscout_jax.pseudo.prompts import ANSWER
from kgscout_jax.pseudo.settings import PseudoSettings
from kgscout_jax.pseudo.verification import PseudoGraphs, VerifiedGraph, fact_json
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.reason.prompts import (
    Prompt,
    estimate_tokens,
    prompt_text,
    triplet_line,
)
from kgscout_jax.reason.readers.model import reading_of
from kgscout_jax.reason.readers.protocol import Evidence, Reading


@dataclass(frozen=True)
class FactsReader:
    """A ``Reader`` that answers from facts alone, and asks nothing without any."""

    model: Model
    errors: Mapping[str, str] = field(default_factory=dict)
    """Id of a question -> why its facts could not be found."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.settings.model

    def read(self, evidence: Sequence[Evidence]) -> list[Reading]:
        """A reading per question, in order; "not_available" where there is no fact."""
        asked = {
            i: answer_prompt(each) for i, each in enumerate(evidence) if each.triplets
        }
        replies = self.model.ask(
            "answer", [prompt.messages for prompt in asked.values()]
        )
        completions = dict(zip(asked, replies, strict=True))
        readings = []
        for i, each in enumerate(evidence):
            if i in asked:
                readings.append(reading_of(each.id, asked[i], completions[i]))
            else:
                error = self.errors.get(each.id)
                outcome = "not_available" if error is None else "error"
                reading = Reading(id=each.id, answers=(), outcome=outcome, error=error)
                readings.append(reading)
        return readings


def answer_prompt(evidence: Evidence) -> Prompt:
    """The prompt for a question and its facts."""
    facts = "\n".join(map(triplet_line, evidence.triplets))
    text = ANSWER.format(facts=facts, question=prompt_text(evidence.question))
    return Prompt(
        messages=(("user", text),),
        template="facts_alone",
        version=1,
        n_triplets=len(evidence.triplets),
        tokens=estimate_tokens(text),
    )


@dataclass(frozen=True, kw_only=True)
class PseudoAnswer:
    """The answer to one question from its verified graph."""

    verified: VerifiedGraph
    reading: Reading
    calls: int
    tokens: int
    """Of prompts and replies, all stages together."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values: answers, verdicts, the verified graph, calls and tokens."""
        reading = self.reading
        return {
            "answers": list(reading.answers),
            "outcome": reading.outcome,
            **self.verified.to_json(),
            "graph": [fact_json(fact) for fact in self.verified.graph],
            "calls": self.calls,
            "tokens": self.tokens,
            "error": reading.error,
        }


def pseudo_answer(
    question: str, source: FactSource, endpoint: EndpointSettings, way: PseudoSettings
) -> PseudoAnswer:
    """The answer to a question by PG&AKV.

    Raises:
        UserError: the engine is not installed, or the server refuses the request.
    """
    model = Model(endpoint)
    verified = PseudoGraphs(model, way).run([question], source)[0]
    evidence = Evidence(
        id="0",
        question=question,
        triplets=tuple((*fact.triplet, fact.score) for fact in verified.graph),
    )
    errors = {"0": verified.error} if verified.error else {}
    reading = FactsReader(model, errors).read([evidence])[0]
    spent = list(model.spending.values())
    return PseudoAnswer(
        verified=verified,
        reading=reading,
        calls=sum(one.calls for one in spent),
        tokens=sum(one.prompt_tokens + one.reply_tokens for one in spent),
    )
