"""The planted answers of recipes/okgqa_judge.py, and its precision and recall."""

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.okgqa.judges.protocol import Judgement
from recipes.okgqa_judge import SENTENCES, detection, planted_answers


@pytest.fixture
def graph():
    triplets = []
    for i in range(8):
        city = f"City {i}"
        triplets += [
            (city, "location.city.country", f"Country {i % 3}"),
            (city, "location.city.time_zone", f"Zone {i % 4}"),
        ]
    return KnowledgeGraph.from_triplets(triplets)


def test_every_second_answer_has_one_wrong_fact(graph):
    true = {
        SENTENCES[relation].format(h=head, t=tail)
        for head, relation, tail in map(graph.triplet, range(len(graph.triplets)))
    }
    answers = planted_answers(graph, 8, seed=1)
    assert [one.altered is not None for one in answers] == [False, True] * 4
    for one in answers:
        said = [f"{each}." for each in one.answer.removesuffix(".").split(". ")]
        assert len(said) == 2
        assert [each for each in said if each not in true] == (
            [one.altered] if one.altered else []
        )
        assert one.truth is None or one.truth in true
    assert answers[:3] == planted_answers(graph, 3, seed=1)


def test_failures_are_neither_right_nor_wrong():
    values = [0.5, 0.0, 1.0, 0.5, None, 1.0]
    judgements = [
        Judgement(value=v, outcome="judged" if v is not None else "no reply")
        for v in values
    ]
    found = detection([True, True, True, False, True, False], judgements, seed=0)
    assert found["precision"]["value"] == pytest.approx(2 / 3)
    assert found["recall"]["value"] == pytest.approx(2 / 3)
    assert found["accuracy"]["value"] == pytest.approx(3 / 5)
    assert found["outcomes"] == {"judged": 5, "no reply": 1}
    assert 0 <= found["recall"]["low"] <= found["recall"]["high"] <= 1
    nothing = detection([True], [Judgement(outcome="no reply")], seed=0)
    assert nothing["precision"]["value"] is None and nothing["judged"] == 0
