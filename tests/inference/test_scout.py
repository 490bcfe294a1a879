"""Scouts: the scores of evaluation, whatever the way to them, from any thread."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from prep_factory import NEEDS_ENCODER, QUESTIONS
from scout_factory import CUTS, shared_world

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.errors import UserError
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.scout import cut_of
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.policy.registry import jitted_logits
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.retrieved_file import retrieved_records

pytestmark = NEEDS_ENCODER
ROOT = Path(__file__).resolve().parents[2]

made = pytest.fixture(scope="module")(lambda kgscout_cache: shared_world)


@pytest.fixture(scope="module")
def ready(made):
    """The default world, its graph embedded."""
    one = made("guided")
    graph = open_graph([one.file])
    graph.embed(one.scout.encoder)
    return SimpleNamespace(**vars(one), graph=graph)


def same(one, other, tolerance: float = 1e-5) -> None:
    """The same triplets with the same scores; equal scores may stand in any order."""
    assert len(one.triplets) == len(other.triplets)
    np.testing.assert_allclose(one.scores, other.scores, atol=tolerance, rtol=tolerance)
    mine = dict(zip(one.triplets, one.scores.tolist(), strict=True))
    for triplet, score in zip(other.triplets, other.scores.tolist(), strict=True):
        assert mine[triplet] == pytest.approx(score, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "embedded"),
    [
        pytest.param("guided", True, marks=pytest.mark.extended),
        pytest.param("guided", False, marks=pytest.mark.extended),
        ("thesis", True),
        pytest.param("pruned", False, marks=pytest.mark.extended),
        pytest.param("walk", True, marks=pytest.mark.extended),
        ("general", True),
        pytest.param("mlp", False, marks=pytest.mark.extended),
    ],
)
def test_scores_are_those_of_evaluation(made, name, embedded):
    one = made(name)
    graph = open_graph([one.file])
    if embedded:
        graph.embed(one.scout.encoder)
    policy = load_trained(one.policy).policy
    told = 0
    for split_name in ("train", "test"):
        split = one.shards.split(split_name)
        rankings = KGScout(policy).rank(one.shards, split, 10)
        asked = {str(row["id"]): row for row in QUESTIONS[split_name]}
        for record in retrieved_records(one.shards, split, rankings):
            topics = asked[record.id]["q_entity"]
            found = one.scout.retrieve(record.question, graph, 10, topics=topics)
            expected = SimpleNamespace(
                triplets=[tuple(t[:3]) for t in record.triplets],
                scores=np.array([t[3] for t in record.triplets]),
            )
            same(found, expected)
            told += len(found)
    assert told > 40  # a world of empty lists would pass everything


# --- many at once


ASKED = [
    (row["question"], row["q_entity"] if i % 2 else None)
    for rows in QUESTIONS.values()
    for i, row in enumerate(rows)
]
TEXTS = [text for text, _ in ASKED]
GIVEN = [topics for _, topics in ASKED]


def test_a_batch_finds_what_single_questions_find(ready):
    many = ready.scout.retrieve_many(TEXTS, ready.graph, 10, topics=GIVEN)
    assert sum(len(each) > 0 for each in many) > 10
    for (text, topics), found in zip(ASKED, many, strict=True):
        one = ready.scout.retrieve(text, ready.graph, 10, topics=topics)
        same(found, one)
        assert found.scores.tobytes() == one.scores.tobytes()
        assert found.answers == one.answers
        assert (found.question, found.topics) == (one.question, one.topics)
        assert [link.name for link in found.links] == [link.name for link in one.links]


def test_joint_encoding_moves_scores_by_rounding_only(ready, monkeypatch):
    joint = Scout(ready.scout.exported, ready.scout.encoder, joint_encoding=True)
    passes = []
    forward = type(joint.encoder)._forward
    monkeypatch.setattr(
        type(joint.encoder),
        "_forward",
        lambda self, ids, size, width: (
            passes.append(len(ids)) or forward(self, ids, size, width)
        ),
    )
    found = joint.retrieve_many(TEXTS, ready.graph, 10, topics=GIVEN)
    assert sum(passes) == len(TEXTS) and max(passes) == min(16, len(TEXTS))
    one_by_one = ready.scout.retrieve_many(TEXTS, ready.graph, 10, topics=GIVEN)
    for mine, other in zip(found, one_by_one, strict=True):
        np.testing.assert_allclose(mine.scores, other.scores, atol=0.02)


@pytest.mark.extended
@pytest.mark.parametrize(
    "name", ["guided", pytest.param("mlp", marks=pytest.mark.slow)]
)
def test_kept_products_change_no_score(made, name):
    one = made(name)
    graph = open_graph([one.file])
    keeping = Scout(one.scout.exported, one.scout.encoder, keep_products=True)
    expected = one.scout.retrieve_many(TEXTS, graph, 10, topics=GIVEN)
    assert sum(len(each) > 0 for each in expected) > 10
    for _ in range(2):  # computed, then kept
        found = keeping.retrieve_many(TEXTS, graph, 10, topics=GIVEN)
        for mine, other in zip(found, expected, strict=True):
            same(mine, other)


def test_products_that_depend_on_the_question_are_refused(made):
    one = made("walk").scout
    with pytest.raises(UserError, match="kernels of the walk network depend"):
        Scout(one.exported, one.encoder, keep_products=True)


@pytest.mark.extended
def test_each_question_may_have_its_own_k(ready):
    ks = [1 + i % 5 for i in range(len(TEXTS))]
    many = ready.scout.retrieve_many(TEXTS, ready.graph, ks, topics=GIVEN)
    most = ready.scout.retrieve_many(TEXTS, ready.graph, 5, topics=GIVEN)
    for k, found, longer in zip(ks, many, most, strict=True):
        assert found.triplets == longer.triplets[:k]


@pytest.mark.extended
def test_sixteen_threads_find_the_same(made):
    one = made("guided")
    alone = [
        one.scout.retrieve(text, graph, 8, topics=topics)
        for graph in [open_graph([one.file])]
        for text, topics in ASKED
    ]
    fresh = open_graph([one.file])  # its linker and embeddings are made meanwhile
    barrier = threading.Barrier(16)

    def work(shift: int) -> None:
        barrier.wait()
        for i in range(6):
            place = (i + shift) % len(ASKED)
            text, topics = ASKED[place]
            found = one.scout.retrieve(text, fresh, 8, topics=topics)
            assert found.triplets == alone[place].triplets
            assert np.array_equal(found.scores, alone[place].scores)

    with ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(work, shift) for shift in range(16)]:
            done.result()


@pytest.mark.extended
def test_each_question_may_have_its_own_graph(ready):
    other = KnowledgeGraph.from_triplets(
        [("Ada", "lies.in", "Xanadu"), ("Xanadu", "ruled by", "Kublai")]
    )
    graphs = [ready.graph, other] * 3
    text = "Where is Ada?"
    found = ready.scout.retrieve_many([text] * 6, graphs, 5)
    for graph, each in zip(graphs, found, strict=True):
        same(each, ready.scout.retrieve(text, graph, 5))
    assert {name for t in found[1].triplets for name in t} >= {"Xanadu", "Kublai"}
    assert not {"Xanadu"} & {name for t in found[0].triplets for name in t}


def test_nothing_is_compiled_twice(ready):
    ready.scout.retrieve("Where is Ada?", ready.graph, topics="Ada")
    compiled = jitted_logits._cache_size()
    for name in ("Bern", "Chur", "Dover", "Elbe"):
        found = ready.scout.retrieve(f"What is {name}?", ready.graph, topics=name)
        assert found.n_candidates
    assert jitted_logits._cache_size() == compiled > 0


# --- topics


def test_topics_are_linked_where_none_are_given(ready):
    found = ready.scout.retrieve("In which town was Siena born?", ready.graph)
    assert found.topics == ("Siena",) and found.links[0].how == "exact"
    given = ready.scout.retrieve(found.question, ready.graph, topics="siena ")
    assert given.topics == ("Siena",) and given.links == ()
    same(found, given)


def test_what_a_question_leaves_out_is_no_topic_and_no_answer(ready):
    graph = KnowledgeGraph.from_triplets(
        [("Alien", "actor", name) for name in ("Weaver", "Holm", "Hurt")]
    )
    question = "Besides Holm, who is an actor of Alien?"
    for topics in (None, ["Alien", "Holm"]):
        found = ready.scout.retrieve(question, graph, topics=topics, k=9)
        assert found.topics == ("Alien",)
        assert "Holm" not in [each.name for each in found.answers + found.best_guesses]
    alone = ready.scout.retrieve("Who besides Holm?", graph, topics=["Holm"], k=9)
    assert alone.topics == ("Holm",)


def test_unknown_topics_are_reported(ready):
    found = ready.scout.retrieve("Who?", ready.graph, topics=["Mu", "Ada", "Mu"])
    assert found.topics == ("Ada",) and found.topics_not_found == ("Mu",)
    assert len(found)
    lost = ready.scout.retrieve("Who?", ready.graph, topics=["Mu"])
    assert lost.triplets == () and lost.scores.shape == (0,)
    nobody = ready.scout.retrieve("Who?", ready.graph, topics=[])
    assert nobody.triplets == () and nobody.topics_not_found == ()


def test_a_question_that_names_nothing_gets_the_nearest_triplets(ready):
    scout, graph = ready.scout, ready.graph
    question = "zzz qqq?"
    found = scout.retrieve(question, graph, 7)
    assert found.nearest and found.topics == () and found.answers == ()
    assert found.status == "no topic" and found.to_record("1").extra["nearest"] is True
    rows = graph.embed(scout.encoder).rows(np.arange(len(graph)))
    cosines = rows.astype(np.float32) @ scout.encode([question])[0].astype(np.float32)
    order = sorted(range(len(graph)), key=lambda i: (-cosines[i], i))[:7]
    assert found.triplets == tuple(graph.triplet(i) for i in order)
    assert not scout.retrieve("Where is Ada?", graph, 7).nearest
    assert not scout.retrieve(question, graph, 7, topics=[]).nearest


@pytest.mark.parametrize("topics", [None, "Ada", ["Ada", "Bern"]])
def test_an_empty_graph_gives_no_triplets(ready, topics):
    empty = KnowledgeGraph.from_triplets([])
    found = ready.scout.retrieve("Where is Ada?", empty, topics=topics)
    assert found.triplets == () and found.topics == ()
    assert found.as_text() == found.as_paths() == ""


# --- what comes in


@pytest.mark.parametrize("k", [0, "3", True, 2.0, None, 10**30])
def test_k_is_a_whole_number_from_1(ready, k):
    with pytest.raises(UserError, match=f"k: found {k!r}, expected a whole number"):
        ready.scout.retrieve("Who?", ready.graph, k)


@pytest.mark.parametrize("form", ["lines", "paths"])
@pytest.mark.parametrize("k", [np.int64(3), 2**31 - 1])
def test_k_is_any_integer_that_arrays_hold(ready, k, form):
    selection = SelectionConfig(form=form)
    found = ready.scout.retrieve(
        "Where is Ada?", ready.graph, k, topics="Ada", selection=selection
    )
    assert 3 <= len(found) <= k


def test_arguments_of_other_types_are_refused(ready):
    scout, graph = ready.scout, ready.graph
    for call, message in (
        (lambda: scout.retrieve("Who?", graph, selection={}), "selection: found {}"),
        (lambda: scout.link(None, graph), "question: found None, expected some text"),
        (lambda: scout.link("Who?", "g.tsv"), "graph: found 'g.tsv', expected a Know"),
        (lambda: scout.encode("Who?"), "questions: found one string"),
        (lambda: scout.encode([b"Who?"]), "questions: found b'Who?', expected some"),
        (lambda: Scout(scout.exported, "x"), "encoder: found 'x', expected an enc"),
        (lambda: scout.retrieve_many(3, graph), "questions: found 3, expected a list"),
        (lambda: SelectionConfig(target="a"), "--target: found 'a', expected a num"),
        (lambda: SelectionConfig(min_probability=[]), "--min-probability: found []"),
        (lambda: SelectionConfig(token_budget="x"), "--token-budget: found 'x', exp"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            call()


def test_hypotheses_are_a_list_of_sentences_per_question(ready):
    scout, graph = ready.scout, ready.graph
    for hypotheses in ("Ada is in Rome.", 5, [3], [None]):
        with pytest.raises(UserError, match="hypotheses: found "):
            scout.retrieve("Who?", graph, hypotheses=hypotheses)
    for hypotheses in ([["a"]], [["a"], ["b"], []], ["ab", "cd"]):
        with pytest.raises(UserError, match="hypotheses: found "):
            scout.retrieve_many(["Who?", "Where?"], graph, hypotheses=hypotheses)


def test_questions_may_come_from_a_generator(ready):
    questions = ("Where is Ada?" for _ in range(2))
    found = ready.scout.retrieve_many(questions, ready.graph, 3, topics=iter("ab"))
    assert [len(each.topics_not_found) for each in found] == [1, 1]


@pytest.mark.parametrize("topics", [5, 2.5, True, [3], {"Ada": 1}.values(), [None]])
def test_topics_are_names(ready, topics):
    one = "topics: found .*, expected names of entities"
    with pytest.raises(UserError, match=one):
        ready.scout.retrieve("Who?", ready.graph, topics=topics)
    with pytest.raises(UserError, match=one):
        ready.scout.retrieve_many(["Who?"], ready.graph, topics=[topics])


def test_topics_of_several_questions_are_a_list(ready):
    with pytest.raises(UserError, match="topics: found 5, expected a list"):
        ready.scout.retrieve_many(["Who?"], ready.graph, topics=5)


def test_lists_of_different_lengths_are_refused(ready):
    with pytest.raises(UserError, match="topics: found 1, expected 2, one for each"):
        ready.scout.retrieve_many(["a", "b"], ready.graph, topics=["Ada"])
    with pytest.raises(UserError, match="k: found 1, expected 2"):
        ready.scout.retrieve_many(["a", "b"], ready.graph, [3])
    with pytest.raises(UserError, match="graphs: found 1, expected 2"):
        ready.scout.retrieve_many(["a", "b"], [ready.graph])
    with pytest.raises(UserError, match="found one string"):
        ready.scout.retrieve_many("Who?", ready.graph)
    assert ready.scout.retrieve_many([], ready.graph) == []


def test_another_encoder_is_refused(ready):
    from dataclasses import replace

    exported = replace(
        ready.scout.exported,
        encoder=replace(ready.scout.exported.encoder, weights_sha256="f" * 64),
    )
    with pytest.raises(UserError, match="weights_sha256 is 051e2de600e4, expected f"):
        Scout(exported, ready.scout.encoder)


def test_a_missing_export_is_refused(tmp_path):
    with pytest.raises(UserError, match="nowhere: no such folder"):
        Scout.from_pretrained(tmp_path / "nowhere")


# --- settings and imports


def test_an_export_tells_how_its_shards_were_cut(made):
    for name, settings in CUTS.items():
        cut = made(name).scout.cut
        assert {key: getattr(cut, key) for key in settings} == settings
        assert cut.candidates == 12


def test_defaults_replace_the_cut_of_published_subgraphs():
    from kgscout_jax.export.format import Preparation

    about = {"candidates": 9, "direction": "both", "cut": "guided"}
    own = cut_of(Preparation(hops=None, max_triplets=None, **about), "rog")
    assert (own.hops, own.max_triplets) == (2, 2000)
    shared = cut_of(Preparation(hops=3, max_triplets=None, **about), "kg")
    assert (shared.hops, shared.max_triplets) == (3, None)


def run(code: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_imports_neither_numpy_nor_jax():
    code = (
        "import sys, kgscout_jax; print('numpy' in sys.modules, 'jax' in sys.modules)"
    )
    assert run(code).split() == ["False", "False"]
