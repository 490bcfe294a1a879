"""The index: against brute force, saved and opened, and damaged."""

from __future__ import annotations

import json
import random
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz, process

from benchmarks.linking_fit import misspell
from kgscout_jax.errors import UserError
from kgscout_jax.graph.link import Linker, LinkIndex, build_index, candidates
from kgscout_jax.graph.link.candidates import key_candidates, word_candidates
from kgscout_jax.graph.link.index import Tables
from kgscout_jax.graph.link.normalise import comparison_form, tokenise
from kgscout_jax.graph.link.question_tokens import tokenise_question

NAMES = "The Godfather|Tom Hanks|Paris|Paris, Texas|Beyoncé|m.0abc||!!!".split("|")
NAMES += ["x" * 500, "Wolfgang Amadeus Mozart"]


def without_article(words: list[str], *articles: str) -> list[str]:
    return words[1:] if len(words) > 1 and words[0] in articles else words


def tokens_of(text: str) -> list[str]:
    """The tokens of a text."""
    t = tokenise([text])
    return [
        "".join(map(chr, t.codes[a:b].tolist()))
        for a, b in zip(t.starts, t.stops, strict=True)
    ]


WORDS = st.sampled_from("the red rats rat a U.S. us Éa ea q".split())
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@given(st.lists(PHRASES, min_size=1, max_size=12), st.lists(WORDS, max_size=8))
def test_keys_find_what_brute_force_finds(names, words):
    text = " ".join(words)
    index = build_index(names)
    question = tokenise_question(text)
    found = {
        (c.first, c.last, index.entity_of(c.surface))
        for c in key_candidates(question, index)
    }
    keys = ["".join(without_article(tokens_of(n), "the", "a", "an")) for n in names]
    forms = [without_article(comparison_form(n).split(), "the", "a") for n in names]
    expected = set()
    texts = tokens_of(text)
    for first in range(len(texts)):
        for last in range(first, len(texts)):
            span = "".join(texts[first : last + 1])
            words = " ".join(question.words[first : last + 1])
            # Of names with one key the first four are looked at.
            for e in [e for e, key in enumerate(keys) if key == span][:4]:
                similar = fuzz.ratio(" ".join(forms[e]), words) >= 50
                if similar or (first, last, e) in found:
                    expected.add((first, last, e))
    assert found == expected


CAPITALISED = st.sampled_from(
    "Charles Babbage James Smith Gios Pizza Élias Ross Bus McQueen Ann".split()
)


@given(
    st.lists(CAPITALISED, min_size=2, max_size=3),
    st.lists(CAPITALISED, min_size=1, max_size=3).map(" ".join),
)
def test_a_name_in_camel_case_is_found_by_its_words_and_as_it_is(words, other):
    written = "".join(words)
    index = build_index([other, written], aliases=[(written, 0)])
    for question in (
        written,
        written.lower(),
        " ".join(words),
        " ".join(words).lower(),
    ):
        tokens = tokenise_question(question)
        found = {
            (index.text_of(c.surface), index.entity_of(c.surface))
            for c in key_candidates(tokens, index)
            if (c.first, c.last) == (0, len(tokens) - 1)
        }
        assert {(written, 0), (written, 1)} <= found


def people(n: int, seed: int = 0) -> list[str]:
    """Different names of two or three invented words."""
    rng = random.Random(seed)
    parts = [a + b for a in "bdfgklmnprstv" for b in "aeiou"]
    lengths = (rng.randint(2, 4) for _ in range(900))
    words = ["".join(rng.choices(parts, k=length)).title() for length in lengths]
    names = {" ".join(rng.choices(words, k=rng.randint(2, 3))) for _ in range(2 * n)}
    return sorted(names)[:n]


def word_candidate_ids(text: str, index: LinkIndex) -> set[int]:
    """The entities whose words are similar to words of a question."""
    question = tokenise_question(text)
    found = word_candidates(question, index, np.zeros(len(question), bool))
    return {index.entity_of(c.surface) for c in found}


def test_a_misspelt_name_is_among_the_candidates_as_often_as_stated():
    names = people(2000)
    index = build_index(names)
    rng = np.random.default_rng(0)
    blocked = best = 0
    for i in range(0, 2000, 10):
        wrong = misspell(names[i].lower(), rng)
        text = f"who married {wrong}"
        keys = key_candidates(tokenise_question(text), index)
        found = {index.entity_of(c.surface) for c in keys}
        # The oracle compares with every name.
        every = [n.lower() for n in names]
        _, _, target = process.extractOne(wrong, every, scorer=fuzz.ratio)
        best += target == i
        blocked += target in found | word_candidate_ids(text, index)
    assert best >= 190, "the oracle itself finds the name"
    assert blocked >= 196, "98% of what a comparison with all names finds"


