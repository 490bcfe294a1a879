"""Questions to a real server on the loopback: every one comes back with a reading."""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("openai", reason="the [llm] extra is not installed")

from unruly_server import Handler, serving

from kgscout_jax.errors import UserError
from kgscout_jax.reason.completions import Completion, EndpointSettings
from kgscout_jax.reason.prompts import load_template, render
from kgscout_jax.reason.readers.model import ModelReader, reading_of
from kgscout_jax.reason.readers.protocol import Evidence, Outcome, Reader
from kgscout_jax.reason.selection import PromptSettings

TRIPLETS = (("Lou Seal", "mascot", "Giants", 1.0), ("Giants", "won", "2010", 0.5))


def reader(url, *, cache=None, model="m", temperature=0.1, retries=3, **prompt):
    endpoint = EndpointSettings(
        url=url, model=model, backoff=0.01, timeout=1.0, concurrency=4,
        temperature=temperature, retries=retries, cache=cache,
    )  # fmt: skip
    return ModelReader(endpoint, PromptSettings(**prompt))


def asked(n):
    return [
        Evidence(id=f"id{i}", question=f"question {i}?", triplets=TRIPLETS)
        for i in range(n)
    ]


def saying(*texts):
    """A server script: replies with these texts in turn, over and over."""

    def script(number, body):
        body["said"] = texts[number % len(texts)]
        return "say"

    return script


def act_say(handler, body):
    value = handler.reply(body)
    value["choices"][0]["message"]["content"] = body["said"]
    handler.send(200, value)


@pytest.fixture(autouse=True)
def _saying(monkeypatch):
    monkeypatch.setattr(Handler, "act_say", act_say, raising=False)


def test_a_plain_reading():
    with serving(saying('{"ans": ["2010", "2010 "]}\n\nReason: they won.')) as server:
        one = reader(server.url)
        (found,) = one.read(asked(1))
        assert isinstance(one, Reader) and one.name == "m"
        assert server.bodies[0]["messages"][-1]["content"].endswith("question 0?")
    assert (found.id, found.answers, found.outcome) == ("id0", ("2010",), "json")
    assert found.raw.endswith("they won.") and found.error is None
    assert found.samples == () and not found.failed and not found.cached
    assert found.prompt.template == "one_shot" and found.prompt.n_triplets == 2
    assert found.prompt_hash == found.prompt.hash
    assert (found.prompt_tokens, found.reply_tokens) == (10, 2) and found.seconds > 0


@pytest.mark.parametrize(
    "text, outcome, answers",
    [
        ('{"ans": ["a"]}', "json", ("a",)),
        ("{'ans': ['a', 'b'", "repaired", ("a", "b")),
        ("I would rather not.", "no_json", ()),
        ('{"ans": ["answer not available"]}', "not_available", ()),
        ("", "no_reply", ()),
    ],
)
def test_the_outcome_says_how_the_reply_was_read(text, outcome, answers):
    with serving(saying(text)) as server:
        (found,) = reader(server.url, prompt="chain_of_thought").read(asked(1))
    assert (found.outcome, found.answers, found.raw) == (outcome, answers, text)
    assert outcome in get_args(Outcome)
    assert found.failed == (not answers and outcome != "not_available")


@pytest.mark.parametrize(
    "text, outcome, answers",
    [
        ('{"ans": ["Ridley Scott", "James Cam', "repaired", ("Ridley Scott",)),
        ('{"ans": ["Ridley Scott"', "repaired", ("Ridley Scott",)),
        ('{"ans": ["Ridley Scott"]} because he', "json", ("Ridley Scott",)),
        ("ans: Ridl", "error", ()),
        ("", "error", ()),
    ],
)
def test_a_cut_reply_has_its_whole_answers(text, outcome, answers):
    def act_cut_short(handler, body):
        value = handler.reply(body)
        choice = value["choices"][0]
        choice["finish_reason"], choice["message"]["content"] = "length", text
        handler.send(200, value)

    with serving(lambda *_: "cut_short") as server:
        server.RequestHandlerClass = type(
            "Cut", (Handler,), {"act_cut_short": act_cut_short}
        )
        (found,) = reader(server.url).read(asked(1))
    assert (found.outcome, found.answers, found.raw) == (outcome, answers, text)
    assert found.note == "the reply was cut at 2 tokens"
    assert found.error == (None if answers else found.note)


