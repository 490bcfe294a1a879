"""The list of what edges are called."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kgscout_jax.graph.read import edge_kinds
from kgscout_jax.graph.read.edge_kinds import EdgeKind, edge_kind


@pytest.mark.parametrize(
    ("relation", "noun"),
    [
        ("FLIES_TO", "flight"), ("was paid by", "payment"), ("hasReviewed", "review"),
        ("transferred", "transfer"), ("shipping", "shipment"), ("roads", "road"),
        ("lives_in", "residence"), ("ACTED_IN", None), ("road_sign", None), ("", None),
    ],
)  # fmt: skip
def test_edges_are_called_by_their_relation(relation, noun):
    found = edge_kind(relation)
    assert (found and found.noun) == noun


def test_each_word_of_the_list_stands_for_one_kind():
    text = Path(edge_kinds.__file__).with_suffix(".txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line[0] != "#"]
    words = Counter[str]()
    for line in lines:
        before, _, verbs = line.partition(":")
        words.update({before.split()[0], *verbs.split()})
    assert words.most_common(1)[0][1] == 1
    kinds = [edge_kind(line.split()[0].rstrip(":")) for line in lines]
    assert len({kind.noun for kind in kinds if kind}) == len(lines)
    assert EdgeKind("sale", "seller") in kinds
