"""Nodes by what is true or false of them, on a graph by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kgscout_jax.retrieve.flag_nodes import flag_nodes
from kgscout_jax.retrieve.local_graph import LocalGraph

NAMES = ["dish", "Falafel", "Moussaka", "Kebab", "yes", "no", "Greek", "Soup"]
NAMES += ["Ann", "Bo", "Cy", "F", "M"]
RELATIONS = ["type", "vegetarian", "is_very_spicy", "cuisine", "cooked by", "sex"]
TRIPLETS = [
    (1, 0, 0), (2, 0, 0), (3, 0, 0),
    (1, 1, 4), (2, 1, 5), (3, 1, 5), (7, 1, 4),
    (1, 2, 5), (2, 2, 5), (3, 2, 4), (2, 3, 6),
    (0, 4, 8), (0, 4, 9), (8, 5, 11), (9, 5, 12), (10, 5, 12),
]  # fmt: skip


def flagged(question):
    heads, relations, tails = np.array(TRIPLETS).T
    around = LocalGraph(
        RELATIONS,
        relations,
        np.stack([heads, tails], axis=1),
        [np.array([0])],
        lambda nodes: [NAMES[i] for i in nodes],
    )
    found = flag_nodes(question, around, len(NAMES))
    if found is None:
        return None
    return [NAMES[i] for i in np.flatnonzero(found.holders)], found.negated, found.rest


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which dishes are vegetarian?", (["Falafel"], False, "Which dishes are ?")),
        ("Which dishes are not vegetarian?", (["Moussaka", "Kebab"], True, None)),
        ("List very spicy dishes", (["Kebab"], False, "List dishes")),
        ("Which women cook dishes?", (["Ann"], False, "Which people cook dishes?")),
        ("Which male cooks make dishes?", (["Bo"], False, None)),
        ("Do men cook dishes?", None),
        ("Who won the Women's Dish Prize?", None),
        ("Which vegetarian dishes are very spicy?", None),  # none is both
        ("Which dishes are spicy?", None),  # not the whole name
        ("Is Falafel vegetarian?", None),
        ("What is the cuisine of dishes?", None),  # no yes or no
    ],
)
def test_the_nodes_that_have_what_the_question_names(question, expected):
    found = flagged(question)
    if expected is None or found is None:
        assert found is expected
    else:
        assert found[:2] == expected[:2]
        assert expected[2] in (None, found[2])
