"""What a row without a name is called by: a voyage by its number VN-310.

Rows of events have no name, so that walks pass them as one step. Where one is the
answer, its address in a file tells people nothing.
"""

from __future__ import annotations

import re

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.row_id import table_of_row
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.text.relation_words import relation_words

_NUMBERING = frozenset("id no number code key ref reference uuid".split())
"""Last words of the columns that tell rows apart."""
_DIGITS = re.compile(r"[\d\W]+")


def row_label(graph: KnowledgeGraph, entity: int) -> str:
    """The name of an entity; of a row without one the number that no other row has.

    What holds letters goes before digits alone. Its id, where it has no such number.

    Args:
        graph: the graph.
        entity: of the graph.
    """
    name = str(graph.entities[entity])
    if table_of_row(name) is None:
        return name
    _, own = graph.by_head.rows(np.array([entity]))
    triplets = np.asarray(graph.triplets[own])
    last = [relation_words(graph.relation_names[r])[-1:] for r in triplets[:, 1]]
    tails = triplets[[bool(_NUMBERING.intersection(each)) for each in last], 2]
    tails = tails[graph.by_tail.degrees(tails) == 1]
    labels = sorted(texts_of(graph.entities, tails), key=_is_digits)
    return labels[0] if labels else name


def _is_digits(text: str) -> bool:
    return _DIGITS.fullmatch(text) is not None
