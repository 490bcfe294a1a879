"""A BERT with mean pooling, such as all-MiniLM-L6-v2: its forward pass in JAX.

The weights are those of the model's ``model.safetensors``, the tokens those of its
``tokenizer.json``; embeddings equal those of sentence-transformers as float32 rounds.
It runs on JAX's default device and imports no PyTorch; attention and the layers are
written out. Devlin et al., 2019, https://arxiv.org/abs/1810.04805.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Int, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS = "model.safetensors"
MODULES = ("Transformer", "Pooling", "Normalize")
STEPS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Padded lengths: few, because each of them is compiled."""
COLUMNS = 8
"""A product takes as long for 12 columns as for 24; a batch has a multiple of this."""

Parameters = dict[str, Any]


def is_supported(folder: Path) -> bool:
    """Whether the model in ``folder`` is a BERT with mean pooling, as computed here."""
    names = ("config.json", "modules.json", "tokenizer.json", "tokenizer_config.json")
    needed = (*names, "sentence_bert_config.json", "1_Pooling/config.json", WEIGHTS)
    if not all((folder / name).is_file() for name in needed):
        return False
    config, modules, tokenizer, tokens = (read_json(folder / name) for name in names)
    transformer, pooling = (read_json(folder / name) for name in needed[4:6])
    try:
        types = [row["type"].rpartition(".")[2] for row in modules]
        modes = {name for name, on in pooling.items() if on is True and "mode" in name}
        modes |= {pooling["pooling_mode"]} if "pooling_mode" in pooling else set()
        lowercase = tokenizer["normalizer"]["lowercase"]
        return (
            config["model_type"] == "bert"
            and config["hidden_act"] == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
            and not config.get("is_decoder")
            and types == [*MODULES]
            and modes in ({"pooling_mode_mean_tokens"}, {"mean"})
            and tokenizer["model"]["type"] == "WordPiece"
            and lowercase == tokens.get("do_lower_case", True)
            and not transformer.get("do_lower_case")
            and max_tokens(config, transformer, tokens) > 0
        )
    except (KeyError, TypeError, AttributeError):  # fields of another model
        return False


def max_tokens(
    config: Mapping[str, Any], transformer: Mapping[str, Any], tokens: Mapping[str, Any]
) -> int:
    """The most tokens of a text that are read; recent models name it elsewhere."""
    limit = transformer.get("max_seq_length", tokens["model_max_length"])
    return min(limit, config["max_position_embeddings"])


