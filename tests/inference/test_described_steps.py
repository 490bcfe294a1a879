"""Which reading of a question about a description is its result."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.described_steps import with_descriptions
from kgscout_jax.inference.joined_evidence import joined_evidence
from kgscout_jax.inference.query import Query
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.types import Answer

TRIPLETS = [
    ("Salome", "composer", "Strauss"), ("Elektra", "composer", "Strauss"),
    ("Strauss", "spouse", "Pauline"), ("Pauline", "spouse", "Strauss"),
    ("Strauss", "born in", "Munich"), ("Carmen", "composer", "Bizet"),
    ("Bizet", "born in", "Paris"), ("Bizet", "taught by", "Gounod"),
    ("Gounod", "born in", "Paris"), ("Strauss", "taught by", "Meyer"),
    ("Bizet", "spouse", "Emma"), ("Emma", "spouse", "Bizet"),
]  # fmt: skip
GRAPH = KnowledgeGraph.from_triplets(TRIPLETS)
Answers = dict[str, float]
LEAST = 0.5


def result_of(query: Query, answers: Answers, **fields) -> RetrievalResult:
    """A result with these answers, each by the triplet that leads to it, if any."""
    found = tuple(
        Answer(
            name=name,
            probability=p,
            path=tuple(t for t in TRIPLETS if t[2] == name)[:1],
        )
        for name, p in answers.items()
    )
    triplets = tuple({t: None for each in found for t in each.path})
    sure = bool(found) and found[0].probability >= LEAST
    fields |= {"answers" if sure else "best_guesses": found}
    return RetrievalResult(
        question=query.text,
        triplets=triplets,
        triplet_ids=np.array([TRIPLETS.index(t) for t in triplets], np.int32),
        scores=np.linspace(1, 0, len(triplets), dtype=np.float32),
        n_candidates=9,
        abstained=not sure,
        **fields,
    )


def asked(question: str, table: dict[str, Answers], budget: int = 9, **fields):
    """The result of a question where each question has the answers of a table.

    And the questions that were asked.
    """
    texts = []

    def retrieve(queries):
        texts.extend(query.text for query in queries)
        return [result_of(query, table.get(query.text, {})) for query in queries]

    query = Query(question, GRAPH, budget, None)
    whole = result_of(query, table[question], **fields)
    link = lambda text, graph: linker_of(graph).link(text)  # noqa: E731
    (found,) = with_descriptions([query], [whole], retrieve, link, LEAST)
    return found, texts


WHO = "Who was married to the composer of Salome?"
STEPS = {
    "Who is the composer of Salome?": {"Strauss": 0.9},
    "Who was married to Strauss?": {"Pauline": 0.8},
}


@pytest.mark.parametrize(
    ("whole", "answers"),
    [
        ({}, ["Pauline"]),  # no answer in one step
        ({"Meyer": 0.6}, ["Pauline"]),  # a less probable one
        ({"Meyer": 0.7}, ["Meyer"]),  # one as probable
        ({"Strauss": 0.7}, ["Pauline"]),  # the description's own answer
        ({"Pauline": 0.85, "Emma": 0.8}, ["Pauline"]),  # all of one person's fit
        ({"Meyer": 0.95}, ["Meyer"]),  # sure
    ],
)
def test_the_likelier_reading_is_the_result(whole, answers):
    found, _ = asked(WHO, {WHO: whole, **STEPS})
    assert [answer.name for answer in found.answers] == answers
    assert found.question == WHO


def test_an_answer_in_steps_is_as_probable_as_both_and_has_the_whole_path():
    found, texts = asked(WHO, {WHO: {}, **STEPS})
    assert texts == list(STEPS)
    (answer,) = found.answers
    assert answer.probability == pytest.approx(0.72)
    assert answer.path == (TRIPLETS[0], TRIPLETS[2])
    assert {*answer.path} <= {*found.triplets} and not found.abstained


def test_what_several_topics_have_in_common_is_asked_for_however_sure_it_is():
    question = "Who taught the composer of Salome and Elektra?"
    found, texts = asked(
        question,
        {
            question: {"Strauss": 0.95},
            "Who is the composer of Salome and Elektra?": {"Strauss": 0.9},
            "Who taught Strauss?": {"Meyer": 0.8},
        },
        topics=("Salome", "Elektra"),
    )
    assert [answer.name for answer in found.answers] == ["Meyer"] and len(texts) == 2


@pytest.mark.parametrize("fields", [{"negation": "not"}, {"topics_not_found": ("X",)}])
def test_what_is_left_open_for_a_reason_is_not_asked_in_steps(fields):
    found, texts = asked(WHO, {WHO: {}, **STEPS}, **fields)
    assert not texts and not found.answers


def test_descriptions_within_each_other_are_asked_from_the_inside_out():
    question = "Where was the teacher of the composer of Carmen born?"
    found, _ = asked(
        question,
        {
            question: {},
            "Who is the composer of Carmen?": {"Bizet": 0.9},
            "Where was the teacher of Bizet born?": {"Munich": 0.6},
            "Who is the teacher of Bizet?": {"Gounod": 0.9},
            "Where was Gounod born?": {"Paris": 0.9},
        },
    )
    (answer,) = found.answers
    assert (answer.name, answer.probability) == ("Paris", pytest.approx(0.729))


def test_every_answer_of_a_description_is_followed_and_none_leads_back():
    question = "Who composed the operas by Strauss's teacher?"
    _, texts = asked(question, {question: {}})
    assert texts == ["Who is Strauss's teacher?"]
    question = "Where were the spouses of Strauss born?"
    table = {
        question: {},
        "Who are the spouses of Strauss?": {"Pauline": 0.9, "Emma": 0.7, "Meyer": 0.2},
        "Where were Pauline born?": {"Munich": 0.9, "Strauss": 0.9},
        "Where were Emma born?": {"Paris": 0.8},
    }
    found, texts = asked(question, table)
    assert len(texts) == 3
    assert [answer.name for answer in found.answers] == ["Munich", "Paris"]


@given(st.data(), st.integers(1, 6))
def test_joined_evidence_keeps_paths_and_the_best_triplets(data, budget):
    rows = st.lists(st.sampled_from(TRIPLETS), unique=True, max_size=6)
    results, scores = [], {}
    for _ in range(data.draw(st.integers(1, 3))):
        triplets = data.draw(rows)
        values = data.draw(
            st.lists(
                st.floats(-4, 4, width=32), min_size=len(triplets),
                max_size=len(triplets),
            )
        )  # fmt: skip
        for triplet, value in zip(triplets, values, strict=True):
            scores[triplet] = max(scores.get(triplet, -9.0), value)
        results.append(
            RetrievalResult(
                question="?",
                triplets=tuple(triplets),
                scores=np.array(values, np.float32),
                triplet_ids=np.array([TRIPLETS.index(t) for t in triplets], np.int32),
            )
        )
    paths = data.draw(st.lists(rows, max_size=3))
    answers = [
        Answer(name=str(i), probability=0.5, path=tuple(path))
        for i, path in enumerate(paths)
    ]
    found = joined_evidence(results, answers, budget)
    assert len(found) == min(budget, len(scores))
    assert [*found.scores] == sorted(found.scores, reverse=True)
    for triplet, score, row in zip(
        found.triplets, found.scores, found.triplet_ids, strict=True
    ):
        assert score == np.float32(scores[triplet]) and TRIPLETS[row] == triplet
    for answer, path in zip(found.answers, paths, strict=True):
        assert answer.path in ((), tuple(path))
        assert {*answer.path} <= {*found.triplets}


NESTED = (
    "Who taught the composer of Carmen?",
    "Where was Emma's spouse born?",
    "Who married the teacher of the composer of Carmen?",
)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(NESTED), st.integers(1, 12))
def test_results_in_steps_hold_their_paths_and_no_more_than_k(kgscout_cache, text, k):
    scout = shared_world("general").scout
    result = scout.retrieve(text, GRAPH, k=k)
    assert result.question == text and len(result) <= k
    assert len(result) == len(result.scores) == len(result.triplet_ids)
    for answer in result.answers:
        assert {*answer.path} <= {*result.triplets}
