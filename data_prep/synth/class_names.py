"""What entities are called by the triplets that state their class.

``Q12418, instance of, painting`` calls an entity a painting, as ``type`` does in RDF
and among the properties of Neo4j's nodes. Its other relations only hint at that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Integer

from data_prep.synth.readings import lexicon
from data_prep.synth.words import in_number, lemmas
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.relation_words import is_class_relation, split_words

CLASSES = 2_000
"""The most frequent classes, which are looked at."""
WORDS = 3
"""Words of a class at most: longer ones are descriptions."""
_PERSON = frozenset(("human", "human being", "people", "individual"))


def class_statements(
    graph: KnowledgeGraph, rows: Integer[np.ndarray, "m 3"]
) -> Iterator[tuple[Integer[np.ndarray, "k"], str]]:
    """(entities, their noun) of each class that has one.

    Args:
        graph: the graph.
        rows: those of its triplets that are looked at.
    """
    relations = [i for i, name in enumerate(graph.relations) if is_class_relation(name)]
    rows = rows[np.isin(rows[:, 1], relations)]
    classes, counts = np.unique(rows[:, 2], return_counts=True)
    frequent = classes[np.argsort(-counts, kind="stable")[:CLASSES]]
    for entity in map(int, frequent):
        noun = (
            "" if graph.unnamed_mask[entity] else class_phrase(graph.entities[entity])
        )
        if noun:
            yield np.unique(rows[rows[:, 2] == entity, 0]), noun


def class_phrase(name: str) -> str:
    """A class in singular, in the middle of a sentence; "" if it is no short noun.

    >>> [class_phrase(name) for name in ("TelevisionShow", "human", "Q5", "Thing")]
    ['television show', 'person', '', '']
    """
    words = split_words(name)
    if not words or len(words) > WORDS or not lemmas(words[-1], "NOUN"):
        return ""
    noun = in_number(" ".join(words), False)
    if noun in _PERSON:
        return "person"
    is_plain = all(word.isascii() and word.isalpha() for word in words)
    return noun if is_plain and noun not in lexicon()["generic"] else ""
