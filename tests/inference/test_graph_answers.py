"""Answers from the graph itself: their choice, their paths, counts, yes and no."""

from __future__ import annotations

import functools
from dataclasses import replace

import jax
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_factory import random_policy, small_config

from kgscout_jax import Scout
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.answer_kinds import YES, asks_yes_no, mentions
from kgscout_jax.inference.counts import set_size
from kgscout_jax.inference.inputs import Candidates, QuestionVectors, inputs_of
from kgscout_jax.inference.node_answers import node_probabilities
from kgscout_jax.inference.question_result import question_result
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scored_question import ScoredQuestion
from kgscout_jax.inference.scored_questions import with_answers
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.yes_no import (
    NEAR_STEPS,
    NEAR_YES,
    SOMEBODY_STEPS,
    read_yes_no,
    yes_no_turns,
)
from kgscout_jax.policy.registry import policy_outputs
from kgscout_jax.reason.selection import SELECTION_FORMS
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.name_forms import is_dated, is_numeral
from kgscout_jax.types import Triplet

D, WALKERS = 4, 3
SCALE = AnswerScale(threshold=0.5, abstention=0.0)


def candidates_of(
    graph: KnowledgeGraph, topics: np.ndarray, rng: np.random.Generator
) -> Candidates:
    """All triplets of a graph as candidates, with random embeddings."""
    triplets = np.asarray(graph.triplets)
    n = len(triplets)
    ends, nodes = np.unique(triplets[:, [0, 2]], return_inverse=True)
    relations, index = np.unique(triplets[:, 1], return_inverse=True)
    return Candidates(
        ids=np.arange(n, dtype=np.int32),
        triplets=rng.normal(size=(n, D)).astype(np.float16),
        ppr=rng.uniform(0.01, 1.0, (n, 2)).astype(np.float32),
        relations=relations,
        relation_index=index,
        nodes=nodes.reshape(-1, 2),
        entities=ends.astype(np.int32),
        topics=np.flatnonzero(np.isin(ends, topics)),
        relation_match=np.zeros(n, np.float32),
        seconds=0.0,
    )


@functools.cache
def network(seed: int):
    """A policy of random parameters, compiled."""
    policy = random_policy(small_config("walk", D), seed, gain=3.0)
    return jax.jit(lambda x: policy_outputs(policy.weights, policy.config, x))


def scores_of(seed: int, candidates: Candidates, table: np.ndarray) -> Scores:
    """What the policy says of the candidates."""
    question = QuestionVectors(whole=np.ones(D, np.float16), words=[])
    outputs = network(seed)(inputs_of([question], [candidates], [table], 32))
    assert outputs.answers is not None and outputs.follow is not None
    return Scores(
        logits=np.asarray(outputs.logits)[0, : len(candidates.ids)],
        nodes=np.asarray(outputs.answers)[0, : len(candidates.entities)],
        follow=np.asarray(outputs.follow)[0, : len(candidates.relations)],
    )


def ends_of(path: tuple[Triplet, ...], starts: set[str]) -> set[str]:
    """Where a walk over the triplets, either way, can end."""
    for head, _, tail in path:
        starts = {tail for _ in starts & {head}} | {head for _ in starts & {tail}}
    return starts


edge = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6))


