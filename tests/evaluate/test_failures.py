"""Failure analysis: each wrong answer in its one category, against networkx."""

import dataclasses

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import shards_of, with_split
from split_factory import Case

from kgscout_jax.evaluate.answers.failures import (
    DEFINITIONS,
    FAILURES,
    examples,
    failure_causes,
    shares,
)
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.protocol import rank_candidates
from kgscout_jax.types import Question

CHAIN = [("topic", "r", "middle"), ("middle", "r", "end"), ("other", "r", "end")]


def first_in_order(shards, split, k=10):
    """Candidates as they stand."""
    scores = -np.broadcast_to(
        np.arange(split.candidates.shape[1]), split.candidates.shape
    )
    return rank_candidates("given", shards, split, scores, k)


def case(order, answers=("end",), topics=("topic",)):
    """The chain, with those of its triplets as candidates, in that order.

    By id: 0 topic-middle, 1 middle-end, 2 other-end.
    """
    return Case(triplets=CHAIN, topics=topics, answers=answers, candidates=order)


def test_each_cause_by_hand():
    shards, split = shards_of(
        [
            case([0, 1]),  # the answer is in the second triplet
            case([2, 0]),  # the answer without a path to it
            case([0]),  # in the graph, not a candidate
            case([0], answers=("nowhere",)),
            case([1], answers=("middle",), topics=("middle",)),  # its own answer
            case([0, 1], answers=()),
        ]
    )
    causes = failure_causes(shards, split, first_in_order(shards, split), [1, 2])
    assert causes[1] == [
        "not_in_top_k", "no_path", "lost_by_cut", "not_in_graph", "misread",
        "not_in_graph",
    ]  # fmt: skip
    assert causes[2] == ["misread", *causes[1][1:]]


def test_another_systems_triplets_may_lie_outside_our_graph(tmp_path):
    """Its answer need not be among our candidates, nor in our graph."""
    shards, split = shards_of([case([0], answers=("Elsewhere",))])
    path = tmp_path / "retrieved.jsonl"
    path.write_text(
        '{"id": "q0", "triplets": [["Topic", "r", "x"], ["elsewhere", "r", "X"]]}\n'
    )
    rankings = External(path).rank(shards, split, 2)
    assert failure_causes(shards, split, rankings, [1, 2]) == {
        1: ["not_in_graph"],
        2: ["misread"],
    }


entity = st.integers(0, 6).map("e{}".format)
triplet = st.tuples(entity, st.sampled_from("rs"), entity)


@st.composite
def questions(draw):
    triplets = sorted(set(draw(st.lists(triplet, min_size=1, max_size=10))))
    order = draw(st.permutations(range(len(triplets))))
    return Case(
        triplets=triplets,
        topics=draw(st.lists(entity, max_size=2, unique=True)),
        answers=draw(st.lists(entity, max_size=2, unique=True)),
        candidates=order[: draw(st.integers(0, len(order)))],
    )


@given(st.lists(questions(), min_size=1, max_size=4), st.integers(1, 6))
def test_causes_agree_with_networkx(cases, k):
    shards, split = shards_of(cases)
    causes = failure_causes(shards, split, first_in_order(shards, split), [k])[k]
    everywhere = {end for one in cases for h, _, t in one.triplets for end in (h, t)}
    names = shards.entities
    for i, (one, cause) in enumerate(zip(cases, causes, strict=True)):
        ids = split.candidates[i][split.candidates[i] >= 0]
        triplets = [tuple(names[e] for e in shards.triplets[j][[0, 2]]) for j in ids]
        kept = nx.MultiGraph(triplets[:k])
        held = [answer for answer in one.answers if answer in kept]
        paths = [
            answer
            for answer in held
            for topic in one.topics
            if topic in kept and nx.has_path(kept, topic, answer)
        ]
        candidates = {end for pair in triplets for end in pair}
        if paths:
            assert cause == "misread"
        elif held:
            assert cause == "no_path"
        elif candidates & set(one.answers):
            assert cause == "not_in_top_k"
        elif everywhere & set(one.answers):
            assert cause == "lost_by_cut"
        else:
            assert cause == "not_in_graph"


def test_spelling_of_gold_answers_does_not_matter():
    shards, split = shards_of([case([0, 1], answers=("end",))])
    infos = [dataclasses.replace(split.questions[0], answers=("  END ",))]
    split = dataclasses.replace(split, questions=infos)
    shards = with_split(shards, split)
    rankings = first_in_order(shards, split)
    assert failure_causes(shards, split, rankings, [2]) == {2: ["misread"]}


def test_examples_are_few_and_different():
    infos = [Question(id=f"q{i}", text=f"{i}?", answers=("a",)) for i in range(9)]
    found = [("scout", 10, "misread", info, ("b",)) for info in infos]
    found += [("scout", 5, "no_path", infos[0], ()), ("x", 5, "no_path", infos[0], ())]
    shown = examples(found)
    assert list(shown) == ["no_path", "misread"]
    assert [one["id"] for one in shown["misread"]] == ["q0", "q1", "q2"]
    assert shown["no_path"] == [
        {
            "id": "q0", "question": "0?", "gold": ["a"], "given": [],
            "retriever": "scout", "k": 5,
        }
    ]  # fmt: skip
    assert examples([]) == {}


def test_shares_are_of_the_wrong_answers():
    found = shares([None, "misread", "misread", "no_path", None, "no_reply"])
    assert (found["n"], found["wrong"]) == (6, 4)
    assert found["causes"]["misread"] == {"count": 2, "share": 0.5}
    assert found["causes"]["not_in_graph"] == {"count": 0, "share": 0}
    assert sum(one["count"] for one in found["causes"].values()) == 4
    assert shares([None])["causes"]["misread"] == {"count": 0, "share": None}
    assert list(FAILURES) == list(DEFINITIONS)
