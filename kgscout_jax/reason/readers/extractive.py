"""A reader without a model: answers from the triplets alone.

A question about a graph mostly asks for one set: what its topic leads to by some
sequence of relations. So the reader ranks *path sets*, the ends of all paths that
share topic, relations and directions, and answers with the best set:

    score = log sum over ends of the mass of the best path there
          + match * sum of the relations' standardised matches with the question
          + words * words that the relations share with the question
          + last_words * those of them that only the last relation has
          - named_cost per named entity passed
          + or - date, where the ends are dates and the question asks when, or not

    mass  = exp(sharpness * mean standardised score of the path's triplets)
          / at each named entity passed, the edges of the next hop's relation there

The mass is the retriever's: a softmax over triplets at temperature 1 / sharpness,
carried along the path. Where a path passes a hub, it divides, as a random walk does;
at a node without a name, which only holds the parts of one fact together, it does not.
Scores and matches are standardised over the question's triplets, because each
retriever gives them on a scale of its own.

The weights were tuned on WebQSP's training questions (over ``webqsp_union``'s graph)
and on MetaQA's, both with the 100 best triplets by cosine and by PageRank.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.reason.prompts import Scored
from kgscout_jax.reason.readers.path_search import Paths, find_paths
from kgscout_jax.reason.readers.protocol import Evidence, Reading
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.types import display_name, entity_key
from kgscout_jax.utils.checks import check_at_least

_UNNAMED = re.compile(r"[mg]\.[0-9a-z_]+|_:\S+")
_DATE = re.compile(r"-?\d{3,4}(-\d\d){0,2}(t\S*)?")
_WHEN = re.compile(r"\bwhen\b|\b(what|which) (year|date|day|month|decade|century)s?\b")
_STOP = frozenset(
    "a an and are as at be been by did do does for from had has have he her his how in "
    "is it its many much of on or s she that the their there they this to was were "
    "what when where which who whom whose why will with".split()
)
_STEM = 5
"""Words are the same that begin with the same letters, this many."""


@dataclass(frozen=True, kw_only=True)
class ExtractiveSettings:
    """Weights and bounds of the extractive reader."""

    hops: int = 4
    """Longest path from a topic to an answer, 1 to 4."""
    sharpness: float = 1.0
    """How much more a triplet counts that scores one standard deviation higher: its
    mass is e to this times as much."""
    match: float = 0.5
    """Per standard deviation of a relation's match with the question, and hop."""
    words: float = 1.2
    """Per word of the question that the path's relations share."""
    last_words: float = 0.8
    """The same once more for words that only the last relation shares: it says what
    kind of thing is asked for."""
    named_cost: float = 0.2
    """Per entity with a name that a path passes; those without cost nothing."""
    date: float = 0.8
    """For ending at dates when asked when, against it when not."""
    max_answers: int = 100
    """The most answers given, the best ones."""
    width: int = 2000
    """The most paths of each length that are followed."""

    def __post_init__(self) -> None:
        if not 1 <= self.hops <= 4:
            raise UserError(f"hops: {self.hops}, expected 1 to 4")
        check_at_least(1, "", max_answers=self.max_answers, width=self.width)


@dataclass(frozen=True, kw_only=True, slots=True)
class PathSet:
    """What a topic leads to by one sequence of relations."""

    score: float
    ends: Int64[np.ndarray, "p"]
    """Nodes, the end of the best path first."""
    triplets: tuple[int, ...]
    """The best path's, by rank."""
    forward: tuple[bool, ...]


class ExtractiveReader:
    """Answers from the triplets alone: no server, no model, the same every time."""

    def __init__(self, settings: ExtractiveSettings | None = None):
        self.settings = settings or ExtractiveSettings()

    @property
    def name(self) -> str:
        """ "extractive"."""
        return "extractive"

    def read(self, evidence: Sequence[Evidence]) -> list[Reading]:
        """A reading per question, in order; ``raw`` is the path that decided."""
        return [self._read(each) for each in evidence]

    def _read(self, evidence: Evidence) -> Reading:
        started = time.perf_counter()
        answers, why = answers_of(evidence, self.settings)
        return Reading(
            id=evidence.id,
            answers=answers,
            outcome="triplets" if answers else "empty",
            raw=why,
            seconds=time.perf_counter() - started,
        )


