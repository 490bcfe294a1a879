"""Retrieval metrics per question, each with the sentence that defines it.

Nobody in this field means the same thing by a name, so ``DEFINITIONS`` is printed with
every table. All metrics of all K come from the rank at which each gold entity and gold
triplet first occurs, found by binary search over the whole split; connectivity is one
search over the block-diagonal graph of the top K triplets per K.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.retrieval.gold import Entities, Gold, Triplets, gold_of
from kgscout_jax.graph.walk.shortest_paths import hop_distances
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings

DEFINITIONS = {
    "answer_hit": (
        "Share of all questions with at least one gold answer among the heads and "
        "tails of the top K triplets (the thesis's 'Ans present')."
    ),
    "answer_recall": (
        "Mean share, among the gold answers in the question's subgraph after the cut, "
        "of those among the heads and tails of the top K; over questions with such an "
        "answer (SubgraphRAG's ans_recall)."
    ),
    "answer_recall_kg": (
        "Mean share, among the gold answers anywhere in the knowledge graph, of those "
        "among the heads and tails of the top K; over questions with such an answer. "
        "It compares methods with different cuts."
    ),
    "path_hit": (
        "Share of all questions for which a directed path, head to tail, inside the "
        "top K triplets leads from a topic entity to a gold answer (the thesis's 'Path "
        "exists'); a topic that is an answer counts when it is among their heads and "
        "tails."
    ),
    "path_hit_undirected": "As path_hit, triplets walked both ways.",
    "triplet_recall": (
        "Mean share of the labelled relevant triplets that are in the top K, over "
        "questions that have labels."
    ),
    "path_triplet_recall": (
        "Mean share of the triplets on shortest topic-answer paths that are in the top "
        "K, over questions that have such a path; paths are those of the question's "
        "subgraph after the cut, edges walked both ways, parallel triplets included."
    ),
}
"""Metric -> its definition, in the order of the tables."""

VARIANT = "[n_real>K]"
"""Suffix of a metric taken over the questions with more than K candidates only."""

NEVER = np.iinfo(np.int64).max
"""The rank of what is not retrieved."""

BLOCK = 1 << 21
"""Ranked triplets per block of questions: bounds memory, not results."""


def definitions() -> dict[str, str]:
    """Every key of the results with its definition, variants included."""
    variants = {
        f"{name}{VARIANT}": f"{name} over the questions with more than K candidates "
        "only: with fewer, every ranking keeps everything."
        for name in DEFINITIONS
    }
    return {**DEFINITIONS, **variants}


def retrieval_metrics(
    rankings: Rankings,
    shards: Shards,
    split: Split,
    ks: Sequence[int],
    *,
    gold: Gold | None = None,
) -> dict[str, dict[int, Float64[np.ndarray, "b"]]]:
    """Metric -> K -> one value in [0, 1] per question, nan where it does not count.

    Args:
        rankings: of this split's questions, in its order.
        shards: the names and triplets the split refers to.
        split: the questions.
        ks: how many triplets are kept; with ``rankings.keeps_all`` every one is, and
            K matters for the variants only.
        gold: of this split in the rankings' name space; None: worked out here.
    """
    if len(rankings) != len(split):
        raise ValueError(f"{len(rankings)} rankings for {len(split)} questions")
    if gold is None:
        gold = gold_of(shards, split, rankings.names or NameSpace.of(shards))
    ranks = {
        "topics": entity_ranks(rankings, gold.topics, gold.n_entities),
        "answers": entity_ranks(rankings, gold.answers, gold.n_entities),
    }
    width = rankings.heads.shape[1]
    cuts = {k: width if rankings.keeps_all else min(k, width) for k in ks}

    def entity_recall(entities: Entities) -> dict[int, Float64[np.ndarray, "b"]]:
        positions = entity_ranks(rankings, entities, gold.n_entities)
        return _recall(positions, entities.questions, entities.totals, cuts)

    def triplet_recall(triplets: Triplets) -> dict[int, Float64[np.ndarray, "b"]]:
        positions = triplet_ranks(rankings, triplets)
        return _recall(positions, triplets.rows[:, 0], triplets.totals, cuts)

    recalls = {
        "answer_recall": entity_recall(gold.answers_in_subgraph),
        "answer_recall_kg": entity_recall(gold.answers_in_graph),
        "triplet_recall": triplet_recall(gold.relevant),
        "path_triplet_recall": triplet_recall(gold.path),
    }
    directed, undirected = _path_hits(rankings, gold, ranks, cuts)
    values_by_k = {
        "answer_hit": {
            k: _any(ranks["answers"] < cut, gold.answers.questions, len(split))
            for k, cut in cuts.items()
        },
        "path_hit": directed,
        "path_hit_undirected": undirected,
        **recalls,
    }
    metrics = {name: values_by_k[name] for name in DEFINITIONS}
    for name in DEFINITIONS:
        metrics[f"{name}{VARIANT}"] = {
            k: np.where(split.n_real > k, values, np.nan)
            for k, values in values_by_k[name].items()
        }
    return metrics


def entity_ranks(
    rankings: Rankings, gold: Entities, n_entities: int
) -> Int64[np.ndarray, "p"]:
    """The rank, from 0, of the first triplet that holds each entity; else NEVER."""
    first = np.full(len(gold.keys), NEVER)
    if len(first) == 0:
        return first
    for rows in _blocks(rankings):
        for ends in (rankings.heads[rows], rankings.tails[rows]):
            keys = _keys(ends, rows.start, n_entities)
            at = np.searchsorted(gold.keys, keys)
            at[at == len(first)] = 0
            question, rank = np.nonzero((gold.keys[at] == keys) & (ends >= 0))
            np.minimum.at(first, at[question, rank], rank)
    return first


def triplet_ranks(rankings: Rankings, gold: Triplets) -> Int64[np.ndarray, "p"]:
    """The rank, from 0, of each triplet; NEVER for those that are not retrieved."""
    first = np.full(len(gold.rows), NEVER)
    if len(first) == 0:
        return first
    # Four columns do not fit into one int64, so the heads narrow the search down and
    # what is left is compared whole.
    n = 1 + max(int(gold.rows[:, 1].max()), int(rankings.heads.max(initial=0)))
    heads = np.unique(gold.rows[:, 0] * n + gold.rows[:, 1])
    for rows in _blocks(rankings):
        keys = _keys(rankings.heads[rows], rows.start, n)
        at = np.searchsorted(heads, keys)
        at[at == len(heads)] = 0
        question, rank = np.nonzero((heads[at] == keys) & (rankings.heads[rows] >= 0))
        question = question + rows.start
        columns = (rankings.heads, rankings.relations, rankings.tails)
        held = [column[question, rank] for column in columns]
        candidates = np.stack([question, *held], axis=1).astype(np.int64)
        both = np.concatenate([gold.rows, candidates])
        _, number = np.unique(both, axis=0, return_inverse=True)
        number = number.ravel()
        best = np.full(len(both), NEVER)
        np.minimum.at(best, number[len(first) :], rank)
        first = np.minimum(first, best[number[: len(first)]])
    return first


def _blocks(rankings: Rankings) -> Iterator[slice]:
    """Slices of questions that hold at most BLOCK ranked triplets, or one question."""
    step = max(1, BLOCK // max(1, rankings.heads.shape[1]))
    for start in range(0, len(rankings), step):
        yield slice(start, min(start + step, len(rankings)))


def _keys(
    ends: Int[np.ndarray, "b k"], first_question: int, n_entities: int
) -> Int64[np.ndarray, "b k"]:
    """question * n_entities + entity; meaningless where the entity is -1."""
    questions = first_question + np.arange(len(ends), dtype=np.int64)
    return questions[:, None] * n_entities + ends


def _any(
    mask: Bool[np.ndarray, "p"], questions: Int64[np.ndarray, "p"], b: int
) -> Float64[np.ndarray, "b"]:
    """1 for each question with a True, else 0."""
    hit = np.zeros(b)
    hit[questions[mask]] = 1.0
    return hit


def _recall(
    ranks: Int64[np.ndarray, "p"],
    questions: Int64[np.ndarray, "p"],
    totals: Int64[np.ndarray, "b"],
    cuts: dict[int, int],
) -> dict[int, Float64[np.ndarray, "b"]]:
    """K -> share of each question's gold that ranks above the cut, nan without gold."""
    divisor = np.where(totals > 0, totals, np.nan)
    return {
        k: np.bincount(questions[ranks < cut], minlength=len(totals)) / divisor
        for k, cut in cuts.items()
    }


