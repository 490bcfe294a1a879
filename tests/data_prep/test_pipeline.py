"""A small graph through all of ``prepare``, with the real encoder."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from prep_factory import (
    NEEDS_ENCODER,
    QUESTIONS,
    TRIPLETS,
    cases,
    entities_of,
    graph_names,
    hops_of,
    is_top,
    named,
    nodes_by_local_id,
    ppr_of,
    question,
    ranks_of,
    rog_rows,
    settings_for,
    write_input,
)

from data_prep.accounting import STAGES
from data_prep.driver import prepare
from data_prep.inspect_command import InspectSettings, inspect
from data_prep.settings import PrepSettings
from kgscout_jax.data.shards import DIRECTIONS, SPLITS, Shards
from kgscout_jax.text.encoder import QUESTION_BATCH
from kgscout_jax.text.linearize import linearize, relation_phrase
from kgscout_jax.types import entity_key

pytestmark = NEEDS_ENCODER


def test_training_questions_without_an_answer_are_dropped_and_all_are_counted(cut):
    assert cut.splits == ["train", "dev", "test"]
    ids = {name: [q.id for q in cut.split(name).questions] for name in cut.splits}
    usable = [r["id"] for r in QUESTIONS["train"] if r["id"] not in ("lost", "none")]
    assert ids["train"] == usable
    assert ids["dev"] == [row["id"] for row in QUESTIONS["dev"]]
    assert ids["test"] == [str(row["id"]) for row in QUESTIONS["test"]]
    train, dev, test = (cut.manifest["splits"][name] for name in SPLITS)
    entities = {entity_key(name) for name in entities_of(TRIPLETS)}
    assert (train["read"], train["questions"]) == (8, 6)
    assert train["dropped_without_answer"] == 2
    assert dev["dropped_without_answer"] == test["dropped_without_answer"] == 0
    assert dev["without_answer_in_graph"] == 1
    assert test["without_answer_in_graph"] == 1  # "open" has no gold answer
    # Of "half" Atlantis, not "ada "; of "same" none, for both spell one entity.
    unknown_topics = [
        sum(len({entity_key(t) for t in r["q_entity"]} - entities) for r in rows)
        for rows in (
            [r for r in QUESTIONS["train"] if r["id"] in usable],
            QUESTIONS["dev"],
        )
    ]
    assert [train["topics_not_found"], dev["topics_not_found"]] == unknown_topics
    assert test["without_topic"] == 1
    graph = cut.manifest["graph"]
    assert (graph["triplets"], graph["duplicates_dropped"]) == (60, 1)
    assert cut.manifest["missing_splits"] == []


def test_questions_name_what_the_source_and_the_graph_say(cut):
    train, dev, test = (cut.split(name).questions for name in SPLITS)
    half = train[-1]
    assert half.topics == ("ada ", "Atlantis")  # as the source names them
    assert half.answers == ("BERN", "Atlantis")
    assert half.answers_in_graph == ("Bern",)  # as the graph names them
    assert half.hop == 1
    assert [q.hop for q in dev if q.id in ("same", "dev lost")] == [0, 4]
    labelled = test[-1]
    assert labelled.relevant_triplets == (("Ada", "lies.in", "Bern"),)
    open_ended = test[-2]
    assert (open_ended.answers, open_ended.hop) == ((), None)
    for case in cases(cut):
        assert case.info.text == " ".join(case.info.text.split())
        assert set(case.info.answers_in_graph) == set(case.answers)
        assert case.info.ball_triplets == len(case.ball)
        left = [a for a in case.answers if a in entities_of(case.ball)]
        assert case.info.answers_in_ball == len(left)


@pytest.mark.parametrize(
    ("which", "direction"), [("cut", "both"), ("ranked", "directed")]
)
def test_pagerank_is_that_of_the_uncut_ball(which, direction, request):
    compared = 0
    for case in cases(request.getfixturevalue(which)):
        if not case.topics:
            assert not case.ball
            continue
        rank = ranks_of(case.ball, case.topics, direction)
        ppr = np.array([[rank[h], rank[t]] for h, _, t in case.candidates])
        assert np.abs(ppr_of(case) - ppr).max() < 2e-5
        if which == "cut":
            assert len(case.candidates) == min(12, len(case.ball))
            score = {t: rank[t[0]] + rank[t[2]] for t in case.ball}
            assert is_top(case.candidates, case.ball, score.__getitem__)
        compared += len(case.ball) > 12
    assert compared > 5


def test_candidates_are_the_nearest_by_cosine(ranked, encoder):
    texts = [linearize(t) for t in TRIPLETS]
    vectors = dict(zip(TRIPLETS, encoder.encode(texts).astype(np.float32), strict=True))
    ids = {named(ranked, i): i for i in range(len(ranked.triplets))}
    ties = 0
    for case in cases(ranked):
        assert len(case.candidates) == min(8, len(case.ball))
        assert len(set(case.candidates)) == len(case.candidates)
        stored = case.split.question_embeddings[case.i]
        embedding = encoder.encode([case.info.text], batch_size=QUESTION_BATCH)[0]
        np.testing.assert_array_equal(stored, embedding)
        embedding = embedding.astype(np.float32)
        cosine = {t: float(vectors[t] @ embedding) for t in case.ball}
        assert is_top(case.candidates, case.ball, cosine.__getitem__)
        for one, other in pairwise(case.candidates):
            if linearize(one) == linearize(other):
                assert ids[one] < ids[other]
                ties += 1
            assert cosine[one] > cosine[other] - 1e-6
    assert ties > 0


def test_tables_hold_exactly_what_questions_use(ranked, encoder):
    names = [named(ranked, i) for i in range(len(ranked.triplets))]
    assert set(names) <= set(TRIPLETS)
    used = set()
    for case in cases(ranked):
        used |= set(case.candidates)
        for way in DIRECTIONS:
            used |= {named(ranked, i) for i in case.split.path_triplets[way][case.i]}
    assert used == set(names)  # and nothing else
    assert entities_of(names) == set(ranked.entities)
    assert {r for _, r, _ in names} == set(ranked.relations)
    candidates = {c for case in cases(ranked) for c in case.candidates}
    count = len(candidates)
    assert count < len(names) and set(names[:count]) == candidates  # they come first
    order = [tuple(row) for row in ranked.triplets.tolist()]
    assert order[:count] == sorted(order[:count])
    assert order[count:] == sorted(order[count:])
    table = encoder.encode([linearize(t) for t in names[:count]])
    np.testing.assert_array_equal(ranked.triplet_embeddings, table)
    phrases = encoder.encode([relation_phrase(r) for r in ranked.relations])
    # No relation is in camelCase: the texts are those of version 1.
    assert ranked.encoder == encoder.identity.version_1.to_dict()
    np.testing.assert_array_equal(ranked.relation_embeddings, phrases)


def test_an_int8_table_changes_no_candidate(cut, source, cache, tmp_path):
    settings = settings_for(source, tmp_path, cache, max_triplets=12, table="int8")
    small = prepare(settings)
    assert small.manifest["settings"]["table"] == "int8"
    assert small.triplet_embeddings.dtype == np.int8
    exact = cut.triplet_embeddings.astype(np.float32)
    near = small.triplet_vectors(np.arange(len(exact)))
    assert np.abs(exact - near).max() < 0.002
    tables = {"triplet_embeddings.npy", "triplet_scales.npy"}
    files = cut.manifest["files"].keys() | tables
    assert small.manifest["files"].keys() == files
    for name in files - tables:
        assert small.manifest["files"][name] == cut.manifest["files"][name], name


def test_local_ids_follow_the_order_of_entities(cut):
    for case in cases(cut):
        split, i = case.split, case.i
        name_of = nodes_by_local_id(case)
        subgraph = entities_of(case.candidates)
        assert split.n_nodes[i] == len(subgraph)
        topics = split.topics[i][split.topics[i] >= 0].tolist()
        answers = split.answers[i][split.answers[i] >= 0].tolist()
        assert [name_of[t] for t in topics] == [t for t in case.topics if t in subgraph]
        found = [name_of[a] for a in answers]
        assert found == [a for a in case.answers if a in subgraph]
        assert case.info.answers_in_subgraph == tuple(found)
        assert case.info.subgraph_triplets == len(case.candidates)
        # Numbered in the order of entity ids.
        order = [cut.entities.index(name_of[n]) for n in sorted(name_of)]
        assert order == sorted(order)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_shortest_paths_are_those_of_networkx(cut, direction):
    directed = direction == "directed"
    longest = 0
    for case in cases(cut):
        name_of = nodes_by_local_id(case)
        subgraph = set(case.candidates)
        inside = entities_of(subgraph)
        expected, on_path = set(), set()
        for slot, topic in enumerate(t for t in case.topics if t in inside):
            hops = hops_of(subgraph, topic, case.answers, directed)
            expected |= {(slot, u, v, depth) for u, v, depth in hops}
            ends = {(u, v) for u, v, _ in hops}
            if not directed:
                ends |= {(v, u) for u, v in ends}
            on_path |= {t for t in subgraph if (t[0], t[2]) in ends}
        edges = case.split.path_edges[direction][case.i].tolist()
        found = [(slot, name_of[u], name_of[v], depth) for slot, u, v, depth in edges]
        assert set(found) == expected
        assert len(found) == len(expected)
        triplets = case.split.path_triplets[direction][case.i]
        assert {named(cut, int(t)) for t in triplets} == on_path
        assert len(triplets) == len(on_path)
        longest = max([longest, *(depth + 1 for *_, depth in found)])
    assert longest >= 2


def test_paths_include_triplets_that_are_no_candidates(ranked):
    outside = 0
    for case in cases(ranked):
        on_path = set()
        for topic in case.topics:
            hops = {(u, v) for u, v, _ in hops_of(case.ball, topic, case.answers, True)}
            on_path |= {t for t in case.ball if (t[0], t[2]) in hops}
        triplets = case.split.path_triplets["directed"][case.i]
        assert {named(ranked, int(t)) for t in triplets} == on_path
        outside += len(on_path - set(case.candidates))
    assert outside > 0


@pytest.mark.parametrize("which", ["cut", "ranked"])
def test_survival_counts_the_answers_that_each_cut_leaves(which, request):
    shards = request.getfixturevalue(which)
    every = list(cases(shards))
    for name in shards.splits:
        own = [case for case in every if case.split.name == name]
        reported = shards.manifest["splits"][name]["survival"]
        hops = {str(c.info.hop) if c.info.hop is not None else "unknown" for c in own}
        assert set(reported) == {"all"} | (hops if hops != {"unknown"} else set())
        for group, figures in reported.items():
            some = [
                case
                for case in own
                if group == "all" or group == str(case.info.hop)
                or (group == "unknown" and case.info.hop is None)
            ]  # fmt: skip
            left = [
                [
                    len(case.answers),
                    len(set(case.answers) & entities_of(case.ball)),
                    len(set(case.answers) & entities_of(case.candidates))
                    if which == "cut"
                    else len(set(case.answers) & entities_of(case.ball)),
                    len(set(case.answers) & entities_of(case.candidates)),
                ]
                for case in some
            ]
            counts = np.array(left).reshape(-1, len(STAGES))
            assert figures["questions"] == len(some)
            assert list(figures["answers"].values()) == counts.sum(axis=0).tolist()
            having = (counts > 0).sum(axis=0).tolist()
            assert list(figures["with_answer"].values()) == having


def test_a_question_without_candidates_is_legal(cut):
    split = cut.split("test")
    i = [q.id for q in split.questions].index("7")
    assert split.n_real[i] == 0
    assert (split.candidates[i] == -1).all()
    assert (split.topics[i] == -1).all()
    assert split.n_nodes[i] == 0
    assert split.questions[i].answers_in_graph == ("Ada",)
    assert split.questions[i].answers_in_subgraph == ()


# --- own subgraphs


def test_own_subgraphs_are_not_cut(cache, tmp_path):
    source = tmp_path / "rog"
    source.mkdir()
    for name in ("train", "test"):
        text = "".join(json.dumps(row) + "\n" for row in rog_rows(name))
        (source / f"{name}.jsonl").write_text(text)

    def run(out: str, **more: Any) -> Shards:
        out_path = tmp_path / out
        return prepare(
            PrepSettings(
                source="rog",
                input=source,
                out=out_path,
                cache=cache,
                workers=1,
                cut="ppr",
                select="cosine",
                **more,
            )
        )

    shards = run("whole")
    assert shards.manifest["missing_splits"] == ["dev"]
    assert shards.manifest["settings"]["max_triplets"] is None
    split = shards.split("test")
    assert split.n_real.tolist() == [0, 10, 20, 30, 40]
    for i, info in enumerate(split.questions):
        own = TRIPLETS[: 10 * i]
        assert {named(shards, c) for c in split.candidates[i, : 10 * i]} == set(own)
        assert (info.ball_triplets, info.subgraph_triplets) == (10 * i, 10 * i)
        # In the graph means in its own graph: all graphs together are nobody's.
        row = rog_rows("test")[i]
        expected = [a for a in graph_names(row["answer"]) if a in entities_of(own)]
        assert list(info.answers_in_graph) == expected
        if any(t in entities_of(own) for t in row["q_entity"]):
            topics = [t for t in row["q_entity"] if t in entities_of(own)]
            rank = ranks_of(own, topics, "both")
            ids = split.candidates[i, : 10 * i]
            ppr = [[rank[named(shards, c)[0]], rank[named(shards, c)[2]]] for c in ids]
            found = split.ppr_of(np.array([i]))[0, : 10 * i]
            assert np.abs(found - ppr).max() < 2e-5
    small = run("cut", max_triplets=7).split("test")
    assert small.n_real.tolist() == [0, 7, 7, 7, 7]


def test_shards_without_any_candidate_are_legal(cache, tmp_path):
    nowhere = [question("1", "Who?", ["Atlantis"], ["Ada"])]
    source = write_input(tmp_path / "in", {"test": nowhere})
    shards = prepare(settings_for(source, tmp_path / "out", cache))
    split = shards.split("test")
    assert split.n_real.tolist() == [0]
    assert len(shards.triplets) == len(shards.entities) == len(shards.relations) == 0
    inspect(InspectSettings(paths=(shards.path,)))
