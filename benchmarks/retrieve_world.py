"""What the retrieval benchmark asks: generated graphs, questions, a policy to score by.

Degrees follow a power law, names are made of words, and topics are drawn so that about
a given number of triplets lies within two hops. Relation phrases have their real
embeddings, because the walk follows them; those of triplets are random rows, because no
time depends on them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float16, Int32

from kgscout_jax import KnowledgeGraph
from kgscout_jax.errors import UserError
from kgscout_jax.graph.embedding_table import EmbeddingTable
from kgscout_jax.graph.embedding_texts import relation_texts
from kgscout_jax.graph.fingerprint import name_fingerprints
from kgscout_jax.graph.walk.subgraph import balls
from kgscout_jax.text.encoder import SentenceEncoder

PER_BALL, MORE, ENOUGH = 2.4, 40, 60_000
"""Triplets of a graph: so many times those around a topic; more up to so many."""
RELATIONS = 300
HOPS = 2
WORDS = """
amber anchor apple arrow autumn badger barley basin beacon birch bishop bridge canal
candle canyon castle cedar chapel cherry cinder cliff clover copper coral cotton
cradle crescent crown dale desert dragon eagle elm ember falcon fern field finch
forest fountain garden garnet glacier granite harbour harvest hazel heron hollow
island ivory jasper juniper kestrel lagoon lantern larch laurel lemon lily linden
lion maple marble meadow mill mirror moss mountain oak olive orchard otter palace
pearl pepper pine plum poplar prairie quarry quartz raven reed ridge river robin
rose saffron sand silver spring stone summit swan temple thistle timber tower valley
velvet village violet walnut water willow winter wolf yarrow
""".split()
KINDS = """person place film book album award team company river city country language
school event office artist region species sport work""".split()
LINKS = (
    """
born in, member of, part of, located near, directed by, written by, founded by,
capital of, spoken in, married to, named after, located in, child of, owned by,
produced by
""".strip()
    .replace("\n", " ")
    .split(", ")
)


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A graph and questions about it."""

    graph: KnowledgeGraph
    questions: list[str]
    topics: list[str]
    """Of each question its one topic."""
    around: float
    """Triplets within two hops of a topic, mean."""


def name_of(number: int) -> str:
    """Two words or more, others for each number."""
    words = []
    while number or len(words) < 2:
        number, word = divmod(number, len(WORDS))
        words.append(WORDS[word])
    return " ".join(words)


def relation_of(number: int) -> str:
    """A relation as Freebase writes them, another for each number."""
    number, link = divmod(number, len(LINKS))
    number, kind = divmod(number, len(KINDS))
    link = LINKS[link].replace(" ", "_")
    return (
        f"{KINDS[kind]}.{WORDS[number]}.{link}" if number else f"{KINDS[kind]}.{link}"
    )


def make_world(
    size: int, questions: int, encoder: SentenceEncoder, triplets: int | None = None
) -> World:
    """A world with about ``size`` triplets around each topic.

    Args:
        size: triplets within two hops of a topic.
        questions: the number of questions.
        encoder: embeds the relations.
        triplets: of the whole graph; None: ``PER_BALL`` times ``size``, or more.

    Raises:
        UserError: no entity of the graph has so many around it.
    """
    rng = np.random.default_rng(size)
    triplets = triplets or max(int(PER_BALL * size), min(MORE * size, ENOUGH))
    entities = triplets // 3
    heads = np.minimum(rng.pareto(1.0, triplets) * 20, entities - 1).astype(int)
    tails = rng.integers(0, entities, triplets)
    kinds = np.minimum(rng.pareto(1.0, triplets) * 5, RELATIONS - 1).astype(int)
    names = [name_of(i) for i in rng.permutation(entities).tolist()]
    relations = [relation_of(i) for i in range(RELATIONS)]
    rows = zip(heads.tolist(), kinds.tolist(), tails.tolist(), strict=True)
    graph = KnowledgeGraph.from_triplets(
        (names[h], relations[r], names[t]) for h, r, t in rows
    )
    digest = encoder.identity.fingerprint
    graph.embeddings.by_encoder[digest] = EmbeddingTable(
        graph.triplets,
        random_units(len(graph.triplets), encoder.identity.dimension, rng),
        encoder.encode(relation_texts(graph, encoder)),
        name_fingerprints(graph),
    )
    chosen, around = topics_of(graph, min(questions, 50), size, rng)
    topics = [str(graph.entities[i]) for i in chosen]
    topics = [topics[i % len(topics)] for i in range(questions)]
    asked = rng.choice(LINKS, questions)
    kinds = rng.choice(KINDS, questions)
    texts = [
        f"which {kind} is {link} {topic}?"
        for kind, link, topic in zip(kinds, asked, topics, strict=True)
    ]
    return World(graph=graph, questions=texts, topics=topics, around=around)


