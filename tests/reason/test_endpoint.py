"""The client against a real server on the loopback that misbehaves on purpose."""

import json
import sys
import time
from email.utils import formatdate
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("openai", reason="the [llm] extra is not installed")

from unruly_server import serving

from kgscout_jax.errors import UserError
from kgscout_jax.reason.completions import EndpointSettings, Request
from kgscout_jax.reason.endpoint import Endpoint, _Batch, _retry_after
from kgscout_jax.reason.readers.replies import read_reply


def endpoint(url, **options):
    options = {"model": "m", "backoff": 0.01, "timeout": 10.0, **options}
    return Endpoint(EndpointSettings(url=url, **options))


def asking(*texts):
    return [Request(messages=(("system", "s"), ("user", text))) for text in texts]


def answer(completion):
    return read_reply(completion.text).answers


def test_completions_keep_order_and_counts(monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    texts = [f"q{i}" for i in range(9)]
    seen = {}
    with serving(delay=0.05) as server:
        client = endpoint(
            server.url, concurrency=3, key_env="MY_KEY", seed=5,
            extra={"cache_prompt": True},
        )  # fmt: skip
        found = client.ask_all(asking(*texts), on_completion=seen.__setitem__)
    assert [answer(one) for one in found] == [(text,) for text in texts]
    assert seen == dict(enumerate(found))
    assert server.most == 3 and set(server.keys) == {"Bearer secret"}
    body = min(server.bodies, key=lambda body: body["messages"][-1]["content"])
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q0"},
        ],
        "temperature": 0.1,
        "max_tokens": 512,
        "seed": 5,
        "cache_prompt": True,
    }
    for one in found:
        assert (one.prompt_tokens, one.reply_tokens, one.estimated) == (10, 2, False)
        assert one.seconds >= 0.05 and not one.cached


@pytest.mark.parametrize("act", ["429_plain", "500", "cut", "hang_up"])
def test_temporary_failures_are_sent_again(act):
    with serving([act, act]) as server:
        found = endpoint(server.url).ask(asking("q")[0])
    assert (answer(found), len(server.bodies), found.error) == (("q",), 3, None)


@pytest.mark.parametrize(
    "act", "broken html empty_choices null_choices list odd_content".split()
)
def test_what_is_no_completion_is_asked_for_once_more(act):
    with serving([act]) as server:
        found = endpoint(server.url).ask(asking("q")[0])
    assert (answer(found), len(server.bodies)) == (("q",), 2)
    with serving([act] * 4) as server:
        url = server.url.removesuffix("/v1")
        found, without = (
            endpoint(each).ask(asking("q")[0]) for each in (server.url, url)
        )
    assert len(server.bodies) == 4 and found.error.startswith("not a completion (")
    assert without.error == f"{found.error}; {url} may have to end in /v1"


@pytest.mark.parametrize("act", ["500", "hang_up"])
def test_lasting_failures_are_reported(act):
    with serving([act] * 3) as server:
        found = endpoint(server.url, retries=2).ask(asking("q")[0])
    assert found.text is None and len(server.bodies) == 3
    assert {"500": "HTTP 500", "hang_up": "no conn"}[act] in found.error


def test_long_waits_are_logged_and_very_long_ones_fail(monkeypatch, caplog):
    monkeypatch.setattr("kgscout_jax.reason.endpoint.SILENT_WAIT", 0.2)
    with serving(["429", "429_tomorrow"]) as server:
        found = endpoint(server.url).ask(asking("q")[0])
    assert "slow down; asked again in 0 s" in caplog.text
    assert len(server.bodies) == 2 and found.error.startswith("HTTP 429: ")
    assert found.error.endswith("asked to wait 86400 s, at most 120 s are waited")


def test_retry_after_is_respected():
    with serving(["429"]) as server:
        endpoint(server.url).ask(asking("q")[0])
    assert len(server.times) == 2 and server.times[1] - server.times[0] >= 0.3


def test_retry_after_is_seconds_or_a_date():
    assert _retry_after("2.5") == 2.5
    assert 50 < _retry_after(formatdate(time.time() + 60, usegmt=True)) <= 60
    for header in ("-1", None, "soon", "Wed, 21 Oct 2015 07:28:00 GMT"):
        assert _retry_after(header) == 0


@pytest.mark.parametrize("act", ["slow", "drip"])
def test_deadline_is_for_the_whole_attempt(act):
    with serving([act]) as server:
        found = endpoint(server.url, timeout=0.4, retries=0).ask(asking("q")[0])
    assert found.text is None and found.error == "no reply in 0.4 s"


def test_bad_request_fails_alone_and_at_once():
    def script(number, body):
        return "400" if body["messages"][-1]["content"] == "bad" else "ok"

    with serving(script) as server:
        found = endpoint(server.url).ask_all(asking("a", "bad", "b"))
    assert len(server.bodies) == 3
    assert found[1].text is None and "HTTP 400" in found[1].error
    assert "\n" not in found[1].error and answer(found[2]) == ("b",)


@pytest.mark.parametrize(
    "act, message",
    [("401", r"HTTP 401.*\$MY_KEY"), ("404", "HTTP 404.*'m'"), ("quota", "HTTP 429")],
)
def test_fatal_statuses_stop_the_batch(act, message, tmp_path):
    with serving(["ok", act]) as server:
        client = endpoint(
            server.url, concurrency=1, key_env="MY_KEY", cache=tmp_path / "cache"
        )
        with pytest.raises(UserError, match=message):
            client.ask_all(asking("a", "b", "c"))
        assert len(server.bodies) == 2
        # what was answered is kept
        again = client.ask_all(asking("a", "b", "c"))
    assert [one.cached for one in again] == [True, False, False]


