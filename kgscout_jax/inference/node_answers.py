"""What the answer head says of one question: its best nodes, and the paths to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from kgscout_jax.graph.hypernodes import OBJECT, SUBJECT
from kgscout_jax.inference.answer_kinds import AnswerKind
from kgscout_jax.inference.counts import (
    is_asked_number,
    is_counted_time,
    one_reading,
    set_size,
    values_among,
)
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.retrieve.answer_paths import answer_paths, without_loops
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.retrieve.readings import answer_margins, answer_set
from kgscout_jax.retrieve.value_test import Outcome
from kgscout_jax.text.count_question import asks_for_count

MAX_ANSWERS = 100
"""The most answers to a question."""
MAX_PATHS = 10
"""The best answers are shown with their paths."""
ABSENT_DOUBT = 0.5
"""Share of the probability that is left where the graph lacks a name."""
GUESSES = 3
"""Nodes that are shown where the policy abstains."""

Path = tuple[int, ...]
"""Positions of candidates, from a topic to an answer."""


@dataclass(frozen=True, kw_only=True)
class NodeAnswers:
    """The answers to one question as nodes of its candidate graph, best first."""

    nodes: Int[np.ndarray, "a"]
    """Local node ids; of a count or yes/no those behind the answer."""
    probabilities: Float64[np.ndarray, "a"]
    """P(answer) of each node."""
    abstained: bool
    """Whether they are guesses, because the best one lies below the abstention."""
    topics: Int[np.ndarray, "t"]
    """Nodes that the walkers start from."""
    follow: Float32[np.ndarray, "u f"]
    """The walkers' weights, see ``PolicyOutputs.follow``."""
    kind: AnswerKind = "set"
    value: str = ""
    """Of other kinds than a set: the answer."""
    probability: float = 0.0
    """Of the value."""
    evidence: Mapping[int, Path] = field(default_factory=dict)
    """Node -> candidates that hold the values which decided, the end of its path."""
    dead_ends: Bool[np.ndarray, "n"] | None = None
    """Candidates whose tails no path passes where another one is there: that an actor
    and a film have one id says nothing. None for none."""

    def doubted(self, least: float) -> NodeAnswers:
        """The answers to a question that names what the graph does not hold."""
        probabilities = self.probabilities * ABSENT_DOUBT
        probability = self.probability * ABSENT_DOUBT
        is_set = self.kind == "set"
        best = probabilities.max(initial=0.0) if is_set else probability
        abstained = self.abstained or bool(best < least)
        shown = GUESSES if abstained and is_set else len(self.nodes)
        return dataclasses.replace(
            self,
            nodes=self.nodes[:shown],
            probabilities=probabilities[:shown],
            probability=probability,
            abstained=abstained,
        )

    def paths(
        self,
        candidates: Candidates,
        walkers: int,
        allowed: Bool[np.ndarray, "n"] | None = None,
    ) -> list[Path]:
        """The path to each of the first ``MAX_PATHS`` nodes; () where there is none."""
        targets = self.nodes[:MAX_PATHS].tolist()
        if self.dead_ends is not None:
            ends = candidates.nodes[:, 1]
            through = ~self.dead_ends | np.isin(ends, [*targets, *self.topics])
            through = through if allowed is None else through & allowed
            rest = dataclasses.replace(self, dead_ends=None)
            paths = rest.paths(candidates, walkers, through)
            if all(paths):
                return paths
            others = rest.paths(candidates, walkers, allowed)
            return [path or other for path, other in zip(paths, others, strict=True)]
        walks = answer_paths(
            candidates.nodes,
            candidates.relation_index,
            self.follow,
            self.topics,
            targets,
            walkers,
            allowed=allowed,
        )
        paths = []
        for walk, target in zip(walks, targets, strict=True):
            path = without_loops(walk, candidates.nodes, self.topics, target)
            end = [
                slot
                for slot in self.evidence.get(target, ())
                if slot not in path and (allowed is None or allowed[slot])
            ]
            paths.append((*path, *end))
        return paths


def answer_mask(
    candidates: Candidates, relation_of: Callable[[int], str]
) -> Bool[np.ndarray, "v"]:
    """True for the nodes that may be answers: all but facts that stand for themselves.

    A fact that is a node, so that a date can hang on it, is an answer only where it is
    what somebody said, which is another fact's tail.
    """
    names = [relation_of(int(i)) for i in candidates.relations]
    parts = np.array([name in (SUBJECT, OBJECT) for name in names], bool)
    of_fact = parts[candidates.relation_index]
    mask = np.ones(len(candidates.entities), bool)
    mask[candidates.nodes[of_fact, 0]] = False
    mask[candidates.nodes[~of_fact, 1]] = True
    return mask


def node_probabilities(
    candidates: Candidates, scores: Scores, scale: AnswerScale
) -> Float64[np.ndarray, "v"]:
    """P(answer) of all nodes of a question's candidates."""
    assert scores.nodes is not None
    margins = answer_margins(
        scores.nodes,
        scores.logits,
        candidates.nodes,
        candidates.relation_index,
        candidates.topics,
    )
    doubts = 0.0 if scores.doubts is None else scores.doubts
    return scale.probability(scores.nodes, margins, doubts)


