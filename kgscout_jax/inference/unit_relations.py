"""The relation whose values are in the unit of a question's limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.value_test import MIN_VALUE_SHARE
from kgscout_jax.text.units import dimension_of
from kgscout_jax.text.value_words import word_key
from kgscout_jax.text.values import quantity_of

MAX_RELATIONS = 50
"""The most relations whose values are read."""
MAX_SAMPLE = 500_000
"""Triplets among which their values are looked for."""
MAX_TAILS = 20
"""The most values of a relation that are read."""
_SAID = {
    "time": "time duration run runs last lasts take takes",
    "mass": "mass weight weigh weighs",
    "length": "length measure measures",
    "data": "data memory storage space capacity",
}
"""What says no more than the dimension of a unit: "run for more than 36 months"."""


def relations_in(dimension: str, graph: KnowledgeGraph) -> list[int]:
    """The relations whose values are in units of a dimension, save a few.

    "Vehicles of over 100 kW" says the power where one column is in kW. None in a graph
    of many relations.
    """
    n = len(graph.relation_names)
    if not dimension or n > MAX_RELATIONS:
        return []
    _, relations, tails = np.asarray(graph.triplets[:MAX_SAMPLE]).T
    values = (np.unique(tails[relations == i])[:MAX_TAILS] for i in range(n))
    return [
        i
        for i, each in enumerate(values)
        if _are_in(dimension, texts_of(graph.entities, each))
    ]


def _are_in(dimension: str, names: Sequence[str]) -> bool:
    """Whether most of these values are in units of a dimension."""
    found = [*map(quantity_of, names)]
    real = [each.unit for each in found if each is not None]
    fitting = sum(dimension_of(unit) == dimension for unit in real)
    return fitting >= max(1, MIN_VALUE_SHARE * len(found))


def dimension_keys(dimension: str) -> frozenset[str]:
    """Keys of words that say no more than a dimension, see ``word_key``."""
    return frozenset(map(word_key, _SAID.get(dimension, dimension).split()))
