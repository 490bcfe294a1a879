"""Whatever is sent, the service replies with JSON, never with an error of its own."""

from __future__ import annotations

import json
import math

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
from film_world import FILMS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.serve.app import create_app
from kgscout_jax.serve.settings import ServiceSettings

pytestmark = pytest.mark.extended

LIMITS = ServiceSettings(max_k=40, max_question_chars=200, batch_wait_ms=0)
# without surrogates: this is what files and JSON hold; halves of pairs are below
TEXT = st.text(max_size=60) | st.sampled_from(
    [
        *FILMS,
        "who directed Alien?",
        "\x00",
        "\u202e",
        "ﷺ" * 50,
        "a\u0301" * 60,
        "İ",
        "ß",
    ]
)
ANY_TEXT = st.text(st.characters(codec=None), max_size=20)  # type: ignore[arg-type]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=8,
)
GOOD = st.fixed_dictionaries(
    {"question": TEXT},
    optional={
        "k": st.integers(1, 40),
        "topics": st.none() | st.lists(TEXT, max_size=3),
        "graph": st.sampled_from([None, "films", "odd"]),
    },
)
ODD = st.fixed_dictionaries(
    {"question": TEXT | JSON},
    optional={"k": JSON, "topics": JSON, "graph": JSON, "other": JSON},
)
BODY = GOOD.map(json.dumps) | (ODD | JSON).map(json.dumps)
FUZZ = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def client(scout, graph):
    app = create_app(scout, {"films": graph, "odd": graph}, LIMITS)
    with TestClient(app) as client:  # what the application raises, is raised here
        yield client


@FUZZ
@given(body=BODY | st.binary(max_size=80), path=st.sampled_from(["retrieve", "answer"]))
def test_any_body_gets_a_reply(client, body, path):
    content = body if isinstance(body, bytes) else body.encode()
    kind = {"content-type": "application/json"}
    reply = client.post(f"/{path}", content=content, headers=kind)
    assert reply.status_code in (200, 400, 404, 422)
    value = json.loads(reply.content.decode("utf-8"))
    if reply.status_code != 200:
        assert list(value) == ["error"] and len(value["error"]) < 400
        return
    asked = json.loads(content)
    assert value["question"] == asked["question"]
    assert len(value["triplets"]) <= asked.get("k", LIMITS.max_k)
    scores = [row[3] for row in value["triplets"]]
    assert all(map(math.isfinite, scores)) and scores == sorted(scores, reverse=True)


@FUZZ
@given(asked=GOOD.filter(lambda asked: asked["question"].strip()))
def test_a_good_request_is_served_whatever_its_text(client, asked):
    asked["topics"] = [t for t in asked.get("topics") or () if t.strip()] or None
    for path in ("/retrieve", "/answer"):
        reply = client.post(path, json=asked)
        assert reply.status_code == 200, reply.text
        assert reply.json()["graph"] == (asked.get("graph") or "films")


@FUZZ
@given(
    names=st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), min_size=1, max_size=6),
    question=TEXT.filter(str.strip),
)
def test_any_graph_can_be_asked(client, names, question):
    triplets = [t for t in names if all(part.strip() for part in t)]
    graph = KnowledgeGraph.from_triplets([("Alien", "is", "here"), *triplets])
    client.app.state.graphs.replace("any", graph)
    topics = [name for name in graph.entities if encodable(name)][:4]
    for asked in ({"topics": topics}, {}):
        body = {"question": question[:200], "graph": "any", **asked}
        for path in ("/retrieve", "/answer"):
            assert client.post(path, json=body).status_code == 200


def encodable(name: str) -> bool:
    return name.isascii() or name == name.encode("utf-8", "replace").decode()