def read_answers(
    question: str,
    candidates: Candidates,
    scores: Scores,
    scale: AnswerScale,
    name_of: Callable[[int], str],
    relation_of: Callable[[int], str],
    least: float,
    outcome: Outcome | None = None,
    *,
    must_pass: bool = False,
) -> NodeAnswers:
    """The answers of a question, a set or a count.

    Answers are the nodes of the best one's set from ``scale.threshold`` on, at most
    ``MAX_ANSWERS``, and the best one always. Where that one lies below ``least`` there
    are ``GUESSES`` guesses instead. Counted are those of one reading, see ``counts``; a
    count is a guess where its own probability lies below ``least``.

    Args:
        question: the question.
        candidates: of the question.
        scores: with logits of nodes.
        scale: the policy's probabilities.
        name_of: the name of an entity.
        relation_of: the name of a relation.
        least: P(answer) of the best node below which there is no answer.
        outcome: what values decided: only nodes that pass are answers.
        must_pass: whether there are guesses only unless the best node passes.
    """
    assert scores.nodes is not None and scores.follow is not None
    possible = np.isfinite(scores.nodes) & answer_mask(candidates, relation_of)
    order, probability = _ranked(candidates, scores, scale, possible)
    counts = asks_for_count(question)
    if (
        counts
        and len(order)
        and is_asked_number(
            question, int(order[0]), candidates, scores.logits, name_of, relation_of
        )
    ):
        # The employees of others are not asked for.
        same = np.isin(order, one_reading(order, candidates, scores.logits))
        order, probability = order[same], probability[same]
        counts = False
        # "How many people live in Africa" is no list of the people of its countries.
        several = int(np.count_nonzero(probability >= scale.threshold)) > 1
        far = not _is_beside(candidates, int(order[0]))
        must_pass = must_pass or (several and far)
    of_times = (
        counts
        and len(order)
        and is_counted_time(
            question, int(order[0]), candidates, scores.logits, relation_of
        )
    )
    if counts and not of_times:
        # What is not counted is no other reading of the question.
        values = order[values_among(order, candidates, name_of)]
        possible[values] = False
        logits = scores.nodes.copy()
        logits[values] = -np.inf
        counted = dataclasses.replace(scores, nodes=logits)
        order, probability = _ranked(candidates, counted, scale, possible)
    evidence: dict[int, Path] = {}
    whole = False
    passes = outcome is not None and len(order) > 0 and order[0] in outcome.passed
    if outcome is not None and passes:
        passed = np.isin(order, outcome.passed)
        order, probability = order[passed], probability[passed]
        evidence = {n: outcome.attribute.slots_of([n]) for n in outcome.passed}
    elif counts:
        same = np.isin(order, one_reading(order, candidates, scores.logits))
        stated = np.zeros(len(order), bool)
        if scores.stated is not None:
            stated = scores.stated[order]
        if stated[:1].any():
            # All that the stated relation leads to is right, or nothing of it. The days
            # of admissions are of one relation.
            same, whole = (stated & same if of_times else stated), True
        order, probability = order[same], probability[same]
    elif len(order):
        same = answer_set(
            int(order[0]),
            scores.logits,
            candidates.nodes,
            candidates.relation_index,
            candidates.topics,
            scores.stated,
            len(scores.nodes),
        )[order]
        order, probability = order[same], probability[same]
    size, certainty = 0, 0.0
    if whole:
        size, certainty = len(order), float(probability[0])
    elif len(order):
        least_of_set = scale.least(float(probability[0]))
        size, certainty = set_size(probability, least_of_set)
    sureness = certainty if counts else float(probability.max(initial=0.0))
    abstained = not len(order) or sureness < least or (must_pass and not passes)
    if counts and size == 1 and scores.doubts is not None:
        # Nobody asks how many there are of one, where no word says what is counted.
        abstained = abstained or bool(scores.doubts[order[0]] > 0)
    shown = min(size, MAX_ANSWERS) if counts or not abstained else GUESSES
    answers = NodeAnswers(
        nodes=order[:shown],
        probabilities=probability[:shown],
        abstained=abstained,
        topics=candidates.topics,
        follow=scores.follow,
        evidence=evidence,
    )
    if not counts or not size:
        return answers
    return dataclasses.replace(
        answers, kind="count", value=str(size), probability=certainty
    )


def _is_beside(candidates: Candidates, node: int) -> bool:
    """Whether a triplet joins a node to a topic."""
    ends = candidates.nodes[(candidates.nodes == node).any(axis=1)]
    return bool(np.isin(ends, candidates.topics).any())


def _ranked(
    candidates: Candidates,
    scores: Scores,
    scale: AnswerScale,
    possible: Bool[np.ndarray, "v"],
) -> tuple[Int[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """(the possible nodes, best first, P(answer) of each)."""
    assert scores.nodes is not None
    probabilities = node_probabilities(candidates, scores, scale)
    order = np.lexsort((-scores.nodes, -probabilities))
    order = order[possible[order]]
    return order, probabilities[order]


def faithful_paths(
    answers: NodeAnswers,
    candidates: Candidates,
    walkers: int,
    kept: Int[np.ndarray, "k"],
    closed: Sequence[Path],
) -> list[Path]:
    """The path to each answer within the candidates ``kept``; () where there is none.

    Args:
        answers: the answers.
        candidates: of the question.
        walkers: their number.
        kept: positions of the kept candidates.
        closed: paths among all candidates; those that are kept whole are taken as
            they are.
    """
    allowed = np.zeros(len(candidates.ids), bool)
    allowed[kept] = True
    known = [path if allowed[list(path)].all() else () for path in closed]
    if known and all(known):
        return known
    found = answers.paths(candidates, walkers, allowed)
    return [
        known[i] if i < len(known) and known[i] else path
        for i, path in enumerate(found)
    ]
