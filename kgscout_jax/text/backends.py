"""Backends of the encoder's network: PyTorch in float32, or faster ones on a CPU.

Each backend preserves the rankings (figures in benchmarks/README.md). Dynamic int8 is
not supported: sentence-transformers' implementation loses one in ten of a question's
hundred nearest triplets. ONNX Runtime in float32 is not faster than PyTorch.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Float32, Int64

from kgscout_jax.errors import UserError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Tokens = Int64[np.ndarray, "b w"]
Forward = Callable[[Tokens, Tokens], Float32[np.ndarray, "b d"]]
"""Token ids and mask -> unit embeddings."""

DEFAULT_BACKEND = "torch"
BACKENDS = (DEFAULT_BACKEND, "torch-bf16", "openvino-bf16")
_NEEDS = {"openvino-bf16": ("openvino", "openvino")}
"""Backend -> (module it imports, extra that installs it)."""


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


def forward_of(name: str, model: SentenceTransformer) -> Forward:
    """The network of ``model`` in backend ``name``; may modify ``model``."""
    check_backend(name)
    if name == "openvino-bf16":
        return _openvino(model)
    if name == "torch-bf16":
        _to_bfloat16(model)
    return _torch(model)


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
