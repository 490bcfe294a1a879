"""Answers as server-sent events, while a model still writes them."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("openai", reason="the extra llm is not installed")
from reason.unruly_server import serving
from starlette.testclient import TestClient

from kgscout_jax.serve.app import create_app
from kgscout_jax.serve.settings import ServiceSettings

ASKED = {"question": "who directed Alien?", "k": 5, "stream": True}


def served(scout, graph, **settings):
    return create_app(
        scout, {"films": graph}, ServiceSettings(batch_wait_ms=0, **settings)
    )


def events_of(text):
    """(name, data) of each event."""
    found = []
    for event in text.split("\n\n")[:-1]:
        name, data = event.split("\n")
        data = json.loads(data.removeprefix("data: "))
        found.append((name.removeprefix("event: "), data))
    return found


def test_the_events_hold_what_a_whole_reply_holds(scout, graph):
    with serving() as server:
        app = served(scout, graph, llm=server.url, model="m")
        with TestClient(app) as client:
            reply = client.post("/answer", json=ASKED)
            whole = client.post("/answer", json={**ASKED, "stream": False}).json()
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    (first, evidence), *texts, (last, answer) = events_of(reply.text)
    assert (first, last) == ("evidence", "answer")
    assert len(texts) > 2 and {name for name, _ in texts} == {"text"}
    assert "".join(data["text"] for _, data in texts) == answer["why"]
    body = {**evidence, **answer}
    assert body.pop("seconds") >= evidence["seconds"] and whole.pop("seconds")
    assert body == whole


def test_an_answer_of_the_graph_has_no_text(scout, graph):
    with TestClient(served(scout, graph)) as client:
        events = events_of(client.post("/answer", json=ASKED).text)
    assert [name for name, _ in events] == ["evidence", "answer"]
    assert events[1][1]["reader"] == "graph"


def test_pieces_are_sent_before_the_reply_has_ended(scout, graph):
    seen = threading.Event()

    def hold(number, body):
        return "stream_held"

    with serving(hold) as server:
        handler = server.RequestHandlerClass
        original = handler.event

        def act_stream_held(self, body):
            self.sent = 0
            self.act_stream(body)

        def event(self, data):
            if getattr(self, "sent", 0) == 1:
                assert seen.wait(120), "the first piece was held back"
            self.sent = getattr(self, "sent", 0) + 1
            original(self, data)

        server.RequestHandlerClass = type(
            "Held", (handler,), {"act_stream_held": act_stream_held, "event": event}
        )
        app = served(scout, graph, llm=server.url, model="m")
        sent = asyncio.run(call(app, ASKED, seen))
    assert sent[-1][0] == "answer"


async def call(app, asked, seen):
    """The events of a request; ``seen`` is set by the first text."""
    body = {"type": "http.request", "body": json.dumps(asked).encode()}
    messages = [body]
    parts = []

    async def receive():
        if messages:
            return messages.pop()
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message):
        parts.append(message.get("body", b"").decode())
        if "event: text" in parts[-1]:
            seen.set()

    scope = {
        "type": "http", "method": "POST", "path": "/answer", "raw_path": b"/answer",
        "query_string": b"", "headers": [(b"content-type", b"application/json")],
        "http_version": "1.1", "scheme": "http", "root_path": "",
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "asgi": {"version": "3.0", "spec_version": "2.4"},
    }  # fmt: skip
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    return events_of("".join(parts))


@pytest.mark.parametrize("script", [["stream_cut"], ["500", "500"], ["401"]])
def test_a_model_that_fails_is_an_event(scout, graph, script):
    with serving(script) as server:
        app = served(scout, graph, llm=server.url, model="m", timeout=60)
        with TestClient(app) as client:
            reply = client.post("/answer", json=ASKED)
    assert reply.status_code == 200
    names = [name for name, _ in events_of(reply.text)]
    assert names[0] == "evidence" and names[-1] == "error"
    assert "answer" not in names
    # what a caller has read already is not asked for again
    assert len(server.bodies) == len(script)


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ("reason.readers.model.ModelReader.read", "the language model gave no reply"),
        ("serve.service.answer_body", "internal error"),
    ],
)
def test_an_error_in_the_code_is_an_event_and_logged(
    scout, graph, monkeypatch, caplog, part, error
):
    def fail(*_):
        raise KeyError("a bug")

    monkeypatch.setattr(f"kgscout_jax.{part}", fail)
    with serving() as server:
        app = served(scout, graph, llm=server.url, model="m")
        with TestClient(app) as client:
            (first, _), *_, last = events_of(client.post("/answer", json=ASKED).text)
    assert first == "evidence" and last == ("error", {"error": error})
    assert "KeyError: 'a bug'" in caplog.text


def test_what_is_no_request_is_refused_before_any_event(scout, graph):
    with TestClient(served(scout, graph)) as client:
        reply = client.post("/answer", json={**ASKED, "graph": "no"})
        assert reply.status_code == 404 and "error" in reply.json()