def test_an_unruly_server_loses_no_question():
    """Slow, 429, 500, cut, broken, refused: some pass on another try, some never."""
    acts = ["429", "500", "cut", "broken", "hang_up", "html", "null_choices", "slow"]
    tries = Counter()

    def script(number, body):
        text = body["messages"][-1]["content"]
        i = int(text.split("question ")[-1].rstrip("?"))
        tries[i] += 1
        if i == 11:
            return "400"
        if i == 12:
            return "500"
        return acts[i % len(acts)] if tries[i] == 1 and i % 2 == 0 else "ok"

    with serving(script) as server:
        one = reader(server.url, retries=2)
        found = one.read(asked(20))
    assert [each.id for each in found] == [f"id{i}" for i in range(20)]
    errors = {i: each.error for i, each in enumerate(found) if each.error}
    assert set(errors) == {11, 12}
    assert "HTTP 400" in errors[11] and "HTTP 500" in errors[12]
    for i, each in enumerate(found):
        assert each.outcome == ("error" if i in errors else "json")
        assert each.failed == (i in errors) and each.prompt is not None
    assert found[11].raw is None and found[11].answers == ()


def test_an_unknown_model_is_one_line():
    with (
        serving(["404"]) as server,
        pytest.raises(UserError, match=r"HTTP 404: .*no such model; model 'm'$"),
    ):
        reader(server.url).read(asked(3))


def test_majority_of_samples():
    texts = iter(
        [
            '{"ans": ["Oslo", "Bergen"]}',
            '{"ans": ["bergen "]}',
            "no idea",
            '{"ans": ["BERGEN", "Rome"]}',
            '{"ans": ["Oslo"]}',
        ]
    )

    def script(number, body):
        body["said"] = next(texts)
        return "say"

    with serving(script) as server:
        one = reader(server.url, samples=5)
        one.endpoint = type(one.endpoint)(
            EndpointSettings(url=server.url, model="m", concurrency=1, seed=3)
        )
        (found,) = one.read(asked(1))
        assert [body["seed"] for body in server.bodies] == [3, 4, 5, 6, 7]
    # of the four with answers, Bergen has three votes and Oslo two; Rome has one
    assert found.answers == ("Bergen", "Oslo") and found.outcome == "json"
    assert len(found.samples) == 5 and found.samples[2] == "no idea"
    assert found.raw == found.samples[0] and found.prompt_tokens == 50


def completions(*texts):
    return [
        Completion(text=text, error=None if text is not None else f"e{i}")
        for i, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    "texts, answers, outcome, error",
    [
        # ties: the first one given
        (['{"ans":["b"]}', '{"ans":["a"]}'], ("b", "a"), "json", None),
        (['{"ans":["c"]}', '{"ans":["a"]}', '{"ans":["b"]}'], ("c",), "json", None),
        # what did not come has no vote
        ([None, '{"ans":["a"]}', None], ("a",), "json", None),
        ([None, None], (), "error", "e0"),
        # nor has what says nothing
        (["hm", "hm", '{"ans":["a"]}'], ("a",), "json", None),
        (["hm", '{"ans":[]}', '{"ans":[]}'], (), "empty", None),
        ([None, '{"ans":["answer not available"]}'], (), "not_available", None),
    ],
)
def test_majority_by_hand(texts, answers, outcome, error):
    prompt = render(load_template("zero_shot"), "q", [])
    found = reading_of("1", prompt, completions(*texts))
    assert (found.answers, found.outcome, found.error) == (answers, outcome, error)
    assert found.samples == tuple(texts)
    assert found.raw == next((text for text in texts if text is not None), None)


def test_without_triplets_the_model_answers_from_what_it_knows():
    with serving() as server:
        (found,) = reader(server.url).read([Evidence(id="1", question="Who?")])
        sent = json.dumps(server.bodies[0]["messages"])
    assert found.prompt.template == "closed_book" and "riplet" not in sent


