"""Packed strings, their hashes and display forms, against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.name_hashes import (
    blank_mask,
    display_names,
    entity_hashes,
    hash_bytes,
)
from kgscout_jax.graph.name_index import NameIndex
from kgscout_jax.graph.opaque_names import opaque_mask, unnamed_mask
from kgscout_jax.graph.string_table import Strings, concatenate, texts_of
from kgscout_jax.types import display_name, entity_key
from kgscout_jax.utils.ragged import ranges

WORDS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)
SPACED = st.text(
    st.sampled_from("aAbBÉéİΣß \t\n\x0b\x1c\x1f\x85\xa0\u2003"), max_size=8
)
LONG = st.integers(0, 700).map(lambda n: "Aa b" * (n // 4) + "x" * (n % 4))
TEXTS = st.lists(st.one_of(WORDS, SPACED, LONG), max_size=12)


@given(TEXTS, st.data())
def test_strings_are_a_sequence(texts, data):
    strings = Strings.of(texts)
    assert len(strings) == len(texts)
    assert list(strings) == texts
    assert [strings[i] for i in range(-len(texts), len(texts))] == texts + texts
    start, stop = (data.draw(st.integers(-14, 14)) for _ in range(2))
    step = data.draw(st.sampled_from([1, 2, -1, None]))
    assert strings[start:stop:step] == texts[start:stop:step]
    for outside in (len(texts), -len(texts) - 1):
        with pytest.raises(IndexError):
            strings[outside]
    drawn = data.draw(st.lists(st.integers(0, 99))) if texts else []
    ids = [i % len(texts) for i in drawn]
    assert list(strings.take(np.array(ids, np.int32))) == [texts[i] for i in ids]
    assert texts_of(strings, np.array(ids, np.int32)) == [texts[i] for i in ids]
    cut = len(texts) // 2
    parts = [strings.block(0, cut), strings.block(cut, len(texts))]
    assert list(concatenate(parts)) == texts


def test_ranges_are_concatenated():
    places = ranges(np.array([5, 0, 9]), np.array([2, 0, 3]))
    assert places.tolist() == [5, 6, 9, 10, 11]


@given(TEXTS)
def test_hashes_are_those_of_the_identity(texts):
    hashes = entity_hashes(Strings.of(texts))
    plain = hash_bytes(Strings.of([entity_key(text) for text in texts]))
    assert (hashes == plain).all()
    by_key = {}
    for text, row in zip(texts, hashes.tolist(), strict=True):
        assert by_key.setdefault(entity_key(text), row) == row
    distinct = {tuple(row) for row in by_key.values()}
    assert len(distinct) == len(by_key)


@given(TEXTS)
def test_display_names_and_blank_mask_equal_python(texts):
    strings = Strings.of(texts)
    assert list(display_names(strings)) == [display_name(text) for text in texts]
    assert blank_mask(strings).tolist() == [not text.strip() for text in texts]


def test_hashes_are_independent_of_neighbours_and_uniform():
    names = [f"entity {i}" for i in range(40_000)]
    hashes = entity_hashes(Strings.of(names))
    assert (entity_hashes(Strings.of(names[1234:1235]))[0] == hashes[1234]).all()
    for half in range(2):
        assert len(np.unique(hashes[:, half])) == len(names)
        bits = np.unpackbits(hashes[:, half].copy().view(np.uint8)).reshape(-1, 64)
        assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.015  # six sigma


def test_index_compares_names_that_share_half_a_hash():
    names = Strings.of(["one", "two", "three", "four"])
    whole = entity_hashes(names)
    # As if the first halves of the first three had come out equal.
    shared = np.sort(np.array([whole[0, 0]] * 3 + [whole[3, 0]], np.uint64))
    ids = np.array([2, 1, 0, 3] if shared[0] == whole[0, 0] else [3, 2, 1, 0], np.int32)
    index = NameIndex(names, shared, ids)
    assert index.find(" ONE") == [0]
    assert index.find("four") == [3]
    assert index.find("five") == []
    wanted = whole.copy()
    wanted[:3, 0] = whole[0, 0]
    absent = wanted[:1] ^ np.array([[0, 1]], np.uint64)
    ids = index.ids_of(np.concatenate([wanted, absent]))
    assert ids.tolist() == [0, 1, 2, 3, -1]


OPAQUE = ["m.0abc", "g.11b6_x", "Q42", "q42", "_:b0", "_:", "<http://x.org/>"]
NAMED = ["m.", "Q", "Q0", "M*A*S*H", "m.a.s.h", "Queen", "g.i", "1979", "a_:b", "Q42 x"]


def test_identifiers_without_label_are_unnamed():
    assert opaque_mask(OPAQUE).all() and not opaque_mask(NAMED).any()
    strings = Strings.of(OPAQUE + NAMED)
    expected = [True] * len(OPAQUE) + [False] * len(NAMED)
    assert unnamed_mask(strings, None).tolist() == expected
    # Where there are labels, identifiers of any form wait for one; text does not.
    texts = ["e17", "E17", "New York", "1979-01-02", "-3.5", "line\n5", "Alien"]
    none = np.zeros(len(texts), bool)
    assert unnamed_mask(Strings.of(texts), none).tolist() == [True] * 2 + [False] * 5
    assert not unnamed_mask(Strings.of(texts), ~none).any()
