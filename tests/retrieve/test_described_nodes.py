"""Words before the asked noun name attributes that its nodes have."""

from __future__ import annotations

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.described_nodes import described_nodes
from kgscout_jax.retrieve.kind_mask import kind_of_class
from kgscout_jax.retrieve.unsaid_steps import NOUN_DOUBT

CARDS = [
    ("Loatheb", "set", "Naxx"),
    ("Kel", "set", "Naxx"),
    ("Egg", "set", "Naxx"),
    ("Loatheb", "rarity", "Legendary"),
    ("Kel", "rarity", "Legendary"),
    ("Egg", "rarity", "Rare"),
    ("Hogger", "rarity", "Legendary"),
    ("Kel", "class", "Mage"),
    ("Hogger", "class", "Mage"),
    ("Loatheb", "type", "minion"),
    ("Egg", "type", "minion"),
]


@pytest.mark.parametrize(
    ("question", "topics", "expected"),
    [
        ("which legendary minions are from Naxx", ["Naxx"], {"Loatheb", "Kel"}),
        ("which mage cards are there", [], {"Kel", "Hogger"}),
        ("which mage cards are from Naxx", ["Naxx"], {"Kel"}),
        # one holder may be a name, and the others are not said
        ("which rare minions are from Naxx", ["Naxx"], None),
        ("which minions are from Naxx", ["Naxx"], None),
        ("which legendary minions are there", ["Legendary"], None),
        ("who made Naxx", ["Naxx"], None),
    ],
)
def test_those_with_every_attribute_that_is_named(question, topics, expected):
    around, names = named_graph(CARDS, topics)
    mask = described_nodes(question, topics, around, np.ones(len(names), bool))
    found = None if mask is None else {n for n, m in zip(names, mask, strict=True) if m}
    assert found == expected


def test_a_class_is_asked_for_though_it_is_the_topic():
    assert kind_of_class("which minion is the best", ["minion"]) is not None
    assert kind_of_class("which Minion is the best", ["Minion"]) is None
    assert kind_of_class("What is Loatheb?", ["Loatheb"]) is None


def test_what_nothing_says_of_a_class_has_no_answer():
    around, names = named_graph(CARDS, ["minion"])
    no = np.zeros(len(names), bool)
    for question, least in (
        ("which minions have the nicest color", NOUN_DOUBT),
        ("which minions are there", 0),
    ):
        found = question_constraints(question, ["minion"], None, around, no)
        assert found.unsaid is not None
        assert set(found.unsaid.tolist()) == {least}
