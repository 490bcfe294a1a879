"""Facts of graphs that pseudo-triplets find, and their two-step pruning.

Each pseudo-triplet is compared, by the cosine of embeddings, with every triplet of the
graphs; no schema is needed. Of what all of them find, the entities with most facts stay
(first step), then those whose facts have a mean score of the threshold or more
(second step).

What the notes leave open, and how it is here:

- a fact that several pseudo-triplets find counts once, with its best score;
- an entity's facts are those with it at either end, because many graphs write a
  relation in one direction only; ``heads`` counts subjects alone, as the paper does;
- where a fact ends at an entity without a name, such as a mediator of Freebase, the
  others of that entity come along, with its score;
- of entities with equally many facts those with the higher mean come first, then those
  found first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, Int64

from kgscout_jax.graph.arrays import Adjacency
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.pseudo.settings import Ends
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize, relation_phrase
from kgscout_jax.types import Triplet, entity_key, replace_surrogates

BLOCK = 1 << 14
"""Rows of a table that are compared at once."""
BESIDE = 6
"""The most triplets that come along with one that ends at an unnamed entity."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A triplet of a graph, and how well it fits."""

    triplet: Triplet
    score: float
    """Cosine, or a chance between 0 and 1."""
    sources: tuple[str, ...] = ()
    """The graphs that hold it."""


class FactSource(Protocol):
    """Where pseudo-graphs are looked up."""

    @property
    def has_cosines(self) -> bool:
        """Whether scores are cosines, which a threshold can be held against."""
        ...

    def search(
        self, questions: Sequence[str], drafts: Sequence[Sequence[Triplet]], n: int
    ) -> list[list[Fact]]:
        """Per question the facts found, ``n`` for each pseudo-triplet, best first."""
        ...


Rows = Callable[[Int64[np.ndarray, "k"]], Float[np.ndarray, "k d"]]


@dataclass(frozen=True, kw_only=True)
class VectorFacts:
    """The embedded triplets of a graph, found by cosine."""

    size: int
    rows: Rows
    """Embeddings of some triplets, of unit length."""
    triplet: Callable[[int], Triplet]
    embed: Callable[[Sequence[str]], Float[np.ndarray, "n d"]]
    """Embeddings of pseudo-triplets as texts."""
    sources: Callable[[int], tuple[str, ...]] = field(default=lambda _: ())
    """The graphs that state a triplet."""
    beside: Callable[[int], Sequence[int]] = field(default=lambda _: ())
    """Triplets that share an entity without a name with one."""
    has_cosines: bool = True

    def search(
        self, questions: Sequence[str], drafts: Sequence[Sequence[Triplet]], n: int
    ) -> list[list[Fact]]:
        """As ``FactSource``."""
        texts = [linearize(each) for draft in drafts for each in draft]
        if not texts:
            return [[] for _ in drafts]
        queries = np.asarray(self.embed(texts), np.float32)
        ids, scores = nearest(queries, self.rows, self.size, n)
        rows = iter(zip(ids.tolist(), scores.tolist(), strict=True))
        return [
            unique_facts(
                [
                    Fact(self.triplet(j), score, self.sources(j))
                    for near in [next(rows) for _ in draft]
                    for i, score in zip(*near, strict=True)
                    for j in (i, *self.beside(i))
                ]
            )
            for draft in drafts
        ]


def graph_facts(graph: KnowledgeGraph, encoder: SentenceEncoder) -> VectorFacts:
    """The facts of a graph, or of several as one; it is embedded whole if it is not.

    Of a merged graph a fact that several schemas put in other words is one fact.
    """
    members = graph.members

    def triplet(i: int) -> Triplet:
        return graph.triplet(i if members is None else int(members.facts[i]))

    def sources(i: int) -> tuple[str, ...]:
        return () if members is None else members.sources(np.array([i]))[0]

    ends = (graph.by_head, graph.by_tail)
    return VectorFacts(
        size=len(graph),
        rows=graph.embed(encoder).rows,
        triplet=triplet,
        embed=query_embedder(encoder),
        sources=sources,
        beside=beside_unnamed(graph.triplets, graph.unnamed_mask, ends),
    )


