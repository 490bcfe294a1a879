"""Questions about a description, "who taught the composer of Salome", asked in steps.

The network answers a question of one relation better than one of two that no training
question has joined. Where it is not sure, the description is asked for first, and then
the question about each of its answers; the likelier reading is the result. The second
step may hold a description in its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.joined_evidence import joined_evidence
from kgscout_jax.inference.query import Linking, Query, Retrieval
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.topics import search_start
from kgscout_jax.text.described_topic import described_topic
from kgscout_jax.text.nested_question import NestedQuestion
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.values import is_number, is_year
from kgscout_jax.types import Answer

DEPTH = 3
"""Descriptions within each other."""
MAX_FOLLOWED = 12
"""Answers of a description about which the question is asked."""
LEAST_FOLLOWED = 0.25
"""Of their probability."""
SHARE_FOLLOWED = 0.5
"""And of their share in that of the best one; answers of the question are kept by the
same share."""
GUESSES_FOLLOWED = 2
"""Guesses at an answer that are kept where a second step has none."""
SETTLED_ANSWER, SETTLED_SET = 0.9, 0.8
"""One answer, or several of a description with several answers, from this probability
on are not asked for in steps."""
CLEARER = 1.1
"""Answers in steps have to be this many times as probable as those in one."""


@dataclass
class Description:
    """A question about what a description stands for, on its way."""

    query: Query
    steps: NestedQuestion
    whole: RetrievalResult
    """The result in one step."""
    several: bool
    """Whether the description names several topics."""
    passed: frozenset[str]
    """Names of topics, here and in the questions that led here: no answers."""
    followed: list[Answer] = field(default_factory=list)
    """The answers of the description about which the question is asked."""
    evidence: list[RetrievalResult] = field(default_factory=list)
    """The results about each of them, then that of the description."""

    def outer(self) -> list[Query]:
        """The question about each answer of the description."""
        return [
            self.query._replace(text=self.steps.outer(each.name), topics=[each.name])
            for each in self.followed
        ]


def with_descriptions(
    queries: Sequence[Query],
    results: Sequence[RetrievalResult],
    retrieve: Retrieval,
    link: Linking,
    least: float,
    *,
    passed: Sequence[frozenset[str]] = (),
    depth: int = DEPTH,
) -> list[RetrievalResult]:
    """The results, those of questions about a description by the likelier reading.

    Args:
        queries: the questions.
        results: the result of each in one step.
        retrieve: retrieves for questions of one step.
        link: links the words of a question to entities.
        least: P(answer) of the best one below which there is no answer.
        passed: per question names that are no answers; () for none.
        depth: descriptions within each other that are looked for.
    """
    results = [*results]
    found = dict[int, Description]()
    for i, query in enumerate(queries if depth else ()):
        before = passed[i] if passed else frozenset[str]()
        if (each := _description(query, results[i], before, link)) is not None:
            found[i] = each
    if not found:
        return results
    inner = [each.query._replace(text=each.steps.inner) for each in found.values()]
    for each, first in zip(found.values(), retrieve(inner), strict=True):
        each.followed = _followed(each, first)
        each.evidence = [first]
    outer = [(each, query) for each in found.values() for query in each.outer()]
    if not outer:
        return results
    asked = [query for _, query in outer]
    names = [each.passed for each, _ in outer]
    seconds = with_descriptions(
        *(asked, retrieve(asked), retrieve, link, least),
        passed=names,
        depth=depth - 1,
    )
    for (each, _), second in zip(outer, seconds, strict=True):
        each.evidence.insert(-1, second)
    for i, each in found.items():
        if each.followed:
            results[i] = _likelier(each, _stepwise(each, least))
    return results


def _description(
    query: Query, whole: RetrievalResult, passed: frozenset[str], link: Linking
) -> Description | None:
    """The steps of a question about one description; None for any other.

    And for one with an answer that is sure.
    """
    text, graph, _, topics = query
    # Linking takes long: most questions are settled whatever their description names.
    may_name_several = len(whole.topics) > 1 or len(whole.links) > 1
    if not isinstance(graph, KnowledgeGraph) or _is_settled(
        whole, several=may_name_several
    ):
        return None
    start = search_start(text, graph, topics, link)
    if topics is None:
        start = without_class_topics(text, graph, start)
    spans = start.spans(text, graph)
    places = sorted({(begin, end) for begin, end, _ in spans})
    if not places or start.unknown or start.absent:
        return None
    several = len(places) > 1
    if _is_settled(whole, several=several):
        return None
    if value_question(text, [text[slice(*place)] for place in places]) is not None:
        return None  # what is compared is found in one step
    # "A drug that treats X but can cause Y" is one description.
    steps = described_topic(text, (places[0][0], places[-1][1]))
    if steps is None:
        return None
    names = (graph.entities[entity] for *_, entity in spans)
    return Description(query, steps, whole, several, passed.union(names))


def _is_settled(result: RetrievalResult, *, several: bool) -> bool:
    """Whether a result in one step stays as it is.

    ``several``: whether its description names several topics, which the one that is
    described has in common: surely that is found, and may not be the answer.
    """
    if result.negation or result.topics_not_found or not result.n_candidates:
        return True
    if not result.answers:
        return False
    is_one = len(result.answers) == 1 and result.confidence >= SETTLED_ANSWER
    return result.kind != "set" or (is_one and not several)


def _followed(asked: Description, first: RetrievalResult) -> list[Answer]:
    """The answers of a description about which the question is asked; [] for none."""
    if first.kind != "set":
        return []
    likely = first.answers or first.best_guesses
    answers = [
        each
        for each in likely
        if each.name not in asked.passed
        and (is_year(each.name) or not is_number(each.name))
    ]  # Nothing is asked about a price.
    answers = _near_best(answers, LEAST_FOLLOWED)[:MAX_FOLLOWED]
    is_sure = bool(asked.whole.answers) and asked.whole.confidence >= SETTLED_SET
    is_settled = is_sure and not asked.several
    return [] if len(answers) > 1 and is_settled else answers


def _near_best(answers: Sequence[Answer], least: float) -> list[Answer]:
    if not answers:
        return []
    least = max(least, SHARE_FOLLOWED * answers[0].probability)
    return [each for each in answers if each.probability >= least]


def _stepwise(asked: Description, least: float) -> RetrievalResult | None:
    """The result in steps; None where no answer is as probable as ``least``."""
    seconds = asked.evidence[:-1]
    kinds = {second.kind for second in seconds}
    if len(seconds) > 1 and kinds != {"set"}:
        return None
    best = dict[str, Answer]()
    for answer in _answers_of_steps(asked, seconds):
        known = best.get(answer.name)
        if known is None or known.probability < answer.probability:
            best[answer.name] = answer
    answers = _near_best(sorted(best.values(), key=lambda each: -each.probability), 0.0)
    if not answers or answers[0].probability < least:
        return None
    whole = asked.whole
    return replace(
        joined_evidence(asked.evidence, answers, asked.query.budget),
        question=whole.question,
        topics=whole.topics,
        links=whole.links,
        selection=whole.selection,
        seconds=whole.seconds + sum(each.seconds for each in asked.evidence),
        abstained=False,
        best_guesses=(),
    )


def _answers_of_steps(
    asked: Description, seconds: Sequence[RetrievalResult]
) -> Iterable[Answer]:
    """The answers by way of each one of the description, with the whole path."""
    for step, second in zip(asked.followed, seconds, strict=True):
        for answer in second.answers or second.best_guesses[:GUESSES_FOLLOWED]:
            if answer.name in asked.passed or answer.name == step.name:
                continue
            yield replace(
                answer,
                probability=step.probability * answer.probability,
                path=(*step.path, *answer.path),
            )


def _likelier(asked: Description, stepwise: RetrievalResult | None) -> RetrievalResult:
    """The result in one step or in several, see the head of the module."""
    whole = asked.whole
    if stepwise is None or not whole.answers:
        return stepwise or whole
    if stepwise.confidence > CLEARER * whole.confidence:
        return stepwise
    said, found = ({each.name for each in r.answers} for r in (whole, stepwise))
    if len(asked.followed) == 1 and found < said:
        return stepwise
    first, step = whole.answers[0], asked.followed[0]
    surer = asked.several or step.probability > first.probability
    return stepwise if first.name == step.name and surer else whole
