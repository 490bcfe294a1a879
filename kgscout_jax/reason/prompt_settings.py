"""Which words, and which form of the triplets, a model is asked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgscout_jax.errors import UserError
from kgscout_jax.reason.path_text import render_paths
from kgscout_jax.reason.prompts import Prompt, Template, load_template, render
from kgscout_jax.reason.readers.protocol import Evidence

CLOSED_BOOK = {"chain_of_thought": "closed_book_chain_of_thought"}
"""Template -> the one that asks the same way without triplets; else closed_book."""


@dataclass(frozen=True, kw_only=True)
class PromptSettings:
    """How a question and its triplets are put to a model."""

    prompt: str = "thesis"
    """Template: thesis, zero_shot, few_shot, chain_of_thought, closed_book, or the path
    of a .txt file of your own."""
    form: Literal["lines", "paths"] = "lines"
    """Triplets as lines, best first, or closed into paths from the topics."""
    scores: bool = False
    """Write each triplet's score."""
    token_budget: int | None = None
    """The most tokens a prompt may have, reckoned rather too many than too few; the
    triplets that fit go in, best first."""
    samples: int = 1
    """Replies to each question; the answers that most of them agree on count."""
    empty: str | None = None
    """Template for a question without any triplet; default: closed_book, the same
    rules without triplets (with thinking first, where the prompt thinks first)."""

    def __post_init__(self) -> None:
        if self.form not in ("lines", "paths"):
            raise UserError(f"form: {self.form!r}, expected lines or paths")
        for name in ("samples", "token_budget"):
            found = getattr(self, name)
            if found is not None and found < 1:
                raise UserError(f"{name}: {found}, expected at least 1")

    def template(self) -> Template:
        """The words around triplets."""
        return load_template(self.prompt)

    def empty_template(self) -> Template:
        """The words for a question without any triplet."""
        return load_template(self.empty or CLOSED_BOOK.get(self.prompt, "closed_book"))


def prompt_for(evidence: Evidence, settings: PromptSettings) -> Prompt:
    """The prompt for a question.

    Raises:
        UserError: the budget does not even hold the words and the question.
    """
    template = settings.template() if evidence.triplets else settings.empty_template()
    budget, scores = settings.token_budget, settings.scores
    question, triplets = evidence.question, evidence.triplets
    if settings.form == "paths" and triplets:
        return render_paths(
            template, question, triplets, evidence.topics, scores=scores, budget=budget
        )
    return render(template, question, triplets, scores=scores, budget=budget)


def show_prompt(evidence: Evidence, settings: PromptSettings) -> str:
    """What ``--show-prompt`` prints: the messages, as they would be sent.

    Raises:
        UserError: the budget does not even hold the words and the question.
    """
    return prompt_for(evidence, settings).show()
