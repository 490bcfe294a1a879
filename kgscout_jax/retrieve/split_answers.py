"""The answers of a policy with an answer head to the questions of a split."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int, Int32

from kgscout_jax.data.batch_order import by_size
from kgscout_jax.data.batches import Batch, BatchReader
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import has_answers, is_general, needs_words
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.retrieve.answer_paths import answer_paths
from kgscout_jax.retrieve.answer_scale import AnswerScale, fit_answer_scale
from kgscout_jax.retrieve.constrained_logits import QuestionConstraints
from kgscout_jax.retrieve.policy_calls import PolicyCall
from kgscout_jax.retrieve.readings import MARGIN, answer_margins, answer_set
from kgscout_jax.retrieve.split_constraints import split_constraints
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.progress import ProgressBar

NODES = 512
"""The most nodes that are kept of each question."""
BATCH = 16
"""Questions of a call of the network."""


@dataclass(frozen=True, kw_only=True)
class SplitAnswers:
    """The best nodes of each question; q questions, m nodes, best first."""

    rows: Int[np.ndarray, "q"]
    """The questions, as rows of the split."""
    logits: Float32[np.ndarray, "q m"]
    """-inf as padding."""
    margins: Float32[np.ndarray, "q m"]
    """How far they are ahead of other readings, see ``readings``."""
    of_set: Bool[np.ndarray, "q m"]
    """True at nodes that may be answers beside the first one, see ``answer_set``."""
    doubts: Float32[np.ndarray, "q m"]
    """See ``ConstrainedLogits``."""
    entities: Int32[np.ndarray, "q m"]
    """Entities of the shards; -1 as padding."""
    is_answer: Bool[np.ndarray, "q m"]
    """True at gold answers."""
    paths: list[list[tuple[int, ...]]]
    """Per question, of the first nodes: candidate slots from a topic to the node."""
    seconds: Float64[np.ndarray, "q"]
    """Time of the network and of the paths, for each question; compilation excluded."""


def split_answers(
    policy: Policy,
    shards: Shards,
    split: Split,
    rows: Int[np.ndarray, "q"],
    *,
    kept: Bool[np.ndarray, "q n"] | None = None,
    paths: int = 0,
    engine: Engine = HERE,
) -> SplitAnswers:
    """What the answer head says of the questions ``rows``.

    Args:
        policy: with an answer head.
        shards: the folder of the split.
        split: the questions.
        rows: those to answer.
        kept: candidates that the network sees; None for all.
        paths: the number of best nodes whose paths are found.
        engine: what calls the policy.

    Raises:
        UserError: the policy has no answer head.
    """
    config = check_answers(policy)
    reader = BatchReader(shards, split, words=needs_words(config))

    place = np.zeros(len(split), np.int64)
    place[rows] = np.arange(len(rows))

    m = min(NODES, int(split.n_nodes.max(initial=1)))
    logits = np.full((len(rows), m), -np.inf, np.float32)
    margins = np.full((len(rows), m), -MARGIN, np.float32)
    of_set = np.zeros((len(rows), m), bool)
    doubts = np.zeros((len(rows), m), np.float32)
    entities = np.full((len(rows), m), -1, np.int32)
    is_answer = np.zeros((len(rows), m), bool)
    all_paths: list[list[tuple[int, ...]]] = [[] for _ in rows]
    seconds = np.zeros(len(rows))
    table = np.asarray(shards.triplets)
    batches = list(by_size(split.n_real, rows, BATCH))

    def masked() -> Iterator[BatchItem]:
        for batch_rows in batches:
            batch, n = reader.arrays(batch_rows, BATCH), len(batch_rows)
            seen = np.asarray(batch.mask)[:n]
            if kept is not None:
                seen = seen & kept[place[batch_rows], : seen.shape[1]]
                mask = np.zeros(batch.mask.shape, bool)
                mask[:n] = seen
                batch = batch._replace(mask=mask)
            yield BatchItem(batch, split_constraints(shards, split, batch_rows, seen))

    call = AnswerCall(
        PolicyCall(policy, shards),
        nodes=m,
        paths=paths,
        walkers=config.walkers,
        general=is_general(config),
    )
    with ProgressBar(len(rows), "answering", "questions") as bar:
        results = zip(batches, engine.map(call, masked()), strict=True)
        for batch_rows, found in results:
            at, count = place[batch_rows], len(batch_rows)
            width, v = found.best.shape[1], found.scores.shape[1]
            n = int(split.n_real[batch_rows].max(initial=1))
            nodes = np.asarray(split.nodes[batch_rows, :n])
            of_node = node_entities(table, split, batch_rows, nodes, v)
            gold = gold_mask(np.asarray(split.answers[batch_rows]), v)
            for out, values in (
                (logits, found.scores), (margins, found.margins),
                (of_set, found.of_set), (doubts, found.doubts),
                (entities, of_node), (is_answer, gold),
            ):  # fmt: skip
                out[at, :width] = np.take_along_axis(values, found.best, axis=1)
            for i, of_question in zip(at, found.paths, strict=True):
                all_paths[i] = of_question
            seconds[at] = found.seconds / count
            bar.update(count)
    padding = np.isneginf(logits)
    entities[padding], is_answer[padding] = -1, False
    return SplitAnswers(
        rows=rows,
        logits=logits,
        margins=margins,
        of_set=of_set,
        doubts=doubts,
        entities=entities,
        is_answer=is_answer,
        paths=all_paths,
        seconds=seconds,
    )


class BatchItem(NamedTuple):
    """A batch, and what each of its questions asks for."""

    batch: Batch
    asked: list[QuestionConstraints]


class BatchAnswers(NamedTuple):
    """What the answer head says of a batch: b questions with v nodes."""

    scores: Float32[np.ndarray, "b v"]
    margins: Float32[np.ndarray, "b v"]
    of_set: Bool[np.ndarray, "b v"]
    doubts: Float32[np.ndarray, "b v"]
    best: Int[np.ndarray, "b m"]
    """The m best nodes, best first."""
    paths: list[list[tuple[int, ...]]]
    """See ``SplitAnswers.paths``."""
    seconds: float


@dataclass(frozen=True)
class AnswerCall:
    """A function of a batch of questions: their answers."""

    policy: PolicyCall
    nodes: int
    """The most nodes of a question."""
    paths: int
    """The number of best nodes whose paths are found."""
    walkers: int
    general: bool
    """Whether triplets of another kind than asked for count less, see ``KGScout``."""

    def __call__(self, item: BatchItem) -> BatchAnswers:
        """The answers; the seconds exclude compilation."""
        batch, count = item.batch, len(item.asked)
        outputs, seconds = self.policy(batch)
        start = time.perf_counter()
        assert outputs.answers is not None and outputs.follow is not None
        nodes, index, topics, mask, follow, logits = (
            np.asarray(array)
            for array in (
                *(batch.nodes, batch.relation_index, batch.topics, batch.mask),
                *(outputs.follow, outputs.logits),
            )
        )
        scores = np.array(outputs.answers)[:count]
        margins = np.full(scores.shape, -MARGIN, np.float32)
        of_set = np.zeros(scores.shape, bool)
        doubts = np.zeros(scores.shape, np.float32)
        for i, asked in enumerate(item.asked):
            slots = np.flatnonzero(mask[i])
            v = asked.v
            found = asked.logits(logits[i][slots], scores[i, :v], general=self.general)
            scores[i, :v] = found.nodes
            walk = found.triplets, nodes[i][slots], index[i][slots]
            starts = np.flatnonzero(topics[i])
            margins[i] = answer_margins(scores[i], *walk, starts)
            first = int(scores[i].argmax())
            of_set[i] = answer_set(first, *walk, starts, asked.stated, scores.shape[1])
            doubts[i, :v] = found.doubts
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.nodes]
        walks = [
            question_paths(
                nodes[i],
                index[i],
                follow[i],
                topics[i],
                [int(v) for v in best[i, : self.paths] if scores[i, v] > -np.inf],
                mask[i],
                walkers=self.walkers,
            )
            for i in range(count if self.paths else 0)
        ]
        paths = walks or [[] for _ in range(count)]
        seconds += time.perf_counter() - start
        return BatchAnswers(scores, margins, of_set, doubts, best, paths, seconds)


def check_answers(policy: Policy) -> WalkConfig:
    """The policy's configuration; UserError where it has no answer head."""
    config = policy.config
    if not has_answers(config) or not isinstance(config, WalkConfig):
        raise UserError(
            f"policy: the {config.architecture} network has no answer head, expected "
            "one trained with --policy walk and --answer-width above 0"
        )
    return config