@given(
    rows=st.lists(edge, min_size=1, max_size=14, unique=True),
    named=st.sets(st.integers(0, 6), min_size=1, max_size=2),
    k=st.integers(1, 14),
    form=st.sampled_from(SELECTION_FORMS),
    seed=st.integers(0, 3),
    question=st.sampled_from(["Who?", "Is it so?", "How many?"]),
)
def test_every_path_leads_from_a_topic_to_its_answer(
    rows, named, k, form, seed, question
):
    graph = KnowledgeGraph.from_triplets(
        [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows]
    )
    topics = graph.find_all([f"e{i}" for i in sorted(named)])
    rng = np.random.default_rng(seed)
    candidates = candidates_of(graph, topics, rng)
    table = rng.normal(size=(len(graph.relations), D)).astype(np.float16)

    def score(positions, of_rows):
        return [scores_of(seed, each, table) for each in of_rows]

    (scores,) = score([0], [candidates])
    asked = ScoredQuestion(
        text=question,
        graph=graph,
        start=SearchStart(topics, (), ()),
        candidates=candidates,
        scores=scores,
    )
    (asked,) = with_answers([asked], score, SCALE, SCALE.abstention)
    result = question_result(asked, k, SelectionConfig(form=form), None, WALKERS)
    assert result.answers and not result.abstained
    assert len(result) == min(k, len(candidates.ids))
    probabilities = [answer.probability for answer in result.answer_entities]
    assert probabilities == sorted(probabilities, reverse=True)
    for answer in (*result.answers, *result.support):
        assert set(answer.path) <= set(result.triplets)
        if answer.path and answer.name in graph.entities:
            assert answer.name in ends_of(answer.path, set(result.topics))
    if form != "paths":
        assert (np.diff(result.scores) <= 0).all()
    if form == "answers" and result.kind == "set" and k >= 2:
        # within two steps of a topic: the best answer's path is closed in
        best = result.answers[0]
        lines = nx.Graph([(f"e{h}", f"e{t}") for h, _, t in rows])
        near = nx.multi_source_dijkstra_path_length(
            lines, set(result.topics) or {best.name}, cutoff=2
        )
        reachable = best.name in near and best.name not in result.topics
        assert bool(best.path) == bool(reachable and result.topics)


def with_logits(nodes: list[float], question: str = "Who?", **more) -> RetrievalResult:
    """The answers of a star: e0 is the topic, e1, e2, ... its neighbours."""
    names = more.pop("names", [f"e{i}" for i in range(len(nodes))])
    relation = more.pop("relation", "r")
    triplets = [(names[0], relation, name) for name in names[1:]]
    by_name = dict(zip(names, nodes, strict=True))
    return answers_of(triplets, names[:1], by_name, question, **more)


def answers_of(
    triplets: list[Triplet],
    names: list[str],
    by_name: dict[str, float],
    question: str,
    **more,
) -> RetrievalResult:
    """The answers of a graph whose nodes have the logits ``by_name``."""
    graph = KnowledgeGraph.from_triplets(triplets)
    topics = graph.find_all(names)
    candidates = candidates_of(graph, topics, np.random.default_rng(0))
    at = [by_name[graph.entities[int(i)]] for i in candidates.entities]
    scores = Scores(
        logits=np.arange(len(candidates.ids), dtype=np.float32),
        nodes=np.array(at, np.float32),
        follow=np.full((len(candidates.relations), 2 * 2 * WALKERS), 0.5, np.float32),
    )
    start = SearchStart(topics, (), ())
    asked = ScoredQuestion(
        text=question, graph=graph, start=start, candidates=candidates, scores=scores
    )
    scale = AnswerScale(threshold=0.5, abstention=0.2)
    asked = asked.constrained()
    doubts = np.full(len(at), more.pop("doubts", 0.0), np.float32)
    asked = replace(asked, scores=replace(asked.scores, doubts=doubts))
    least = more.pop("least", scale.abstention)
    (asked,) = with_answers([asked], lambda *_: [], scale, least)
    return question_result(asked, 10, SelectionConfig(), None, WALKERS)


def test_answers_are_the_nodes_from_the_threshold_on():
    result = with_logits([-9.0, 3.0, -1.0, 1.0])
    assert [answer.name for answer in result.answers] == ["e1", "e3"]
    assert result.answers[0].probability == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert result.answers[0].path == (("e0", "r", "e1"),)
    assert result.confidence == result.answers[0].probability
    # the best one is an answer below the threshold too
    assert [answer.name for answer in with_logits([-9.0, -1.0, -2.0]).answers] == ["e1"]


def test_below_the_abstention_there_are_guesses_only():
    result = with_logits([-9.0, -2.0, -3.0, -4.0, -5.0])
    assert result.abstained and result.answers == ()
    assert [guess.name for guess in result.best_guesses] == ["e1", "e2", "e3"]
    sure = with_logits([-9.0, -2.0, -3.0, -4.0, -5.0], least=0.1)
    assert [answer.name for answer in sure.answers] == ["e1"] and not sure.abstained
    assert with_logits([-9.0, 3.0], least=0.99).abstained