def random_units(
    count: int, d: int, rng: np.random.Generator
) -> Float16[np.ndarray, "n d"]:
    """Rows of length 1, about as long as embeddings are."""
    out = np.empty((count, d), np.float16)
    for low in range(0, count, 1 << 16):
        rows = rng.standard_normal((min(1 << 16, count - low), d), np.float32)
        out[low : low + len(rows)] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return out


def topics_of(
    graph: KnowledgeGraph, most: int, size: int, rng: np.random.Generator
) -> tuple[Int32[np.ndarray, "t"], float]:
    """Up to ``most`` entities with about ``size`` triplets around them; the mean size.

    Raises:
        UserError: there is none.
    """
    heads, tails = graph.triplets[:, 0], graph.triplets[:, 2]
    degree = np.bincount(np.r_[heads, tails], minlength=len(graph.entities))
    # Triplets of the neighbours, shared ones more than once: nearly the ball's size.
    near = np.bincount(heads, degree[tails]) if len(heads) else np.empty(0)
    near = np.pad(near, (0, len(degree) - len(near)))
    near += np.bincount(tails, degree[heads], minlength=len(degree))
    likely = rng.permutation(np.flatnonzero((near > 0.8 * size) & (near < 2 * size)))
    found: list[tuple[int, int]] = []
    for entity in likely[: 20 * most].astype(np.int32):
        ball = len(balls(graph, [np.array([entity])], HOPS))
        if 0.75 * size <= ball <= 1.33 * size:
            found.append((int(entity), ball))
            if len(found) == most:
                break
    if not found:
        raise UserError(
            f"--sizes: no entity of {len(degree)} has about {size} triplets around it"
        )
    chosen, sizes = zip(*found, strict=True)
    return np.array(chosen, np.int32), float(np.mean(sizes))


def bytes_of(graph: KnowledgeGraph, encoder: SentenceEncoder) -> dict[str, int]:
    """Bytes of a graph in memory: triplets with their indices, names, embeddings."""
    table = graph.embeddings.tables[encoder.identity.fingerprint]
    arrays = [graph.triplets]
    for side in (graph.by_head, graph.by_tail):
        arrays += [a for a in (side.offsets, side.triplet_ids) if a is not None]
    names = [*graph.entities, *graph.relations]
    return {
        "triplets": sum(array.nbytes for array in arrays),
        "names": sum(map(sys.getsizeof, names)),
        "embeddings": table.triplets.nbytes + table.relations.nbytes,
    }


def make_export(folder: Path, encoder: SentenceEncoder) -> Path:
    """An exported policy of the default size, its parameters as training starts."""

    from kgscout_jax.export.write import export_policy
    from kgscout_jax.learn.trained_policy import TrainedPolicy
    from kgscout_jax.policy.dual_tower import DualTowerConfig
    from kgscout_jax.policy.module import Policy

    dimension = encoder.identity.dimension
    config = DualTowerConfig(dimension=dimension, ppr_mean=(-8, -8), ppr_std=(2, 2))
    settings = {"hops": HOPS, "max_triplets": 2000, "candidates": 1000}
    settings |= {"direction": "both", "cut": "guided", "select": "hybrid"}
    shards = {"source": "kg", "fingerprint": "none", "settings": settings}
    about = {"config": {}, "policy": config.to_dict(), "shards": shards}
    about["encoder"] = encoder.identity.to_dict()
    policy = Policy.initial(config, 0)
    return export_policy(TrainedPolicy(policy, 0, about), folder / "policy")
