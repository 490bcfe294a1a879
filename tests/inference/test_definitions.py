"""What something is, and facts that are nodes: which nodes answer a question."""

from __future__ import annotations

import numpy as np
import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.definitions import definition_word
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import answer_mask
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig

EXPOSES = "Tern exposes metrics"
SAID = "Ann likes Tern"
TRIPLETS = [
    ("Tern", "stores messages in", "append-only logs"),
    ("Tern", "depends on", "RocksDB"),
    ("Tern", "is a", "message broker"),
    ("Tern", "exposes", "metrics"),
    (EXPOSES, "in", "Prometheus format"),
    (EXPOSES, "has subject", "Tern"),
    (EXPOSES, "has object", "metrics"),
    ("Bob", "said", SAID),
    (SAID, "has subject", "Ann"),
    (SAID, "has object", "Tern"),
    ("Plover Labs", "description", "maker of software"),
]


def candidates_of(graph: KnowledgeGraph, topic: str) -> Candidates:
    """All triplets of the graph as candidates."""
    triplets = np.asarray(graph.triplets)
    relations, relation_index = np.unique(triplets[:, 1], return_inverse=True)
    entities, nodes = np.unique(triplets[:, [0, 2]], return_inverse=True)
    names = [str(graph.entities[int(i)]) for i in entities]
    n = len(triplets)
    return Candidates(
        ids=np.arange(n, dtype=np.int32),
        triplets=np.zeros((n, 4), np.float16),
        ppr=np.zeros((n, 2), np.float32),
        relations=relations,
        relation_index=relation_index,
        nodes=nodes.reshape(-1, 2),
        entities=entities.astype(np.int32),
        topics=np.array([names.index(topic)]),
        relation_match=np.zeros(n, np.float32),
        seconds=0.0,
    )


@pytest.mark.parametrize(
    ("question", "topic", "word"),
    [
        ("What is Tern?", "Tern", "is a"),
        ("who was Tern", "Tern", "is a"),
        ("What's Plover Labs?", "Plover Labs", "description"),
        ("What does Tern store?", "Tern", None),
        ("Who was in Tern?", "Tern", None),
        ("What is RocksDB?", "RocksDB", None),  # nothing says it
    ],
)
def test_a_definition_is_asked_of_a_topic_that_has_one(question, topic, word):
    graph = KnowledgeGraph.from_triplets(TRIPLETS)
    assert definition_word(question, graph, candidates_of(graph, topic)) == word


def test_a_fact_is_an_answer_only_if_somebody_said_it():
    graph = KnowledgeGraph.from_triplets(TRIPLETS)
    candidates = candidates_of(graph, "Tern")
    mask = answer_mask(candidates, lambda i: str(graph.relations[i]))
    names = {str(graph.entities[int(i)]) for i in candidates.entities[mask]}
    assert SAID in names and EXPOSES not in names
    assert len(names) == len(candidates.entities) - 1


def test_what_something_is_comes_first_and_other_questions_stay():
    scout, graph = Scout.from_pretrained(), KnowledgeGraph.from_triplets(TRIPLETS)
    form = SelectionConfig(form="answers", min_probability=0.0)
    questions = ["What is Tern?", "What does Tern depend on?"]
    found = scout.retrieve_many(questions, graph, 5, selection=form)
    first = [each.answers[0] for each in found]
    assert [answer.name for answer in first] == ["message broker", "RocksDB"]
    assert first[0].path == (("Tern", "is a", "message broker"),)
