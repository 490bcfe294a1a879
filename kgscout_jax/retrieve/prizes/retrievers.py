"""The three prize retrievers of OKGQA (section 4.1): triplets, paths, a subgraph.

The prize of an edge or node is k - rank + 1 by its relevance to the question. Edges are
triplets. With ``prizes="cosine"`` an edge's relevance is the cosine of its embedding,
and a node's that of the mean embedding of its triplets, which is what shards and
graphs store; the paper embeds names of nodes. With ``prizes="kgscout"`` they are the
logits of a policy and, of one with an answer head, its logits of the nodes; otherwise
a node has the best logit of its triplets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int

from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import is_general, needs_words
from kgscout_jax.retrieve.candidates import dot_products
from kgscout_jax.retrieve.policy_calls import PolicyCall, batch_results
from kgscout_jax.retrieve.prizes.graph import PrizeGraph, rank_prizes, triplet_order
from kgscout_jax.retrieve.prizes.paths import path_order
from kgscout_jax.retrieve.prizes.subgraph import library, subgraph_order
from kgscout_jax.retrieve.protocol import Rankings, rank_positions
from kgscout_jax.retrieve.split_constraints import split_constraints
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.progress import ProgressBar

PrizeForm = Literal["prize_triplets", "prize_paths", "prize_subgraph"]
FORMS: tuple[PrizeForm, ...] = ("prize_triplets", "prize_paths", "prize_subgraph")
PrizeBasis = Literal["kgscout", "cosine"]
BATCH = 16
"""Questions of a call of the network."""


@dataclass(frozen=True, kw_only=True)
class PrizeSettings:
    """The free parameters of the prize retrievers."""

    top: int = 30
    """Nodes and edges with a prize: their prizes are top, top - 1, ..., 1."""
    cost: float = 1.0
    """Cost of an edge."""
    starts: int = 30
    """Nodes of the largest prizes at which paths start."""
    length: int = 3
    """The most edges of a path."""
    number: int = 300
    """The most paths."""


DEFAULT = PrizeSettings()


class Relevance(NamedTuple):
    """What the prizes of one question come from."""

    edges: Float[np.ndarray, "n"]
    nodes: Float[np.ndarray, "v"]
    """-inf at nodes without a triplet."""


def prize_order(
    form: PrizeForm,
    nodes: Int[np.ndarray, "n 2"],
    ids: Int[np.ndarray, "n"],
    relevance: Relevance,
    k: int,
    settings: PrizeSettings = DEFAULT,
) -> tuple[Int[np.ndarray, "j"], Float64[np.ndarray, "j"]]:
    """At most ``k`` triplets of a question, best first, and their scores.

    Args:
        form: which of the three retrievers.
        nodes: head and tail of each of n candidates.
        ids: their triplet ids; ties go to the lower one.
        relevance: of the candidates and of the v nodes.
        k: the most triplets.
        settings: prizes and costs, limits of paths.

    Raises:
        UserError: ``prize_subgraph`` without the package ``pcst_fast``.
    """
    edges = np.asarray(relevance.edges, np.float32)
    by_id = np.argsort(ids, kind="stable")
    edge_prizes = np.zeros(len(ids))
    edge_prizes[by_id] = rank_prizes(edges[by_id], settings.top)
    graph = PrizeGraph(
        nodes=np.asarray(nodes, np.int64),
        ids=np.asarray(ids),
        node_prizes=rank_prizes(relevance.nodes, settings.top),
        edge_prizes=edge_prizes,
        edge_scores=edges,
    )
    if form == "prize_triplets":
        return triplet_order(graph, k)
    if form == "prize_subgraph":
        return subgraph_order(graph, k, cost=settings.cost)
    return path_order(
        graph,
        k,
        starts=settings.starts,
        length=settings.length,
        number=settings.number,
        cost=settings.cost,
    )


def cosine_relevance(
    question: Float[np.ndarray, "d"],
    table: Float[np.ndarray, "n d"],
    nodes: Int[np.ndarray, "n 2"],
    n_nodes: int,
) -> Relevance:
    """Cosines of a question with its triplets and with the means of nodes' triplets.

    Args:
        question: its embedding, of unit length.
        table: embeddings of its candidate triplets, of unit length.
        nodes: head and tail of each of them.
        n_nodes: number of nodes.
    """
    from scipy.sparse import csr_array

    table = np.asarray(table, np.float32)
    edges = np.zeros(len(table), np.float32)
    dot_products(table, np.asarray(question, np.float32), edges)
    m = len(table)
    ends = np.asarray(nodes, np.int64).T.ravel()
    ones = np.ones(2 * m, np.float32)
    incidence = csr_array((ones, (ends, np.tile(np.arange(m), 2))), shape=(n_nodes, m))
    length = np.linalg.norm(incidence @ table, axis=1)
    sums = incidence @ edges
    has_any = np.bincount(ends, minlength=n_nodes) > 0
    cosines = sums / np.maximum(length, 1e-12)
    return Relevance(edges, np.where(has_any, cosines, -np.inf))


def logit_relevance(
    logits: Float[np.ndarray, "n"],
    answers: Float[np.ndarray, "v"] | None,
    nodes: Int[np.ndarray, "n 2"],
    n_nodes: int,
) -> Relevance:
    """Logits of a policy; without logits of the nodes, the best of their triplets."""
    if answers is not None:
        return Relevance(logits, answers[:n_nodes])
    best = np.full(n_nodes, -np.inf)
    for end in (0, 1):
        np.maximum.at(best, nodes[:, end], logits)
    return Relevance(logits, best)


Source = Callable[[Shards, Split], list[Relevance]]
"""The relevance of the candidates and nodes of every question of a split."""


def cosine_source(shards: Shards, split: Split) -> list[Relevance]:
    """``cosine_relevance`` of every question."""
    questions = np.asarray(split.question_embeddings, np.float32)
    out = []
    for i, n in enumerate(split.n_real.tolist()):
        table = shards.triplet_vectors(split.candidates[i, :n])
        nodes = np.asarray(split.nodes[i, :n])
        out.append(cosine_relevance(questions[i], table, nodes, int(split.n_nodes[i])))
    return out


def policy_source(policy: Policy, engine: Engine = HERE) -> Source:
    """``logit_relevance`` of every question; remembers the last split."""
    last: list[tuple[Shards, Split, list[Relevance]]] = []

    def source(shards: Shards, split: Split) -> list[Relevance]:
        if not (last and last[0][0] is shards and last[0][1] is split):
            relevance = _policy_relevance(policy, shards, split, engine)
            last[:] = [(shards, split, relevance)]
        return last[0][2]

    return source


def _policy_relevance(
    policy: Policy, shards: Shards, split: Split, engine: Engine
) -> list[Relevance]:
    reader = BatchReader(shards, split, words=needs_words(policy.config))
    out: list[Relevance] = [Relevance(np.empty(0), np.empty(0))] * len(split)
    rows = np.arange(len(split))
    call = PolicyCall(policy, shards)
    with ProgressBar(len(rows), "scoring prizes", "questions") as bar:
        for batch_rows, (found, _) in batch_results(call, reader, rows, BATCH, engine):
            general = is_general(policy.config)
            seen = np.asarray(split.candidates[batch_rows]) >= 0
            asked = split_constraints(shards, split, batch_rows, seen)
            for j, i in enumerate(batch_rows.tolist()):
                n, v = int(split.n_real[i]), int(split.n_nodes[i])
                logits, answers = np.asarray(found.logits[j, :n]), None
                if found.answers is not None:
                    lowered = asked[j].logits(
                        logits, np.asarray(found.answers[j, :v]), general=general
                    )
                    logits, answers = lowered.triplets, lowered.nodes
                nodes = np.asarray(split.nodes[i])[:n]
                out[i] = logit_relevance(logits, answers, nodes, v)
            bar.update(len(batch_rows))
    return out


@dataclass(frozen=True)
class PrizeRetriever:
    """One of the three prize retrievers over shards."""

    name: PrizeForm
    source: Source = cosine_source
    """Where relevance comes from: ``cosine_source``, or ``policy_source(policy)``."""
    settings: PrizeSettings = field(default_factory=PrizeSettings)
    engine: Engine = HERE
    """What orders the triplets of each question."""

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` triplets of each question: its paths or its subgraph may hold
        fewer. ``notes`` has the settings.

        Raises:
            UserError: ``prize_subgraph`` without the package ``pcst_fast``.
        """
        if self.name == "prize_subgraph":
            library()  # before anything is computed
        relevance = self.source(shards, split)
        positions = np.full((len(split), k), -1, np.int32)
        scores = np.zeros(split.candidates.shape, np.float32)
        lengths = np.zeros(len(split), np.int32)
        seconds = np.zeros(len(split))
        with ProgressBar(len(split), f"ranking by {self.name}", "questions") as bar:
            order_all = partial(_orders, self.name, k, self.settings)
            chunks = self.engine.map(order_all, _chunks(split, relevance))
            for i, one in enumerate(one for chunk in chunks for one in chunk):
                order, values, seconds[i] = one
                positions[i, : len(order)] = order
                scores[i, order] = values
                lengths[i] = len(order)
                bar.update(1)
        return rank_positions(
            self.name, shards, split, positions, lengths, scores, seconds=seconds
        )


def _chunks(
    split: Split, relevance: Sequence[Relevance]
) -> Iterator[list[tuple[np.ndarray, np.ndarray, Relevance]]]:
    """Nodes, triplet ids and relevance of ``BATCH`` questions at a time."""
    for low in range(0, len(split), BATCH):
        yield [
            (
                np.asarray(split.nodes[i, : split.n_real[i]]),
                np.asarray(split.candidates[i, : split.n_real[i]]),
                relevance[i],
            )
            for i in range(low, min(low + BATCH, len(split)))
        ]


def _orders(
    form: PrizeForm,
    k: int,
    settings: PrizeSettings,
    questions: Sequence[tuple[np.ndarray, np.ndarray, Relevance]],
) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """``prize_order`` of each question, and its seconds."""
    orders = []
    for nodes, ids, relevance in questions:
        start = time.perf_counter()
        order, values = prize_order(form, nodes, ids, relevance, k, settings)
        orders.append((order, values, time.perf_counter() - start))
    return orders