def beside_unnamed(
    triplets: Int[np.ndarray, "m 3"],
    unnamed: Bool[np.ndarray, "e"],
    ends: Sequence[Adjacency],
) -> Callable[[int], list[int]]:
    """Finds triplets that share an entity without a name with one, at most ``BESIDE``.

    Args:
        triplets: head, relation, tail.
        unnamed: True at entities without a name.
        ends: the triplets by head, and by tail.
    """

    def beside(i: int) -> list[int]:
        nodes = [node for node in triplets[i, [0, 2]].tolist() if unnamed[node]]
        if not nodes:
            return []
        ids = np.concatenate([each.rows(np.array(nodes))[1] for each in ends])
        return [j for j in np.unique(ids).tolist() if j != i][:BESIDE]

    return beside


def query_embedder(
    encoder: SentenceEncoder,
) -> Callable[[Sequence[str]], Float[np.ndarray, "n d"]]:
    """Embeds texts as triplets of graphs are embedded, through the cache."""
    cache, prefix = EmbeddingCache(encoder), encoder.identity.document_prefix

    def embed(texts: Sequence[str]) -> Float[np.ndarray, "n d"]:
        with encoder.lock:
            return cache.embed(
                [replace_surrogates(prefix + text) for text in texts],
                what="pseudo-triplets",
            )

    return embed


def nearest(
    queries: Float32[np.ndarray, "q d"], rows: Rows, m: int, n: int
) -> tuple[Int64[np.ndarray, "q k"], Float32[np.ndarray, "q k"]]:
    """(ids, cosines) of the min(n, m) rows nearest to each query, ties by id."""
    ids = np.empty((len(queries), 0), np.int64)
    best = np.empty((len(queries), 0), np.float32)
    for low in range(0, m, BLOCK):
        block = np.arange(low, min(low + BLOCK, m))
        scores = queries @ np.asarray(rows(block), np.float32).T
        best = np.concatenate([best, scores], axis=1)
        ids = np.concatenate([ids, np.broadcast_to(block, scores.shape)], axis=1)
        # earlier ids stand first, so a stable order breaks ties by id
        order = np.argsort(-best, axis=1, kind="stable")[:, :n]
        ids = np.take_along_axis(ids, order, axis=1)
        best = np.take_along_axis(best, order, axis=1)
    return ids, best


def unique_facts(facts: Sequence[Fact]) -> list[Fact]:
    """Each fact once, with its best score and the graphs that hold it, best first.

    Facts are the same if their ends are the same entities and their relations read the
    same.
    """
    once: dict[Triplet, Fact] = {}
    for fact in facts:
        head, relation, tail = fact.triplet
        key = entity_key(head), relation_phrase(relation), entity_key(tail)
        if (other := once.get(key)) is not None:
            sources = tuple(dict.fromkeys((*other.sources, *fact.sources)))
            best = max(other, fact, key=lambda one: one.score)
            fact = replace(best, sources=sources)
        once[key] = fact
    return sorted(once.values(), key=lambda fact: -fact.score)


def prune(
    facts: Sequence[Fact], *, entities: int, threshold: float, ends: Ends = "both"
) -> list[Fact]:
    """The facts of the entities that both steps leave, entity by entity.

    Args:
        facts: each once.
        entities: first step: how many entities, those with most facts.
        threshold: second step: the least mean score of an entity's facts.
        ends: where an entity stands in its facts.

    Returns:
        facts of the entity with the highest mean first, each once; of an entity the
        best first.
    """
    groups: dict[str, dict[int, None]] = {}
    for i, fact in enumerate(facts):
        head, _, tail = fact.triplet
        for name in (head,) if ends == "heads" else (head, tail):
            groups.setdefault(entity_key(name), {})[i] = None
    confidence = {
        name: sum(facts[i].score for i in group) / len(group)
        for name, group in groups.items()
    }
    frequent = sorted(groups, key=lambda name: (-len(groups[name]), -confidence[name]))
    left = [name for name in frequent[:entities] if confidence[name] >= threshold]
    left.sort(key=lambda name: -confidence[name])
    order = dict.fromkeys(
        i
        for name in left
        for i in sorted(groups[name], key=lambda i: (-facts[i].score, i))
    )
    return [facts[i] for i in order]
