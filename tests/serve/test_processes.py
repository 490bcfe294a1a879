"""Scouts in processes of their own find the same, and outlive a death."""

from __future__ import annotations

import multiprocessing
from concurrent.futures.process import BrokenProcessPool

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.serve.server import scout_processes
from kgscout_jax.serve.settings import ServeSettings
from kgscout_jax.serve.startup import load

QUESTIONS = ["who directed Alien?", "who starred in Heat?"]


def test_processes_find_what_one_scout_finds_and_are_replaced(export, films):
    settings = ServeSettings(policy=str(export), kg=((str(films),),), processes=2)
    scout, graphs = load(settings)
    graph = graphs["films"]
    more = {"topics": [None, ["Heat"]], "selection": SelectionConfig()}
    expected = scout.retrieve_many(QUESTIONS, graph, [5, 9], **more)
    with scout_processes(settings, scout, graphs) as processes:

        def check() -> None:
            found = processes.retrieve_many(QUESTIONS, [graph] * 2, [5, 9], **more)
            for mine, other in zip(found, expected, strict=True):
                assert mine.triplets == other.triplets and len(mine)
                assert mine.scores.tobytes() == other.scores.tobytes()

        assert len(processes) == 2
        check()
        check()  # the other one
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        for _ in range(2):
            with pytest.raises(BrokenProcessPool):
                check()
        check()
        other = KnowledgeGraph.from_triplets([("a", "b", "c")])
        with pytest.raises(UserError, match="found one that the processes lack"):
            processes.retrieve_many(["who?"], [other], [1], **more)
    assert not multiprocessing.active_children()
