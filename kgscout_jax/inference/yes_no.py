"""Yes or no: whether the graph holds what a question says of the entities it names.

Each entity takes a turn as the one that is asked for, while the walk starts from the
others: "yes" where P(answer) of one of them is at least ``YES``, or ``NEAR_YES`` a few
steps away.

P(answer) tells the answers to "who" and "which" apart, and may be small for all nodes
of a graph that the policy was not trained on. Entities that a triplet connects are
therefore also compared with the other nodes of their turns: each other's best answers
are a "yes", and where they are good ones a "no" is not sure.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from kgscout_jax.inference.answer_kinds import YES, asks_yes_no
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import NodeAnswers, node_probabilities
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.retrieve.readings import topic_steps

MUTUAL = 0.75
"""P(answer) of a node relative to the best other one, from which on it is as good."""
RIVAL = 0.25
"""The same, from which on a "no" about neighbours is not sure."""
NEAR_STEPS = 2
"""Steps between the names within which a walk that arrives less surely is a "yes":
names that are asked of at random are further apart."""
SOMEBODY_STEPS = 3
"""The same where the question asks for somebody in between: "has anyone from X written
on Y" is true by a paper of one of them."""
NEAR_YES = 0.3
"""P(answer) of a name at that distance from which on the answer is yes."""
STATED = 0.9
"""Probability of what triplets say in the words of the question, or the reverse of."""

_SOMEBODY = re.compile(r"\b(?:any|some)(?:one|body)\b", re.IGNORECASE)

Stated = Literal["yes", "no", "unsure", "open"]
"""What triplets say of a statement in its own words; ``open``: nothing against it."""
Turn = tuple[Candidates, Int[np.ndarray, "g"]]
"""Candidates that start from the other topics, and the nodes asked for."""


def yes_no_turns(
    question: str, candidates: Candidates, groups: Sequence[Int[np.ndarray, "g"]]
) -> list[Turn]:
    """The turn of each topic.

    [] for a question that is not answered by yes or no, or that does not name two
    entities among its candidates.

    Args:
        question: the question.
        candidates: of the question.
        groups: entities that each name in the question may mean.
    """
    if not asks_yes_no(question):
        return []
    nodes = [np.flatnonzero(np.isin(candidates.entities, group)) for group in groups]
    nodes = [group for group in nodes if len(group)]
    if len(nodes) < 2:
        return []
    return [
        (
            dataclasses.replace(
                candidates, topics=np.concatenate([*nodes[:i], *nodes[i + 1 :]])
            ),
            asked,
        )
        for i, asked in enumerate(nodes)
    ]


@dataclass(frozen=True, kw_only=True)
class _Arrival:
    """How well the walk of a turn arrives at a node that is asked for."""

    turn: Turn
    scores: Scores
    node: int
    probability: float
    rival: float
    """P(answer) of the best other node, topics aside."""

    @property
    def relative(self) -> float:
        """P(answer) relative to the best node, at most 1."""
        return self.probability / max(self.probability, self.rival, 1e-9)

    @property
    def share(self) -> float:
        """P(answer) of the node where either it or the best other one is the answer."""
        return self.probability / max(self.probability + self.rival, 1e-9)

    @property
    def steps(self) -> int:
        """Steps of the walk."""
        candidates, _ = self.turn
        steps = topic_steps(
            candidates.nodes, candidates.topics, len(candidates.entities)
        )
        return int(steps[self.node])

    @property
    def is_neighbour(self) -> bool:
        """Whether a triplet connects the nodes asked for with a topic of the turn."""
        candidates, asked = self.turn
        is_asked = np.isin(candidates.nodes, asked)
        is_topic = np.isin(candidates.nodes, candidates.topics)
        return bool((is_asked & is_topic[:, ::-1]).any())


def _arrival(turn: Turn, scores: Scores, scale: AnswerScale) -> _Arrival:
    """How well the walk of a turn arrives."""
    candidates, asked = turn
    probability = node_probabilities(candidates, scores, scale)
    node = int(asked[probability[asked].argmax()])
    rivals = np.delete(probability, np.union1d(asked, candidates.topics))
    return _Arrival(
        turn=turn,
        scores=scores,
        node=node,
        probability=float(probability[node]),
        rival=float(rivals.max(initial=0.0)),
    )


def read_yes_no(
    question: str,
    turns: Sequence[Turn],
    scores: Sequence[Scores],
    scale: AnswerScale,
    least: float,
) -> NodeAnswers:
    """Yes or no, from the turn whose walk most probably arrives.

    Args:
        question: the question.
        turns: of ``yes_no_turns``.
        scores: of each turn.
        scale: the policy's probabilities.
        least: the probability of the answer below which there is none.
    """
    arrivals = [
        _arrival(turn, each, scale) for turn, each in zip(turns, scores, strict=True)
    ]
    best = max(arrivals, key=lambda each: each.probability)
    yes, probability = best.probability >= YES, best.probability
    probability, unsure = max(probability, 1.0 - probability), False
    if not yes and any(each.is_neighbour for each in arrivals):
        first = max(arrivals, key=lambda each: each.share)
        if first.share >= YES and all(
            each.relative >= MUTUAL and each.probability >= scale.threshold
            for each in arrivals
        ):
            best, yes, probability = first, True, first.share
        elif any(each.relative >= RIVAL for each in arrivals):
            probability, unsure = YES, least >= YES
    elif not yes and best.probability >= NEAR_YES:
        near = SOMEBODY_STEPS if _SOMEBODY.search(question) else NEAR_STEPS
        if best.steps <= near:
            yes, probability = True, YES
    candidates, _ = best.turn
    assert best.scores.follow is not None
    return NodeAnswers(
        nodes=np.array([best.node]),
        probabilities=np.array([best.probability]),
        abstained=unsure or probability < least,
        topics=candidates.topics,
        follow=best.scores.follow,
        kind="yes_no",
        value="yes" if yes else "no",
        probability=probability,
    )


def by_statement(
    answers: NodeAnswers, stated: Stated | None, least: float
) -> NodeAnswers:
    """The answer of the walk, or another where the words of the question tell more.

    Args:
        answers: yes or no.
        stated: what triplets say of the question's statement.
        least: the probability of the answer below which there is none.
    """
    doubted = {"unsure": "no", "open": "yes"}
    if stated is None or doubted.get(stated) == answers.value:
        return answers
    if stated in doubted:
        return dataclasses.replace(
            answers, value=doubted[stated], probability=YES, abstained=least >= YES
        )
    same = stated == answers.value and not answers.abstained
    probability = max(STATED, answers.probability) if same else STATED
    return dataclasses.replace(
        answers, value=stated, probability=probability, abstained=probability < least
    )