def test_an_opened_index_equals_the_saved_one(tmp_path):
    aliases = [("Queen B", 4), ("Mozart", 9)]
    degrees = np.arange(len(NAMES))
    index = build_index(NAMES, aliases=aliases, degrees=degrees)
    for with_names in (True, False):
        folder = tmp_path / str(with_names)
        index.save(folder, with_names=with_names)
        again = LinkIndex.open(folder, None if with_names else NAMES)
        for field in fields(Tables):
            one, other = (getattr(i.tables, field.name) for i in (index, again))
            assert one.dtype == other.dtype and np.array_equal(one, other)
        assert isinstance(again.tables.keys.base, np.memmap)
        assert list(again.names) == NAMES
        question = "did queen b meet mozart and tom hanks in paris texas"
        assert Linker(again).link(question) == Linker(index).link(question)


def test_building_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        build_index(people(300)).save(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_an_index_of_nothing_finds_nothing(tmp_path):
    index = build_index(["", "!!!"])
    assert len(index) == 0
    index.save(tmp_path)
    assert Linker(LinkIndex.open(tmp_path)).link("who is !!!") == []
    assert Linker(build_index([])).link("who is paris") == []


def test_unnamed_empty_and_long_names_are_not_indexed():
    mask = np.array([name == "m.0abc" for name in NAMES])
    assert len(build_index(NAMES, unnamed_mask=mask)) == len(NAMES) - 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aliases": [("Q", 10)]}, "alias 'Q': entity 10 is none of 10 names"),
        ({"degrees": np.zeros(3)}, "degrees: expected 10 values, one per name"),
        ({"unnamed_mask": np.zeros(3, bool)}, "unnamed_mask: expected 10 values"),
    ],
)
def test_arguments_of_other_lengths_are_refused(given, message):
    with pytest.raises(UserError, match=message):
        build_index(NAMES, **given)


def truncate(folder):
    path = folder / "postings.npy"
    path.write_bytes(path.read_bytes()[:-4])


def keys(values):
    return lambda folder: np.save(folder / "keys.npy", values)


def without(name):
    return lambda folder: (folder / name).unlink()


def manifest(**changes):
    def change(folder):
        path = folder / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def earlier(damage):
    """``damage`` to an index of an earlier version, without checksums."""

    def change(folder):
        manifest(files={})(folder)
        damage(folder)

    return change


def flip(folder):
    path = folder / "keyed.npy"
    raw = path.read_bytes()
    path.write_bytes(raw[:-3] + bytes([raw[-3] ^ 1]) + raw[-2:])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, "postings.npy: .* truncated"),
        (earlier(truncate), "postings.npy: not a whole .npy file"),
        (earlier(keys(np.zeros(2, np.uint64))), r"expected uint64\[7\], found uint64"),
        (earlier(keys(np.zeros(7, np.int64))), "keys.npy: expected uint64"),
        (flip, "keyed.npy: damaged: checksum differs"),
        (without("cuts.npy"), "cuts.npy: missing"),
        (without("manifest.json"), "manifest.json: no such file"),
        (manifest(version=99), "version 99, expected 4"),
        (manifest(format="kgscout-shards"), "not the manifest of a kgscout-link"),
        (manifest(names=11), "built over 11 names, the graph has 10"),
        (manifest(fingerprint="0"), "built over other names"),
        (manifest(lengths=[]), "lengths: expected `object`, found `array`"),
        (manifest(with_names=False), "saved without names"),
    ],
)
def test_a_damaged_folder_is_refused_in_one_line(tmp_path, damage, message):
    build_index(NAMES).save(tmp_path)
    damage(tmp_path)
    with pytest.raises(UserError, match=message) as caught:
        LinkIndex.open(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_misspelt_single_word_is_among_the_candidates():
    names = sorted({name.split()[0] for name in people(600)})
    index = build_index(names)
    rng = np.random.default_rng(1)
    found = tried = 0
    for i, name in enumerate(names):
        wrong = misspell(name.lower(), rng)
        if wrong == name.lower() or wrong in {n.lower() for n in names}:
            continue
        tried += 1
        found += i in word_candidate_ids(f"where is {wrong}", index)
    assert tried > 200
    assert found >= 0.98 * tried


def test_a_rare_surface_of_two_common_words_is_a_candidate(monkeypatch):
    monkeypatch.setattr(candidates, "MAX_POSTINGS", 5)
    firsts = [f"{a}{b}rin" for a in "bdfgk" for b in "aeiou"]
    lasts = [f"{a}{b}mol" for a in "lmnpr" for b in "aeiou"]
    names = [f"{a} {b}" for a in firsts for b in lasts]
    # The one that is asked for is the least connected of all with either word.
    wanted = names.index("kurin rumol")
    degrees = np.full(len(names), 9)
    degrees[wanted] = 1
    index = build_index(names, degrees=degrees)
    assert wanted in word_candidate_ids("who is rumol kurin", index)
