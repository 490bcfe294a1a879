"""What a row without a name is called by: a voyage by its number VN-310.

Rows of events have no name, so that walks pass them as one step. Where one is the
answer, its address in a file tells people nothing.
"""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.row_id import table_of_row
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.text.relation_words import is_class_relation, relation_words
from kgscout_jax.text.values import is_date, quantity_of

_NUMBERING = frozenset("id no number code key ref reference uuid".split())
"""Last words of the columns that tell rows apart."""
_MAX_LABEL = 80
"""Characters of two names; longer ones are descriptions."""
_DIGITS = re.compile(r"[\d\W]+")


def row_label(graph: KnowledgeGraph, entity: int) -> str:
    """The name of an entity; of a row without one the number that no other row has.

    What holds letters goes before digits alone. Where it has no such number, what it
    joins and when, "Arden – Bray", or else its id.

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
    return labels[0] if labels else _label_of_facts(triplets, graph) or name


def _label_of_facts(triplets: Int[np.ndarray, "m 3"], graph: KnowledgeGraph) -> str:
    """The first two names that a row holds, and its day; "" where it has fewer.

    What has facts of its own goes before what only rows hold, as a currency.
    """
    names = graph.relation_names
    facts = [row for row in triplets.tolist() if not is_class_relation(names[row[1]])]
    nodes = np.array([tail for _, _, tail in facts], np.int64)
    nodes = nodes[np.argsort(graph.by_head.degrees(nodes) == 0, kind="stable")]
    tails = texts_of(graph.entities, nodes)
    days = [*filter(is_date, tails)]
    texts = [text for text in tails if quantity_of(text) is None and text not in days]
    if len(texts) < 2 or len("".join(texts[:2])) > _MAX_LABEL:
        return ""
    return ", ".join((" – ".join(texts[:2]), *days[:1]))


def _is_digits(text: str) -> bool:
    return _DIGITS.fullmatch(text) is not None
