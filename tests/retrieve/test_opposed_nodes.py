"""What "to" and "from" rule out, where relations differ in nothing else."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.opposed_nodes import opposed_nodes
from kgscout_jax.text.asked_kind import question_tokens

# Ann went from Rapid to Sparta by T1; Bo from Sparta to Rapid by T2, and Cy by T3.
NAMES = ["Rapid", "Sparta", "T1", "T2", "T3", "Ann", "Bo", "Cy"]
RELATIONS = ["sold_to", "sold_from", "player"]
FACTS = [
    ("T1", 0, "Sparta"), ("T1", 1, "Rapid"), ("T1", 2, "Ann"),
    ("T2", 0, "Rapid"), ("T2", 1, "Sparta"), ("T2", 2, "Bo"),
    ("T3", 0, "Rapid"), ("T3", 1, "Sparta"), ("T3", 2, "Cy"),
]  # fmt: skip


def found_of(question, topics, facts=FACTS, relations=RELATIONS):
    """(what is meant, what only the other direction leads to), of all levels."""
    around = LocalGraph(
        relations,
        np.array([r for _, r, _ in facts]),
        np.array([(NAMES.index(h), NAMES.index(t)) for h, _, t in facts]),
        [np.array([NAMES.index(topic)]) for topic in topics],
        partial(texts_of, NAMES),
    )
    words = question_tokens(question, topics)
    levels = opposed_nodes(question, words, around, len(NAMES))
    named = lambda masks: {NAMES[i] for mask in masks for i in np.flatnonzero(mask)}  # noqa: E731
    return named(each.meant for each in levels), named(each.other for each in levels)


@pytest.mark.parametrize(
    ("question", "topics", "other"),
    [
        ("transfers to Rapid", ["Rapid"], {"T1", "Ann"}),
        ("which players came from the Rapid", ["Rapid"], {"T2", "T3", "Bo", "Cy"}),
        ("how many outgoing transfers has Rapid", ["Rapid"], {"T2", "T3", "Bo", "Cy"}),
        ("which club was Ann sold to?", ["Ann"], {"Rapid"}),
        ("from which club did Ann come?", ["Ann"], {"Sparta"}),
        ("who plays for Rapid?", ["Rapid"], set()),
    ],
)
def test_a_preposition_rules_out_the_other_direction(question, topics, other):
    meant, found = found_of(question, topics)
    assert found - {"Sparta", "Rapid"} == other - {"Sparta", "Rapid"}
    assert other <= found and not meant & other


def test_topics_that_a_caller_names_in_another_order_keep_their_prepositions():
    question = "transfers from Rapid to Sparta"
    for topics in (["Rapid", "Sparta"], ["Sparta", "Rapid"]):
        meant, other = found_of(question, topics)
        assert "T1" in meant and {"T2", "T3"} <= other


def test_a_relation_without_an_opposite_rules_nothing_out():
    relations = ["sold_to", "bought_by", "player"]
    assert (
        found_of("transfers to Rapid", ["Rapid"], relations=relations) == ({*()},) * 2
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES[2:5]), st.integers(0, 2), st.sampled_from(NAMES)
        ),
        min_size=1,
        unique=True,
    )
)
def test_what_is_ruled_out_equals_a_slow_account(facts):
    if {0, 1} - {r for _, r, _ in facts}:
        return  # both relations have triplets

    def steps(relation):
        first = {h if t == "Rapid" else t for h, r, t in facts
                 if r == relation and "Rapid" in (h, t)} - {"Rapid"}  # fmt: skip
        ends = [{h, t} for h, _, t in facts if {h, t} & first]
        return first, set().union(*ends) - first - {"Rapid"}

    (near, far), (other_near, other_far) = steps(0), steps(1)
    _, other = found_of("transfers to Rapid", ["Rapid"], facts)
    assert other == (other_near - near) | (other_far - far - near)


def test_what_is_meant_takes_the_rank_of_the_other_direction():
    around = LocalGraph(
        RELATIONS,
        np.array([r for _, r, _ in FACTS]),
        np.array([(NAMES.index(h), NAMES.index(t)) for h, _, t in FACTS]),
        [np.array([0])],
        partial(texts_of, NAMES),
    )
    near, _ = opposed_nodes("moves to Rapid", ["moves", "to", ""], around, len(NAMES))
    logits = np.array([0, 0, 5, 2, 1, 0, 0, 0], np.float32)
    new = near.logits(logits, 10.0)
    assert new[[2, 3, 4]].tolist() == [-5, 5, 4]
    assert np.array_equal(near.logits(new, 0.0), new)  # it is ahead already
