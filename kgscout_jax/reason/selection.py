"""Which of a question's ranked triplets are kept, and in which order they are written.

As lines: the best, best first. As paths: the best together with what joins them to the
topics, chain by chain from the topics on, as ``paths_form`` shows them. Either way as
many as asked for, or as a prompt of so many tokens holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kgscout_jax.errors import UserError
from kgscout_jax.reason.path_text import closed, path_order
from kgscout_jax.reason.prompt_settings import PromptSettings, prompt_for
from kgscout_jax.reason.prompts import Prompt, Scored
from kgscout_jax.reason.readers.protocol import Evidence

Form = Literal["lines", "paths"]
FORMS: tuple[Form, ...] = ("lines", "paths")
POOL = 3
"""Paths are closed with triplets from among so many times the best k."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Some of a question's ranked triplets."""

    positions: tuple[int, ...]
    """Ranks from 0, in the order in which they are written."""
    prompt: Prompt
    """The prompt that shows them."""


def pool_size(k: int, form: Form) -> int:
    """How many of the best triplets ``select`` looks at to keep ``k``."""
    return k * POOL if form == "paths" else k


def select(
    question: str,
    triplets: Sequence[Scored],
    topics: Sequence[str],
    *,
    k: int,
    form: Form,
    token_budget: int | None = None,
    prompt: str = "thesis",
) -> Selection:
    """At most ``k`` triplets in the given form, and the prompt that shows them.

    Args:
        question: as people read it.
        triplets: best first; those beyond ``pool_size`` are not looked at.
        topics: the question's entities, by name.
        k: how many triplets at most.
        form: lines or paths.
        token_budget: the most tokens the prompt may have; None: no limit.
        prompt: the template.

    Raises:
        UserError: the form is unknown, or the budget does not even hold the words and
            the question.
    """
    check_form(form)
    settings = PromptSettings(prompt=prompt, form=form)
    triplets = list(triplets[: pool_size(k, form)])

    def of(n: int, budget: int | None = None) -> Selection:
        order = list(range(min(n, len(triplets))))
        if form == "paths":
            kept = closed(triplets, topics, n)
            order = path_order([triplets[i] for i in kept], topics)
            order = [kept[i] for i in order]
        ranked = tuple(triplets[i] for i in sorted(order))
        evidence = Evidence(
            id="", question=question, topics=tuple(topics), triplets=ranked
        )
        limited = settings
        if budget is not None:
            limited = PromptSettings(prompt=prompt, form=form, token_budget=budget)
        return Selection(positions=tuple(order), prompt=prompt_for(evidence, limited))

    most = of(min(k, len(triplets)))
    if token_budget is None or most.prompt.tokens <= token_budget:
        return most
    low, best = 0, of(0, token_budget)
    high = len(most.positions)
    # low fits, high does not; one more triplet hardly ever makes a text shorter
    while high - low > 1:
        middle = (low + high) // 2
        tried = of(middle)
        if tried.prompt.tokens <= token_budget:
            low, best = middle, tried
        else:
            high = middle
    return best


def check_form(form: str) -> None:
    """Raise UserError unless triplets can be written so."""
    if form not in FORMS:
        raise UserError(f"--form: {form!r}, expected one of {', '.join(FORMS)}")
