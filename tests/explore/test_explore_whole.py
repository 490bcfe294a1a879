"""Explorations from end to end: the command, both rankings, the retriever."""

from __future__ import annotations

import json

import numpy as np
import pytest
from explore.walker import walking
from prep_factory import NEEDS_ENCODER
from scout_factory import shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.evaluate.answers.evidence import question_rankings
from kgscout_jax.explore.make import explorer
from kgscout_jax.explore.retriever import ExplorationRetriever
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.retrieved_file import write_retrieved

pytestmark = NEEDS_ENCODER
PLAN = "node: Heat\nrelation: director"
WANTS = ("Heat", "directed_by", "Michael Mann")


@pytest.mark.parametrize(
    ("ranking", "most", "calls"), [("vector", 50, 5), ("kgscout", 5, 4)]
)
def test_ask_explores_a_graph(films, export, ranking, most, calls, capsys):
    with walking(PLAN, WANTS) as server:
        ask = ["ask", str(export), "--kg", str(films), "Who directed Heat?",
               "--llm", server.url, "--model", "m", "--explore", ranking]  # fmt: skip
        assert main([*ask, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["exploration"]
        assert found["answers"] == ["Michael Mann"]
        assert found["path"] == [
            {"head": "Heat", "relation": "directed_by", "tail": "Michael Mann"}
        ]
        assert (found["calls"], found["outcome"]) == (calls, "answered")
        assert len(server.bodies) == calls
        assert 1 < max(step.get("candidates", 0) for step in found["steps"]) <= most
        assert main([*ask, "--explain"]) == 0
    out = capsys.readouterr().out
    assert 'Step1: Start at target entity: "Heat"' in out
    assert 'selected_rels = ["directed_by"]' in out
    assert "answer (exploration): Michael Mann" in out
    assert f"answered, 1 tries, {calls} requests, {12 * calls} tokens, 0 malf" in out


@pytest.mark.extended
def test_a_path_is_a_ranking_with_its_trace(tmp_path, kgscout_cache):
    world = shared_world("guided")
    graph, split = KnowledgeGraph.open(world.file), world.shards.split("test")
    names = [*graph.entities, *graph.relations]
    wants = [*names, *(f"is {name} of (reversed)" for name in graph.relations)]
    explorations = []
    with walking("node: Ada\nrelation: twin town", wants) as server:
        endpoint = EndpointSettings(url=server.url, model="m", temperature=0.0)
        chain = explorer(graph, world.scout, endpoint)
        retriever = ExplorationRetriever(chain, explorations.append)
        rankings = retriever.rank(world.shards, split, 4)
    assert [found.question for found in explorations] == [
        info.text for info in split.questions
    ]
    assert rankings.notes["calls"] == sum(found.calls for found in explorations)
    file = tmp_path / "coe.jsonl"
    write_retrieved(file, world.shards, split, rankings)
    again = External(file).rank(world.shards, split, 4)
    for name in ("heads", "relations", "tails", "scores", "lengths"):
        np.testing.assert_array_equal(getattr(again, name), getattr(rankings, name))
    shown = question_rankings(world.shards, split, again)
    for found, ranking in zip(explorations, shown, strict=True):
        assert found.path and ranking.trace == found.log()
        latest = [tuple(t) for t in found.path[::-1]]
        assert [t[:3] for t in ranking.triplets] == latest[:4]