def question_paths(
    nodes: Int[np.ndarray, "n 2"],
    relation_index: Int[np.ndarray, "n"],
    follow: Float32[np.ndarray, "u f"],
    topics: Bool[np.ndarray, "v"],
    targets: list[int],
    mask: Bool[np.ndarray, "n"],
    *,
    walkers: int,
) -> list[tuple[int, ...]]:
    """``answer_paths`` of a padded question."""
    start = np.flatnonzero(topics)
    return answer_paths(
        nodes, relation_index, follow, start, targets, walkers, allowed=mask
    )


def node_entities(
    triplets: Int32[np.ndarray, "m 3"],
    split: Split,
    rows: Int[np.ndarray, "b"],
    nodes: Int[np.ndarray, "b n 2"],
    v: int,
) -> Int32[np.ndarray, "b v"]:
    """The entity of each local node that a candidate touches, else -1."""
    candidates = np.asarray(split.candidates[rows, : nodes.shape[1]])
    out = np.full((len(rows), v), -1, np.int32)
    question, slot = np.nonzero(candidates >= 0)
    ends = triplets[candidates[question, slot]]
    for end, column in ((0, 0), (1, 2)):
        out[question, nodes[question, slot, end]] = ends[:, column]
    return out


def gold_mask(answers: Int[np.ndarray, "b a"], v: int) -> Bool[np.ndarray, "b v"]:
    """True at the nodes that are gold answers."""
    out = np.zeros((len(answers), v), bool)
    question, column = np.nonzero(answers >= 0)
    out[question, answers[question, column]] = True
    return out


def calibrate_answers(
    policy: Policy,
    shards: Shards,
    split_name: str,
    *,
    questions: int = 1000,
    engine: Engine = HERE,
) -> AnswerScale:
    """The probabilities of a policy's answers, from questions it was not trained on.

    Args:
        policy: with an answer head.
        shards: the shards of the questions.
        split_name: name of the split; not the training split.
        questions: the most questions, sampled with a fixed seed.
        engine: what calls the policy.

    Raises:
        UserError: there is no such split, or no answer among the best nodes.
    """
    split = shards.split(split_name)
    rows = np.sort(np.random.default_rng(0).permutation(len(split))[:questions])
    answers = split_answers(policy, shards, split, rows, engine=engine)
    return fit_answer_scale(
        answers.logits,
        answers.margins,
        answers.is_answer,
        gold_counts(split, rows),
        split=split_name,
        doubts=answers.doubts,
        of_set=answers.of_set,
    )


def gold_counts(split: Split, rows: Int[np.ndarray, "q"]) -> Float64[np.ndarray, "q"]:
    """The number of gold answers of questions, in the graph or not."""
    return np.array([len(split.questions[row].answers) for row in rows], np.float64)
