"""Normalisation: vectorised tokens against a plain loop, keys worked out by hand."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.link.normalise import (
    ALONE,
    camel_case_texts,
    cases,
    comparison_form,
    tokenise,
    tokenise_camel_case,
)
from kgscout_jax.graph.link.question_tokens import tokenise_question
from kgscout_jax.graph.link.token_hashes import SubstringHashes

ODD = st.text(
    st.sampled_from("aabsS'’ .-_\n\t éÉüßİıŉ½²北京한국ไทยع\u200f\u0301\ud800😀🇨🇭'sius")
)


def slow_tokens(text: str) -> list[str]:
    """The tokens of one text, character by character."""
    out = ""
    for c in text.replace("\n", " "):
        if c in "'’‘ʼ`´＇":
            out += "'"
        elif any(low <= ord(c) <= high for low, high in ALONE):
            same = unicodedata.normalize("NFKC", c)
            out += f" {same} " if same.isalnum() else " "
        else:
            folded = unicodedata.normalize("NFKD", c).casefold()
            got = ""
            for d in unicodedata.normalize("NFKD", folded):
                if d.isalnum():
                    got += d
                elif not unicodedata.category(d).startswith("M"):
                    got += " "
            if not got and not unicodedata.category(c).startswith("M"):
                got = " "
            out += got
    tokens = []
    for word in out.split():
        word = word.removesuffix("'s").replace("'", "")
        if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
            word = word[:-1]
        if word:
            tokens.append(word)
    return tokens


def fast_tokens(texts: list[str]) -> list[list[str]]:
    tokens = tokenise(texts)
    out: list[list[str]] = [[] for _ in texts]
    for row, start, stop in zip(tokens.texts, tokens.starts, tokens.stops, strict=True):
        out[row].append("".join(map(chr, tokens.codes[start:stop].tolist())))
    return out


@given(st.lists(st.one_of(st.text(), ODD), min_size=1, max_size=6))
def test_tokens_are_those_of_a_plain_loop(texts):
    assert fast_tokens(texts) == [slow_tokens(text) for text in texts]


CAMEL = st.text(st.sampled_from("aßbsSBÉé'½ \n")).map(lambda text: text + "x")


@given(st.lists(CAMEL, min_size=1, max_size=4))
def test_names_in_camel_case_are_divided_before_capitals(texts):
    pairs = [zip(text, text[1:] + " ", strict=True) for text in texts]
    spaced = [
        "".join(a + " " * (a.islower() and b.isupper()) for a, b in each)
        for each in pairs
    ]
    tokens = tokenise_camel_case(texts)
    assert tokens.texts.tolist() == tokenise(spaced).texts.tolist()
    assert tokens.codes.tolist() == tokenise(spaced).codes.tolist()
    expected = [i for i, text in enumerate(texts) if text != spaced[i]]
    assert camel_case_texts(cases(texts)).tolist() == expected


@given(st.one_of(st.text(), ODD))
def test_a_question_has_the_tokens_of_its_text_and_spans_inside_it(text):
    question = tokenise_question(text)
    assert len(question) == len(slow_tokens(text))
    for start, stop in zip(question.starts, question.stops, strict=True):
        assert 0 <= start < stop <= len(text)


def key(text: str) -> str:
    return "".join(fast_tokens([text])[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Spider-Man", "spiderman"),
        ("U.S.A.", "USA"),
        ("Beyoncé", "beyonce"),
        ("St. Clair's Defeat", "st clair defeat"),
        ("frederica_of_mecklenburg", "Frederica of Mecklenburg"),
        ("O’Brien", "o'brien"),
        ("STRASSE", "Straße"),
        ("ﬁlm", "films"),
        ("北京 大学", "北京大学"),
    ],
)
def test_spellings_of_one_name_have_one_key(one, other):
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the bus stops at texas", "the bus stop at texa"),
        ("Jesus' glass is his", "jesus glass is his"),
        ("brett 's father", "brett father"),
        *((nothing, "") for nothing in ("", " ", "!!!", "😀", "'s", "\u0301", "—")),
    ],
)
def test_tokens_lose_plurals_possessives_and_signs(text, tokens):
    assert fast_tokens([text]) == [tokens.split()]


def test_the_comparison_form_has_spaces_and_plurals():
    form = comparison_form("The  Simpsons' House_of “Cárds”")
    assert form == "the simpsons house of cards"


def test_a_span_includes_the_plural_s():
    question = tokenise_question("who are the Beatles?")
    assert question.text[question.starts[-1] : question.stops[-1]] == "Beatles"
    assert question.words == ["who", "are", "the", "beatles"]


@given(st.text(min_size=2, max_size=12), st.text(max_size=9))
def test_hashes_depend_on_the_substring_alone(piece, before):
    def hashes(text: str, start: int) -> tuple:
        substrings = SubstringHashes(np.array([ord(c) for c in text], np.uint64))
        bounds = np.array([start]), np.array([start + len(piece)])
        return substrings.hashes(*bounds), substrings.without_one(*bounds)[0]

    alone, alone_cut = hashes(piece, 0)
    inside, inside_cut = hashes(before + piece + "xyz", len(before))
    assert alone == inside
    assert (alone_cut == inside_cut).all()
    for i, cut in enumerate(alone_cut):
        shorter = piece[:i] + piece[i + 1 :]
        codes = np.array([ord(c) for c in shorter], np.uint64)
        whole = np.array([0]), np.array([len(shorter)])
        assert cut == SubstringHashes(codes).hashes(*whole)[0]