def test_budget_that_one_question_exceeds():
    questions = asked(2)
    questions[1] = Evidence(id="long", question="why " * 5000, triplets=TRIPLETS)
    with serving() as server:
        found = reader(server.url, token_budget=1000).read(questions)
        assert len(server.bodies) == 1
    assert [each.outcome for each in found] == ["json", "error"]
    assert "expected at most the budget of 1000" in found[1].error
    assert found[1].id == "long" and found[1].failed
    assert reader("http://x", prompt="zero_shot").read([]) == []


def test_a_budget_that_holds_no_triplet_of_a_question_is_told(caplog):
    questions = [Evidence(id="1", question="why " * 145, triplets=TRIPLETS), *asked(1)]
    with serving() as server:
        found = reader(server.url, token_budget=720).read(questions)
    assert [each.prompt.n_triplets > 0 for each in found] == [False, True]
    says = "token_budget 720: not even the best triplet fits in 1 of 2 questions"
    assert says in caplog.messages


@pytest.mark.parametrize(
    "options, message",
    [
        ({"token_budget": 20}, "token_budget: found 20, .* prompt one_shot with one"),
        ({"token_budget": 569}, "token_budget: found 569, expected at least 570"),
        ({"prompt": "nine_shot"}, "prompt: 'nine_shot': expected one of chain"),
        ({"prompt": "gone.txt"}, "gone.txt: no such file"),
        ({"samples": 3, "temperature": 0.0}, "samples: 3 at temperature 0 would all"),
    ],
)
def test_impossible_prompts_are_refused_at_once(options, message):
    with pytest.raises(UserError, match=message):
        reader("http://127.0.0.1:9/v1", **options)


@pytest.mark.parametrize("missing", ["openai", "json_repair"])
def test_missing_libraries_are_one_line(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UserError, match=r"not installed: pip install \S+$"):
        reader("http://127.0.0.1:9/v1").read(asked(1))


def test_the_hash_is_of_what_is_sent(tmp_path):
    with serving() as server:
        one = reader(server.url, cache=tmp_path)
        first, second = one.read(asked(2))
        assert first.prompt_hash != second.prompt_hash
        again = one.read(asked(2)[::-1])
        assert len(server.bodies) == 2
    assert [each.prompt_hash for each in again] == [
        second.prompt_hash,
        first.prompt_hash,
    ]
    assert all(each.cached for each in again)


@pytest.mark.skipif(
    not os.environ.get("KGSCOUT_TEST_LLM"),
    reason="KGSCOUT_TEST_LLM is not set to the base URL of a model's server",
)
@pytest.mark.parametrize("form", ["lines", "paths"])
@pytest.mark.parametrize(
    "prompt", ["thesis", "one_shot", "few_shot", "chain_of_thought"]
)
def test_a_real_model(prompt, form):
    """Easy ones, with the answer in the triplets: any instructed model reads them."""
    endpoint = EndpointSettings(
        url=os.environ["KGSCOUT_TEST_LLM"],
        model=os.environ.get("KGSCOUT_TEST_LLM_MODEL", "default"),
        concurrency=1,
        timeout=300,
        max_tokens=300,
        retries=1,
        temperature=0.0,
    )
    evidence = [
        Evidence(
            id="1",
            question="What is the capital of Vorland?",
            topics=("Vorland",),
            triplets=(
                ("Vorland", "capital", "Krelstad", 2.0),
                ("Vorland", "language", "Vorlish", 1.0),
            ),
        ),
        Evidence(
            id="2",
            question="Who directed the movies in which Ada Quill starred?",
            topics=("Ada Quill",),
            triplets=(
                ("Night Ferry", "starred_actors", "Ada Quill", 2.0),
                ("Night Ferry", "directed_by", "Tom Brandt", 1.5),
            ),
        ),
    ]
    found = ModelReader(endpoint, PromptSettings(prompt=prompt, form=form)).read(
        evidence
    )
    assert [each.error for each in found] == [None, None]
    assert all(each.outcome in get_args(Outcome) and each.raw for each in found)
    assert found[0].answers[:1] == ("Krelstad",), found[0].raw
