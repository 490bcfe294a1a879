"""Settings and results of a chain of explorations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kgscout_jax.reason.completions import Completion
from kgscout_jax.reason.prompts import Message
from kgscout_jax.types import Triplet
from kgscout_jax.utils.checks import check_at_least

SORRY = "I am sorry, I could not find an answer to your question."
"""What algorithm 1 returns when nothing is found."""
Chat = Callable[[Sequence[Message]], Completion]
"""One request to a model."""
Outcome = Literal["answered", "not found", "limit", "error"]


@dataclass(frozen=True, kw_only=True)
class ExploreSettings:
    """Limits of one exploration."""

    candidates: int = 50
    """Nodes or relations that the model chooses from."""
    selected: int = 5
    """Nodes or relations that it may choose."""
    targets: int = 50
    """Triplets of the selected relations, at most."""
    failed_tries: int = 3
    """Plans that may fail; algorithm 1: 3."""
    calls: int = 30
    """Requests to the model, at most."""
    tokens: int = 60_000
    """Tokens of prompts and replies, at most."""

    def __post_init__(self) -> None:
        check_at_least(1, "", candidates=self.candidates, selected=self.selected)
        check_at_least(1, "", targets=self.targets, failed_tries=self.failed_tries)
        check_at_least(1, "", calls=self.calls, tokens=self.tokens)


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """A step of a plan."""

    kind: Literal["node", "relation"]
    text: str
    """What to look for."""


@dataclass(kw_only=True)
class Exploration:
    """What was found, and how."""

    question: str
    answers: tuple[str, ...] = ()
    outcome: Outcome = "not found"
    path: list[Triplet] = field(default_factory=list)
    """The triplets of the path travelled, in order."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    """The log: plans, selections, evaluations, in order."""
    tries: int = 1
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    malformed: int = 0
    """Replies that were no reply even after one repair."""
    error: str | None = None

    @property
    def answer(self) -> str:
        """The answer, or the published sentence."""
        return "; ".join(self.answers) or SORRY

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "question": self.question,
            "answer": self.answer,
            "answers": list(self.answers),
            "outcome": self.outcome,
            "path": [list(triplet) for triplet in self.path],
            "steps": self.steps,
            "tries": self.tries,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "reply_tokens": self.reply_tokens,
            "malformed": self.malformed,
            "error": self.error,
        }

    def log(self) -> str:
        """The steps in the form of the paper's figure 4."""
        lines = [f"Q: {self.question}"]
        for step in self.steps:
            if step["do"] == "plan":
                lines.append(f"Plan: {'; '.join(step['plan'])}")
            elif step["do"] == "evaluate":
                lines.append(f"evaluation = {step['outcome']}")
            else:
                lines.append(f"Step{step['number']}: {step['text']}")
                lines += [
                    f"{name} = {quoted_names(step[name])}"
                    for name in ("selected_rels", "selected_nodes")
                    if name in step
                ]
        chain = ", ".join(f"({h})-[{r}]->({t})" for h, r, t in self.path)
        return "\n".join(
            [*lines, f"return {chain}", f"Answer Generated: {self.answer}"]
        )


def quoted_names(names: Sequence[str]) -> str:
    """Names as figure 4 writes them."""
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
