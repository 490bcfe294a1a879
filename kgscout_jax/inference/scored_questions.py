"""The scores of questions, and their answers by a policy with an answer head."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kgscout_jax.export.load import Exported
from kgscout_jax.inference.flag_answers import as_yes_no
from kgscout_jax.inference.inputs import Candidates, ProductRows
from kgscout_jax.inference.kept_products import KeptProducts
from kgscout_jax.inference.node_answers import (
    read_answers,
)
from kgscout_jax.inference.scored_question import ScoredQuestion
from kgscout_jax.inference.scoring import (
    PendingScores,
    Scores,
    start_scores,
    walkers_of,
)
from kgscout_jax.inference.search import Search
from kgscout_jax.inference.value_candidates import without_limits
from kgscout_jax.inference.whole_sets import with_whole_set
from kgscout_jax.inference.yes_no import (
    by_statement,
    read_yes_no,
    yes_no_turns,
)
from kgscout_jax.policy.registry import is_general
from kgscout_jax.retrieve.answer_scale import AnswerScale


def scored_questions(
    exported: Exported,
    searches: Sequence[Search],
    *,
    largest: int,
    min_probability: float | None,
    products: KeptProducts | None = None,
) -> list[ScoredQuestion]:
    """The scores of each question, and its answers by a policy with an answer head.

    Args:
        exported: the policy.
        searches: the questions.
        largest: maximum number of candidates of a question.
        min_probability: of the best answer; None: as the policy was calibrated.
        products: of the graphs, where they are kept.
    """

    def start(
        rows: Sequence[int], candidates: Sequence[Candidates | None]
    ) -> PendingScores:
        vectors = [searches[i].vectors for i in rows]
        tables = [searches[i].table.relations for i in rows]
        kept = None if products is None else partial(products_of, products, rows)
        return start_scores(exported, vectors, candidates, tables, largest, kept)

    def score(rows: Sequence[int], candidates: Sequence[Candidates]) -> list[Scores]:
        return start(rows, candidates).wait()

    def products_of(
        products: KeptProducts, rows: Sequence[int], i: int, found: Candidates
    ) -> ProductRows:
        search = searches[rows[i]]
        return products.of(search.table, len(search.graph), found)

    candidates = [without_limits(each) for each in searches]
    pending = start(range(len(searches)), candidates)
    scored = [
        ScoredQuestion(
            text=each.text,
            graph=each.graph,
            start=each.start,
            candidates=found,
            general=is_general(exported.config),
            compared=each.compared,
        )
        for each, found in zip(searches, candidates, strict=True)
    ]
    walkers = walkers_of(exported)
    if walkers:  # While the device computes.
        scored = [each.with_constraints() for each in scored]
    scored = [
        dataclasses.replace(each, scores=of_question)
        for each, of_question in zip(scored, pending.wait(), strict=True)
    ]
    if walkers:
        scale = exported.answer_scale
        least = scale.abstention if min_probability is None else min_probability
        scored = [
            each.by_values(search, least)
            for each, search in zip(scored, searches, strict=True)
        ]
        scored = with_answers(scored, score, scale, least)
        scored = [
            with_whole_set(each, search, walkers)
            for each, search in zip(scored, searches, strict=True)
        ]
    return scored


def with_answers(
    questions: Sequence[ScoredQuestion],
    score: Callable[[Sequence[int], Sequence[Candidates]], list[Scores]],
    scale: AnswerScale,
    least: float,
) -> list[ScoredQuestion]:
    """The questions with their answers.

    Args:
        questions: without answers.
        score: scores of questions, given by position, with other candidates.
        scale: the policy's probabilities.
        least: P(answer) below which there is no answer.
    """
    turns = {
        i: found
        for i, each in enumerate(questions)
        if each.candidates is not None
        and each.decision is None
        and (found := yes_no_turns(each.text, each.candidates, each.mentions))
    }
    rows = [i for i, found in turns.items() for _ in found]
    starts = [candidates for found in turns.values() for candidates, _ in found]
    of_turns = iter(score(rows, starts) if rows else [])
    out = []
    for i, each in enumerate(questions):
        if each.decision is not None:
            each = dataclasses.replace(each, answers=each.decision)
        elif i in turns:
            scores = [next(of_turns) for _ in turns[i]]
            lowest = np.inf if each.must_pass else least
            answers = read_yes_no(each.text, turns[i], scores, scale, lowest)
            answers = by_statement(answers, each.stated, lowest)
            each = dataclasses.replace(each, answers=answers)
        elif (flag := each.flag_answers(least)) is not None:
            each = dataclasses.replace(each, answers=flag)
        elif (alias := each.alias_answer(least)) is not None:
            each = dataclasses.replace(each, answers=alias)
        elif each.candidates is not None:
            answers = read_answers(
                each.text,
                each.candidates,
                each.scores,
                scale,
                each.name_of,
                each.relation_of,
                least,
                each.outcome,
                must_pass=each.must_pass,
            )
            answers = as_yes_no(
                each.text, answers, each.candidates, each.name_of, least
            )
            each = dataclasses.replace(each, answers=answers)
        if each.start.absent and each.answers is not None:
            each = dataclasses.replace(each, answers=each.answers.doubted(least))
        out.append(each)
    return out
