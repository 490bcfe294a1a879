"""Answers that values alone decide: "older, A or B", "is A taller than B".

The two that a question names are compared by the values that the graph holds of them;
the network has no part in it. Of a set that a walk finds, ``node_answers`` takes the
nodes that pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kgscout_jax.inference.answer_kinds import AnswerKind, asks_yes_no
from kgscout_jax.inference.node_answers import NodeAnswers
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.retrieve.value_test import ValueTest
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.values import is_date, value_of

MATCH_PROBABILITY = 0.95
"""Probability of a comparison by values that the question names or implies."""
FALLBACK_PROBABILITY = 0.6
"""The same by the only values there are."""


def must_compare(
    question: str,
    asked: ValueQuestion,
    test: ValueTest | None,
    relations: Iterable[str],
    topics: Sequence[str],
) -> bool:
    """Whether a question has no answer but by values.

    What a walk finds leaves the comparison out, and must not be said. A relation may
    say the same, though: "the longest river" by ``longest_river``.

    Args:
        question: the question.
        asked: what it wants of values.
        test: of its values; None for one that compares none that are here.
        relations: names of the relations of its candidates.
        topics: names of the entities that the walk starts from.
    """
    if asked.choice:
        return True
    if not asked.word.weak:
        word = asked.comparing_word(question)
        return all(word not in relation_words(name) for name in relations)
    if asked.is_superlative:
        return False
    limits = [value_of(limit) for limit in asked.limits]
    days = [is_date(name) and value_of(name) not in limits for name in topics]
    # The walk for "in 2003" must not start from one day of that year.
    return test is not None or (asked.limits_time and any(days) and all(days))


def read_comparison(
    question: str, test: ValueTest | None, scores: Scores, least: float
) -> NodeAnswers | None:
    """The answer to a choice between two, or to yes or no about one.

    None for other questions, and where the graph lacks a value: then the walk answers.

    Args:
        question: the question.
        test: of its values; None for one that compares none that are here.
        scores: of its candidates.
        least: the probability below which there is no answer.
    """
    if test is None or scores.follow is None:
        return None
    asked, attribute = test.question, test.compared
    if attribute is None:
        return None
    value: str = ""
    kind: AnswerKind = "set"
    if asked.choice:
        passed = test.passed(attribute, asked.choice)
        shown = test.ahead_first(attribute, passed)
        if asks_for_count(question):
            value, kind = str(len(shown)), "count"
    elif asked.subject is not None and asks_yes_no(question):
        shown = [asked.subject]
        value, kind = "yes" if test.passed(attribute, shown) else "no", "yes_no"
    else:
        return None
    others = [] if len(test.named) > 2 else test.named
    if asked.rival is not None:
        others = [*others, asked.rival]
    rest = [node for node in dict.fromkeys(others) if node not in shown]
    probability = MATCH_PROBABILITY if attribute.match else FALLBACK_PROBABILITY
    return NodeAnswers(
        nodes=np.array(shown),
        probabilities=np.full(len(shown), probability),
        abstained=probability < least,
        topics=test.starts,
        follow=scores.follow,
        kind=kind,
        value=value,
        probability=probability,
        evidence={node: attribute.slots_of([node, *rest]) for node in shown},
    )
