"""The answers of a policy with an answer head to the questions of a split."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from flax import nnx
from jaxtyping import Bool, Float32, Float64, Int, Int32

from kgscout_jax.data.batches import Batch, BatchReader, batch_outputs
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.data.tables import Tables
from kgscout_jax.errors import UserError
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import PolicyOutputs, has_answers, needs_words
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.retrieve.answer_paths import answer_paths
from kgscout_jax.retrieve.answer_scale import AnswerScale, fit_answer_scale
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
) -> SplitAnswers:
    """What the answer head says of the questions ``rows``.

    Args:
        policy: with an answer head.
        shards: the folder of the split.
        split: the questions.
        rows: those to answer.
        kept: candidates that the network sees; None for all.
        paths: the number of best nodes whose paths are found.

    Raises:
        UserError: the policy has no answer head.
    """
    config = check_answers(policy)
    reader = BatchReader(shards, split, words=needs_words(config))
    tables = Tables.of(shards)
    graphdef, state = nnx.split(policy)

    place = np.zeros(len(split), np.int64)
    place[rows] = np.arange(len(rows))

    m = min(NODES, int(split.n_nodes.max(initial=1)))
    logits = np.full((len(rows), m), -np.inf, np.float32)
    entities = np.full((len(rows), m), -1, np.int32)
    is_answer = np.zeros((len(rows), m), bool)
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    seconds = np.zeros(len(rows))
    table = np.asarray(shards.triplets)
    compiled_shapes: set[tuple[tuple[int, ...], ...]] = set()
    find = partial(question_paths, walkers=config.walkers)
    with ProgressBar(len(rows), "answering", "questions") as bar:
        for batch_rows, batch in batch_outputs(lambda b: b, reader, rows, BATCH):
            at, count = place[batch_rows], len(batch_rows)
            if kept is not None:
                mask = np.zeros(batch.mask.shape, bool)
                mask[:count] = kept[at, : mask.shape[1]]
                batch = batch._replace(mask=batch.mask & mask)
            shapes = batch.shapes
            if shapes not in compiled_shapes:  # exclude compilation from the time
                jax.block_until_ready(outputs_of_batch(graphdef, state, tables, batch))
                compiled_shapes.add(shapes)
            started = time.perf_counter()
            outputs = outputs_of_batch(graphdef, state, tables, batch)
            assert outputs.answers is not None and outputs.follow is not None
            nodes = np.asarray(batch.nodes)
            mask = np.asarray(batch.mask)
            scores = np.asarray(outputs.answers)[:count]
            v = scores.shape[1]
            of_node = node_entities(table, split, batch_rows, nodes[:count], v)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :m]
            width = best.shape[1]
            logits[at, :width] = np.take_along_axis(scores, best, axis=1)
            entities[at, :width] = np.take_along_axis(of_node, best, axis=1)
            gold = gold_mask(np.asarray(batch.answers)[:count], v)
            is_answer[at, :width] = np.take_along_axis(gold, best, axis=1)
            if paths:
                follow, index = (
                    np.asarray(outputs.follow),
                    np.asarray(batch.relation_index),
                )
                topics = np.asarray(batch.topics)
                for j, i in enumerate(at):
                    targets = [
                        int(node)
                        for node in best[j, :paths]
                        if scores[j, node] > -np.inf
                    ]
                    found[i] = find(
                        nodes[j], index[j], follow[j], topics[j], targets, mask[j]
                    )
            seconds[at] = (time.perf_counter() - started) / count
            bar.update(count)
    padding = np.isneginf(logits)
    entities[padding], is_answer[padding] = -1, False
    return SplitAnswers(
        rows=rows,
        logits=logits,
        entities=entities,
        is_answer=is_answer,
        paths=found,
        seconds=seconds,
    )


@partial(jax.jit, static_argnums=0)
def outputs_of_batch(
    graphdef: Any, state: Any, tables: Tables, batch: Batch
) -> PolicyOutputs:
    """The outputs of the policy ``nnx.split`` into the first two; compiled once."""
    return nnx.merge(graphdef, state).outputs(batch.inputs(tables))


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
    policy: Policy, shards: Shards, split_name: str, *, questions: int = 1000
) -> AnswerScale:
    """The probabilities of a policy's answers, from questions it was not trained on.

    Args:
        policy: with an answer head.
        shards: the shards of the questions.
        split_name: name of the split; not the training split.
        questions: the most questions, sampled with a fixed seed.

    Raises:
        UserError: there is no such split, or no answer among the best nodes.
    """
    split = shards.split(split_name)
    rows = np.sort(np.random.default_rng(0).permutation(len(split))[:questions])
    answers = split_answers(policy, shards, split, rows)
    return fit_answer_scale(
        answers.logits, answers.is_answer, gold_counts(split, rows), split=split_name
    )


def gold_counts(split: Split, rows: Int[np.ndarray, "q"]) -> Float64[np.ndarray, "q"]:
    """The number of gold answers of questions, in the graph or not."""
    return np.array([len(split.questions[row].answers) for row in rows], np.float64)