class Bert:
    """The model in a folder that ``is_supported``: tokens, and their embeddings."""

    pad_id = 0
    threads: int | None = None
    """XLA's products have the same bits on any number of cores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = read_json(folder / "config.json")
        self.dimension = int(self.config["hidden_size"])

    @property
    def on_accelerator(self) -> bool:
        """Whether JAX computes on a GPU or TPU."""
        return jax.default_backend() != "cpu"

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prefixes of questions and documents that the model defines."""
        file = self.folder / "config_sentence_transformers.json"
        return (read_json(file).get("prompts") if file.is_file() else None) or {}

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        names = ("sentence_bert_config.json", "tokenizer_config.json")
        more = [read_json(self.folder / name) for name in names]
        tokenizer.enable_truncation(max_tokens(self.config, *more))
        return tokenizer

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, cut to what the model reads."""
        rows = self._tokenizer.encode_batch_fast(list(texts))
        return [row.ids for row in rows]

    def widths(
        self, lengths: Int[np.ndarray, "n"], batch_size: int
    ) -> Int[np.ndarray, "n"]:
        """The padded length of each string, by its number of tokens and the batch."""
        steps = np.array([n for n in STEPS if n * batch_size % COLUMNS == 0])
        widths = steps[np.minimum(np.searchsorted(steps, lengths), len(steps) - 1)]
        return np.maximum(lengths, widths)

    @cached_property
    def _parameters(self) -> Parameters:
        from kgscout_jax.utils.jax_setup import setup_jax

        if not getattr(jax.config, "jax_compilation_cache_dir", None):
            setup_jax()
        from safetensors import SafetensorError

        file = self.folder / WEIGHTS
        try:
            return read_parameters(file, self.config)
        except (SafetensorError, ValueError) as error:
            first = (str(error).splitlines() or [""])[0]
            raise UserError(f"{file}: not the weights of a BERT ({first})") from None

    @property
    def word_table(self) -> Float32[np.ndarray, "t d"]:
        """The vector of each token, without context."""
        return np.asarray(self._parameters["words"])

    def forward(
        self, ids: Int64[np.ndarray, "b w"], mask: Int64[np.ndarray, "b w"]
    ) -> Float32[np.ndarray, "b d"]:
        """Unit embeddings; compiles once per shape, and the disk keeps the result."""
        config = self.config
        vectors = unit_embeddings(
            self._parameters,
            ids.astype(np.int32),
            mask.astype(bool),
            heads=int(config["num_attention_heads"]),
            epsilon=float(config["layer_norm_eps"]),
        )
        return np.asarray(vectors)


def read_parameters(file: Path, config: Mapping[str, Any]) -> Parameters:
    """The parameters as float32 on the default device; kernels have a row an output."""
    from safetensors import safe_open

    layers = range(int(config["num_hidden_layers"]))
    with safe_open(file, framework="numpy") as opened:
        prefix = "bert." if "bert.pooler.dense.bias" in opened.keys() else ""  # noqa: SIM118

        def get(name: str) -> np.ndarray:
            return opened.get_tensor(prefix + name).astype(np.float32, copy=False)

        def dense(name: str) -> tuple[np.ndarray, np.ndarray]:
            return get(f"{name}.weight"), get(f"{name}.bias")

        def layer(i: int) -> Parameters:
            at = f"encoder.layer.{i}"
            names = (f"{at}.attention.self.{n}" for n in ("query", "key", "value"))
            kernels, biases = zip(*map(dense, names), strict=True)
            return {
                "joint": (np.concatenate(kernels), np.concatenate(biases)),
                "attention": dense(f"{at}.attention.output.dense"),
                "attention_norm": dense(f"{at}.attention.output.LayerNorm"),
                "inner": dense(f"{at}.intermediate.dense"),
                "outer": dense(f"{at}.output.dense"),
                "norm": dense(f"{at}.output.LayerNorm"),
            }

        kinds = get("embeddings.token_type_embeddings.weight")
        positions = get("embeddings.position_embeddings.weight") + kinds[:1]
        parameters = {
            "words": get("embeddings.word_embeddings.weight"),
            "positions": positions,
            "norm": dense("embeddings.LayerNorm"),
            "layers": [layer(i) for i in layers],
        }
    # At once: jnp.asarray would compile a copy for each shape.
    return jax.device_put(parameters)


@partial(jax.jit, static_argnames=("heads", "epsilon"))
def unit_embeddings(
    parameters: Parameters,
    ids: Int[Array, "b w"],
    mask: Bool[Array, "b w"],
    *,
    heads: int,
    epsilon: float,
) -> Float[Array, "b d"]:
    """The mean of the last layer's real tokens, at unit length; float32 throughout.

    Tokens are columns: with the weights on the left, XLA's product of a few tokens
    takes half of the time on a CPU.
    """
    batch, width = ids.shape
    # Exactly 0 after the softmax: what pads a string does not change its bits.
    bias = jnp.where(mask, 0.0, jnp.finfo(jnp.float32).min)[:, None, :, None]
    einsum = partial(jnp.einsum, precision=jax.lax.Precision.HIGHEST)
    words = parameters["words"][ids] + parameters["positions"][None, :width]
    x = layer_norm(words.reshape(batch * width, -1).T, parameters["norm"], epsilon)
    for weights in parameters["layers"]:
        joint = affine(x, weights["joint"]).reshape(3, heads, -1, batch, width)
        query, key, value = joint
        scores = einsum("hdbk,hdbq->bhkq", key, query) / jnp.sqrt(query.shape[1])
        attention = jax.nn.softmax(scores + bias, axis=2)
        read = einsum("hdbk,bhkq->hdbq", value, attention).reshape(x.shape)
        x = x + affine(read, weights["attention"])
        x = layer_norm(x, weights["attention_norm"], epsilon)
        inner = jax.nn.gelu(affine(x, weights["inner"]), approximate=False)
        x = layer_norm(x + affine(inner, weights["outer"]), weights["norm"], epsilon)
    sums = jnp.where(mask[None], x.reshape(-1, batch, width), 0.0).sum(axis=2).T
    # The mean is the sum but for its length.
    return sums / jnp.maximum(jnp.linalg.norm(sums, axis=1, keepdims=True), 1e-12)


def affine(x: Float[Array, "i t"], dense: tuple[Array, Array]) -> Float[Array, "o t"]:
    """kernel @ x + bias, in float32 on accelerators too, whose default is less."""
    kernel, bias = dense
    return jnp.matmul(kernel, x, precision=jax.lax.Precision.HIGHEST) + bias[:, None]


def layer_norm(
    x: Float[Array, "d t"], norm: tuple[Array, Array], epsilon: float
) -> Float[Array, "d t"]:
    """Columns at mean 0 and variance 1, then scaled and shifted."""
    scale, shift = norm
    centred = x - x.mean(axis=0, keepdims=True)
    variance = jnp.square(centred).mean(axis=0, keepdims=True)
    return centred * jax.lax.rsqrt(variance + epsilon) * scale[:, None] + shift[:, None]
