"""Types by relations that name two of them, on a graph by hand."""

import numpy as np

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.type_pairs import type_pair, type_pairs

NAMES = ["aspirin", "ibuprofen", "TP53", "ACE", "apoptosis", "nausea"]
RELATIONS = ["drug_protein", "drug_drug", "protein_protein", "bioprocess_protein", "is"]
ROWS = [
    ("aspirin", 0, "TP53"),
    ("ibuprofen", 0, "ACE"),
    ("aspirin", 1, "ibuprofen"),
    ("TP53", 2, "ACE"),
    ("TP53", 3, "apoptosis"),
    ("ACE", 3, "apoptosis"),
]


def types(rows, repeats=1):
    triplets = rows * repeats
    place = NAMES.index
    around = LocalGraph(
        RELATIONS,
        np.array([relation for _, relation, _ in triplets]),
        np.array([(place(head), place(tail)) for head, _, tail in triplets]),
        [np.array([0])],
        lambda ids: [NAMES[i] for i in ids],
    )
    return type_pairs(around, len(NAMES))


def called(found, noun):
    return {n for n, x in zip(NAMES, found.named([noun]), strict=True) if x}


def both_ways(rows):
    return [*rows, *((tail, relation, head) for head, relation, tail in rows)]


def test_other_relations_and_the_nodes_beside_tell_which_type_a_node_is():
    found = types(both_ways(ROWS), repeats=2)
    assert found.relations.tolist() == [True, True, True, True, False]
    assert called(found, "drug") == {"aspirin", "ibuprofen"}
    assert called(found, "protein") == {"TP53", "ACE"}
    assert called(found, "bioprocess") == {"apoptosis"}


def test_relations_of_one_direction_name_no_pair():
    found = types(ROWS, repeats=4)
    assert not found.relations.any() and not called(found, "drug")


def test_names_of_verbs_and_prepositions_name_no_pair():
    names = ["drug_protein", "lives_in", "married_to", "treats disease", "name"]
    assert [type_pair(name) is not None for name in names] == [True] + 4 * [False]
