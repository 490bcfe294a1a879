"""Pages, entities, formats of replies, keys and the rate limit of the service."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
from starlette.testclient import TestClient

from kgscout_jax.errors import UserError
from kgscout_jax.serve.access import MIN_KEY, read_keys
from kgscout_jax.serve.app import create_app
from kgscout_jax.serve.settings import ServiceSettings

QUESTION = {"question": "who directed Alien?", "k": 5}
KEY = "k" * MIN_KEY
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def client(scout, graph):
    with TestClient(create_app(scout, {"films": graph}, ServiceSettings())) as client:
        yield client


def test_pages_and_descriptions_need_nothing_from_elsewhere(client):
    for path in ("/", "/docs"):
        reply = client.get(path)
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert not re.search("https?://", reply.text)
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/retrieve", "/answer", "/entities", "/picture"} <= set(paths)
    told = {
        path: set(described.get("post", described.get("get"))["responses"])
        for path, described in paths.items()
    }
    assert {"400", "422", "502"} <= told["/answer"]
    assert "400" in told["/retrieve"] and "502" not in told["/retrieve"]
    assert "400" not in told["/entities"]


def test_entities_are_those_that_a_text_may_name(client):
    found = client.get("/entities", params={"q": "who made alien", "limit": 3}).json()
    assert found["graph"] == "films" and len(found["entities"]) <= 3
    assert found["entities"][0]["name"] == "Alien"
    assert client.get("/entities", params={"q": " "}).json()["entities"] == []
    assert client.get("/entities").status_code == 422
    assert client.get("/entities?q=x&graph=no").status_code == 404


def test_entities_begin_with_a_text_or_contain_it(client):
    def found(text):
        rows = client.get("/entities", params={"q": text}).json()["entities"]
        return [(row["name"], row["how"]) for row in rows]

    assert found("ali")[0] == ("Alien", "prefix")
    assert ("Ridley Scott", "inside") in found("scot")
    assert found("ALIEN")[0][0] == "Alien" and found("ALIEN")[0][1] != "fuzzy"


def test_triplets_as_objects_and_as_text(client, scout, graph):
    arrays = client.post("/retrieve", json=QUESTION).json()
    assert "text" not in arrays
    asked = {**QUESTION, "triplet_format": "objects", "text": True}
    objects = client.post("/retrieve", json=asked).json()
    fields = ("head", "relation", "tail", "score")
    rows = [[each[name] for name in fields] for each in objects["triplets"]]
    assert rows == arrays["triplets"]
    assert objects["text"] == scout.retrieve(QUESTION["question"], graph, 5).as_text()


def test_a_request_selects_as_the_scout_does(client, scout, graph):
    from kgscout_jax.inference.selection import SelectionConfig

    choices: list[dict[str, Any]] = [{"form": "paths"}, {"token_budget": 600}]
    for fields in choices:
        body = client.post("/retrieve", json={**QUESTION, **fields}).json()
        expected = scout.retrieve(
            QUESTION["question"], graph, 5, selection=SelectionConfig(**fields)
        )
        assert [tuple(row[:3]) for row in body["triplets"]] == list(expected.triplets)
    small = client.post("/retrieve", json={**QUESTION, "token_budget": 30})
    assert small.status_code == 422
    assert small.json()["error"].startswith("token_budget: found 30, expected")
    reply = client.post("/retrieve", json={**QUESTION, "target": 0.9})
    assert reply.status_code == 422
    assert reply.json() == {"error": "target: this policy is not calibrated"}


def test_the_picture_is_the_page_of_the_result(client):
    reply = client.post("/picture", json=QUESTION)
    assert reply.status_code == 200 and "who directed Alien?" in reply.text
    assert "Content-Security-Policy" in reply.text


def test_keys_and_the_rate(scout, graph, tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"# ours\n{KEY}  # a person\n\n{'o' * 20}\n")
    settings = ServiceSettings(api_key_file=file, rate_limit=2)
    with TestClient(create_app(scout, {"films": graph}, settings)) as client:
        for headers in ({}, {"Authorization": "Bearer " + "x" * 20}, {"X-API-Key": ""}):
            reply = client.post("/retrieve", json=QUESTION, headers=headers)
            assert reply.status_code == 401 and "key" in reply.json()["error"]
        assert client.get("/healthz").status_code == client.get("/").status_code == 200
        assert client.get("/metrics").status_code == 401
        bearer = {"Authorization": f"Bearer {KEY}"}
        statuses = [
            client.get("/entities?q=alien", headers=bearer).status_code
            for _ in range(3)
        ]
        assert statuses == [200, 200, 429]
        late = client.get("/entities?q=alien", headers=bearer)
        assert 1 <= int(late.headers["retry-after"]) <= 31
        other = {"X-API-Key": "o" * 20}
        assert client.get("/entities?q=alien", headers=other).status_code == 200


@pytest.mark.parametrize(
    ("text", "told"),
    [("short\n", ":1: a key of 5 characters"), ("# none\n", "found no key")],
)
def test_a_file_of_bad_keys_is_refused(text, told, tmp_path):
    (tmp_path / "keys").write_text(text)
    with pytest.raises(UserError, match=told):
        read_keys(tmp_path / "keys")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_the_page_asks_and_shows_in_a_browser(scout, graph, tmp_path):
    import uvicorn

    app = create_app(scout, {"films": graph}, ServiceSettings())
    config = uvicorn.Config(app, port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            pass
        port = server.servers[0].sockets[0].getsockname()[1]
        asked = f"http://127.0.0.1:{port}/?q=who+directed+Alien%3F"
        done = subprocess.run(
            [
                str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu",
                f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000",
                "--dump-dom", asked,
            ],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    finally:
        server.should_exit = True
        thread.join()
    body = re.search('<tbody id="triplets">(.*?)</tbody>', done.stdout, re.DOTALL)
    assert body is not None, done.stderr[-500:]
    status = re.search('<p id="status".*?</p>', done.stdout)
    assert status is not None and "topics: Alien" in status[0], status
    assert "Ridley Scott" in body[1]
    assert "srcdoc=" in done.stdout
    frame = re.search('<iframe id="picture"[^>]*height: ([0-9]+)px', done.stdout)
    assert frame is not None and int(frame[1]) > 400, "the drawing is cut off"
