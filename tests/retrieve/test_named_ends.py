"""Names say what they name where neither relations nor classes do."""

from __future__ import annotations

from functools import partial

import numpy as np

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.kind_mask import kind_mask
from kgscout_jax.retrieve.kind_penalties import PENALTY
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_ends import named_ends

NAMES = ["Mann", "Barlow Chambers", "Ames LLP", "Tess Devlin", "Ivo Chambers"]
NODES = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [0, 4]])


def graph(relations, index):
    return LocalGraph(
        relations, np.array(index), NODES, [np.array([0])], partial(texts_of, NAMES)
    )


def test_a_share_of_the_names_at_an_end_names_all_of_them():
    around = graph(["sits with", "met"], [0, 0, 1, 1, 1])
    # Of two tails of the first relation one is called so, of two of the second one.
    assert named_ends({"chamber"}, around).tolist() == [[False, True]] * 2
    assert not named_ends({"court"}, around).any()


def test_what_no_relation_calls_so_is_told_by_names():
    question = "Which chambers does Mann belong to?"
    mask = partial(kind_mask, question, ["Mann"], unnamed=np.zeros(5, bool))
    found = mask(around=graph(["sits with", "mother"], [0, 0, 1, 1, 1]))
    assert found.penalties.tolist() == [PENALTY, 0, 0, PENALTY, PENALTY]
    # A relation that says what is there is not overruled by names.
    mothers = mask(around=graph(["mother", "sits with"], [0, 0, 1, 1, 1]))
    assert mothers is None or mothers.penalties[1] > 0