def test_cache_resumes_without_asking_again(tmp_path):
    cache = tmp_path / "cache"
    with serving() as server:
        client = endpoint(server.url, cache=cache)
        first = client.ask_all(asking("a", "b", "a"))
        assert len(server.bodies) == 2 and first[0] == first[2]
    files = sorted(cache.rglob("*"))
    assert sum(path.is_file() for path in files) == 2
    with serving() as server:  # another port
        client = endpoint(server.url, cache=cache)
        second = client.ask_all(asking("b", "c", "a"))
        assert [one.cached for one in second] == [True, False, True]
        assert len(server.bodies) == 1
        assert answer(second[0]) == ("b",) and second[2].seconds == first[0].seconds
        # other settings, other replies
        warmer = endpoint(server.url, cache=cache, temperature=0.7)
        assert not warmer.ask(asking("a")[0]).cached
        sample = Request(messages=asking("a")[0].messages, sample=1)
        assert not client.ask(sample).cached and client.ask(sample).cached


def test_damaged_cache_files_are_asked_again(tmp_path):
    with serving() as server:
        client = endpoint(server.url, cache=tmp_path)
        request = asking("a")[0]
        path = client.cache.path(client.key(request))
        for damage in ("", "{", "[]", '{"format": 1}', '{"format": 1, "reply": {}}'):
            client.ask(request)
            path.write_text(damage)
            assert not client.ask(request).cached
            assert json.loads(path.read_text())["reply"]["text"]


def test_requests_after_the_server_is_gone_are_skipped(tmp_path):
    texts = [f"q{i}" for i in range(30)]
    options = {"concurrency": 2, "retries": 1, "cache": tmp_path}

    def script(number, body):
        return "ok" if number < 10 else "hang_up"

    with serving(script) as server:
        first = endpoint(server.url, **options).ask_all(asking(*texts))
        asked = len(server.bodies)
    got = [one for one in first if one.text is not None]
    assert len(got) == 10 and len(first) == 30
    # it gave up on the server instead of trying all of them to the end
    assert asked <= 10 + 2 * 6
    errors = [one.error for one in first if one.text is None]
    assert all(errors) and sum("not asked" in error for error in errors) >= 14
    with serving() as server:
        second = endpoint(server.url, **options).ask_all(asking(*texts))
        assert len(server.bodies) == 20
    assert [answer(one) for one in second] == [(text,) for text in texts]


def test_without_a_server_every_request_has_an_error():
    with serving() as server:
        url = server.url
    started = time.monotonic()
    found = endpoint(url, backoff=60.0).ask_all(asking("a", "b"))
    assert time.monotonic() - started < 50  # at once: it was never there
    assert [one.text for one in found] == [None, None]
    assert all("no connection" in one.error for one in found)


def test_a_server_that_was_there_is_asked_again(monkeypatch):
    with serving() as server:
        client = endpoint(server.url, retries=2)
        assert answer(client.ask(asking("a")[0])) == ("a",)
    pauses: list[int] = []
    pause = _Batch.pause
    monkeypatch.setattr(_Batch, "pause", lambda *args: pauses.append(1) or pause(*args))
    assert "no connection" in client.ask(asking("b")[0]).error
    assert len(pauses) == 2


def test_no_http_library_is_needed_but_that_of_openai(monkeypatch):
    used = endpoint("http://x/v1").transport_error.__module__.partition(".")[0]
    (other,) = {"httpx", "httpx2"} - {used}
    monkeypatch.setitem(sys.modules, other, None)
    with serving(["ok", "hang_up", "stream_cut", "stream_short"]) as server:
        client = endpoint(server.url, retries=0)
        assert answer(client.ask(asking("q")[0])) == ("q",)
        lost = client.ask(asking("q")[0]).error
        cut, short = (
            client.ask_all(asking("q"), on_text=len)[0].error for _ in range(2)
        )
    assert lost.startswith("no connection (") and "\n" not in lost
    assert cut == "the reply broke off"
    assert short.startswith("the reply broke off (RemoteProtocolError")


def test_missing_counts_are_estimated():
    with serving(usage=False) as server:
        found = endpoint(server.url).ask(asking("two words")[0])
    # s: 1, two words: 1 + 2, and 8 around each message
    assert (found.prompt_tokens, found.estimated) == (1 + 3 + 2 * 8, True)
    assert found.reply_tokens > 0
    with serving(["silent"]) as server:
        found = endpoint(server.url).ask(asking("q")[0])
    assert found.text == "" and read_reply(found.text).failure == "no_reply"


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("url", "localhost:80", "url: 'localhost:80', expected http"),
        ("model", "", "model: none"),
        ("timeout", 0, "timeout: 0, expected more than 0"),
        ("concurrency", 0, "concurrency: found 0, expected at least 1"),
        ("retries", -1, "retries: found -1, expected at least 0"),
    ],
)
def test_settings_are_checked(field, value, message):
    with pytest.raises(UserError, match=message):
        EndpointSettings(**{"url": "http://x/v1", "model": "m", field: value})
