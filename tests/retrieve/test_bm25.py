"""BM25 against the formula written out in plain Python, and its tuning."""

import dataclasses
import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import shards_of, with_split
from split_factory import Case

from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.bm25 import (
    BM25,
    GRID_B,
    GRID_K1,
    TUNING_K,
    BM25Settings,
    TripletTexts,
    bm25_scores,
    tune,
)
from kgscout_jax.retrieve.protocol import Retriever, holds_answer
from kgscout_jax.text.linearize import linearize

WORDS = ["red", "green", "blue", "old", "new", "city", "river", "a_b"]


def words_of(text):
    return re.findall(r"\w+", text.lower())


def oracle(query, texts, everywhere, k1, b, idf):
    """BM25 of each of ``texts`` by the textbook, document by document."""
    pool = texts if idf == "candidates" else everywhere
    mean = sum(map(len, everywhere)) / len(everywhere)
    scores = []
    for text in texts:
        total = 0.0
        for word in query:
            df = sum(word in other for other in pool)
            if word in text:
                rare = math.log(1 + (len(pool) - df + 0.5) / (df + 0.5))
                tf = text.count(word)
                length = 1 - b + b * len(text) / mean
                total += rare * tf / (tf + k1 * length)
        scores.append(total)
    return scores


def shards_with_questions(cases, questions, name="dev"):
    """Shards and their split, with these texts of the questions."""
    shards, split = shards_of(cases, name=name)
    pairs = zip(split.questions, questions, strict=True)
    infos = [dataclasses.replace(info, text=text) for info, text in pairs]
    split = dataclasses.replace(split, questions=infos)
    return with_split(shards, split), split


@st.composite
def worlds(draw):
    """Questions of random words over triplets of random words."""
    name = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
    triplet = st.tuples(name, st.sampled_from(["in.red", "old_of", "x"]), name)
    triplets = st.lists(triplet, min_size=1, max_size=6, unique=True)
    cases = draw(st.lists(triplets, min_size=1, max_size=4))
    query = st.lists(st.sampled_from([*WORDS, "unheard", "Red?"]), max_size=5)
    questions = [" ".join(draw(query)) or "?" for _ in cases]
    return [Case(triplets=each, topics=[each[0][0]]) for each in cases], questions


@given(
    worlds(),
    st.floats(0, 3),
    st.floats(0, 1),
    st.sampled_from(["candidates", "shards"]),
)
def test_scores_equal_the_textbook_formula(world, k1, b, idf):
    shards, split = shards_with_questions(*world)
    texts = TripletTexts.of(shards)
    options = BM25Settings(k1=k1, b=b, idf=idf)
    rows = np.arange(len(split))
    scores, seconds = bm25_scores(texts, split, rows, options)
    assert seconds.shape == (len(split),)
    entities, relations = shards.entities, shards.relations
    lines = [
        words_of(linearize((entities[h], relations[r], entities[t])))
        for h, r, t in shards.triplets.tolist()
    ]
    for i, info in enumerate(split.questions):
        ids = split.candidates[i][split.candidates[i] >= 0]
        query = words_of(info.text)
        expected = oracle(query, [lines[j] for j in ids], lines, k1, b, idf)
        np.testing.assert_allclose(scores[i, : len(ids)], expected, atol=1e-5)
        assert not scores[i, len(ids) :].any()


CITIES = [
    Case(
        triplets=[(f"town{i}", "mayor", f"person{i}"), (f"town{i}", "river", f"w{i}")],
        topics=[f"town{i}"],
        answers=[f"w{i}"],
    )
    for i in range(3)
]


def test_a_word_of_the_question_ranks_first():
    shards, split = shards_with_questions(
        CITIES, [f"the River of town{i}?" for i in range(3)]
    )
    retriever = BM25(BM25Settings())
    assert isinstance(retriever, Retriever)
    found = retriever.rank(shards, split, 1)
    river = [shards.relations[r] for r in found.relations[:, 0]]
    assert river == ["river"] * 3 and found.lengths.tolist() == [1, 1, 1]
    assert found.retriever == "bm25" and (found.seconds >= 0).all()
    assert found.notes == {"k1": 1.2, "b": 0.75, "idf": "candidates"}


def test_equal_texts_are_ordered_by_triplet_id():
    shards, split = shards_with_questions(CITIES, ["nothing in common"] * 3)
    found = BM25().rank(shards, split, 5)
    assert not found.scores.any()
    ids = [sorted(row[row >= 0].tolist()) for row in split.candidates]
    heads = np.asarray(shards.triplets)
    assert found.heads[:, :2].tolist() == [heads[row, 0].tolist() for row in ids]


def test_tuning_selects_the_best_of_the_grid_every_time():
    """The answers stand in long texts: no discount of length is best."""
    long = "river river " + " ".join(WORDS * 3)
    cases = []
    for i in range(4):
        topic, answer = f"t{i}", f"w{i}"
        short = [(topic, "river", f"s{j}.{i}") for j in range(TUNING_K)]
        triplets = [*short, (topic, long, answer)]
        cases.append(Case(triplets=triplets, topics=[topic], answers=[answer]))
    shards, split = shards_with_questions(cases, ["river"] * 4, name="train")
    texts = TripletTexts.of(shards)
    tuned = tune(texts, split)
    assert tuned == tune(texts, split) and tuned.questions == 4
    rows = np.arange(4)
    holds = holds_answer(split, rows)
    hits = {}
    for k1, b in itertools.product(GRID_K1, GRID_B):
        scores, _ = bm25_scores(texts, split, rows, BM25Settings(k1=k1, b=b))
        rank = np.argsort(-scores, axis=1, kind="stable")[:, :TUNING_K]
        hits[k1, b] = np.take_along_axis(holds, rank, 1).any(axis=1).mean()
    assert tuned.hit == max(hits.values()) > min(hits.values())
    assert hits[tuned.settings.k1, tuned.settings.b] == tuned.hit
    notes = BM25().rank(shards, split, 3).notes
    assert notes["tuned_on"] == 4 and notes["b"] == tuned.settings.b
    assert tune(texts, split, questions=2).questions == 2


def test_holds_answer_marks_candidates_with_an_answer():
    _, split = shards_with_questions(CITIES, ["?"] * 3)
    found = holds_answer(split, np.array([2, 0]))
    expected = [
        [bool(set(split.nodes[i, j]) & set(split.answers[i])) for j in range(2)]
        for i in (2, 0)
    ]
    assert found.tolist() == expected and found.any()


def test_a_question_without_candidates_has_an_empty_ranking():
    empty = Case(triplets=[("a", "r", "b")], candidates=[])
    assert BM25().rank(*shards_with_questions([empty], ["a?"]), 3).lengths.tolist() == [
        0
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k1": -1.0}, "k1 is -1.0, expected a number >= 0"),
        ({"k1": float("nan")}, "k1 is nan"),
        ({"b": 1.5}, "b is 1.5, expected a number from 0 to 1"),
        ({"idf": "none"}, "idf is 'none'"),
    ],
)
def test_settings_are_checked(wrong, message):
    with pytest.raises(UserError, match=message):
        BM25Settings(**wrong)
