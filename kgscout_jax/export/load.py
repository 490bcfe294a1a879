"""Reading an exported policy; the folder is described in ``format``.

It needs jax, numpy, msgspec and safetensors. Only ``Exported.policy`` needs flax;
nothing needs optax, orbax or the training code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Array, Float

from kgscout_jax.errors import UserError, first_line
from kgscout_jax.export.bundled import folder_of
from kgscout_jax.export.format import (
    CHECKED,
    CONFIG,
    GOLDEN,
    MODEL,
    STABLEHLO,
    Preparation,
    is_exported,
    named_leaves,
    read_config,
)
from kgscout_jax.export.golden import Golden, check_outputs, read_golden
from kgscout_jax.export.stablehlo import load_call
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.registry import (
    PolicyOutputs,
    PolicyWeights,
    config_from_json,
    has_answers,
    jitted_logits,
    jitted_outputs,
    needs_words,
    weight_shapes,
)
from kgscout_jax.text.encoder import EncoderIdentity
from kgscout_jax.utils.io import read_json
from kgscout_jax.utils.manifest import check_files

if TYPE_CHECKING:
    from kgscout_jax.policy.module import Policy
    from kgscout_jax.retrieve.answer_scale import AnswerScale
    from kgscout_jax.retrieve.budget import Calibration

# How often a folder may be replaced while it is read.
ATTEMPTS = 10


@dataclass(frozen=True)
class Exported:
    """An exported policy, loaded and checked."""

    path: Path
    metadata: dict[str, Any]
    """``config.json``."""
    config: NetworkConfig
    encoder: EncoderIdentity
    """The encoder whose embeddings the policy takes."""
    preparation: Preparation
    weights: PolicyWeights
    golden: Golden

    @property
    def k(self) -> int | None:
        """The largest budget of the training; None if it is unknown."""
        k = self.metadata["training"].get("settings", {}).get("k")
        return k if isinstance(k, int) else None

    def logits(self, inputs: PolicyInputs) -> Float[Array, "b n"]:
        """Logits of all candidates, -inf where the mask is False; jitted.

        Shapes: as ``policy_logits``; compiles once per shape of the inputs.
        """
        return jitted_logits(self.weights, self.config, inputs)

    @property
    def has_answers(self) -> bool:
        """Whether the policy has an answer head."""
        return has_answers(self.config)

    @property
    def needs_words(self) -> bool:
        """Whether the policy reads the words of questions."""
        return needs_words(self.config)

    @cached_property
    def answer_scale(self) -> AnswerScale:
        """Probabilities of answers; without a calibration those of the training loss.

        Raises:
            UserError: the calibration in ``config.json`` is damaged.
        """
        from kgscout_jax.retrieve.answer_scale import AnswerScale

        value = self.metadata.get("answer_scale")
        if value is None:
            return AnswerScale()
        return AnswerScale.from_dict(value, f"{self.path / CONFIG}: answer_scale")

    def outputs(self, inputs: PolicyInputs) -> PolicyOutputs:
        """Logits of candidates and of nodes; jitted, see ``policy_outputs``."""
        return jitted_outputs(self.weights, self.config, inputs)

    @cached_property
    def stablehlo(self) -> Callable[..., Any]:
        """The call in ``policy.stablehlo``, compared with the golden outputs.

        Shapes:
            question [b, d], triplets [b, n, d], relations [b, n, d], ppr [b, n, 2]:
            float32; mask [b, n]: bool; where the network needs them also nodes
            [b, n, 2]: int32, topics [b, v]: bool, and words [b, l, d]: float32,
            word_places [b, l]: int32. Any b, n, v and l from 1.
            Returns logits [b, n], float32; of a policy with an answer head also
            logits of nodes [b, v].

        Raises:
            UserError: the file was left out, this JAX cannot read it, or its logits
                differ.
        """
        file = self.path / STABLEHLO
        if STABLEHLO not in self.metadata["files"]:
            raise UserError(
                f"{file}: left out of this export (--no-stablehlo); kgscout export "
                f"without that option writes it, {MODEL} holds the same policy"
            )
        return load_call(file, self.golden, self.metadata["tolerance"])

    @cached_property
    def policy(self) -> Policy:
        """The same policy as a flax module, for evaluation or further training."""
        from kgscout_jax.policy.module import Policy

        return Policy(self.config, self.weights)


def load_exported(path: Path | str, *, verify: bool = True) -> Exported:
    """The policy in a folder that ``kgscout export`` wrote.

    A folder that is replaced while it is read is read again.

    Args:
        path: the folder, or the name of the bundled policy.
        verify: also run the network on the golden inputs (compiles once).

    Raises:
        UserError: the folder is missing, newer, damaged, foreign or does not fit
            together, or the network's logits are not the golden ones.
    """
    path = folder_of(path)
    for _ in range(ATTEMPTS):
        before = folder_version(path)
        try:
            exported = read_export(path)
        except (UserError, FileNotFoundError):
            if before == folder_version(path):
                raise
            continue
        if before == folder_version(path):
            break
    else:
        raise UserError(f"{path}: replaced {ATTEMPTS} times while it was read")
    if verify:
        golden = exported.golden
        out = exported.outputs(golden.inputs)
        answers = None if out.answers is None else np.asarray(out.answers)
        logits = np.asarray(out.logits)
        tolerance = exported.metadata["tolerance"]
        check_outputs(path / MODEL, logits, answers, golden, tolerance)
    return exported


def folder_version(path: Path) -> tuple[int, int] | None:
    """What differs when another folder takes the place of this one; None for none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def read_export(path: Path) -> Exported:
    """The policy in a folder, its checksums compared, its network not run.

    Raises:
        UserError: as ``load_exported``.
        FileNotFoundError: a file went while the folder was read.
    """
    metadata, record = read_config(path)
    files = metadata["files"]
    present = {name: files[name] for name in CHECKED if name in files}
    check_files(path, present, verify=True)
    try:
        config = config_from_json(record.policy)
    except UserError as error:
        raise UserError(f"{path / CONFIG}: {error}") from None
    if record.encoder.dimension != config.dimension:
        raise UserError(
            f"{path / CONFIG}: encoder.dimension is {record.encoder.dimension}, "
            f"expected {config.dimension} as in policy.dimension"
        )
    return Exported(
        path,
        metadata,
        config,
        record.encoder,
        record.preparation,
        read_weights(path / MODEL, config),
        read_golden(path / GOLDEN, config),
    )


