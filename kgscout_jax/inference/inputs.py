"""What the network is given of questions, asked one by one or in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float16, Float32, Int, Int32

from kgscout_jax.utils.buckets import bucket

if TYPE_CHECKING:
    from kgscout_jax.policy.inputs import PolicyInputs


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """What the network is given of one question."""

    ids: Int32[np.ndarray, "n"]
    """Triplet ids, by descending cosine."""
    triplets: Float16[np.ndarray, "n d"]
    ppr: Float32[np.ndarray, "n 2"]
    relations: Int[np.ndarray, "u"]
    """Unique relation ids."""
    relation_index: Int[np.ndarray, "n"]
    """Which of them each candidate has."""
    nodes: Int[np.ndarray, "n 2"]
    """Local node ids of head and tail, from 0."""
    topics: Int[np.ndarray, "t"]
    """Those of the topics that some candidate touches."""
    relation_match: Float32[np.ndarray, "n"]
    """Cosine of the question and each candidate's relation."""
    seconds: float


def inputs_of(
    questions: Float16[np.ndarray, "b d"],
    candidates: Sequence[Candidates],
    relations: Sequence[Float16[np.ndarray, "r d"]],
    largest: int,
) -> PolicyInputs:
    """The inputs of the network, padded to the smallest bucket that holds them.

    Args:
        questions: embeddings.
        candidates: of each question.
        relations: the relation table of each question's graph.
        largest: the most candidates that a question can have.
    """
    import jax.numpy as jnp

    from kgscout_jax.policy.inputs import PolicyInputs

    d = questions.shape[1]
    b = 1
    while b < len(candidates):
        b *= 2
    n = bucket(max(len(c.ids) for c in candidates), largest)
    u = bucket(max(len(c.relations) for c in candidates), n)
    question = np.zeros((b, d), np.float16)
    question[: len(candidates)] = questions
    triplets = np.zeros((b, n, d), np.float16)
    unique = np.zeros((b, u, d), np.float16)
    index = np.zeros((b, n), np.int32)
    ppr = np.zeros((b, n, 2), np.float32)
    mask: Bool[np.ndarray, "b n"] = np.zeros((b, n), bool)
    nodes = np.zeros((b, n, 2), np.int32)
    topics = np.zeros((b, 2 * n), bool)
    for i, (c, table) in enumerate(zip(candidates, relations, strict=True)):
        m = len(c.ids)
        triplets[i, :m], ppr[i, :m], mask[i, :m] = c.triplets, c.ppr, True
        index[i, :m], nodes[i, :m] = c.relation_index, c.nodes
        topics[i, c.topics] = True
        unique[i, : len(c.relations)] = table[c.relations]
    arrays = (question, triplets, unique, index, ppr, mask, nodes, topics)
    return PolicyInputs(*map(jnp.asarray, arrays))


def places_of(
    triplets: Int[np.ndarray, "n 3"], topics: Int[np.ndarray, "t"]
) -> tuple[Int[np.ndarray, "n 2"], Int[np.ndarray, "s"]]:
    """Local ids, from 0, of the ends of triplets, and of the topics among them."""
    ends, local = np.unique(triplets[:, [0, 2]], return_inverse=True)
    return local.reshape(-1, 2), np.flatnonzero(np.isin(ends, topics))
