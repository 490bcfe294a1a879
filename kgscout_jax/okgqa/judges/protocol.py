"""What a judge is given, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kgscout_jax.okgqa.passages import Passage
from kgscout_jax.reason.completions import Completion

JUDGED = "judged"
NO_ANSWER = "no answer"
"""There is nothing to judge: the answer itself is missing."""
NO_REPLY = "no reply"
"""The judge's server gave no reply."""
UNREADABLE = "unreadable"
"""The judge replied something else than was asked for."""
NO_FACTS = "no facts"
"""The answer states nothing that can be checked."""
OUTCOMES = (JUDGED, NO_ANSWER, NO_REPLY, UNREADABLE, NO_FACTS)


@dataclass(frozen=True, kw_only=True)
class Item:
    """An answer to judge."""

    question: str
    answer: str | None
    """None where the model gave none."""
    subject: str
    """What the question is about."""
    context: Sequence[Passage] = ()
    """Text about it, for G-Eval."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One metric of one answer."""

    value: float | None = None
    """From 0 to 1; None unless it was judged."""
    outcome: str = JUDGED
    details: Mapping[str, Any] = field(default_factory=dict)


class Judge(Protocol):
    """Rates answers; a failure is an outcome of its own and never a score."""

    @property
    def metrics(self) -> Mapping[str, str]:
        """Metric -> how tables write it."""
        ...

    def judge(self, items: Sequence[Item]) -> list[dict[str, Judgement]]:
        """Per item, metric -> judgement."""
        ...


def text_of(completion: Completion) -> tuple[str, str]:
    """(the reply, stripped; the outcome: judged, or why it is of no use)."""
    if completion.text is None:
        return "", NO_REPLY
    text = completion.text.strip()
    return text, JUDGED if text else UNREADABLE


def context_text(passages: Sequence[Passage]) -> str:
    """Passages as they stand in a prompt."""
    return "\n".join(f"- {passage.line()}" for passage in passages) or "(nothing found)"
