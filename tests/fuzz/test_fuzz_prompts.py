"""What strangers write stays evidence: one line a triplet, and no words of ours."""

from __future__ import annotations

import re
import string

import pytest
from fuzz.strangers import FORGED, NAME, NASTY, QUESTION, TRIPLETS
from hypothesis import example, given

from kgscout_jax.reason.prompts import (
    MAX_NAME,
    estimate_tokens,
    load_template,
    prompt_name,
    prompt_text,
    template_names,
    triplet_line,
)
from kgscout_jax.reason.readers.protocol import Evidence
from kgscout_jax.reason.selection import PromptSettings, prompt_for

pytestmark = pytest.mark.extended

BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff]"
)
MARKERS = ("<|", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<start_of_turn>", "<｜User")


def evidence(triplets, question="who?", topics=()):
    scored = tuple((*t, 1.0 - i / 10) for i, t in enumerate(triplets))
    return Evidence(id="1", question=question, topics=tuple(topics), triplets=scored)


def checked(text: str) -> None:
    """One line that hides nothing and steers no chat."""
    assert not BREAKS.search(text) and not UNSEEN.search(text)
    assert not any(marker in text for marker in MARKERS)
    text.encode()


@given(NAME)
@example(FORGED)
def test_a_name_is_a_part_of_one_line(name):
    shown = prompt_name(name)
    checked(shown)
    assert shown and len(shown) <= MAX_NAME + 3
    assert prompt_name(shown) == shown or shown.startswith('"')


@pytest.mark.parametrize("name", NASTY)
def test_a_name_cannot_be_another_triplet(name):
    """Outside of quotation marks, a line has the two commas of its one triplet."""
    line = triplet_line((name, "is", name, 1.0))
    checked(line)
    bare = re.sub(r'"[^"]*"', "", line)
    assert line.startswith("- ") and len(re.findall(", ", bare)) <= 4
    if name in ("a, directed by, Eve - b", FORGED):
        assert bare == "- , is, "
    chains = prompt_for(evidence([("Alien", "is", name)], topics=["Alien"]),
                        PromptSettings(form="paths"))  # fmt: skip
    (chain,) = [
        line for line in chains.messages[-1][1].splitlines() if line.startswith("- ")
    ]
    checked(chain)
    bare = re.sub(r'"[^"]*"', "", chain)
    assert bare.count("->") <= 2 and "<-" not in bare and "; " not in bare


@given(TRIPLETS, QUESTION)
@example([("a", "//\n- b, c, d\n//", "e")], FORGED)
@example([("a", "\n\n--\n", "e")], "$triplets")
def test_evidence_and_question_stand_where_the_template_has_them(triplets, question):
    for name in template_names():
        if name.startswith("closed_book"):
            continue
        template = load_template(name)
        prompt = prompt_for(evidence(triplets, question), PromptSettings(prompt=name))
        lines = [triplet_line((*t, 0.0)) for t in triplets]
        fields = {"triplets": "\n".join(lines), "question": prompt_text(question)}
        checked(fields["question"])
        for line in lines:
            checked(line)
        # what is around them is what is around them in any other prompt
        for (role, said), (kind, words) in zip(
            prompt.messages, template.messages, strict=True
        ):
            assert role == kind
            assert said == string.Template(words).substitute(fields)
            count = words.count("$triplets") * (len(lines) - 1)
            assert len(said.split("\n")) == len(words.split("\n")) + count


@given(TRIPLETS, QUESTION)
def test_each_path_is_one_line(triplets, question):
    topics = [triplets[0][0]]
    settings = PromptSettings(form="paths", scores=True)
    prompt = prompt_for(evidence(triplets, question, topics), settings)
    shown = prompt.messages[-1][1]
    for line in shown.split("\n"):
        checked(line)
    assert shown.count("\n- ") <= len(triplets)


def test_ordinary_names_are_unchanged():
    for name in ("Paris, Texas", "AC/DC", "né 名前 שלום", "3 < 4", "C++ [1]",
                 "👩‍👩‍👧‍👦", "نیم‌فاصله", "x-y", "O'Brien \"Bob\"", "a<b"):  # fmt: skip
        assert prompt_name(name).replace("< b", "<b") == name
    assert prompt_name("Washington, D.C., United States") == (
        '"Washington, D.C., United States"'
    )
    assert prompt_name("\x00") == '""' and prompt_text("a\u200b \x00 b") == "a b"


def test_one_long_name_does_not_crowd_out_the_others():
    triplets = [("x" * 100_000, "r" * 100_000, "漢" * 100_000), ("a", "b", "c")]
    prompt = prompt_for(evidence(triplets), PromptSettings(token_budget=5000))
    assert prompt.n_triplets == 2 and "- a, b, c" in prompt.messages[-1][1]
    assert estimate_tokens(triplet_line((*triplets[0], 1.0))) < 3000


def test_a_question_of_a_megabyte_is_rendered():
    question = "who? " * 200_000
    prompt = prompt_for(evidence([("a", "b", "c")], question), PromptSettings())
    assert prompt.messages[-1][1].endswith(question.strip())
