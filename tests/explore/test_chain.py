"""Algorithm 1 on the graph of figure 4, with the replies of a model written down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kgscout_jax.explore.chain import ChainOfExplorations
from kgscout_jax.explore.prompts import read_evaluation, read_plan, read_selection
from kgscout_jax.explore.ranking import VectorRanker
from kgscout_jax.explore.settings import SORRY, Exploration, ExploreSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.reason.completions import Completion
from kgscout_jax.reason.prompts import Message
from kgscout_jax.stores.embedded import EmbeddedStore
from kgscout_jax.types import Triplet

MARRIED: list[Triplet] = [
    ("Elizabeth Taylor", "married", "Eddie Fisher"),
    ("Elizabeth Taylor", "married", "Michael Wilding"),
]
DIED: list[Triplet] = [
    ("Eddie Fisher", "died in", "Berkeley"),
    ("Michael Wilding", "died in", "Chichester"),
]
GRAPH = KnowledgeGraph.from_triplets(
    [*MARRIED, *DIED, ("Elizabeth Taylor", "born in", "London")]
)
QUESTION = "Which former husband of Elizabeth Taylor died in Chichester?"
PLAN = "node: Elizabeth Taylor\nrelation: married\nrelation: died in"


def embed(texts: list[str]) -> np.ndarray:
    """Counts of letters as unit vectors."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows = np.array([[t.lower().count(c) for c in letters] for t in texts], float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def explore(
    replies: Sequence[str | None], settings: ExploreSettings | None = None
) -> tuple[Exploration, list[str]]:
    """The exploration, and the last message of each request."""
    rest, asked = iter(replies), []

    def chat(messages: Sequence[Message]) -> Completion:
        asked.append(messages[-1][1])
        text = next(rest)
        error = "gone" if text is None else None
        return Completion(text=text, error=error, prompt_tokens=10, reply_tokens=1)

    store = EmbeddedStore(GRAPH, embed)
    chain = ChainOfExplorations(store, chat, VectorRanker(store, embed), settings)
    found = chain.explore(QUESTION)
    assert next(rest, "none left") == "none left"
    return found, asked


def test_the_walk_of_figure_4():
    replies = [PLAN, "1", "1", "CONTINUE", "1", "RESPOND", "Michael Wilding"]
    found, asked = explore(replies)
    assert (found.answers, found.outcome) == (("Michael Wilding",), "answered")
    assert found.path == [*MARRIED, *DIED]
    assert (found.calls, found.prompt_tokens, found.reply_tokens) == (7, 70, 7)
    assert found.log() == (
        f"Q: {QUESTION}\n"
        "Plan: node: Elizabeth Taylor; relation: married; relation: died in\n"
        'Step1: Start at target entity: "Elizabeth Taylor"\n'
        'selected_nodes = ["Elizabeth Taylor"]\n'
        "evaluation = continue\n"
        "Step2: married\n"
        'selected_rels = ["married"]\n'
        'selected_nodes = ["Eddie Fisher", "Michael Wilding"]\n'
        "evaluation = continue\n"
        "Step3: died in\n"
        'selected_rels = ["died in"]\n'
        'selected_nodes = ["Berkeley", "Chichester"]\n'
        "evaluation = respond\n"
        "return (Elizabeth Taylor)-[married]->(Eddie Fisher), "
        "(Elizabeth Taylor)-[married]->(Michael Wilding), "
        "(Eddie Fisher)-[died in]->(Berkeley), "
        "(Michael Wilding)-[died in]->(Chichester)\n"
        "Answer Generated: Michael Wilding"
    )
    assert (
        "1. Elizabeth Taylor\n" in asked[1]
        and "1. married (Elizabeth Taylor -> Eddie Fisher)\n" in asked[2]
    )
    assert "(Michael Wilding)-[died in]->(Chichester)" in asked[-1]


def test_three_failed_tries_end_with_the_published_sentence():
    found, _ = explore([PLAN, "1", "1", "REFINE"] * 3)
    assert (found.answer, found.outcome, found.tries) == (SORRY, "not found", 3)
    assert found.calls == 12


def test_a_new_plan_starts_over_with_an_empty_path():
    born = "node: Elizabeth Taylor\nrelation: born in"
    replies = [PLAN, "1", "1", "REFINE", born, "1", "1", "RESPOND", "London"]
    found, asked = explore(replies)
    assert found.path == [("Elizabeth Taylor", "born in", "London")]
    assert (found.answers, found.tries) == (("London",), 2)
    assert "This plan did not lead to the answer:\nnode: Elizabeth" in asked[4]


def test_a_malformed_reply_is_repaired_once_and_then_counted():
    found, asked = explore(
        [PLAN, "Taylor", "1", "eh", "what", "RESPOND", "Wilding; Fisher"]
    )
    assert found.malformed == 1
    assert found.answers == ("Wilding", "Fisher")
    assert asked[2].endswith("such as 1, 3, or 0.")
    assert found.path == MARRIED  # the first candidate stood in


def test_facts_that_do_not_tell_lead_on():
    replies = [PLAN, "1", "1", "RESPOND", "UNKNOWN", "1", "CONTINUE", "Wilding"]
    found, _ = explore(replies)
    assert found.answers == ("Wilding",)


@pytest.mark.parametrize(
    "settings", [ExploreSettings(calls=3), ExploreSettings(tokens=33)]
)
def test_limits_on_calls_and_tokens_hold(settings: ExploreSettings):
    found, _ = explore([PLAN, "1", "1"], settings)
    assert (found.outcome, found.answer, found.calls) == ("limit", SORRY, 3)


def test_a_model_that_is_gone_is_an_error():
    found, _ = explore([PLAN, None])
    assert (found.outcome, found.error, found.answers) == ("error", "gone", ())


def test_nothing_selected_is_a_failed_try():
    found, _ = explore([PLAN, "0"] * 3)
    assert (found.outcome, found.tries, found.calls) == ("not found", 3, 6)


def test_replies_are_read_leniently_but_not_invented():
    steps = read_plan("1. Node: Rome\n- relation: mayor\nthanks")
    assert steps is not None
    assert [(s.kind, s.text) for s in steps] == [
        ("node", "Rome"),
        ("relation", "mayor"),
    ]
    assert read_plan("relation: mayor") is None
    assert read_selection("2, 1 and 2", 3, 5) == [1, 0]
    assert read_selection("0", 3, 5) == []
    assert read_selection("4", 3, 5) is None
    assert read_evaluation("Respond.") == "respond"
    assert read_evaluation("CONTINUE or REFINE") is None
