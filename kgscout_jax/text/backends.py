"""Backends of the encoder's network: float32 in JAX or PyTorch, or bfloat16 on a CPU.

``auto`` is JAX for a BERT with mean pooling (all-MiniLM-L6-v2), and PyTorch for any
other model. Each backend preserves the rankings (figures in benchmarks/README.md).
Dynamic int8 is not supported: sentence-transformers' implementation loses one in ten
of a question's hundred nearest triplets. ONNX Runtime in float32 is not faster than
PyTorch.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from jaxtyping import Float32, Int, Int64

from kgscout_jax.errors import UserError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Tokens = Int64[np.ndarray, "b w"]
Forward = Callable[[Tokens, Tokens], Float32[np.ndarray, "b d"]]
"""Token ids and mask -> unit embeddings."""

DEFAULT_BACKEND = "auto"
FLOAT32 = (DEFAULT_BACKEND, "jax", "torch")
"""Equal as float32 rounds: their embeddings are one space, and share tables."""
BACKENDS = (*FLOAT32, "torch-bf16", "openvino-bf16")
_NEEDS = {"openvino-bf16": ("openvino", "openvino")}
"""Backend -> (module it imports, extra that installs it)."""


class Network(Protocol):
    """What embeds strings."""

    @property
    def pad_id(self) -> int:
        """The token that fills a row."""
        ...

    @property
    def dimension(self) -> int:
        """Columns of an embedding."""
        ...

    @property
    def on_accelerator(self) -> bool:
        """Whether it runs on a GPU or TPU: there a pass of one string takes as long as
        one of many."""
        ...

    @property
    def threads(self) -> int | None:
        """Threads that decide its bits, which other processes must set, if any do."""
        ...

    @threads.setter
    def threads(self, count: int | None) -> None: ...

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prefixes of questions and documents that the model defines."""
        ...

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, cut to what the model reads."""
        ...

    def widths(
        self, lengths: Int[np.ndarray, "n"], batch_size: int
    ) -> Int[np.ndarray, "n"]:
        """The padded length of each string, by its number of tokens alone."""
        ...

    def forward(self, ids: Tokens, mask: Tokens) -> Float32[np.ndarray, "b d"]:
        """Unit embeddings of padded token ids, where the mask is 1."""
        ...

    @property
    def word_table(self) -> Float32[np.ndarray, "t d"]:
        """The vector of each token, without context."""
        ...


def check_backend(name: str) -> None:
    """Raise UserError unless there is such a backend and it is installed."""
    if name not in BACKENDS:
        names = ", ".join(BACKENDS)
        raise UserError(f"encoder backend: found {name!r}, expected one of {names}")
    module, extra = _NEEDS.get(name, ("", ""))
    if module and importlib.util.find_spec(module) is None:
        raise UserError(
            f"encoder backend {name!r}: the package {module} is not installed; "
            f"pip install 'kgscout-jax[{extra}]'"
        )


def network_of(name: str, folder: Path, encoder: str) -> Network:
    """The model in ``folder`` by backend ``name``.

    Args:
        name: one of BACKENDS.
        folder: of the model.
        encoder: the model's name, for errors.

    Raises:
        UserError: the model cannot be loaded, or not by this backend.
    """
    check_backend(name)
    if name in ("auto", "jax"):
        from kgscout_jax.text.bert import Bert, is_supported

        if is_supported(folder):
            return Bert(folder)
        if name == "jax":
            raise UserError(
                f"encoder {encoder!r}: backend jax computes a BERT with mean pooling, "
                "such as all-MiniLM-L6-v2; use torch"
            )
    return SentenceTransformerNetwork(name, load_model(folder, encoder))


def load_model(folder: Path, encoder: str) -> SentenceTransformer:
    """The model of sentence-transformers in ``folder``.

    Raises:
        UserError: it cannot be loaded, or sentence-transformers is not installed.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    # PyTorch's threads spin while they wait for each other, unless told before it is
    # imported: on busy cores they then wait for a thread that does not run.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise UserError(
            f"encoder {encoder!r} needs sentence-transformers ({error}); "
            "pip install 'kgscout-jax[encoders]'"
        ) from None
    transformers_logging.disable_progress_bar()
    try:
        return SentenceTransformer(str(folder)).eval()
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        raise UserError(f"encoder {encoder!r}: cannot be loaded ({first})") from error


