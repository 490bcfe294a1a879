"""The candidates of some questions as one graph, and the same with mistakes in it.

The triplets that the questions' shards hold are one graph, so that a mistake is the
same for every question. Candidates are perturbed, not cut anew: what the retrievers can
choose from stays comparable. PageRank is that of the candidates, at every level.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int, Int32, Int64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.answers.questions import take_questions
from kgscout_jax.graph.walk.pagerank import pagerank
from kgscout_jax.perturb.edges import Method, perturb
from kgscout_jax.perturb.link_scorer import LinkScorer, train_scorer
from kgscout_jax.retrieve.candidates import dot_products
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.linearize import linearize
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.ragged import Ragged, offsets_of


@dataclass(frozen=True)
class QuestionGraphs:
    """Questions and the triplets of their shards, and nothing else."""

    shards: Shards
    """Tables in memory, of these triplets only."""
    split: Split

    @staticmethod
    def of(
        shards: Shards, split: Split, rows: Int64[np.ndarray, "q"]
    ) -> QuestionGraphs:
        """The questions ``rows`` of a split."""
        split = take_questions(split, rows)
        real = split.candidates >= 0
        ids = np.unique(
            np.concatenate(
                [split.candidates[real]]
                + [np.asarray(paths.values) for paths in split.path_triplets.values()]
            )
        )
        embedded = ids[ids < len(shards.triplet_embeddings)]
        candidates = np.full_like(split.candidates, -1)
        candidates[real] = np.searchsorted(ids, split.candidates[real])
        paths = {
            way: Ragged(np.searchsorted(ids, each.values), each.offsets)
            for way, each in split.path_triplets.items()
        }
        tables = {
            "triplets": np.asarray(shards.triplets[ids]),
            "triplet_embeddings": shards.triplet_vectors(embedded).astype(np.float16),
            "triplet_scales": None,
        }
        split = dataclasses.replace(split, candidates=candidates, path_triplets=paths)
        return QuestionGraphs(shards.with_tables(**tables), split)

    @cached_property
    def _used(self) -> Int64[np.ndarray, "e"]:
        """The entities with a triplet."""
        return np.unique(self.shards.triplets[:, [0, 2]]).astype(np.int64)

    @cached_property
    def compact(self) -> Int32[np.ndarray, "m 3"]:
        """The triplets with entities numbered without gaps."""
        rows = np.array(self.shards.triplets, np.int32)
        rows[:, [0, 2]] = np.searchsorted(self._used, rows[:, [0, 2]])
        return rows

    @property
    def n_entities(self) -> int:
        return len(self._used)

    def scorer(self, cache: EmbeddingCache) -> LinkScorer:
        """The link predictor of the triplets."""
        names = [self.shards.entities[e] for e in self._used.tolist()]
        vectors = cache.encoder.word_vectors(names)
        return train_scorer(self.compact, vectors, len(self.shards.relations))

    def perturbed_triplets(
        self, method: Method, level: float, seed: int, scorer: LinkScorer
    ) -> tuple[Int32[np.ndarray, "m 3"], np.ndarray]:
        """The compact triplets with mistakes, row by row, and which of them remain."""
        return perturb(
            self.compact,
            method,
            level,
            n_entities=self.n_entities,
            n_relations=len(self.shards.relations),
            seed=seed,
            scores=scorer.relation_scores,
        )

    def with_mistakes(
        self,
        compact: Int32[np.ndarray, "m 3"],
        remains: np.ndarray,
        cache: EmbeddingCache,
    ) -> tuple[Shards, Split]:
        """``perturbed_shards``, and the questions with what remains there."""
        shards = self.perturbed_shards(compact, remains, cache)
        return shards, self.perturbed_split(shards, remains)

    def perturbed_shards(
        self,
        compact: Int32[np.ndarray, "m 3"],
        remains: np.ndarray,
        cache: EmbeddingCache,
    ) -> Shards:
        """The shards with these triplets, whose sentences are embedded anew where they
        changed, from the cache where it has them.
        """
        triplets = np.array(compact)
        triplets[:, [0, 2]] = self._used[compact[:, [0, 2]]]
        rows = np.array(self.shards.triplet_embeddings)
        changed = (compact != self.compact).any(axis=1) & remains
        changed = np.flatnonzero(changed[: len(rows)])
        if len(changed):
            entities, relations = self.shards.entities, self.shards.relations
            prefix = cache.encoder.identity.document_prefix
            texts = [
                replace_surrogates(
                    prefix + linearize((entities[h], relations[r], entities[t]))
                )
                for h, r, t in triplets[changed].tolist()
            ]
            rows[changed] = cache.embed(texts, what="changed triplets")
        return self.shards.with_tables(triplets=triplets, triplet_embeddings=rows)

    def perturbed_split(self, shards: Shards, remains: np.ndarray) -> Split:
        """The questions with the candidates that remain of ``perturbed_shards``."""
        triplets = shards.triplets
        old, n_all = self.split, len(shards.entities)
        candidates = by_cosine(shards, old, remains)
        owner, slot = np.nonzero(old.candidates >= 0)
        ends = self.shards.triplets[old.candidates[owner, slot]][:, [0, 2]]
        keys = owner[:, None].astype(np.int64) * n_all + ends
        known, first = np.unique(keys, return_index=True)
        local = np.asarray(old.nodes)[owner, slot].reshape(-1)[first].astype(np.int64)
        owner, slot = np.nonzero(candidates >= 0)
        ends = triplets[candidates[owner, slot]][:, [0, 2]]
        keys = owner[:, None].astype(np.int64) * n_all + ends
        new = np.setdiff1d(keys, known)
        of_question = new // n_all
        more = np.bincount(of_question, minlength=len(old))
        number = np.arange(len(new)) - (np.cumsum(more) - more)[of_question]
        places = np.concatenate([local, np.asarray(old.n_nodes)[of_question] + number])
        known = np.concatenate([known, new])
        order = np.argsort(known)
        nodes = np.zeros((*candidates.shape, 2), np.int32)
        nodes[owner, slot] = places[order[np.searchsorted(known[order], keys)]]
        n_nodes = (np.asarray(old.n_nodes) + more).astype(np.int32)
        split = dataclasses.replace(
            old, candidates=candidates, nodes=nodes, n_nodes=n_nodes
        )
        return dataclasses.replace(
            split, node_ppr=Ragged.of_counts(node_ppr(split), n_nodes)
        )


def by_cosine(
    shards: Shards, split: Split, remains: np.ndarray
) -> Int32[np.ndarray, "b n"]:
    """The candidates that remain, by descending cosine, ties by id."""
    out = np.full_like(split.candidates, -1)
    questions = np.asarray(split.question_embeddings, np.float32)
    for i, ids in enumerate(split.candidates):
        ids = ids[ids >= 0]
        ids = ids[remains[ids]]
        cosine = np.zeros(len(ids), np.float32)
        dot_products(shards.triplet_vectors(ids), questions[i], cosine)
        out[i, : len(ids)] = ids[np.lexsort((ids, -cosine))]
    return out


def node_ppr(split: Split) -> Float64[np.ndarray, "v"]:
    """PageRank of every question's nodes on its candidates, question by question."""
    n_nodes = np.asarray(split.n_nodes, np.int64)
    starts: Int[np.ndarray, "b"] = offsets_of(n_nodes)[:-1]
    owner, slot = np.nonzero(split.candidates >= 0)
    ends = starts[owner, None] + split.nodes[owner, slot]
    question, column = np.nonzero(split.topics >= 0)
    restart = starts[question] + split.topics[question, column]
    return pagerank(
        int(n_nodes.sum()),
        ends[:, 0],
        ends[:, 1],
        np.repeat(np.arange(len(n_nodes)), n_nodes),
        restart,
        direction="both",
    ).astype(np.float32)
