"""Triplets that join a question's candidates after the network has scored these."""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Int

from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.inference.search import Search


def with_triplets(
    search: Search, candidates: Candidates, scores: Scores, ids: Int[np.ndarray, "k"]
) -> tuple[Candidates, Scores]:
    """The candidates and scores with more triplets, ranked behind all others.

    There may be more candidates then than the network takes. New nodes are no answers.

    Args:
        search: of the question.
        candidates: of the question.
        scores: of the candidates, before its words are read.
        ids: triplets of the graph that are no candidates.
    """
    rows = np.asarray(search.graph.triplets[ids])
    relations = np.union1d(candidates.relations, rows[:, 1])
    entities = np.union1d(candidates.entities, rows[:, [0, 2]])
    relation = np.searchsorted(relations, candidates.relations)
    entity = np.searchsorted(entities, candidates.entities)
    node_logits = np.full(len(entities), -np.inf, np.float32)
    node_logits[entity] = scores.nodes
    follow = scores.follow
    if follow is not None:
        weights = np.zeros((len(relations), follow.shape[1]), follow.dtype)
        weights[relation] = follow
        follow = weights
    vectors, k = search.table.rows(ids), len(ids)
    question = np.asarray(search.vectors.whole, np.float32)
    match = search.table.relations_float32[rows[:, 1]] @ question
    low = scores.logits.min() - 1.0
    joined = dataclasses.replace(
        candidates,
        ids=np.append(candidates.ids, ids),
        triplets=np.concatenate([candidates.triplets, vectors]),
        ppr=np.concatenate([candidates.ppr, np.zeros((k, 2), np.float32)]),
        relations=relations,
        relation_index=np.append(
            relation[candidates.relation_index], np.searchsorted(relations, rows[:, 1])
        ),
        nodes=np.concatenate(
            [entity[candidates.nodes], np.searchsorted(entities, rows[:, [0, 2]])]
        ),
        entities=entities.astype(np.int32),
        topics=entity[candidates.topics],
        relation_match=np.append(candidates.relation_match, match),
        cosine=np.append(candidates.cosine, vectors.astype(np.float32) @ question),
    )
    logits = np.append(scores.logits, np.full(k, low, np.float32))
    return joined, dataclasses.replace(
        scores, logits=logits, nodes=node_logits, follow=follow
    )
