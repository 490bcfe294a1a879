"""Replies of every shape: what is read, and what it is called."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.reason.readers.replies import (
    MAX_CHARS,
    Failure,
    agree,
    clean_answers,
    is_refusal,
    read_reply,
)
from kgscout_jax.types import display_name, entity_key

TEMPLATE = '{"ans":["your answer 1","your answer 2"]}'


@pytest.mark.parametrize(
    "text, answers, failure",
    [
        # well-formed
        ('{"ans": ["Paris", "Lyon"]}', ("Paris", "Lyon"), "none"),
        ('{"ans" : ["Paris"]}\nReason:\n- It says so.', ("Paris",), "none"),
        ('```json\n{"ans": ["Paris"]}\n```', ("Paris",), "none"),
        ('Let me think [1].\nSo:\n```\n{"ans": ["Paris"]}\n```.', ("Paris",), "none"),
        ('{"reason": "a {b}", "ans": ["Paris"]}', ("Paris",), "none"),
        ('{"ans": ["Paris", " paris ", "PARIS"]}', ("Paris",), "none"),
        ('{"ans": ["Paris", "answer not available"]}', ("Paris",), "none"),
        ('{"ans": ["he said \\"no\\" {}"]}', ('he said "no" {}',), "none"),
        ('{"ans": ["two\nlines"]}', ("two lines",), "none"),
        ('{"result": {"ans": ["Paris"]}}', ("Paris",), "none"),
        # repaired
        ("{'ans': ['Paris', 'Lyon']}", ("Paris", "Lyon"), "repaired"),
        ("{'ans': [\"L'Aquila\"]} because", ("L'Aquila",), "repaired"),
        ('{"ans": ["Paris", "Lyon"', ("Paris", "Lyon"), "repaired"),
        ('{"ans": ["Washington, D.C.', ("Washington, D.C.",), "repaired"),
        ('```json\n{"ans": ["Paris",\n```\nDone.', ("Paris",), "repaired"),
        ('{"ans": ["Paris",]}', ("Paris",), "repaired"),
        ('{ans: ["Paris"]}', ("Paris",), "repaired"),
        ("{“ans”: [“Paris”]}", ("Paris",), "repaired"),
        ('{"ans": "Paris"}', ("Paris",), "repaired"),
        ('{"answer": ["Paris"]}', ("Paris",), "repaired"),
        ('{"ans": [1990, 2.5, true, null]}', ("1990", "2.5"), "repaired"),
        ('{"ans": ["a", ["b"], {"name": "c"}]}', ("a", "b", "c"), "repaired"),
        # a list without an object
        ('["Paris", "Lyon"]', ("Paris", "Lyon"), "bare_list"),
        ("I think ['Paris', 'Lyon'] is right [1]", ("Paris", "Lyon"), "bare_list"),
        ('Answers: ["Paris", "Ly', ("Paris", "Ly"), "bare_list"),
        # none at all
        ("The capital is Paris.", (), "no_json"),
        ("It is a city.\n**Answer:** Paris.", ("Paris",), "no_json"),
        ("answer: x\nFinal answer: Paris", ("Paris",), "no_json"),
        ("Answer: answer not available", (), "no_json"),
        ('{"city": "Paris"}', (), "no_answers"),
        ("{}", (), "no_answers"),
        # nothing to say
        ('{"ans": []}', (), "empty"),
        ('{"ans": [" ", ""]}', (), "empty"),
        ('{"ans": null}', (), "empty"),
        ('{"ans":', (), "empty"),
        (TEMPLATE, (), "empty"),
        ('{"ans": ["..."]}', (), "empty"),
        ('{"ans": ["answer not available"]}', (), "not_available"),
        ('{"ans": ["Answer Not Available."]}', (), "not_available"),
        ("{'ans': ['answer not available'", (), "not_available"),
        ("Answer not available.", (), "not_available"),
        (" \n", (), "no_reply"),
        (None, (), "no_reply"),
    ],
)
def test_replies_of_every_form_are_read(text, answers, failure):
    reply = read_reply(text)
    assert (reply.answers, reply.failure) == (answers, failure)


@pytest.mark.parametrize(
    "text, answers",
    [
        # the last one counts ...
        ('{"ans": ["Lyon"]} no, wait: {"ans": ["Paris"]}', ("Paris",)),
        ('{"ans": ["Lyon"]}\n{"ans": ["answer not available"]}', ()),
        # ... unless it is mangled and an earlier one is not
        ('{"ans": ["Paris"]} and {"ans": ["Lyo', ("Paris",)),
        ("{'ans': ['Lyon']} {'ans': ['Paris']}", ("Paris",)),
        # the prompt's placeholder is not an answer
        (f'{{"ans": ["Paris"]}} as in {TEMPLATE}', ("Paris",)),
        (f'I am to write {TEMPLATE}.\n{{"ans": ["Paris"]}}', ("Paris",)),
        # a further question is the model's own
        ('{"ans": ["Paris"]}\n\n## Question: who?\n{"ans": ["Bob"]}', ("Paris",)),
        ('Question: who?\n{"ans": ["Paris"]}', ("Paris",)),
        # an object beats a list
        ('["Lyon"] {"ans": ["Paris"]} ["Nice"]', ("Paris",)),
    ],
)
def test_of_several_objects_the_last_well_formed_one_counts(text, answers):
    assert read_reply(text).answers == answers


def test_samples_agree_by_majority():
    replies = [
        read_reply('{"ans": ["Lyon", "Paris"]}'),
        read_reply('{"ans": ["paris", "Nice"]}'),
        read_reply("{'ans': ['PARIS', 'Lyon', 'Rome']}"),
        read_reply("no idea"),
    ]
    agreed = agree(replies)
    # of three with answers: Paris three, Lyon two, Nice and Rome one
    assert (agreed.answers, agreed.failure) == (("Paris", "Lyon"), "none")
    apart = agree([read_reply(f'{{"ans": ["{name}"]}}') for name in "abc"])
    assert apart.answers == ("a",)
    silent = agree([read_reply(""), read_reply("no idea"), read_reply("hm")])
    assert (silent.answers, silent.failure) == ((), "no_json")
    assert agree([]).failure == "no_reply"


def test_refusals_are_recognised():
    assert is_refusal("The answer is not available!") and is_refusal("N/A")
    assert not is_refusal("Not Available Records") and not is_refusal("Na")


@pytest.mark.parametrize(
    "text", ["[" * 50_000, '{"ans": [' + "[" * 50_000, '{"a":' * 5_000, "{" * 50_000]
)
def test_deep_nonsense_is_read_quickly(text):
    assert len(read_reply(text).answers) <= 1


def test_long_reply_is_read_from_its_end():
    reply = read_reply("thinking " * MAX_CHARS + '{"ans": ["Paris"]}')
    assert reply.answers == ("Paris",)


# letters, and everything that JSON and Markdown use
text = st.text(st.sampled_from(list("ab Zé1{}[]\"'`,:\\\n#*.-_“")), max_size=60)
names = st.lists(
    st.text(st.sampled_from(list("abcdefgh éÅ1.,-'\"{}[]")), min_size=1, max_size=12),
    max_size=5,
)
prose = st.text(st.sampled_from(list("abc Zé1.,:\n`*()!?-")), max_size=40)


@given(text)
def test_reading_a_reply_never_raises(reply):
    read = read_reply(reply)
    assert read.failure in get_args(Failure)
    assert all(answer == display_name(answer) != "" for answer in read.answers)
    assert len({entity_key(answer) for answer in read.answers}) == len(read.answers)


@given(names, prose, prose, st.booleans())
def test_well_formed_objects_survive_their_surroundings(
    given_names, before, after, fence
):
    body = json.dumps({"ans": given_names})
    body = f"```json\n{body}\n```" if fence else body
    read = read_reply(f"{before}\n{body}\n{after}")
    assert read.answers == clean_answers(given_names)
    assert read.failure == ("none" if read.answers else "empty")


plain = st.lists(
    st.text(st.sampled_from(list("abcdefgh é1")), min_size=3, max_size=12).filter(
        lambda name: len(name.strip()) > 2
    ),
    min_size=1,
    max_size=5,
    unique_by=entity_key,
)


@given(plain, st.data())
def test_what_was_complete_before_the_cut_is_kept(given_names, data):
    body = json.dumps({"ans": given_names}, ensure_ascii=False)
    cut = data.draw(st.integers(len('{"ans":'), len(body) - 1))
    said = body[:cut]
    read = read_reply(said)
    complete = [n for n in given_names if json.dumps(n, ensure_ascii=False) in said]
    assert read.answers[: len(complete)] == clean_answers(complete)
    assert len(read.answers) <= len(complete) + 1
    assert read.failure == ("repaired" if read.answers else "empty")


@given(plain, prose)
def test_single_quotes_are_repaired(given_names, after):
    read = read_reply(repr({"ans": given_names}) + after)
    assert read.answers == clean_answers(given_names)
    assert read.failure == "repaired"
