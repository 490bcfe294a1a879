"""How a question's ranked triplets go into a prompt: which of them, and in which form.

As lines: the best, best first. As paths: the best together with what joins them to the
topics, chain by chain from the topics on, as ``path_text`` writes them. Either way as
many as asked for, or as a prompt of so many tokens holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgscout_jax.errors import UserError
from kgscout_jax.reason.path_text import path_closure, path_order, render_paths
from kgscout_jax.reason.prompts import (
    BudgetTooSmall,
    Prompt,
    Scored,
    Template,
    check_budget,
    load_template,
    most_triplets,
    render,
)
from kgscout_jax.reason.readers.protocol import Evidence
from kgscout_jax.utils.checks import check_at_least

Form = Literal["lines", "paths"]
FORMS: tuple[Form, ...] = ("lines", "paths")
SelectionForm = Literal["lines", "paths", "answers"]
"""The forms of a prompt, and lines into which the paths to the answers are closed."""
SELECTION_FORMS: tuple[SelectionForm, ...] = (*FORMS, "answers")
POOL = 3
"""Paths are closed with triplets from among so many times the best k."""
CLOSED_BOOK = {"chain_of_thought": "closed_book_chain_of_thought"}
"""Template -> the one that asks the same way without triplets; else closed_book."""


@dataclass(frozen=True, kw_only=True)
class PromptSettings:
    """How a question and its triplets are put to a model."""

    prompt: str = "one_shot"
    """Template: one_shot, thesis (its words), zero_shot, few_shot, chain_of_thought,
    closed_book, or the path of a .txt file of your own."""
    form: Form = "lines"
    """Triplets as lines, best first, or closed into paths from the topics."""
    scores: bool = False
    """Write each triplet's score."""
    token_budget: int | None = None
    """The most tokens a prompt may have, estimated rather too many than too few; the
    triplets that fit go in, best first."""
    likely_answers: int = 0
    """Write so many likely answers of the graph itself below the triplets, with their
    probabilities, where a question has them."""
    samples: int = 1
    """Replies to each question; the answers that most of them agree on count."""
    empty: str | None = None
    """Template for a question without any triplet; default: closed_book, the same
    rules without triplets (with thinking first, where the prompt thinks first)."""

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UserError(f"form: {self.form!r}, expected lines or paths")
        budget = self.token_budget
        check_at_least(1, "", samples=self.samples, token_budget=budget)
        check_at_least(0, "", likely_answers=self.likely_answers)

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
    question, triplets = evidence.question, evidence.triplets
    options: dict[str, Any] = {
        "answers": evidence.answers[: settings.likely_answers],
        "scores": settings.scores,
        "sources": evidence.sources,
        "budget": settings.token_budget,
    }
    if settings.form == "paths" and triplets:
        return render_paths(template, question, triplets, evidence.topics, **options)
    return render(template, question, triplets, **options)


def least_budget(settings: PromptSettings) -> int:
    """The tokens of the shortest prompt that shows a triplet: one of short names."""
    shortest = Evidence(id="", question="", triplets=(("a", "r", "b", 0.0),))
    return prompt_for(shortest, replace(settings, token_budget=None)).tokens


def check_token_budget(
    budget: int | None, settings: PromptSettings, name: str = "--token-budget"
) -> None:
    """Raises BudgetTooSmall if no triplet at all fits a prompt of so many tokens."""
    if budget is not None and budget < (least := least_budget(settings)):
        raise BudgetTooSmall(
            f"{name}: found {budget}, expected at least {least}, what a prompt "
            f"{settings.template().name} with one short triplet has"
        )


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Some of a question's ranked triplets."""

    positions: tuple[int, ...]
    """Ranks from 0, in the order in which they are written."""
    prompt: Prompt
    """The prompt that shows them."""


def pool_size(k: int, form: SelectionForm) -> int:
    """How many of the best triplets ``select`` looks at to select ``k``."""
    return k * POOL if form == "paths" else k


def select(
    question: str,
    triplets: Sequence[Scored],
    topics: Sequence[str],
    *,
    k: int,
    form: SelectionForm,
    token_budget: int | None = None,
    answer_paths: Sequence[Sequence[int]] = (),
    sources: Sequence[str] = (),
) -> Selection:
    """At most ``k`` triplets in the given form, and the prompt that shows them.

    Args:
        question: as people read it.
        triplets: best first; those beyond ``pool_size`` are not looked at, unless they
            are on a path to an answer.
        topics: the question's entities, by name.
        k: how many triplets at most.
        form: lines, paths or answers.
        token_budget: the most tokens the prompt may have; None: no limit.
        answer_paths: for ``answers``: ranks of the triplets on the path to each answer,
            the most probable one first.
        sources: where each triplet stands; () to write none.

    Raises:
        UserError: the form is unknown, or the budget does not even hold the words and
            the question.
    """
    check_form(form)
    settings = PromptSettings(form="paths" if form == "paths" else "lines")
    if form != "answers":
        triplets = triplets[: pool_size(k, form)]
    triplets = list(triplets)

    def show(n: int) -> Selection:
        order = list(range(min(n, len(triplets))))
        if form == "answers":
            order = answer_closure(answer_paths, n, len(triplets))
        elif form == "paths":
            closure = path_closure(triplets, topics, n)
            ranks = path_order([triplets[i] for i in closure], topics)
            order = [closure[i] for i in ranks]
        evidence = Evidence(
            id="",
            question=question,
            topics=tuple(topics),
            triplets=tuple(triplets[i] for i in sorted(order)),
            sources=tuple(sources[i] for i in sorted(order)) if sources else (),
        )
        return Selection(positions=tuple(order), prompt=prompt_for(evidence, settings))

    best = most_triplets(
        show, lambda one: one.prompt.tokens, min(k, len(triplets)), token_budget
    )
    if best is None:
        best = show(0)
        check_budget(best.prompt, token_budget)
    return best


def answer_closure(paths: Sequence[Sequence[int]], k: int, n: int) -> list[int]:
    """Ranks of at most ``k`` triplets, ascending: whole paths first, then the best.

    A path that does not fit any more is passed over.

    Args:
        paths: ranks of the triplets on the path to each answer, the most probable one
            first.
        k: how many triplets, at most.
        n: how many there are.
    """
    kept: set[int] = set()
    for path in paths:
        closed = kept.union(path)
        if len(closed) <= k:
            kept = closed
    rest = (rank for rank in range(n) if rank not in kept)
    return sorted(kept.union(itertools.islice(rest, k - len(kept))))


def check_form(form: str) -> None:
    """Raises UserError unless triplets can be written so."""
    if form not in SELECTION_FORMS:
        known = ", ".join(SELECTION_FORMS)
        raise UserError(f"--form: {form!r}, expected one of {known}")