def _path_hits(
    rankings: Rankings,
    gold: Gold,
    ranks: dict[str, Int64[np.ndarray, "p"]],
    cuts: dict[int, int],
) -> tuple[dict[int, Float64[np.ndarray, "b"]], dict[int, Float64[np.ndarray, "b"]]]:
    """K -> whether a topic leads to an answer in the cut, directed and both ways."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    b = len(rankings)
    directed = {cut: np.zeros(b) for cut in cuts.values()}
    undirected = {cut: np.zeros(b) for cut in cuts.values()}
    for rows in _blocks(rankings):
        real = rankings.heads[rows] >= 0
        _, rank = np.nonzero(real)
        ends = [
            _keys(column[rows], rows.start, gold.n_entities)[real]
            for column in (rankings.heads, rankings.tails)
        ]
        nodes, number = np.unique(np.concatenate(ends), return_inverse=True)
        heads, tails = number.ravel().reshape(2, -1)
        for cut in directed:
            # Whatever ranks above the cut has a node; what does not must not count,
            # a topic that is an answer among it.
            topics = _inside(gold.topics, ranks["topics"] < cut, rows)
            answers = _inside(gold.answers, ranks["answers"] < cut, rows)
            sources = np.searchsorted(nodes, gold.topics.keys[topics])
            targets = np.searchsorted(nodes, gold.answers.keys[answers])
            inside = rank < cut
            u, v = heads[inside], tails[inside]
            hops = hop_distances(len(nodes), u, v, sources, directed=True)
            questions = gold.answers.questions[answers]
            directed[cut][questions[hops[targets] >= 0]] = 1.0
            graph = csr_array((np.ones(len(u)), (u, v)), shape=[len(nodes)] * 2)
            _, label = connected_components(graph, directed=False)
            reached = np.zeros(len(nodes), bool)
            reached[label[sources]] = True
            undirected[cut][questions[reached[label[targets]]]] = 1.0
    return (
        {k: directed[cut] for k, cut in cuts.items()},
        {k: undirected[cut] for k, cut in cuts.items()},
    )


def _inside(
    entities: Entities, mask: Bool[np.ndarray, "p"], rows: slice
) -> Int64[np.ndarray, "q"]:
    """Indices of the masked entities that belong to the questions ``rows``."""
    first, last = np.searchsorted(entities.questions, [rows.start, rows.stop])
    return first + np.flatnonzero(mask[first:last])
