"""``policy.stablehlo``: the network as one call, for programs without this package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from kgscout_jax.errors import UserError, first_line
from kgscout_jax.export.format import MODEL
from kgscout_jax.export.golden import TOLERANCE, Golden, argument_names, check_outputs
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.registry import PolicyWeights, policy_outputs


def serialize(weights: PolicyWeights, config: NetworkConfig) -> bytes:
    """The serialized call, for every b, n, v and l from 1, on cpu, cuda and tpu.

    It includes the parameters: a caller needs jax and this file only.
    """

    def scout_policy(*arguments: Array) -> Array | tuple[Array, Array]:
        out = policy_outputs(weights, config, PolicyInputs.from_full(*arguments))
        return out.logits if out.answers is None else (out.logits, out.answers)

    b, n, v, words = jax.export.symbolic_shape("b, n, v, l")
    d = config.dimension
    arguments = {
        "question": jax.ShapeDtypeStruct((b, d), jnp.float32),
        "triplets": jax.ShapeDtypeStruct((b, n, d), jnp.float32),
        "relations": jax.ShapeDtypeStruct((b, n, d), jnp.float32),
        "ppr": jax.ShapeDtypeStruct((b, n, 2), jnp.float32),
        "mask": jax.ShapeDtypeStruct((b, n), jnp.bool_),
        "nodes": jax.ShapeDtypeStruct((b, n, 2), jnp.int32),
        "topics": jax.ShapeDtypeStruct((b, v), jnp.bool_),
        "words": jax.ShapeDtypeStruct((b, words, d), jnp.float32),
        "word_places": jax.ShapeDtypeStruct((b, words), jnp.int32),
    }
    exported = jax.export.export(
        jax.jit(scout_policy), platforms=("cpu", "cuda", "tpu")
    )
    names = argument_names(config)
    return bytes(exported(*(arguments[name] for name in names)).serialize())


def load_call(file: Path, golden: Golden, tolerance: float) -> Callable[..., Any]:
    """The jitted call in ``file``, after a comparison with the golden outputs.

    Raises:
        UserError: this JAX cannot read the file, or its logits differ.
    """
    try:
        call = jax.jit(jax.export.deserialize(bytearray(file.read_bytes())).call)
        out = call(*golden.arguments)
        logits, answers = out if isinstance(out, tuple | list) else (out, None)
        logits = np.asarray(logits)
        answers = None if answers is None else np.asarray(answers)
    except Exception as error:  # JAX raises many types
        raise UserError(
            f"{file}: JAX {jax.__version__} cannot run it ({first_line(error)}); "
            f"{MODEL} does not depend on the version"
        ) from error
    # In files of versions before ``policy.precision`` matmuls have the platform's own
    # precision: on an accelerator float32 may mean three digits.
    cpu = jax.default_backend() == "cpu"
    tolerance = tolerance if cpu else TOLERANCE["bfloat16"]
    check_outputs(file, logits, answers, golden, tolerance)
    return call
