"""Yes or no by a flag of one entity, on a table by hand."""

from __future__ import annotations

import numpy as np
import pytest
from test_definitions import candidates_of

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.flag_answers import read_flag
from kgscout_jax.inference.scoring import Scores

GRAPH = KnowledgeGraph.from_triplets([
    ("Soup", "vegetarian", "true"), ("Soup", "is_very_spicy", "no"),
    ("Kebab", "vegetarian", "false"), ("Kebab", "cuisine", "Greek"),
    ("Stew", "rating", "good"), ("Stew", "cuisine", "Greek"),
    ("Swift", "migratory", "true"), ("Kebab", "type", "dish"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "topic", "expected"),
    [
        ("Is Soup vegetarian?", "Soup", "yes"),
        ("Is Kebab vegetarian?", "Kebab", "no"),
        ("is soup very spicy", "Soup", "no"),
        ("Does Swift migrate?", "Swift", "yes"),
        ("Is Kebab a vegetarian dish?", "Kebab", "no"),
        ("Is Soup a vegetarian dish?", "Soup", None),  # nothing says that it is one
        ("Is Stew vegetarian?", "Stew", None),  # nothing says it
        ("Is Soup vegetarian and cheap?", "Soup", None),
        ("Which cuisine is Kebab?", "Kebab", None),
        ("Is Stew good?", "Stew", None),  # no flag
    ],
)
def test_yes_or_no_by_the_flag_that_the_question_names(question, topic, expected):
    found = candidates_of(GRAPH, topic)
    scores = Scores(logits=np.zeros(1, np.float32), follow=np.zeros((4, 2), np.float32))
    relations = [GRAPH.relation_names[i] for i in found.relations]
    nodes = [str(GRAPH.entities[int(i)]) for i in found.entities]
    answers = read_flag(question, [topic], found, scores, relations, nodes, 0.5)
    assert (answers and answers.value) == expected
    if answers is not None:
        (slots,) = answers.evidence.values()
        (triplet,) = (GRAPH.triplet(int(found.ids[slot])) for slot in slots)
        assert triplet[0] == topic and not answers.abstained
