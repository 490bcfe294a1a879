"""The fast way of questions: the model's embeddings, the same bits in any company."""

from __future__ import annotations

import platform
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prep_factory import NEEDS_ENCODER

from kgscout_jax.text.backends import forward_of
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.few import Few, few_of

pytestmark = NEEDS_ENCODER

WORDS = "which river flows through the old town of Zürich and 出生地 whom?".split()
TEXTS = [" ".join((WORDS * 6)[i : i + i]) for i in range(34)]
"""No word at all, one, two, ... 33."""


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


@pytest.fixture(scope="module")
def few(encoder) -> Few:
    found = encoder._few
    if found is None and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("PyTorch is built without oneDNN's products here")
    assert found is not None, "all-MiniLM-L6-v2 is a BERT: it has the fast way"
    return found


@pytest.fixture(scope="module")
def tokens(encoder) -> list[list[int]]:
    return encoder._tokenize(TEXTS)


@pytest.fixture(scope="module")
def alone(few, tokens) -> np.ndarray:
    return np.concatenate([few([ids]) for ids in tokens])


def test_the_embeddings_are_the_models_own(encoder, tokens, alone):
    own = encoder.model.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(alone, own, atol=1e-6)
    lengths = {len(ids) for ids in tokens}
    assert lengths >= {2, 3, 4} and max(lengths) > 40


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=8))
def test_the_same_bits_in_any_company(few, tokens, alone, rows):
    np.testing.assert_array_equal(few([tokens[i] for i in rows]), alone[rows])


def test_threads_change_nothing_and_are_given_back(few, tokens, alone):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        np.testing.assert_array_equal(few(tokens[5:9]), alone[5:9])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_questions_take_it(encoder, alone):
    found = encoder.encode(TEXTS, questions=True)
    np.testing.assert_array_equal(found, alone.astype(np.float16))
    assert encoder.encode([], questions=True).shape == (0, 384)


# --- where there is no such way


def test_another_network_has_none(encoder, monkeypatch):
    monkeypatch.setattr(encoder.model[0].auto_model.config, "hidden_act", "relu")
    assert few_of(encoder.model, encoder._forward) is None


def test_one_that_gives_something_else_is_not_taken(encoder):
    def off(ids, mask):
        return encoder._forward(ids, mask) + 1e-4

    assert few_of(encoder.model, off) is None


def test_a_torch_without_the_products(encoder, monkeypatch):
    class Ops:
        mkldnn = None

    monkeypatch.setattr(torch, "ops", Ops)
    assert few_of(encoder.model, encoder._forward) is None


def test_other_backends_keep_their_own_way():
    rounded = SentenceEncoder(backend="torch-bf16")
    assert rounded._few is None
    assert few_of(rounded.model, forward_of("torch-bf16", rounded.model)) is None
    found = rounded.encode(TEXTS[3:6], questions=True)
    np.testing.assert_array_equal(found, rounded.encode(TEXTS[3:6], batch_size=1))
