"""From a question's scores to its result: ranking, selection, answers with paths."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.candidate_order import order_of, other_order
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import NodeAnswers, Path, faithful_paths
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.row_label import row_label
from kgscout_jax.inference.scored_question import ScoredQuestion
from kgscout_jax.inference.selection import SelectionConfig, subset
from kgscout_jax.inference.sources import sources_of
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.types import Answer, Triplet

if TYPE_CHECKING:
    from kgscout_jax.retrieve.budget import Calibration


def question_result(
    question: ScoredQuestion,
    k: int,
    selection: SelectionConfig,
    calibration: Calibration | None,
    walkers: int,
) -> RetrievalResult:
    """The result of a question.

    Args:
        question: with its scores and answers.
        k: maximum number of triplets.
        selection: which triplets are selected.
        calibration: required with a target.
        walkers: of the policy; 0 without an answer head.

    Raises:
        UserError: the token budget is too small for the template and the question.
    """
    topics = (_topic_name(question, each) for each in question.start.ids.tolist())
    empty = RetrievalResult(
        question=question.text,
        topics=tuple(dict.fromkeys(topics)),
        links=question.start.links,
        topics_not_found=(*question.start.unknown, *question.start.absent),
        scores=question.scores.logits,
        abstained=walkers > 0,
    )
    if question.candidates is None:
        _, report = selection.positions(empty, k, empty.scores, calibration)
        return dataclasses.replace(empty, selection=report)
    closed: list[Path] = []
    answers = _with_dead_ends(question, question.candidates)
    if answers is not None and selection.form == "answers":
        closed = answers.paths(question.candidates, walkers)
    depth = selection.depth(k)
    if selection.retriever == "scout":
        logits = question.ranking_logits
        order, ranks = order_of(question.candidates, logits, depth, closed)
        values = logits[order]
    else:
        logits = question.scores.logits
        order, values = other_order(
            selection.retriever, question.candidates, question.scores, depth
        )
        ranks = []
    ranking = _ranking(question, empty, question.candidates, order, values)
    kept, report = selection.positions(ranking, k, logits, calibration, ranks)
    result = subset(ranking, kept, report)
    if answers is None:
        return result
    if negation := question.negation:
        return dataclasses.replace(
            result, kind=answers.kind, abstained=True, negation=negation
        )
    kept_candidates = order[np.asarray(kept, np.int64)]
    paths = faithful_paths(
        answers, question.candidates, walkers, kept_candidates, closed
    )
    rows = dict(zip(kept_candidates.tolist(), result.triplets, strict=True))
    evidence = [tuple(rows[position] for position in path) for path in paths]
    fields = _answer_fields(question, question.candidates, answers, evidence)
    return dataclasses.replace(result, **fields)


def _topic_name(question: ScoredQuestion, entity: int) -> str:
    """The name of a topic; of a row without a name what the question calls it."""
    if question.graph.unnamed_mask[entity]:
        for link in question.start.links:
            if link.entity == entity and link.how == "alias":
                return question.text[link.start : link.stop]
    return question.name_of(entity)


def _ranking(
    question: ScoredQuestion,
    empty: RetrievalResult,
    candidates: Candidates,
    order: Int[np.ndarray, "k"],
    values: Float[np.ndarray, "k"],
) -> RetrievalResult:
    """The candidates in ``order`` as triplets of names, with their scores."""
    entities, relations = question.graph.entities, question.graph.relation_names
    ids = candidates.ids[order]
    rows = np.asarray(question.graph.triplets[ids]).tolist()
    ends = np.unique([(head, tail) for head, _, tail in rows])
    names = dict(zip(ends.tolist(), texts_of(entities, ends), strict=True))
    return dataclasses.replace(
        empty,
        triplets=tuple((names[h], relations[r], names[t]) for h, r, t in rows),
        triplet_ids=ids,
        sources=sources_of(question.graph, ids),
        scores=np.asarray(values, np.float32),
        relation_match=tuple(candidates.relation_match[order].tolist()),
        n_candidates=len(candidates.ids),
        seconds=question.scores.seconds,
        abstained=False,
    )


def _with_dead_ends(
    question: ScoredQuestion, candidates: Candidates
) -> NodeAnswers | None:
    """The answers, whose paths pass no ids."""
    if question.answers is None:
        return None
    names = map(question.relation_of, candidates.relations.tolist())
    of_ids = np.array([relation_words(name)[-1:] == ["id"] for name in names], bool)
    if not of_ids.any():
        return question.answers
    dead = of_ids[candidates.relation_index]
    return dataclasses.replace(question.answers, dead_ends=dead)


def _answer_fields(
    question: ScoredQuestion,
    candidates: Candidates,
    answers: NodeAnswers,
    paths: Sequence[tuple[Triplet, ...]],
) -> dict[str, Any]:
    """Fields of the result."""
    ids = candidates.entities[answers.nodes].tolist()
    named = tuple(
        Answer(
            name=row_label(question.graph, entity),
            probability=probability,
            path=paths[i] if i < len(paths) else (),
        )
        for i, (entity, probability) in enumerate(
            zip(ids, answers.probabilities.tolist(), strict=True)
        )
    )
    fields: dict[str, Any] = {
        "kind": answers.kind,
        "abstained": answers.abstained,
    }
    if answers.kind != "set":
        fields["support"] = named
        path = named[0].path if answers.kind == "yes_no" else ()
        value = answers.value
        named = (Answer(name=value, probability=answers.probability, path=path),)
    return {**fields, "best_guesses" if answers.abstained else "answers": named}
