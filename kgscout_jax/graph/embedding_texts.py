"""The embedded texts of a graph's relations and triplets."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.arrays import NamedTriplets
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize, relation_phrase
from kgscout_jax.types import replace_surrogates


def relation_texts(graph: NamedTriplets, encoder: SentenceEncoder) -> list[str]:
    """The embedded text of each relation."""
    prefix = encoder.identity.document_prefix
    return [
        replace_surrogates(prefix + relation_phrase(name)) for name in graph.relations
    ]


def triplet_texts(
    graph: NamedTriplets, ids: Int[np.ndarray, "k"], encoder: SentenceEncoder
) -> list[str]:
    """The embedded text of each of the triplets ``ids``."""
    prefix = encoder.identity.document_prefix
    rows = np.asarray(graph.triplets[ids]).tolist()
    entities, relations = graph.entities, graph.relations
    ends = {i: str(entities[i]) for row in rows for i in (row[0], row[2])}
    return [
        replace_surrogates(prefix + linearize((ends[h], str(relations[r]), ends[t])))
        for h, r, t in rows
    ]
