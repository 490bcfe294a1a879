"""A few short strings, such as questions, through a BERT in half the time.

A string of ten tokens leaves PyTorch's usual products waiting for the weights. Here
these lie in oneDNN's blocked order (a second copy of the layers: 42 MB for
all-MiniLM-L6-v2), query, key and value are one product, and nothing is padded: the
tokens of all strings are the rows of one matrix, and only attention looks at each
string apart. A row of oneDNN's products does not depend on the other rows, so that an
embedding is the same, bit for bit, alone and among others; from the model's own it
differs as float32 rounds.

Not every model is a BERT, and the products are PyTorch's own affair: what comes out is
compared with the model's own embeddings once, and where it cannot be had or is not the
same, nothing changes but the speed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from kgscout_jax.text.backends import Forward

logger = logging.getLogger("kgscout")

Few = Callable[[Sequence[list[int]]], Float32[np.ndarray, "n d"]]
"""Token ids of each string -> unit embeddings."""

TOLERANCE = 1e-5
"""How far from the model's own an entry of a unit embedding may be."""
TRIED = ("Which river flows through the town?", "Who?")
"""What both ways are compared on."""
PACKED_FOR = 16
"""Rows of input that the order of the weights is made for; it serves any number."""


def few_of(model: SentenceTransformer, forward: Forward) -> Few | None:
    """``model`` for a few strings at a time; None where there is no faster way.

    Args:
        model: any; only a BERT in float32 on a CPU has one.
        forward: the model's own way, to compare with.
    """
    try:
        few = _bert(model)
        tokens = [model.tokenizer(text)["input_ids"] for text in TRIED]
        alone = [np.array([ids]) for ids in tokens]
        own = np.concatenate([forward(ids, np.ones_like(ids)) for ids in alone])
        together = few(tokens)
        apart = float(np.abs(together - own).max())
        same = np.array_equal(together[:1], few(tokens[:1]))
    except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
        logger.debug("questions are encoded the usual way: %s", error)
        return None
    if not (apart <= TOLERANCE and same):
        logger.warning("questions are encoded the usual way: off by %g", apart)
        return None
    return few


def _bert(model: SentenceTransformer) -> Few:
    """The forward pass of a BERT, written out.

    Raises:
        AttributeError, NotImplementedError, RuntimeError, TypeError: it is none, or
            this PyTorch has no such products.
    """
    import torch
    from torch.nn import functional as F

    whole: Any = model[0]
    bert, after = whole.auto_model, list(model)[1:]
    config, table = bert.config, bert.embeddings
    if type(bert).__name__ != "BertModel" or config.hidden_act != "gelu":
        raise NotImplementedError(f"{type(bert).__name__} is not a plain BERT")
    if bert.dtype != torch.float32 or bert.device.type != "cpu":
        raise NotImplementedError(f"{bert.dtype} on {bert.device}")
    heads = int(config.num_attention_heads)
    pack = torch.ops.mkldnn._reorder_linear_weight
    product = torch.ops.mkldnn._linear_pointwise

    def dense(*layers: Any, then: str = "none") -> Callable[[Any], Any]:
        """The layers' outputs side by side, as one product."""
        weight = torch.cat([layer.weight.detach() for layer in layers])
        bias = torch.cat([layer.bias.detach() for layer in layers])
        packed = pack(weight, PACKED_FOR)
        return lambda x: product(x, packed, bias, then, [], "none")

    with torch.inference_mode():
        words = table.word_embeddings.weight
        places = (
            table.position_embeddings.weight + table.token_type_embeddings.weight[0]
        )
        layers = [
            (
                dense(own.query, own.key, own.value),
                dense(layer.attention.output.dense),
                layer.attention.output.LayerNorm,
                dense(layer.intermediate.dense, then="gelu"),
                dense(layer.output.dense),
                layer.output.LayerNorm,
            )
            for layer in bert.encoder.layer
            for own in [layer.attention.self]
        ]

    def attend(joint: Any) -> Any:
        """Attention within one string: [tokens, 3 d] -> [tokens, d]."""
        length = len(joint)
        # [3, 1, heads, tokens, d / heads]
        parts = joint.view(length, 3, 1, heads, -1).permute(1, 2, 3, 0, 4)
        context = F.scaled_dot_product_attention(*parts)
        return context[0].transpose(0, 1).reshape(length, -1)

    def pooled(states: Any) -> Any:
        """What the model makes of the last states of one string: [1, d]."""
        features: Any = {
            "token_embeddings": states[None],
            "attention_mask": torch.ones(1, len(states), dtype=torch.long),
        }
        for module in after:
            features = module(features)
        return features["sentence_embedding"].float()

    def few(tokens: Sequence[list[int]]) -> Float32[np.ndarray, "n d"]:
        lengths = [len(ids) for ids in tokens]
        ids = torch.tensor([i for string in tokens for i in string])
        at = torch.tensor([i for n in lengths for i in range(n)])
        with torch.inference_mode(), _one_thread():
            x = table.LayerNorm(F.embedding(ids, words) + F.embedding(at, places))
            for project, join, norm_1, widen, narrow, norm_2 in layers:
                each = [attend(part) for part in project(x).split(lengths)]
                x = norm_1(join(torch.cat(each)) + x)
                x = norm_2(narrow(widen(x)) + x)
            rows = torch.cat([pooled(part) for part in x.split(lengths)])
            return F.normalize(rows, dim=1).numpy()

    return few


@contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch computes in this thread alone.

    So little work gains nothing by being shared out, the threads that would wait for
    more of it do so at full speed and keep cores from others, and how sums are split
    must not depend on how many there are.
    """
    import torch

    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
