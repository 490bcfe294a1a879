"""A small graph with names, as the rules of retrieval read a question's candidates."""

from __future__ import annotations

from functools import partial

import numpy as np

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.local_graph import LocalGraph


def named_graph(triplets, topics):
    """The graph of these triplets, and the names of its nodes in their order."""
    names = sorted({name for h, _, t in triplets for name in (h, t)})
    relations = sorted({relation for _, relation, _ in triplets})
    around = LocalGraph(
        relations,
        np.array([relations.index(relation) for _, relation, _ in triplets]),
        np.array([[names.index(h), names.index(t)] for h, _, t in triplets]),
        [np.array([names.index(topic)]) for topic in topics],
        partial(texts_of, names),
    )
    return around, names
