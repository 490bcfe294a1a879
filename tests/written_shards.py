"""Tiny shards on disk, with random embeddings: no encoder, no data set, seconds.

Written by the package's own writers around a split of ``split_factory``. The planted
problem: the triplet whose relation is GOOD leads from the topic to the answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from split_factory import Built, Case, build_split

from data_prep.accounting import survival
from data_prep.write_shards import (
    write_manifest,
    write_split,
    write_tables,
    write_words,
)
from kgscout_jax.data.shards import DIRECTIONS, SPLITS, Ragged, Shards, Split
from kgscout_jax.text.words import distinct_words

DIMENSION = 16
GOOD = "is.good"
NUISANCE = [f"nuisance.{i}" for i in range(5)]

ENCODER = {
    "name": "random",
    "weights_sha256": "0" * 64,
    "dimension": DIMENSION,
    "text_version": 1,
    "query_prefix": "",
    "document_prefix": "",
}


def planted(i: int, triplets: int = 40) -> Case:
    """Question i: a hub with many edges, one of which is GOOD and leads on."""
    leaves = [
        (f"hub {i}", NUISANCE[(i + j) % len(NUISANCE)], f"leaf {i}.{j}")
        for j in range(triplets - 1)
    ]
    return Case(
        triplets=[*leaves, (f"hub {i}", GOOD, f"Answer {i}")],
        topics=[f"hub {i}"],
        answers=[f"answer {i}"],
        hop=1,
    )


NOWHERE = Case(triplets=[], topics=["Atlantis"], answers=["Mu"])
"""A question without topic and candidate."""

PLANTED = {
    "train": [planted(i) for i in range(40)],
    "dev": [planted(i) for i in range(40, 52)],
    "test": [*(planted(i) for i in range(52, 64)), planted(64, triplets=6), NOWHERE],
}


def write_shards(
    out: Path,
    cases: Mapping[str, Sequence[Case]] = PLANTED,
    *,
    encoder: dict[str, Any] | None = None,
    fingerprint: str = "tiny",
    seed: int = 0,
    table: str = "float16",
    **tables: np.ndarray,
) -> Shards:
    """A folder of shards.

    Args:
        out: the folder.
        cases: split -> its questions; ids are q0, q1, ... through all splits.
        encoder: differences from ENCODER.
        fingerprint: what the manifest says of the settings.
        seed: of the random embeddings.
        table: how triplet embeddings are stored.
        tables: ``triplet_embeddings`` or ``relation_embeddings`` in place of the
            random ones.
    """
    built = build_split(
        [case for name in SPLITS for case in cases.get(name, ())],
        dim=DIMENSION,
        seed=seed,
    )
    random = {
        "triplet_embeddings": correlated(built, seed),
        "relation_embeddings": built.relation_embeddings,
    }
    write_tables(
        out,
        entities=built.graph.entities,
        relations=built.graph.relations,
        triplets=built.graph.triplets,
        **(random | tables),
        table=table,
    )
    words = sorted(distinct_words(built.split.questions))
    rng = np.random.default_rng([seed, 1])
    vectors = rng.normal(size=(len(words), DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    write_words(out, words, vectors.astype(np.float16))
    counts: dict[str, Any] = {}
    low = 0
    for name in SPLITS:
        if name not in cases:
            continue
        split = part(built.split, name, low, low + len(cases[name]))
        low += len(cases[name])
        write_split(out, split)
        counts[name] = {
            "questions": len(split),
            "read": len(split),
            "dropped_without_answer": 0,
            "without_topic": 0,
            "without_answer_in_graph": 0,
            "topics_not_found": 0,
            "candidates": int(split.n_real.sum()),
            "width": int(split.candidates.shape[1]),
            "survival": survival(split),
        }
    about = {
        "source": "tiny",
        "settings": {},
        "encoder": ENCODER | (encoder or {}),
        "sources": [],
        "fingerprint": fingerprint,
        "graph": {"triplets": len(built.graph.triplets)},
        "splits": counts,
        "missing_splits": [name for name in SPLITS if name not in cases],
        "stages": {},
    }
    write_manifest(out, list(counts), about)
    return Shards.open(out)


def correlated(built: Built, seed: int) -> np.ndarray:
    """A triplet's embedding: half its relation's, half noise, as of a sentence."""
    rng = np.random.default_rng(seed + 1)
    relations = built.relation_embeddings[built.graph.triplets[:, 1]].astype(float)
    noise = rng.normal(size=relations.shape) / np.sqrt(DIMENSION)
    vectors = relations + noise
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return (vectors / lengths).astype(np.float16)


def part(split: Split, name: str, low: int, high: int) -> Split:
    """Questions ``low`` to ``high`` of a split, as one by another name."""

    def ragged(rows: Ragged) -> Ragged:
        begin, end = rows.offsets[low], rows.offsets[high]
        return Ragged(rows.values[begin:end], rows.offsets[low : high + 1] - begin)

    arrays = ("question_embeddings", "candidates", "nodes", "topics", "answers")
    return dataclasses.replace(
        split,
        name=name,
        questions=split.questions[low:high],
        n_nodes=split.n_nodes[low:high],
        node_ppr=ragged(split.node_ppr),
        **{key: getattr(split, key)[low:high] for key in arrays},
        **{
            kind: {way: ragged(getattr(split, kind)[way]) for way in DIRECTIONS}
            for kind in ("path_edges", "path_triplets")
        },
    )
