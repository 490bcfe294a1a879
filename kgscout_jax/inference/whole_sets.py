"""Answers beyond the candidates: all that the way to the best one leads to.

A cut of a thousand triplets leaves out a part of a large set two steps from its topic:
some drugs of the firms of a country. Where likely answers are nearly all that their
relations lead to among the candidates, answers are all that these lead to in the graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.more_candidates import with_triplets
from kgscout_jax.inference.node_answers import MAX_ANSWERS, NodeAnswers, Path
from kgscout_jax.inference.scored_question import ScoredQuestion
from kgscout_jax.inference.search import Search
from kgscout_jax.text.kinds import HEAD, TAIL

MOST = 0.8
"""Share of the ends of their way among the candidates that the likely ones make up."""
GAP = 3.0
"""Logits below the best answer's, up to which an end of its way is a likely answer."""
MAX_STEPS = 3
MAX_TRIPLETS = 20_000
"""The most triplets of a step that are followed."""
BELOW = 1e-3
"""Logits by which triplets that join the candidates rank below the best answer's."""


class _Level(NamedTuple):
    """The triplets of a step of a way."""

    ids: Int[np.ndarray, "k"]
    sources: Int[np.ndarray, "k"]
    targets: Int[np.ndarray, "k"]

    def of(self, kept: Bool[np.ndarray, "k"]) -> _Level:
        """Some of them."""
        return _Level(self.ids[kept], self.sources[kept], self.targets[kept])


def with_whole_set(
    question: ScoredQuestion, search: Search, walkers: int
) -> ScoredQuestion:
    """The question with the answers that its candidates leave out.

    Args:
        question: with answers.
        search: of the question.
        walkers: of the policy.
    """
    answers, found = question.answers, question.candidates
    if answers is None or found is None or question.scores.nodes is None:
        return question
    if not _is_plain(question, answers):
        return question
    first = dataclasses.replace(answers, nodes=answers.nodes[:1])
    (path,) = first.paths(found, walkers)
    if not 0 < len(path) <= MAX_STEPS:
        return question
    starts = found.entities[found.topics]
    levels = _levels(question.graph, starts, _way(path, found))
    own = found.entities[answers.nodes]
    here = _ends(_restricted(levels, starts, found.ids), starts)
    if not np.isin(own, here).all():
        return question
    logits = question.scores.nodes[np.searchsorted(found.entities, here)]
    best = question.scores.nodes[answers.nodes[0]]
    likely = np.union1d(own, here[logits >= best - GAP])
    if len(likely) < MOST * len(here):
        return question
    beyond = np.setdiff1d(_ends(levels, starts), here)
    beyond = beyond[~question.graph.unnamed_mask[beyond]]
    new = np.append(np.setdiff1d(likely, own), beyond)
    if not len(new):
        return question
    counted = len(own) + len(new)
    new = new[: max(0, MAX_ANSWERS - len(own))]
    ids = np.setdiff1d(_evidence(levels, new), found.ids)
    joined, scores = with_triplets(search, found, question.scores, ids)
    scores.logits[len(found.ids) :] = question.scores.logits[[*path]].min() - BELOW
    scores = dataclasses.replace(scores, doubts=None, stated=None)
    node = np.searchsorted(joined.entities, np.append(own, new))
    least = np.full(len(new), answers.probabilities.min())
    more = dataclasses.replace(
        answers,
        nodes=node,
        probabilities=np.append(answers.probabilities, least),
        topics=joined.topics,
        follow=scores.follow,
        value=str(counted) if answers.kind == "count" else answers.value,
    )
    return dataclasses.replace(question, candidates=joined, scores=scores, answers=more)


def _is_plain(question: ScoredQuestion, answers: NodeAnswers) -> bool:
    """Whether nothing but a way from one topic tells the answers."""
    is_set = answers.kind == "count" or (
        answers.kind == "set" and not answers.abstained
    )
    one = len(question.mentions) == 1 and not question.start.excluded
    by_way = question.decision is None and question.entity_set is None
    plain = question.compared is None and not answers.evidence
    return bool(is_set and one and by_way and plain and len(answers.nodes))


def _way(path: Path, candidates: Candidates) -> list[tuple[int, int]]:
    """(relation, end where it is entered) of each step of a path."""
    out, here = list[tuple[int, int]](), {*candidates.topics.tolist()}
    for slot in path:
        head, tail = candidates.nodes[slot].tolist()
        entered = HEAD if head in here else TAIL
        relation = int(candidates.relations[candidates.relation_index[slot]])
        out.append((relation, entered))
        here = {tail if entered == HEAD else head}
    return out


def _levels(
    graph: KnowledgeGraph, starts: Int[np.ndarray, "t"], way: Sequence[tuple[int, int]]
) -> list[_Level]:
    """The triplets along a way, step by step; [] where they are too many."""
    out, nodes = list[_Level](), np.unique(starts)
    for relation, entered in way:
        side = graph.by_head if entered == HEAD else graph.by_tail
        if side.degrees(nodes).sum() > MAX_TRIPLETS:
            return []
        _, ids = side.rows(nodes)
        rows = np.asarray(graph.triplets[ids])
        ends = rows[:, [0, 2] if entered == HEAD else [2, 0]]
        kept = rows[:, 1] == relation
        out.append(_Level(ids[kept], *ends[kept].T))
        nodes = np.unique(out[-1].targets)
    return out


def _restricted(
    levels: Sequence[_Level], starts: Int[np.ndarray, "t"], ids: Int[np.ndarray, "n"]
) -> list[_Level]:
    """The way along some triplets only."""
    out, nodes = list[_Level](), starts
    for level in levels:
        kept = np.isin(level.ids, ids) & np.isin(level.sources, nodes)
        out.append(level.of(kept))
        nodes = out[-1].targets
    return out


def _ends(
    levels: Sequence[_Level], starts: Int[np.ndarray, "t"]
) -> Int[np.ndarray, "e"]:
    """Where a way ends, but for its topics."""
    if not levels:
        return np.empty(0, np.int64)
    return np.setdiff1d(levels[-1].targets, starts)


def _evidence(
    levels: Sequence[_Level], ends: Int[np.ndarray, "e"]
) -> Int[np.ndarray, "k"]:
    """The triplets of one path to each of the ends."""
    out, wanted = list[np.ndarray](), ends
    for level in reversed(levels):
        last, first = np.unique(level.targets, return_index=True)
        chosen = first[np.isin(last, wanted)]
        out.append(level.ids[chosen])
        wanted = level.sources[chosen]
    return np.unique(np.concatenate(out))
