"""The cache of embeddings: each string is embedded once, its row never changes."""

from __future__ import annotations

import hashlib
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.hash_encoder import DIMENSION, HashEncoder

from kgscout_jax.errors import UserError
from kgscout_jax.text import cache as cache_module
from kgscout_jax.text import segments as segments_module
from kgscout_jax.text.cache import EmbeddingCache, string_keys
from kgscout_jax.text.encoder import BATCH, QUESTION_BATCH
from kgscout_jax.text.segments import MAX_SMALL

TEXTS = [f"string {i}" for i in range(60)]


@pytest.fixture
def encoder() -> HashEncoder:
    return HashEncoder()


def test_keys_are_of_the_string_alone():
    keys = string_keys(["a", "b", "a", "\ud800"])
    assert (keys[0] == keys[2]).all()
    assert len({tuple(key) for key in keys.tolist()}) == 3


def test_each_distinct_string_is_embedded_once(encoder, tmp_path):
    for hits, misses in ((0, 3), (3, 0)):
        cache = EmbeddingCache(encoder, tmp_path)
        texts = ["b", "a", "b", "c", "a"]
        np.testing.assert_array_equal(cache.embed(texts), HashEncoder().encode(texts))
        assert (cache.hits, cache.misses) == (hits, misses)
    assert sorted(encoder.texts) == ["a", "b", "c"]


def test_the_result_does_not_depend_on_what_was_cached(encoder, tmp_path):
    cache = EmbeddingCache(encoder, tmp_path)
    cache.embed([*TEXTS[40:], "something else"])
    cache.embed(TEXTS[:10])
    assert cache.misses == 31
    np.testing.assert_array_equal(cache.embed(TEXTS), HashEncoder().encode(TEXTS))
    assert cache.misses == 61


def test_each_batch_size_has_its_own_rows(encoder, tmp_path):
    for misses in (4, 0):
        cache = EmbeddingCache(encoder, tmp_path)
        for size in (QUESTION_BATCH, BATCH):
            rows = cache.embed(TEXTS[:2], batch_size=size)
            expected = HashEncoder().encode(TEXTS[:2], batch_size=size)
            np.testing.assert_array_equal(rows, expected)
        assert (cache.hits, cache.misses) == (4 - misses, misses)


def test_an_interrupted_run_resumes_after_the_last_segment(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "SEGMENT_ROWS", BATCH)
    texts = [f"{i} river" for i in range(3 * BATCH)]
    with pytest.raises(KeyboardInterrupt):
        EmbeddingCache(HashEncoder(fails_after=2 * BATCH), tmp_path).embed(texts)
    cache = EmbeddingCache(HashEncoder(), tmp_path)
    np.testing.assert_array_equal(cache.embed(texts), HashEncoder().encode(texts))
    assert (cache.hits, cache.misses) == (2 * BATCH, BATCH)
    assert not list(tmp_path.rglob("*.part"))


def test_no_strings_write_no_file(encoder, tmp_path):
    assert EmbeddingCache(encoder, tmp_path).embed([]).shape == (0, DIMENSION)
    assert not list(tmp_path.rglob("*.segment"))


def test_the_folder_is_of_an_environment_variable(encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGSCOUT_CACHE", str(tmp_path))
    EmbeddingCache(encoder).embed(["a"])
    (segment,) = (
        tmp_path / "embeddings" / encoder.identity.version_1.fingerprint
    ).iterdir()
    assert segment.suffix == ".segment"


DAMAGE = ["truncated", "empty", "text", "other array", "flipped"]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_segment_is_named(encoder, tmp_path, damage):
    EmbeddingCache(encoder, tmp_path).embed(["a", "b"])
    (segment,) = tmp_path.rglob("*.segment")
    data = segment.read_bytes()
    if damage == "other array":
        np.save(segment, np.zeros((2, DIMENSION), np.float16))
    elif damage == "flipped":
        segment.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    else:
        broken = {"truncated": data[:-7], "empty": b"", "text": b"not an array"}
        segment.write_bytes(broken[damage])
    with pytest.raises(UserError) as caught:
        EmbeddingCache(encoder, tmp_path).embed(["a", "b"])
    message = str(caught.value)
    assert f"{segment}" in message and "damaged cache segment" in message
    assert "\n" not in message


def old_segment(folder, texts, *, named: bool) -> None:
    """A segment of an earlier version, with or without a checksum as its name."""
    segment = np.empty(
        len(texts), [("key", np.uint64, 2), ("row", np.float16, DIMENSION)]
    )
    segment["key"], segment["row"] = string_keys(texts), HashEncoder().encode(texts)
    stream = io.BytesIO()
    np.save(stream, segment)
    digest = hashlib.sha256(stream.getvalue()).hexdigest()[:32]
    name = f"sha256-{digest}.npy" if named else f"{'0' * 32}.npy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(stream.getvalue())


@pytest.mark.parametrize("named", [True, False])
def test_segments_of_earlier_versions_are_read(encoder, tmp_path, named):
    cache = EmbeddingCache(encoder, tmp_path)
    old_segment(cache.folder, TEXTS[:20], named=named)
    np.testing.assert_array_equal(cache.embed(TEXTS), HashEncoder().encode(TEXTS))
    assert (cache.hits, cache.misses) == (20, 40)


def test_small_segments_are_joined_and_others_still_find_the_rows(encoder, tmp_path):
    cache, other = (EmbeddingCache(encoder, tmp_path) for _ in range(2))
    old_segment(cache.folder, TEXTS[50:], named=True)
    for text in TEXTS[:10]:
        cache.embed([text])
    other.embed(TEXTS[:10])  # knows the segments that are joined next
    for text in TEXTS[10 : MAX_SMALL - 1]:
        cache.embed([text])
    assert len(list(tmp_path.rglob("*.segment"))) == 1
    assert not list(tmp_path.rglob("*.npy"))
    for reader in (other, EmbeddingCache(encoder, tmp_path)):
        misses = reader.misses
        known = [*TEXTS[: MAX_SMALL - 1], *TEXTS[50:]]
        expected = HashEncoder().encode(known)
        np.testing.assert_array_equal(reader.embed(known), expected)
        assert reader.misses == misses


def test_large_segments_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(segments_module, "SEGMENT_ROWS", 2)
    cache = EmbeddingCache(HashEncoder(), tmp_path)
    for i in range(MAX_SMALL + 2):
        cache.embed([f"a{i}", f"b{i}"])
    assert len(list(tmp_path.rglob("*.segment"))) == MAX_SMALL + 2


@given(st.lists(st.lists(st.sampled_from(TEXTS), max_size=8), max_size=25))
def test_rows_are_those_of_the_encoder_whatever_was_asked_before(calls):
    with tempfile.TemporaryDirectory() as folder:
        readers = [EmbeddingCache(HashEncoder(), Path(folder)) for _ in range(2)]
        for i, texts in enumerate(calls):
            rows = readers[i % 2].embed(texts)
            np.testing.assert_array_equal(rows, HashEncoder().encode(texts))
        misses = sum(reader.misses for reader in readers)
        assert misses == len({text for texts in calls for text in texts})