def answers_of(
    evidence: Evidence, settings: ExtractiveSettings
) -> tuple[tuple[str, ...], str | None]:
    """Answers, best first, and the best path as people read it; (), None without any.

    Topics are answers only where nothing else is connected to them. Without a topic
    among the triplets, paths start at the entities that the question names, and if
    there are none, at the head of the best triplet.
    """
    if not evidence.triplets:
        return (), None
    graph = _Graph(evidence)
    starts = graph.topics or graph.mentioned or [int(graph.heads[0])]
    sets = path_sets(graph, starts, settings)
    if not sets:  # nothing but self-loops
        return (graph.names[graph.tails[0]],), graph.path((0,), (True,))
    best = max(sets, key=lambda each: each.score)
    answers = tuple(graph.names[end] for end in best.ends[: settings.max_answers])
    return answers, graph.path(best.triplets, best.forward)


def path_sets(
    graph: _Graph, starts: Sequence[int], settings: ExtractiveSettings
) -> list[PathSet]:
    """Every path set, shorter paths first.

    Ends without a name are left out, and topics are, unless there is nothing else.
    """
    levels = find_paths(
        graph.heads,
        graph.relations,
        graph.tails,
        graph.scores,
        starts,
        hops=settings.hops,
        width=settings.width,
    )
    is_start = np.zeros(len(graph.names), bool)
    is_start[list(starts)] = True
    for allowed in (~is_start & ~graph.unnamed, ~is_start, is_start):
        sets = [_sets(graph, paths, allowed, settings) for paths in levels]
        if any(sets):
            return [each for level in sets for each in level]
    return []


def _sets(
    graph: _Graph,
    paths: Paths,
    allowed: Bool[np.ndarray, "e"],
    settings: ExtractiveSettings,
) -> list[PathSet]:
    """The path sets of paths of one length, without ends that are not allowed."""
    rows = np.flatnonzero(allowed[paths.nodes[:, -1]])
    if not len(rows):
        return []
    rows = rows[np.lexsort((rows, paths.group[rows]))]
    group = paths.group[rows]
    first = np.flatnonzero(np.concatenate([[True], np.diff(group) != 0]))
    sizes = np.diff(np.append(first, len(rows)))

    def mean(values: Float64[np.ndarray, "p"]) -> Float64[np.ndarray, "g"]:
        return np.add.reduceat(values, first) / sizes

    hops = paths.triplets.shape[1]
    mass = settings.sharpness * paths.value[rows] / hops
    named = ~graph.unnamed[paths.nodes[rows, 1:-1]]
    later = paths.triplets[rows, 1:], paths.forward[rows, 1:].astype(int)
    mass -= np.where(named, np.log(graph.fan[later]), 0.0).sum(axis=1)
    highest = np.maximum.reduceat(mass, first)
    gathered = np.add.reduceat(np.exp(mass - np.repeat(highest, sizes)), first)
    score = highest + np.log(gathered)
    # relations are the same within a set
    used = paths.triplets[rows[first]]
    score += settings.match * graph.match[used].sum(axis=1)
    shared = graph.shared[graph.relations[used]]
    before = shared[:, :-1].any(axis=1)
    news = shared[:, -1] & ~before
    score += settings.words * (before | news).sum(axis=1)
    score += settings.last_words * news.sum(axis=1)
    passed = named.sum(axis=1).astype(float)
    ends = paths.nodes[rows, -1]
    score -= settings.named_cost * mean(passed)
    dates = mean(graph.dates[ends].astype(float)) > 0.5
    score += settings.date * np.where(dates, 1.0 if graph.asks_when else -1.0, 0.0)
    # rows of a set are in the order of the paths: best first
    return [
        PathSet(
            score=float(score[i]),
            ends=ends[at : at + sizes[i]],
            triplets=tuple(paths.triplets[rows[at]].tolist()),
            forward=tuple(paths.forward[rows[at]].tolist()),
        )
        for i, at in enumerate(first)
    ]


