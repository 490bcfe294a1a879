"""Graphs, policies and exports that are replaced while somebody uses them."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from film_world import FILMS, export_initial, film_triplets
from fuzz.strangers import NASTY

from kgscout_jax.errors import UserError
from kgscout_jax.export.hub import push
from kgscout_jax.export.load import load_exported
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.scout import Scout

pytestmark = pytest.mark.extended

CALLERS = 8


@pytest.fixture(scope="module")
def scouts(hash_scout, tmp_path_factory) -> tuple[Scout, Scout]:
    """Two policies of one encoder."""
    out, encoder = tmp_path_factory.mktemp("other") / "policy", hash_scout.encoder
    export_initial(encoder.identity, out, seed=99)
    return hash_scout, Scout(load_exported(out), encoder)


def test_every_reply_is_of_one_policy_and_one_graph(scouts):
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    from starlette.testclient import TestClient

    from kgscout_jax.serve.app import create_app
    from kgscout_jax.serve.settings import ServiceSettings

    graphs = [
        KnowledgeGraph.from_triplets(film_triplets(studio))
        for studio in ("Atelier", "</script>\x00\u202e")
    ]
    for graph in graphs:
        graph.embed(scouts[0].encoder)
    questions = [f"who directed {film}?" for film in FILMS]
    pairs = list(itertools.product(scouts, graphs))
    possible = {
        question: [one.retrieve(question, graph, 5) for one, graph in pairs]
        for question in questions
    }
    assert len({str(each.scored) for each in possible[questions[0]]}) == 4
    settings = ServiceSettings(max_batch=4)
    app = create_app(scouts[0], {"films": graphs[0]}, settings)
    stop = threading.Event()

    def reload() -> None:
        for one, graph in itertools.cycle(pairs):
            if stop.is_set():
                return
            app.state.replace_scout(one)
            app.state.graphs.replace("films", graph)
            time.sleep(0.001)

    with TestClient(app) as client, ThreadPoolExecutor(CALLERS + 1) as threads:
        threads.submit(reload)
        try:
            sent = random.Random(0).choices([*questions * 8, *NASTY], k=60)
            headers = {"content-type": "application/json"}

            def post(question: str):
                body = json.dumps({"question": question, "k": 5})
                return client.post("/retrieve", content=body, headers=headers)

            replies = list(threads.map(post, sent))
        finally:
            stop.set()
    seen = set()
    for question, reply in zip(sent, replies, strict=True):
        if question not in possible:
            assert reply.status_code in (200, 422)
            continue
        assert reply.status_code == 200
        rows = reply.json()["triplets"]
        which = [
            i
            for i, each in enumerate(possible[question])
            if {tuple(row[:3]) for row in rows} == set(each.triplets)
            and np.allclose([row[3] for row in rows], each.scores, atol=1e-3)
        ]
        assert which, (question, rows)
        seen.update(which)
    assert len(seen) > 1


def test_an_export_that_is_replaced_is_loaded_whole_or_refused(scouts, tmp_path):
    """One writer, two readers: what is loaded passes its own golden logits."""
    served = tmp_path / "served"
    sources = [scout.exported.path for scout in scouts]
    push(sources[0], served)
    weights = {
        load_exported(source).metadata["files"]["model.safetensors"]["sha256"]: i
        for i, source in enumerate(sources)
    }
    assert len(weights) == 2
    stop = threading.Event()

    def replace() -> int:
        count = 0
        for source in itertools.cycle(sources):
            if stop.is_set():
                return count
            push(source, served, overwrite=True, verify=False)
            count += 1
        return count

    with ThreadPoolExecutor(3) as threads:
        replaced = threads.submit(replace)

        def read() -> tuple[set[int], int]:
            seen, refused = set(), 0
            end = time.monotonic() + 2
            while time.monotonic() < end:
                try:
                    found = load_exported(served, verify=True)
                except UserError as error:
                    assert str(served) in str(error)
                    refused += 1
                    continue
                sha = found.metadata["files"]["model.safetensors"]["sha256"]
                seen.add(weights[sha])
            return seen, refused

        results = [threads.submit(read) for _ in range(2)]
        try:
            found = [result.result() for result in results]
        finally:
            stop.set()
        assert replaced.result() > 1
    assert set().union(*(seen for seen, _ in found))
    assert [path.name for path in tmp_path.iterdir()] == ["served"]
