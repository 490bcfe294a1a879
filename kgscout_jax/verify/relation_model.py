"""Which relation a claim states: a conditional logit over the relations of its graph.

The features mean the same in every graph, and the alternatives compete: a relation fits
a claim if no other relation of the graph fits it much better. The weights were fitted
on statements planted in a few graphs (``recipes/verify.py``, recipes/verify.md), never
in those that the figures are about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

import numpy as np
from jaxtyping import Float32, Float64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import QUESTION_BATCH, SentenceEncoder
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.verify.relation_words import (
    ClaimWords,
    direction,
    lexical_match,
    relation_texts,
)

FEATURES = (
    "bias",
    "cosine",  # of the claim's words and the relation's best text
    "cosine_own",  # and its own name
    "claim_words",  # share of the claim's lemmas that the best reading has
    "relation_words",  # share of the reading's lemmas that the claim has
    "both",  # the product of these two
    "domain",
    "agrees",  # the words make the same name the head
    "disagrees",
    "from_a",  # A occurs at this end of the relation
    "to_b",
)
WEIGHTS: Mapping[str, float] = {
    "bias": -9.44,
    "cosine": 2.51,
    "cosine_own": 3.09,
    "claim_words": -0.05,
    "relation_words": 0.46,
    "both": 4.03,
    "domain": -0.63,
    "agrees": -0.87,
    "disagrees": -2.53,
    "from_a": 3.97,
    "to_b": 3.43,
}
MAX_RELATIONS = 400
"""Graphs with more relations: the nearest so many compete, and those of the names."""
MAX_PHRASES = 1_000
"""Embeddings of phrases that stay in memory."""


class RelationModel:
    """Scores the arcs of one graph for claims."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        encoder: SentenceEncoder,
        *,
        weights: Mapping[str, float] = WEIGHTS,
        cache: FilePath | None = None,
    ) -> None:
        self.graph, self.encoder = graph, encoder
        self.weights = np.array([weights[name] for name in FEATURES])
        self._cache = EmbeddingCache(encoder, cache)
        self._texts: dict[int, Float32[np.ndarray, "t d"]] = {}
        self._phrases: dict[str, Float32[np.ndarray, "d"]] = {}
        self._own: Float32[np.ndarray, "r d"] | None = None

    def relations(self, words: ClaimWords, near: Sequence[int]) -> list[int]:
        """The relations that compete for a claim: ``near`` its names, and others."""
        n = len(self.graph.relations)
        if n <= MAX_RELATIONS:
            return list(range(n))
        if self._own is None:
            texts = [relation_texts(name)[0] for name in self.graph.relations]
            self._own = self._embed(texts)
        cosine = self._own @ self._phrase(words)
        best = np.argsort(-cosine, kind="stable")[:MAX_RELATIONS]
        return list(dict.fromkeys([*near, *best.tolist()]))

    def features(
        self,
        words: ClaimWords,
        relations: Sequence[int],
        ends_a: set[int],
        ends_b: set[int],
    ) -> Float64[np.ndarray, "2r f"]:
        """The features of each relation from A to B, then of each from B to A.

        Args:
            words: of the claim.
            relations: ids.
            ends_a: arc types that lead out of A.
            ends_b: and out of B.
        """
        half = len(self.graph.relations)
        phrase = self._phrase(words)
        self._need(relations)
        rows = []
        for r in relations:
            cosines = self._texts[r] @ phrase
            name = self.graph.relations[r]
            claim, own, domain = lexical_match(words, name)
            lexical = claim, own, claim * own, domain
            rows.append((1.0, cosines.max(), cosines[0], *lexical))
        base = np.array(rows).reshape(len(relations), len(FEATURES) - 4)
        ways = np.array([direction(words, self.graph.relations[r]) for r in relations])

        def part(sign: int, ends: set[int], others: set[int]) -> np.ndarray:
            out, back = (0, half) if sign > 0 else (half, 0)
            columns = [
                ways == sign,
                ways == -sign,
                [r + out in ends for r in relations],
                [r + back in others for r in relations],
            ]
            return np.column_stack([base, *(np.asarray(c, float) for c in columns)])

        return np.concatenate([part(1, ends_a, ends_b), part(-1, ends_a, ends_b)])

    def log_probabilities(
        self, features: Float64[np.ndarray, "2r f"], relations: Sequence[int]
    ) -> Float64[np.ndarray, "2r"]:
        """log P(the claim states this arc), against the others and none of them.

        Relations of the same words count once: a schema has a ``member_of`` for teams
        and one for nations, and they are no alternatives to each other.

        Args:
            features: of the relations, first from A to B.
            relations: ids.
        """
        logits = features @ self.weights
        names = [tuple(relation_words(self.graph.relations[r])) for r in relations]
        ids = {name: i for i, name in enumerate(dict.fromkeys(names))}
        one_way = np.array([ids[name] for name in names], int)
        groups = np.r_[one_way, one_way + len(ids)]
        best = np.full(2 * len(ids), -np.inf)
        np.maximum.at(best, groups, logits)
        return logits - np.logaddexp.reduce(np.r_[best, 0.0])

    def _phrase(self, words: ClaimWords) -> Float32[np.ndarray, "d"]:
        if (row := self._phrases.get(words.phrase)) is None:
            with self.encoder.lock:
                rows = self.encoder.encode([words.phrase], batch_size=QUESTION_BATCH)
            if len(self._phrases) >= MAX_PHRASES:
                self._phrases.clear()
            row = self._phrases[words.phrase] = rows[0].astype(np.float32)
        return row

    def _need(self, relations: Sequence[int]) -> None:
        """Embed the texts of relations that have no embeddings yet."""
        missing = [r for r in relations if r not in self._texts]
        if not missing:
            return
        texts = [relation_texts(self.graph.relations[r]) for r in missing]
        rows = self._embed([text for each in texts for text in each])
        bounds = np.cumsum([len(each) for each in texts])[:-1]
        for r, part in zip(missing, np.split(rows, bounds), strict=True):
            self._texts[r] = part

    def _embed(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        with self.encoder.lock:
            rows = self._cache.embed(list(texts), what="relations")
        return rows.astype(np.float32)
