"""FActScore (Min et al. 2023): the share of atomic facts that text supports.

    f(y) = (1 / |A_y|) sum over a in A_y of 1[a is supported by C]

Each fact is verified by the model against the passages that the index finds for it
("Retrieval -> LM"). There is no penalty of short answers, as OKGQA's definition has
none ("the proportion of facts supported out of the total").

Different from the publication: the passages are searched in the whole index, for an
open question has no single page; a fact without a readable verdict is left out and
counted, and an answer without any is a failure, not a zero.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgscout_jax.okgqa.judges.facts import Facts, atomic_facts
from kgscout_jax.okgqa.judges.protocol import (
    JUDGED,
    UNREADABLE,
    Item,
    Judgement,
    context_text,
    text_of,
)
from kgscout_jax.okgqa.passages import Search
from kgscout_jax.okgqa.prompts import fill
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.prompts import prompt_text

VERDICT_TOKENS = 8
_VERDICT = re.compile(r"\b(true|false)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """What is known of one fact."""

    fact: str
    supported: bool | None
    """None where the judge failed."""
    outcome: str = JUDGED


@dataclass
class FActScore:
    """The factual precision of answers against an index of passages."""

    model: Model
    search: Search
    passages: int = 5
    """Passages that each fact is verified against."""

    @property
    def metrics(self) -> Mapping[str, str]:
        """Metric -> how tables write it."""
        return {"factscore": "FActScore"}

    def judge(self, items: Sequence[Item]) -> list[dict[str, Judgement]]:
        """Per item, metric -> judgement."""
        facts = atomic_facts(self.model, items)
        pairs = [
            (item, text) for i, item in enumerate(items) for text in facts[i].texts
        ]
        verdicts = iter(self.verify(pairs))
        return [
            {"factscore": precision(one, [next(verdicts) for _ in one.texts])}
            for one in facts
        ]

    def verify(self, pairs: Sequence[tuple[Item, str]]) -> list[Verdict]:
        """The verdict on each statement of an answer."""
        found = self.search([text for _, text in pairs], self.passages)
        prompts = [
            fill(
                "verify",
                topic=prompt_text(item.subject),
                passages=context_text(passages),
                fact=prompt_text(text),
            )
            for (item, text), passages in zip(pairs, found, strict=True)
        ]
        replies = self.model.ask("factscore", prompts, max_tokens=VERDICT_TOKENS)
        out = []
        for (_, fact), (reply,) in zip(pairs, replies, strict=True):
            text, outcome = text_of(reply)
            match = _VERDICT.search(text)
            if outcome == JUDGED and match is None:
                outcome = UNREADABLE
            supported = match[1].lower() == "true" if match else None
            out.append(Verdict(fact, supported, outcome))
        return out


def precision(facts: Facts, verdicts: Sequence[Verdict]) -> Judgement:
    """The share of supported facts, of those with a verdict."""
    details = {
        "facts": [[one.fact, one.supported] for one in verdicts],
        "failed_sentences": facts.failed,
        "invented_facts": facts.invented,
        "failed_facts": sum(one.supported is None for one in verdicts),
    }
    if facts.outcome != JUDGED:
        return Judgement(outcome=facts.outcome, details=details)
    known = [one.supported for one in verdicts if one.supported is not None]
    if not known:
        failures = Counter(one.outcome for one in verdicts)
        return Judgement(outcome=failures.most_common(1)[0][0], details=details)
    return Judgement(value=sum(known) / len(known), details=details)