def read_weights(file: Path, config: NetworkConfig) -> PolicyWeights:
    """The parameters in ``model.safetensors`` as float32, on the default device."""
    from safetensors import SafetensorError, safe_open

    shapes = weight_shapes(config)
    expected = {name: leaf.shape for name, leaf in named_leaves(shapes).items()}
    try:
        with safe_open(file, framework="numpy") as opened:
            saved = {}
            for name in opened.keys():  # noqa: SIM118
                tensor = opened.get_slice(name)
                saved[name] = (tensor.get_dtype(), tuple(tensor.get_shape()))
            half = all(dtype == "F16" for dtype, _ in saved.values())
            required = "F16" if half else "F32"
            for name in sorted(saved.keys() | expected.keys()):
                if name not in saved or name not in expected:
                    problem = "not a parameter" if name in saved else "missing"
                    raise UserError(f"{file}: {name} is {problem} of this policy")
                if saved[name] != (required, expected[name]):
                    (dtype, shape), size = saved[name], expected[name]
                    raise UserError(
                        f"{file}: {name} is {dtype} {shape}, expected {required} {size}"
                    )
            leaves = [opened.get_tensor(name).astype(np.float32) for name in expected]
    except SafetensorError as error:
        problem = first_line(error)
        raise UserError(f"{file}: not a whole safetensors file ({problem})") from None
    # At once, as arrays of numpy: jnp.asarray would compile a copy for each shape.
    return jax.device_put(jax.tree.unflatten(jax.tree.structure(shapes), leaves))


def load_calibration(path: Path) -> Calibration | None:
    """The calibration of an exported policy, or of the bundled one by its name.

    None for a run or without one.

    Raises:
        UserError: it is damaged.
    """
    from kgscout_jax.retrieve.budget import Calibration

    path = folder_of(path)
    if not is_exported(path):
        return None
    value = read_json(path / CONFIG).get("calibration")
    if value is None:
        return None
    return Calibration.from_dict(value, f"{path / CONFIG}: calibration")
