"""Nodes that a question of one clause asks for, on a graph by hand."""

import numpy as np

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.stated_nodes import stated_ends, stated_nodes

NAMES = ["Ann", "Bo", "Cy", "Di"]
RELATIONS = ["mentored_by", "likes"]
# Bo was mentored by Ann, Ann by Cy; Ann likes Di.
NODES = np.array([[1, 0], [0, 2], [0, 3]])


def stated(question, impossible=(), topics=("Ann",)):
    around = LocalGraph(
        RELATIONS,
        np.array([0, 0, 1]),
        NODES,
        [np.array([NAMES.index(topic)]) for topic in topics],
        lambda ids: [NAMES[i] for i in ids],
    )
    possible = ~np.isin(np.arange(len(NAMES)), list(impossible))
    found = stated_nodes(stated_ends(question, topics, around), around, possible)
    return None if found is None else np.flatnonzero(found).tolist()


def test_the_nodes_at_the_end_that_is_asked_for_are_stated():
    assert stated("Who mentored Ann?") == [2]
    assert stated("Who was mentored by Ann?") == [1]
    assert stated("Who does Ann like?") == [3]


def test_nothing_is_stated_by_other_words_of_two_topics_or_of_impossible_nodes():
    assert stated("Who taught Ann?") is None
    assert stated("Who mentored Ann?", impossible=[2]) is None
    assert stated("Who mentored Ann?", topics=("Ann", "Bo")) is None