def test_how_many_is_the_size_of_the_set():
    result = with_logits([-9.0, 3.0, -1.0, 1.0], "How many are there?")
    p = 1 / (1 + np.exp(-np.array([3.0, 1.0, -1.0, -9.0])))
    assert result.kind == "count" and [a.name for a in result.answers] == ["2"]
    exactly = p[1] - p[2]  # both are answers, and the next one is not
    assert result.answers[0].probability == pytest.approx(exactly)
    assert [answer.name for answer in result.support] == ["e1", "e3"]
    assert result.answer_entities == result.support
    assert result.support[1].path == (("e0", "r", "e3"),)


@pytest.mark.parametrize(
    ("relation", "question", "value"),
    [
        ("population", "How many people are there?", "16,425,864"),
        ("residents", "How many residents are there?", "16,425,864"),
        ("numberOfEmployees", "How many people work there?", "16,425,864"),
        ("number of deaths", "What is the number of deaths of Chad?", "1107 people"),
    ],
)
def test_a_number_in_the_graph_is_the_answer_itself(relation, question, value):
    names, logits = ["Chad", value, "e2"], [-9.0, 3.0, 1.0]
    result = with_logits(logits, question, names=names, relation=relation)
    assert result.kind == "set" and result.answers[0].name == value


def test_a_name_that_begins_with_a_number_is_counted():
    names = ["Lumet", "12 Angry Men", "Network"]
    question = "How many films did Lumet film?"
    result = with_logits([-9.0, 3.0, 2.0], question, names=names, relation="film")
    assert (result.kind, result.answers[0].name) == ("count", "2")


@pytest.mark.parametrize("value", ["2012", "2008-01-11", "3.2", "16,425,864"])
def test_a_number_that_is_not_asked_for_is_neither_answer_nor_counted(value):
    names, logits = ["Quill", value, "Falls", "Ferry"], [-9.0, 3.0, 1.0, 0.5]
    question = "How many games did Quill design?"
    result = with_logits(logits, question, names=names, relation="release year")
    assert (result.kind, result.answers[0].name) == ("count", "2")
    assert [each.name for each in result.support] == ["Falls", "Ferry"]
    alone = with_logits(logits[:2], question, names=names[:2], relation="release year")
    assert alone.abstained and not alone.answers


def test_times_of_what_is_counted_are_counted():
    names, logits = ["Lakers", "1972", "2009", "2020"], [-9.0, 3.0, 2.5, 2.5]
    question = "How many championships have the Lakers won?"
    result = with_logits(logits, question, names=names, relation="championship year")
    assert (result.kind, result.answers[0].name) == ("count", "3")


def test_days_on_which_something_happened_are_counted():
    visits = KnowledgeGraph.from_triplets([
        *((f"700{i}", "type", "visit") for i in range(4)),
        *((f"700{i}", "patient_name", "Ann" if i else "Bo") for i in range(4)),
        *((f"700{i}", "admitted_on", f"2024-0{i + 1}-11") for i in range(4)),
        *((f"700{i}", "emergency_admission", "no") for i in range(4)),
    ])  # fmt: skip
    question = "How many times has Ann been admitted?"
    result = Scout.from_pretrained().retrieve(question, visits, k=30)
    assert (result.kind, result.answers[0].name) == ("count", "3")


def test_nodes_of_another_reading_are_not_counted():
    triplets = [("pandas", "needs", "numpy"), ("scipy", "needs", "numpy")]
    triplets += [("numpy", "made by", "Harris"), ("numpy", "license", "BSD")]
    logits = {"pandas": 3.0, "scipy": 2.0, "Harris": 1.0, "BSD": 0.5, "numpy": -9.0}
    result = answers_of(triplets, ["numpy"], logits, "How many things need numpy?")
    assert result.answers[0].name == "2"
    assert [each.name for each in result.support] == ["pandas", "scipy"]


def test_all_that_a_topic_has_by_one_relation_is_counted():
    triplets = [("numpy", "needs", f"part {i}") for i in range(3)]
    # Of one part another triplet has a higher logit: it counts all the same.
    triplets += [("pandas", "needs", "numpy"), ("part 0", "made by", "Harris")]
    logits = {f"part {i}": 3.0 - i / 2 for i in range(3)} | {"pandas": 2.8}
    logits |= {"Harris": 1.0, "numpy": -9.0}
    result = answers_of(triplets, ["numpy"], logits, "How many parts has numpy?")
    assert result.answers[0].name == "3"
    assert [each.name for each in result.support] == ["part 0", "part 1", "part 2"]