def padded_length(tokens: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
    """The padded length of each string: the next multiple of 4, 8 or 32."""
    step = np.where(tokens <= 32, 4, np.where(tokens <= 64, 8, 32))
    return -(-tokens // step) * step


class SentenceTransformerNetwork:
    """A model of sentence-transformers, by any backend but JAX."""

    def __init__(self, backend: str, model: SentenceTransformer) -> None:
        self.backend, self.model = backend, model
        self.dimension = int(model.get_embedding_dimension() or 0)
        self.prompts = cast(Mapping[str, str], model.prompts or {})
        self.pad_id = int(getattr(model.tokenizer, "pad_token_id", 0) or 0)

    @property
    def on_accelerator(self) -> bool:
        return self.backend != "openvino-bf16" and self.model.device.type != "cpu"

    @property
    def threads(self) -> int | None:
        """The threads of PyTorch, which decide the bits of its products."""
        import torch

        return torch.get_num_threads()

    @threads.setter
    def threads(self, count: int | None) -> None:
        import torch

        if count is not None:
            torch.set_num_threads(count)

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, cut to what the model reads."""
        limit = self.model.max_seq_length or 512
        return self.model.tokenizer(
            list(texts), truncation=True, max_length=limit, return_attention_mask=False
        )["input_ids"]

    def widths(
        self, lengths: Int[np.ndarray, "n"], batch_size: int
    ) -> Int[np.ndarray, "n"]:
        """The padded length of each string, by its number of tokens alone."""
        # A single string needs no padding; without padding the model skips its masks.
        return lengths if batch_size == 1 else padded_length(lengths)

    @property
    def word_table(self) -> Float32[np.ndarray, "t d"]:
        """The vector of each token, without context."""
        layer: Any = self.model[0]
        table = layer.auto_model.get_input_embeddings().weight
        return table.detach().float().numpy()

    def forward(self, ids: Tokens, mask: Tokens) -> Float32[np.ndarray, "b d"]:
        """Unit embeddings of padded token ids."""
        return self._forward(ids, mask)

    @cached_property
    def _forward(self) -> Forward:
        """Token ids and mask -> unit embeddings; may modify the model."""
        if self.backend == "openvino-bf16":
            return _openvino(self.model)
        if self.backend == "torch-bf16":
            _to_bfloat16(self.model)
        return _torch(self.model)


def _torch(model: SentenceTransformer) -> Forward:
    """PyTorch on the model's device."""
    import torch

    def forward(ids: Tokens, mask: Tokens) -> Float32[np.ndarray, "b d"]:
        features: dict[str, Any] = {
            "input_ids": torch.from_numpy(ids).to(model.device),
            "attention_mask": torch.from_numpy(mask).to(model.device),
        }
        with torch.inference_mode():
            vectors = model(features)["sentence_embedding"].float()
            return torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()

    return forward


def _to_bfloat16(model: SentenceTransformer) -> None:
    """Set the transformer to bfloat16 and its pooling to float32.

    A pooled mean rounded to 8 bits would be the largest error.
    """
    import torch

    def to_float(
        _module: Any, _inputs: Any, features: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            key: value.float()
            if isinstance(value, torch.Tensor) and value.is_floating_point()
            else value
            for key, value in features.items()
        }

    model[0].bfloat16()
    model[0].register_forward_hook(to_float)


def _openvino(model: SentenceTransformer) -> Forward:
    """OpenVINO on the CPU, with products in bfloat16 if the CPU supports them.

    The model is converted in memory, which takes seconds.
    """
    import warnings

    # Disable the converter's telemetry, which reports over the network from a forked
    # process.
    cast(dict[str, Any], sys.modules).setdefault("openvino_telemetry", None)
    import openvino
    import torch
    from transformers.utils import logging as transformers_logging

    class WholeModel(torch.nn.Module):
        """A traceable module from tensors to unit embeddings."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model.to("cpu")

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            features = {"input_ids": input_ids, "attention_mask": attention_mask}
            vectors = self.model(features)["sentence_embedding"].float()
            return torch.nn.functional.normalize(vectors, dim=1)

    example = (torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long))
    # Tracing warns of shape-dependent branches; all shapes here take the same branch.
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = openvino.convert_model(WholeModel().eval(), example_input=example)
    transformers_logging.set_verbosity(verbosity)
    options = {
        "INFERENCE_PRECISION_HINT": "bf16",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
    }
    compiled = openvino.Core().compile_model(converted, "CPU", options)
    request = compiled.create_infer_request()

    def forward(ids: Tokens, mask: Tokens) -> Float32[np.ndarray, "b d"]:
        # Copy: the request reuses its output memory.
        return np.array(request.infer({0: ids, 1: mask})[0], np.float32)

    return forward