class _Graph:
    """The triplets of one question as numbers. Shapes: m triplets, e entities."""

    def __init__(self, evidence: Evidence):
        triplets: Sequence[Scored] = evidence.triplets
        m = len(triplets)
        nodes: dict[str, int] = {}
        self.names: list[str] = []
        """Display names by node."""
        relations: dict[str, int] = {}

        def node(name: str) -> int:
            key = entity_key(name)
            if key not in nodes:
                nodes[key] = len(nodes)
                self.names.append(display_name(name))
            return nodes[key]

        rows = [
            (node(head), relations.setdefault(relation, len(relations)), node(tail))
            for head, relation, tail, _ in triplets
        ]
        self.heads, self.relations, self.tails = np.array(rows, np.int64).T
        # triplet by direction: backward, forward
        self.fan = np.stack(
            [
                _repeats(self.tails, self.relations),
                _repeats(self.heads, self.relations),
            ],
            axis=1,
        )
        self.scores = _standardised([score for *_, score in triplets])
        self.match = _standardised(evidence.relation_match or [0.0] * m)
        words = sorted(_stems(evidence.question))
        # before Freebase's last dot stands a domain, not what the relation says
        last = (relation_phrase(name.rsplit(".", 1)[-1]) for name in relations)
        stems = [_stems(phrase) for phrase in last]
        # relation by word of the question
        shared = [word in each for each in stems for word in words]
        self.shared = np.array(shared, bool).reshape(len(stems), len(words))
        self.phrases = [relation_phrase(name) or name for name in relations]
        self.unnamed = np.array([bool(_UNNAMED.fullmatch(key)) for key in nodes])
        self.dates = np.array([bool(_DATE.fullmatch(key)) for key in nodes])
        self.asks_when = bool(_WHEN.search(entity_key(evidence.question)))
        keys = dict.fromkeys(map(entity_key, evidence.topics))
        self.topics = [nodes[key] for key in keys if key in nodes]
        text = f" {_plain(evidence.question)} "
        self.mentioned = [
            number
            for key, number in nodes.items()
            if (name := _plain(key)) and f" {name} " in text and name not in _STOP
        ]

    def path(self, triplets: Sequence[int], forward: Sequence[bool]) -> str:
        """A path as people read it."""
        ends = [
            (self.heads[t], self.tails[t]) if f else (self.tails[t], self.heads[t])
            for t, f in zip(triplets, forward, strict=True)
        ]
        parts = [self.names[ends[0][0]]]
        for t, f, (_, end) in zip(triplets, forward, ends, strict=True):
            phrase = self.phrases[self.relations[t]]
            parts += [f"-> {phrase} ->" if f else f"<- {phrase} -", self.names[end]]
        return " ".join(parts)


def _repeats(
    nodes: Int64[np.ndarray, "m"], relations: Int64[np.ndarray, "m"]
) -> Int64[np.ndarray, "m"]:
    """How many triplets have this node and this relation, for each triplet."""
    keys = nodes * (relations.max() + 1) + relations
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[inverse]


def _standardised(values: Sequence[float]) -> Float64[np.ndarray, "m"]:
    """Mean 0, deviation 1; what is no finite number counts as the least that is."""
    array = np.asarray(values, np.float64)
    finite = np.isfinite(array)
    if not finite.any():
        return np.zeros(len(array))
    array = np.where(finite, array, array[finite].min())
    array = array - array.mean()
    deviation = array.std()
    return array / deviation if deviation > 1e-12 else np.zeros(len(array))


def _plain(text: str) -> str:
    """Letters and digits, lower-cased, a space between words."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _plain(text).split() if word not in _STOP}