def test_all_that_a_stated_relation_leads_to_is_counted_however_unlikely():
    triplets = [("numpy", "needs", f"part {i}") for i in range(3)]
    logits = {"part 0": 3.0, "part 1": -6.0, "part 2": -7.0, "numpy": -9.0}
    stated = answers_of(triplets, ["numpy"], logits, "How many parts does numpy need?")
    assert stated.answers[0].name == "3"
    other = answers_of(triplets, ["numpy"], logits, "How many parts build numpy?")
    assert [each.name for each in other.answers or other.best_guesses][:1] == ["1"]


def test_a_count_of_one_is_a_guess_where_no_word_says_what_is_counted():
    one, two = [-9.0, 9.0, -9.0], [-9.0, 9.0, 9.0]
    assert not with_logits(one, "How many are there?").abstained
    doubted = with_logits(one, "How many are there?", doubts=1.0)
    assert doubted.abstained and doubted.best_guesses[0].name == "1"
    assert not with_logits(two, "How many are there?", doubts=1.0).abstained


def test_a_count_of_low_probability_is_a_guess():
    logits = [-9.0, 3.0, 0.2, -0.2]  # P = .95, .55, .45: hardly two rather than three
    result = with_logits(logits, "How many are there?", least=0.2)
    assert result.abstained and not result.answers
    (guess,) = result.best_guesses
    assert guess.name == "2" and guess.probability == pytest.approx(0.0997, abs=1e-4)
    assert not with_logits(logits, "Who is there?", least=0.2).abstained


def test_when_asks_for_a_date_and_who_for_a_name():
    names = ["Ada", "Bern", "1815-12-10", "in 1833"]
    logits = [-9.0, 3.0, 1.0, 0.5]
    said = {
        "When was Ada born?": ["1815-12-10", "in 1833"],
        "In what year was Ada born?": ["1815-12-10", "in 1833"],
        "Where was Ada born?": ["Bern", "in 1833"],
        "What of Ada?": ["Bern", "1815-12-10", "in 1833"],
    }
    for question, expected in said.items():
        result = with_logits(logits, question, names=names)
        assert [answer.name for answer in result.answers] == expected
    # Where no answer is of that kind, there are guesses only.
    for question in ("When was it?", "Where was it?"):
        place = "Bern" if question.startswith("When") else "1815"
        result = with_logits([-9.0, 3.0, -9.0], question, names=["Ada", place, "x"])
        assert result.abstained and not result.answers
        assert result.best_guesses[0].name == place


@pytest.mark.parametrize(
    ("name", "dated"),
    [
        ("1979", True),
        ("1952-03-11T00:00:00Z", True),
        ("12.5.1999", True),
        ("2008 World Series", True),
        ("25 May 1979", True),
        ("14:00-16:00", True),
        ("Tuesdays and Fridays", True),
        ("late summer", True),
        ("Hot Springs", False),
        ("Saturday Night Live", False),
        ("2102650", False),
        ("+1.96", False),
        ("1,976,000", False),
        ("Paris", False),
    ],
)
def test_dates_are_told_from_other_values(name, dated):
    assert is_dated(name) == dated


def test_without_candidates_the_policy_abstains():
    graph = KnowledgeGraph.from_triplets([("a", "r", "b")])
    start = SearchStart(np.empty(0, np.int32), (), ("Mu",))
    empty = Scores(logits=np.empty(0, np.float32))
    asked = ScoredQuestion(
        text="Who?", graph=graph, start=start, candidates=None, scores=empty
    )
    result = question_result(asked, 5, SelectionConfig(), None, WALKERS)
    assert result.abstained and result.answers == () == result.best_guesses
    assert not question_result(
        asked, 5, SelectionConfig(), None, 0
    ).abstained  # it has no head


