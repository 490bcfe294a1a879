"""A language model words and judges questions: over HTTP, stored, checked."""

from __future__ import annotations

import json

import pytest
from reason.unruly_server import Handler, serving
from test_synth import big_film_graph, files_of, write_graph

from kgscout_jax.cli.main import main

pytest.importorskip("openai")


@pytest.fixture
def replies(monkeypatch):
    """Lets a test say what the server replies to a prompt."""

    def use(function):
        def reply(self, body):
            text = function(body["messages"][-1]["content"])
            message = {"role": "assistant", "content": text}
            return {
                "id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10,
                },
            }  # fmt: skip

        monkeypatch.setattr(Handler, "reply", reply)

    return use


def command(tmp_path, url, *more):
    graph = write_graph(tmp_path, big_film_graph())
    return [
        "synth", str(graph), "--out", str(tmp_path / "q"), "--questions", "40",
        "--llm", url, "--model", "m", "--limit-judge", "10", *more,
    ]  # fmt: skip


def lines_of(tmp_path):
    return [
        json.loads(line)
        for split in ("train", "dev", "test")
        for line in (tmp_path / "q" / f"{split}.jsonl").read_text().splitlines()
    ]


def by_template(prompt):
    """The template's words with a remark in front, or a verdict."""
    if "A template gives: " not in prompt:
        return "Yes."
    return "Kindly: " + prompt.split("A template gives: ")[1].split("\n")[0]


def test_wordings_of_the_model_are_taken_counted_and_stored(tmp_path, replies, capsys):
    replies(by_template)
    with serving() as server:
        assert main(command(tmp_path, server.url)) == 0
        sent = len(server.bodies)
        prompts = [body["messages"][-1]["content"] for body in server.bodies]
    lines = lines_of(tmp_path)
    assert len(lines) == 40 and sent == 90
    assert all(line["question"].startswith("Kindly: ") for line in lines)
    assert {line["wording"] for line in lines} == {"model"}
    assert sum("?answer" in prompt for prompt in prompts) == 40
    model = json.loads((tmp_path / "q" / "report.json").read_text())["model"]
    assert model["worded"] == 40 and model["requests"] == 90
    assert (model["prompt_tokens"], model["reply_tokens"]) == (630, 270)
    assert (model["judged"], model["natural_share"]) == (10, 1.0)
    # Again, from the stored replies alone: the server is gone.
    before = files_of(tmp_path / "q")
    assert main(command(tmp_path, server.url, "--overwrite")) == 0
    assert files_of(tmp_path / "q")["train.jsonl"] == before["train.jsonl"]


@pytest.mark.extended
def test_the_model_sees_no_answer(tmp_path, replies):
    replies(by_template)
    with serving() as server:
        assert main(command(tmp_path, server.url)) == 0
        prompts = [body["messages"][-1]["content"] for body in server.bodies]
    by_text = {
        line["question"].removeprefix("Kindly: "): line for line in lines_of(tmp_path)
    }
    for prompt in prompts:
        if "A template gives: " in prompt:
            line = by_text[prompt.split("A template gives: ")[1].split("\n")[0]]
            facts = [
                p for row in prompt.split("\n") if "|" in row for p in row.split(" | ")
            ]
            assert not set(facts) & set(line["a_entity"])


def test_wordings_that_name_an_answer_or_no_topic_are_refused(tmp_path, replies):
    replies(lambda prompt: "No" if "A template" not in prompt else "Who is it?")
    with serving() as server:
        assert main(command(tmp_path, server.url)) == 0
    lines = lines_of(tmp_path)
    assert not any(line["wording"] == "model" for line in lines)
    model = json.loads((tmp_path / "q" / "report.json").read_text())["model"]
    assert model["refused"] == {"a topic is missing": 40}
    assert model["natural_share"] == 0 and model["judged_not_natural"]


@pytest.mark.extended
def test_wordings_that_ask_for_something_else_are_refused(tmp_path, replies):
    replies(lambda prompt: "no" if "same thing" in prompt else by_template(prompt))
    with serving() as server:
        assert main(command(tmp_path, server.url, "--limit-judge", "0")) == 0
    assert not any(line["wording"] == "model" for line in lines_of(tmp_path))
    model = json.loads((tmp_path / "q" / "report.json").read_text())["model"]
    assert model["refused"] == {"asks for something else": 40}
    assert model["natural_share"] is None


@pytest.mark.extended
def test_a_server_that_dies_costs_only_what_it_did_not_answer(
    tmp_path, replies, capsys
):
    replies(by_template)
    with serving(lambda number, _: "ok" if number < 15 else "400") as server:
        assert main(command(tmp_path, server.url, "--concurrency", "1")) == 2
        assert "25 of 40 model wordings have no reply" in capsys.readouterr().err
        assert not (tmp_path / "q" / "train.jsonl").exists()
    with serving() as server:
        assert main(command(tmp_path, server.url)) == 0
        assert len(server.bodies) == 25 + 40 + 10
