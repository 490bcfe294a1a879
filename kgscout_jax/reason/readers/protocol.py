"""The reader protocol: evidence in, readings out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from kgscout_jax.reason.prompts import Prompt, Scored

Outcome = Literal[
    "json",
    "graph",
    "repaired",
    "bare_list",
    "no_json",
    "no_answers",
    "empty",
    "not_available",
    "no_reply",
    "error",
]
"""How a reading came about:

- json: from the well-formed object that the prompt asks for;
- graph: from the policy's answer head, without a model;
- error: there is no reply, or no whole answer in one that was cut; ``Reading.error``
  says why;
- the others: as ``kgscout_jax.reason.readers.replies.Failure`` says.
"""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A question and its triplets, as a reader gets them."""

    id: str
    question: str
    topics: tuple[str, ...] = ()
    """The question's entities, as people read them; matched as entities are."""
    triplets: tuple[Scored, ...] = ()
    """(head, relation, tail, score), best first; () where there are none."""
    answers: tuple[tuple[str, float], ...] = ()
    """(name, probability) of likely answers from the graph itself, best first."""
    sources: tuple[str, ...] = ()
    """Where each triplet stands, such as "paris.md, 7-37"; () where nobody knows."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The outcome of one question; one that failed has an ``error``."""

    id: str
    answers: tuple[str, ...]
    """Best first; () where nothing could be read."""
    outcome: Outcome
    """How it came about."""
    raw: str | None = None
    """The first reply as it came."""
    samples: tuple[str | None, ...] = ()
    """All replies, where several were asked for; None for one that did not come."""
    error: str | None = None
    """Why there is no reply."""
    note: str = ""
    """What else is to be said of it: that it was cut, at how many tokens."""
    prompt_hash: str = ""
    prompt: Prompt | None = None
    prompt_tokens: int = 0
    """Of all samples."""
    reply_tokens: int = 0
    seconds: float = 0.0
    """Of all samples together, as measured when they came."""
    cached: bool = False
    """Whether all of it comes from the cache."""

    @property
    def failed(self) -> bool:
        """Whether the reader itself failed, unlike a model that says it cannot tell."""
        return not self.answers and self.outcome != "not_available"


@runtime_checkable
class Reader(Protocol):
    """Anything that answers questions from retrieved triplets."""

    @property
    def name(self) -> str:
        """The reader's name in tables: that of its model."""
        ...

    def read(self, evidence: Sequence[Evidence]) -> list[Reading]:
        """A reading per question, in order; one that fails raises nothing."""
        ...
