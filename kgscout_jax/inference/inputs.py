"""The inputs of the network: candidates of questions, and their padding."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float16, Float32, Int, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.embeddings import Embeddings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.sources import first_of_fact
from kgscout_jax.retrieve.candidates import (
    CutSettings,
    cut_questions,
    relation_cosines,
    select_rows,
    triplet_cosines,
)
from kgscout_jax.text.words import WORDS
from kgscout_jax.utils.buckets import bucket

if TYPE_CHECKING:
    from kgscout_jax.policy.inputs import PolicyInputs


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The candidates of one question."""

    ids: Int32[np.ndarray, "n"]
    """Triplet ids, by descending cosine."""
    triplets: Float16[np.ndarray, "n d"]
    ppr: Float32[np.ndarray, "n 2"]
    relations: Int[np.ndarray, "u"]
    """Unique relation ids."""
    relation_index: Int[np.ndarray, "n"]
    """Position in ``relations`` of each candidate's relation."""
    nodes: Int[np.ndarray, "n 2"]
    """Local node ids of head and tail, from 0."""
    entities: Int32[np.ndarray, "v"]
    """The entity of each local node, ascending."""
    topics: Int[np.ndarray, "t"]
    """Local node ids of the topics."""
    relation_match: Float32[np.ndarray, "n"]
    """Cosine of the question and each candidate's relation."""
    seconds: float
    cosine: Float32[np.ndarray, "n"] = field(
        default_factory=lambda: np.empty(0, np.float32)
    )
    """Cosine of the question and each candidate."""

    def node_of(self, entity: int) -> int:
        """The local node of an entity; -1 where no candidate touches it."""
        at = int(np.searchsorted(self.entities, entity))
        here = at < len(self.entities) and self.entities[at] == entity
        return at if here else -1

    def nodes_of(self, entities: Int[np.ndarray, "g"]) -> Int[np.ndarray, "h"]:
        """The local nodes of entities, ascending; less those of no candidate."""
        return np.flatnonzero(np.isin(self.entities, entities))


def find_candidates(
    graph: KnowledgeGraph,
    embedded: Embeddings,
    embedding: Float16[np.ndarray, "1 d"],
    topics: Int32[np.ndarray, "t"],
    cut: CutSettings,
) -> Candidates | None:
    """The candidates of one question, None if it has none.

    Raises:
        UserError: an embedding is not finite.
    """
    if not len(topics) or not len(graph.triplets):
        return None
    start = time.perf_counter()
    relation_match = relation_cosines(embedding, embedded.relations_float32)
    subgraph = cut_questions(graph, [topics], relation_match, cut, all_nodes=False)
    if not len(subgraph.triplet_ids):
        return None
    rows = embedded.rows(subgraph.triplet_ids)
    cosine = triplet_cosines(subgraph.blocks, np.arange(len(rows)), embedding, rows)
    if not np.isfinite(cosine).all():  # a row that is not finite has no finite cosine
        embedded.check_finite()
        raise UserError("the question's embedding is not finite")
    best = select_rows(
        subgraph.blocks,
        subgraph.triplet_ids,
        cosine,
        subgraph.scores,
        candidates=cut.candidates,
        select=cut.select,
    )
    best = best[first_of_fact(graph, subgraph.triplet_ids[best])]
    ids = subgraph.triplet_ids[best]
    triplets = np.asarray(graph.triplets[ids])
    relations, relation_index = np.unique(triplets[:, 1], return_inverse=True)
    ends, nodes = np.unique(triplets[:, [0, 2]], return_inverse=True)
    return Candidates(
        ids=ids,
        triplets=rows[best],
        ppr=subgraph.ppr[best].astype(np.float32),
        relations=relations,
        relation_index=relation_index,
        nodes=nodes.reshape(-1, 2),
        entities=ends.astype(np.int32),
        topics=np.flatnonzero(np.isin(ends, topics)),
        relation_match=relation_match[0, triplets[:, 1]],
        seconds=time.perf_counter() - start,
        cosine=cosine[best],
    )


@dataclass(frozen=True, kw_only=True)
class QuestionVectors:
    """What the encoder says of one question."""

    whole: Float16[np.ndarray, "d"]
    words: Sequence[Float16[np.ndarray, "d"]] | None = None
    """Each word by itself; None for a policy that does not read words."""
    places: Sequence[int] = ()
    """See ``PolicyInputs.word_places``."""


class ProductRows(NamedTuple):
    """Products of one question's candidates, see ``PolicyInputs.products``."""

    triplets: Float32[np.ndarray, "n w"]
    relations: Float32[np.ndarray, "u x"]


def inputs_of(
    questions: Sequence[QuestionVectors],
    candidates: Sequence[Candidates],
    relations: Sequence[Float16[np.ndarray, "r d"]],
    largest: int,
    products: Sequence[ProductRows] | None = None,
) -> PolicyInputs:
    """The inputs of the network, padded to the smallest bucket that holds them.

    They stay on the host: a compiled call moves them to its device with less overhead.

    Args:
        questions: embeddings of the questions; of all or of none with words.
        candidates: candidates of each question.
        relations: the relation table of each question's graph.
        largest: maximum number of candidates of a question.
        products: of each question, where they are kept.
    """
    from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs, Products

    d = len(questions[0].whole)
    b = 1
    while b < len(candidates):
        b *= 2
    n = bucket(max(len(c.ids) for c in candidates), largest)
    u = bucket(max(len(c.relations) for c in candidates), n)
    question = np.zeros((b, d), np.float16)
    question[: len(candidates)] = [each.whole for each in questions]
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
    arrays: Any = (question, triplets, unique, index, ppr, mask, nodes, topics)
    inputs = PolicyInputs(*arrays)
    if products is not None:
        kept: Any = (
            padded([each.triplets for each in products], b, n),
            padded([each.relations for each in products], b, u),
        )
        inputs = inputs._replace(products=Products(*kept))
    if questions[0].words is None:
        return inputs
    words: Any = np.zeros((b, WORDS, d), np.float16)
    places: Any = np.full((b, WORDS), NO_WORD, np.int32)
    for i, each in enumerate(questions):
        assert each.words is not None
        if m := len(each.words):
            words[i, :m], places[i, :m] = np.stack(each.words), each.places
    return inputs._replace(words=words, word_places=places)


def padded(
    tables: Sequence[Float32[np.ndarray, "m w"]], b: int, rows: int
) -> Float32[np.ndarray, "b rows w"]:
    """The tables, with rows of zeros below each, and tables of zeros at the end."""
    out = np.zeros((b, rows, tables[0].shape[1]), np.float32)
    for i, table in enumerate(tables):
        out[i, : len(table)] = table
    return out