@pytest.mark.parametrize(("logit", "said", "sure"), [(2.0, "yes", 2.0), (-2, "no", 2)])
def test_yes_where_the_walk_from_the_other_topic_arrives(logit, said, sure):
    graph = KnowledgeGraph.from_triplets([("Heat", "by", "Mann"), ("Mann", "in", "US")])
    topics = graph.find_all(["Heat", "US"])
    candidates = candidates_of(graph, topics, np.random.default_rng(0))
    starts = []

    def score(positions, of_rows):
        """The node that is asked for has the logit, from Heat; from US it has less."""
        out = []
        for each in of_rows:
            starts.append([graph.entities[int(each.entities[i])] for i in each.topics])
            from_heat = starts[-1] == ["Heat"]
            nodes = np.full(3, -5.0, np.float32)
            if from_heat:
                nodes[each.entities == graph.find("US")] = logit
            follow = np.full((2, 2 * 2 * WALKERS), 0.5, np.float32)
            logits = np.zeros(2, np.float32)
            out.append(Scores(logits=logits, nodes=nodes, follow=follow))
        return out

    asked = ScoredQuestion(
        text="Is Heat by someone in the US?",
        graph=graph,
        start=SearchStart(topics, (), ()),
        candidates=candidates,
        scores=score([0], [candidates])[0],
    )
    starts.clear()
    (asked,) = with_answers([asked], score, AnswerScale(), 0.2)
    result = question_result(asked, 5, SelectionConfig(), None, WALKERS)
    assert sorted(starts) == [["Heat"], ["US"]]
    (answer,) = result.answers
    assert result.kind == "yes_no" and answer.name == said
    assert answer.probability == pytest.approx(1 / (1 + np.exp(-sure)))
    assert [each.name for each in result.support] == ["US"]
    assert answer.path == (("Heat", "by", "Mann"), ("Mann", "in", "US"))
    (unsure,) = with_answers([asked], score, AnswerScale(), 0.95)
    assert question_result(unsure, 5, SelectionConfig(), None, WALKERS).abstained


@pytest.mark.parametrize(
    ("constrained", "of_rivals", "said", "p", "sure"),
    [
        # P = .3 each, .1 the others: each is the other's best answer
        ((0.3, 0.3), 0.1, "yes", 0.75, True),
        ((0.3, 0.3), 0.35, "no", 0.5, False),  # nearly, but neither is the best
        ((0.3, 0.1), 0.35, "no", 0.5, False),  # a good answer from one side
        ((0.05, 0.02), 0.4, "no", 0.95, True),
        ((0.04, 0.04), 0.01, "no", 0.5, False),  # the best of nothing
    ],
)
def test_neighbours_are_compared_with_the_other_nodes(
    constrained, of_rivals, said, p, sure
):
    triplets = [("Alien", "by", "Scott"), ("Heat", "by", "Mann"), ("Scott", "in", "UK")]
    graph = KnowledgeGraph.from_triplets([*triplets, ("Mann", "in", "UK")])

    def answers_to(names: list[str]) -> RetrievalResult:
        topics = graph.find_all(names)
        candidates = candidates_of(graph, topics, np.random.default_rng(0))

        def score(positions, of_rows):
            out = []
            for each, p_asked in zip(of_rows, constrained, strict=True):
                nodes = np.full(len(each.entities), of_rivals)
                start = each.entities[each.topics]
                nodes[np.isin(each.entities, np.setdiff1d(topics, start))] = p_asked
                nodes[each.topics] = 0.9  # topics are no rivals
                follow = np.full((2, 2 * 2 * WALKERS), 0.5, np.float32)
                logits = np.zeros(len(each.ids), np.float32)
                of_nodes = np.log(nodes / (1 - nodes)).astype(np.float32)
                out.append(Scores(logits=logits, nodes=of_nodes, follow=follow))
            return out

        asked = ScoredQuestion(
            text="Is it so?",
            graph=graph,
            start=SearchStart(topics, (), ()),
            candidates=candidates,
            scores=Scores(logits=np.zeros(4, np.float32)),
        )
        scale = AnswerScale(threshold=0.1, abstention=0.5)
        (asked,) = with_answers([asked], score, scale, scale.abstention)
        return question_result(asked, 5, SelectionConfig(), None, WALKERS)

    result = answers_to(["Alien", "Scott"])
    (answer,) = result.answers or result.best_guesses
    assert (answer.name, result.abstained) == (said, not sure)
    assert answer.probability == pytest.approx(p)
    # Alien and Mann are no neighbours: P(answer) alone counts.
    (far,) = answers_to(["Alien", "Mann"]).answers
    assert (far.name, far.probability) == ("no", pytest.approx(1 - max(constrained)))


