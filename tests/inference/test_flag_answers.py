"""Yes or no by a flag of one entity, on a table by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from test_definitions import candidates_of

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.flag_answers import as_yes_no, read_flag
from kgscout_jax.inference.node_answers import NodeAnswers
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


@pytest.mark.parametrize(
    ("question", "answer", "kind", "abstained"),
    [
        ("Does Soup have meat?", "no", "yes_no", False),
        ("Does Kebab go with Soup?", "Greek", "set", True),  # a name is neither
        ("Can you tell me where Kebab is from?", "Greek", "set", False),
        ("Does Kebab have a cuisine?", "Greek", "set", False),
        ("Is Kebab of a kitchen, and which one?", "Greek", "set", False),
        ("Where is Kebab from?", "Greek", "set", False),
    ],
)
def test_a_name_does_not_answer_yes_or_no(question, answer, kind, abstained):
    names = ["Greek", "no"]
    found = NodeAnswers(
        nodes=np.array([names.index(answer)]),
        probabilities=np.array([0.8]),
        abstained=False,
        topics=np.array([0]),
        follow=np.zeros((4, 2), np.float32),
    )
    candidates = dataclasses.replace(
        candidates_of(GRAPH, "Kebab"), entities=np.array([0, 1])
    )
    read = as_yes_no(question, found, candidates, names.__getitem__, 0.5)
    assert read is not None and (read.kind, read.abstained) == (kind, abstained)
