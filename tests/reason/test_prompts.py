"""Prompts: the templates that come along, what fits, what is refused."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.reason.prompts import (
    NO_TRIPLETS,
    estimate_tokens,
    load_template,
    parse_template,
    render,
    template_names,
    triplet_line,
)
from kgscout_jax.reason.readers.replies import read_reply

TRIPLETS = [
    ("Lou  Seal", "sports.mascot.team", "Giants", 2.305),
    ("Giants", "won", "$question {x}", -1.0),
]


def test_the_shipped_templates_are_well_formed():
    names = template_names()
    assert names == [
        "chain_of_thought",
        "closed_book",
        "closed_book_chain_of_thought",
        "few_shot",
        "one_shot",
        "thesis",
        "zero_shot",
    ]
    for name in names:
        template = load_template(name)
        assert template.name == name and template.version >= 1 and template.about
        roles = [role for role, _ in template.messages]
        assert roles[-1] == "user"
        if name == "thesis":  # one message, as the thesis prints it
            assert roles == ["user"]
        else:
            # user and assistant take turns, as servers demand
            turns = ["user", "assistant"] * (len(roles) // 2 - 1)
            assert roles == ["system", *turns, "user"]
        last = template.messages[-1][1]
        assert "$question" in last
        assert ("$triplets" in last) == (not name.startswith("closed_book"))
        system = template.messages[0][1]
        assert '{"ans": ["answer not available"]}' in system
        assert read_reply(re.findall(r"\{.*?\]\}", system)[0]).failure == "empty"
        for role, content in template.messages:
            if role == "assistant":
                assert read_reply(content).failure in ("none", "not_available")


def test_the_prompt_of_the_thesis_is_its_own():
    prompt = render(load_template("thesis"), "who won?", TRIPLETS)
    assert prompt.version == 2  # version 1 was the words of one_shot
    ((_, words),) = prompt.messages
    # Its sentences, its example and its order: the question before the triplets.
    for sentence in (
        "You are a knowledge graph question answering system. Given a question and ",
        "- Ensure the answer does not contain duplicate entries.",
        "you may use your own factual knowledge but only if it is consistent with",
        "- Crazy Crab, sports mascot team, San Francisco Giants\n- ...",
        "Now consider the below Triplets and answer the Question carefully.\n\n"
        "Question: who won?\n\nTriplets:\n- Lou Seal, sports mascot team, Giants\n",
    ):
        assert sentence in words
    example = re.findall(r"\{\"ans\" : .*\}", words)
    assert read_reply(example[0]).answers[-1] == "2010 (2010 World Series)"


def test_a_prompt_holds_question_and_triplets():
    prompt = render(load_template("one_shot"), " who \n won? ", TRIPLETS)
    last = prompt.messages[-1][1]
    assert last.endswith("Question: who won?")
    lines = "- Lou Seal, sports mascot team, Giants\n- Giants, won, $question {x}\n"
    assert lines in last
    assert (prompt.n_triplets, prompt.template, prompt.version) == (2, "one_shot", 1)
    assert "who won?" in prompt.show() and prompt.show().startswith("# prompt one_shot")
    other = render(load_template("one_shot"), "who lost?", TRIPLETS)
    assert prompt.hash != other.hash and len(prompt.hash) == 64


def test_scores_are_written_on_request():
    assert triplet_line(TRIPLETS[0], scores=True).startswith("- [2.3")
    assert triplet_line(("a", "//", "b", 0.0)) == "- a, //, b"
    prompt = render(load_template("zero_shot"), "q", [])
    assert f"Triplets:\n{NO_TRIPLETS}\n" in prompt.messages[-1][1]
    assert prompt.n_triplets == 0


@given(
    st.lists(st.text("ab é,", min_size=1, max_size=30), max_size=8), st.integers(0, 90)
)
def test_budget_keeps_the_best_that_fit(names, room):
    template = load_template("few_shot")
    triplets = [(name, "r", name, 0.0) for name in names]
    bare = render(template, "q?", []).tokens
    prompt = render(template, "q?", triplets, budget=bare + room)
    assert prompt.tokens <= bare + room
    full = render(template, "q?", triplets[: prompt.n_triplets])
    assert prompt.messages == full.messages
    if prompt.n_triplets < len(triplets):  # the next one would not have fitted
        lines = [triplet_line(t) for t in triplets[: prompt.n_triplets + 1]]
        assert sum(estimate_tokens(line) + 1 for line in lines) > room


def test_estimate_tokens():
    # to-ken-s: 2 for "tokens", 1 a mark, 2 for 4 digits, 3 bytes a character
    assert estimate_tokens("tokens, 1999!") == 2 + 1 + 2 + 1
    assert estimate_tokens("東京") == 2
    assert estimate_tokens(" \n") == 0


def test_a_template_file_of_ones_own_is_read(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("version: 3\n\n--- user\n$triplets\nIt costs $$5. $question\n")
    prompt = render(load_template(str(path)), "Why?", [])
    assert prompt.messages == (("user", "(none)\nIt costs $5. Why?"),)
    assert (prompt.template, prompt.version) == ("mine", 3)
    assert json.dumps(prompt.messages)


@pytest.mark.parametrize(
    "text, message",
    [
        ("--- user\n$question", "version: none, expected a whole number"),
        ("version: 1\nhello", ":2: 'hello', expected 'version: NUMBER'"),
        ("version: 1\n--- robot\n", ":2: role 'robot', expected system, user"),
        ("version: 1\n--- user\nhi", r"no \$question"),
        ("version: 1\n--- user\n$question $score", "neither"),
        ("version: 1\n--- user\n$question 5$ ", "neither"),
    ],
)
def test_malformed_templates_are_refused(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        parse_template(tmp_path / "t.txt", text)


def test_unknown_templates_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"'nine_shot': expected one of chain_of"):
        load_template("nine_shot")
    with pytest.raises(UserError, match=r"x\.txt: no such file"):
        load_template(str(tmp_path / "x.txt"))