@pytest.mark.parametrize(
    ("question", "steps", "said"),
    [
        ("Is A near B?", NEAR_STEPS, "yes"),
        ("Is A near B?", NEAR_STEPS + 1, "no"),
        ("Does anyone of A work on B?", SOMEBODY_STEPS, "yes"),
        ("Does anyone of A work on B?", SOMEBODY_STEPS + 1, "no"),
    ],
)
def test_a_walk_that_arrives_less_surely_is_a_yes_where_it_is_short(
    question, steps, said
):
    graph = KnowledgeGraph.from_triplets(
        [(f"e{i}", "r", f"e{i + 1}") for i in range(steps)]
    )
    ends = graph.find_all(["e0", f"e{steps}"])
    candidates = candidates_of(graph, ends, np.random.default_rng(0))
    turns = yes_no_turns(question, candidates, [ends[:1], ends[1:]])
    logits = np.full(steps + 1, -20.0, np.float32)

    def scores(logit: float) -> Scores:
        nodes = logits.copy()
        nodes[[candidates.node_of(int(end)) for end in ends]] = logit
        return Scores(
            logits=np.zeros(steps, np.float32), nodes=nodes,
            follow=np.zeros((1, WALKERS), np.float32),
        )  # fmt: skip

    def probability(logit: float) -> float:
        (candidates, asked), _ = turns
        return float(node_probabilities(candidates, scores(logit), SCALE)[asked[0]])

    unsure = next(x for x in np.arange(-20, 20, 0.1) if probability(x) >= NEAR_YES)
    assert probability(unsure) < YES
    found = read_yes_no(question, turns, [scores(unsure)] * 2, SCALE, 0.5)
    assert found.value == said


@pytest.mark.parametrize(
    ("question", "count", "yes_no"),
    [
        ("How many films are there?", True, False),
        ("in how  many?", False, False),
        ("What's the total number of Ada's films?", True, False),
        ("Tell me the number of films", True, False),
        ("Number of films by Ada?", True, False),
        ("Count all films by Ada", True, False),
        ("count films that Ada made", True, False),
        ("What is the atomic number of iron?", False, False),
        ("Who wrote Count the Stars?", False, False),
        ("IS Bern in Switzerland?", False, True),
        ("«Did Ada meet Bern?", False, True),
        ("Island of what?", False, False),
        ("What is Bern?", False, False),
    ],
)
def test_the_first_words_tell_the_kind(question, count, yes_no):
    assert (asks_for_count(question), asks_yes_no(question)) == (count, yes_no)


def test_numbers_are_told_from_names():
    assert all(map(is_numeral, ["3", " 1,000 ", "-2.5", "1979"]))
    assert not any(map(is_numeral, ["", "Studio 3", "3rd", "1979-05-25"]))


def test_links_of_the_same_words_are_one_mention():
    def link(entity: int, start: int, stop: int) -> Link:
        return Link(
            entity=entity, name="x", score=1.0, how="exact", start=start, stop=stop
        )

    links = [link(7, 12, 20), link(3, 0, 5), link(4, 2, 8)]
    groups = mentions(np.array([7, 3, 4], np.int32), links)
    assert [group.tolist() for group in groups] == [[3, 4], [7]]
    given_names = mentions(np.array([7, 3, 7], np.int32), ())
    assert [group.tolist() for group in given_names] == [[7], [3]]


def test_the_probability_of_a_set_is_that_of_its_last_node_and_of_no_other():
    assert set_size(np.array([0.9, 0.6, 0.1]), 0.5) == (2, pytest.approx(0.5))
    assert set_size(np.array([0.9, 0.6]), 0.5) == (2, pytest.approx(0.6))
    assert set_size(np.array([0.3, 0.1]), 0.5) == (1, pytest.approx(0.2))


@pytest.mark.parametrize("question", ["Who is not here?", "How many never were here?"])
def test_a_negated_question_has_no_answer_and_no_guess(question):
    result = with_logits([-9.0, 3.0, 1.0], question, least=0.0)
    assert result.abstained and result.status == "not sure"
    assert result.answers == result.best_guesses == result.support == ()
    assert result.triplets  # the evidence stays
    word = question.split()[2]
    assert result.to_dict()["negation"] == result.negation == word
    assert word in result.abstention_note
    plain = with_logits([-9.0, 3.0, 1.0], question.replace(f"{word} ", ""), least=0.0)
    assert plain.answers and not plain.negation and not plain.abstention_note
