"""Write a training run as the folder that inference loads; see ``format``."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from kgscout_jax import __version__
from kgscout_jax.errors import UserError
from kgscout_jax.export.card_metrics import read_metrics
from kgscout_jax.export.format import (
    CARD,
    CHECKED,
    CONFIG,
    FORMAT,
    GOLDEN,
    MODEL,
    SMALL_VERSION,
    STABLEHLO,
    VERSION,
    named_leaves,
)
from kgscout_jax.export.golden import (
    TOLERANCE,
    argument_names,
    make_golden,
    output_names,
)
from kgscout_jax.export.hub import atomic_folder
from kgscout_jax.export.load import load_exported
from kgscout_jax.export.model_card import model_card
from kgscout_jax.export.preparation import preparation_of
from kgscout_jax.export.stablehlo import serialize
from kgscout_jax.policy.registry import PolicyWeights, config_to_json
from kgscout_jax.utils.io import write_json, write_text
from kgscout_jax.utils.manifest import file_entry

if TYPE_CHECKING:
    from kgscout_jax.learn.trained_policy import TrainedPolicy
    from kgscout_jax.retrieve.answer_scale import AnswerScale
    from kgscout_jax.retrieve.budget import Calibration

GRAPH_COUNTS = ("entities", "relations", "triplets")
"""Counts by which a graph is known again."""
PATHS = ("shards", "run", "init")
"""Settings of a run that are valid on the training machine only."""


def export_policy(
    trained: TrainedPolicy,
    out: Path | str,
    *,
    shards: Path | None = None,
    metrics: Path | None = None,
    calibration: Calibration | None = None,
    answer_scale: AnswerScale | None = None,
    calibration_graph: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    dtype: Literal["float32", "float16"] = "float32",
    stablehlo: bool = True,
) -> Path:
    """``out``, written whole or not at all, then read back and checked.

    Args:
        trained: what ``load_policy`` gave.
        out: the folder; absent or empty.
        shards: those it was trained on, or one of several; None: where they were
            then. Not needed when the run says how they were prepared.
        metrics: ``metrics.json`` of an evaluation of this step, for the model card.
        calibration: what ``--target`` of retrieval needs; None: it is refused there.
        answer_scale: probabilities of answers; None: those of the training loss.
        calibration_graph: counts of the graph that it was calibrated on; ``--target``
            on another graph says so.
        overwrite: ``out`` may hold an exported policy, which is replaced.
        dtype: type of the stored parameters. With float16 they are rounded, also in
            ``policy.stablehlo`` and for the golden outputs; all compute in float32.
        stablehlo: write ``policy.stablehlo``, which holds the parameters once more.

    Raises:
        UserError: ``out`` is taken, the preparation is not known, the metrics are not
            of this policy, or its parameters or logits are not finite.
    """
    from safetensors.numpy import save

    out = Path(out)
    config, weights = trained.policy.config, trained.policy.weights
    leaves = parameters_of(weights, dtype)
    if dtype == "float16":
        weights = jax.tree.map(
            lambda leaf: leaf.astype(jnp.float16).astype(jnp.float32), weights
        )
    small = dtype == "float16" or not stablehlo
    metadata = policy_metadata(trained, shards, small=small)
    report = None if metrics is None else read_metrics(metrics, trained)
    with atomic_folder(out, overwrite=overwrite) as aside:
        # Not save_file: it hides the file from other users, such as a service's.
        (aside / MODEL).write_bytes(save(leaves, metadata={"format": FORMAT}))
        golden = make_golden(weights, config)
        np.savez_compressed(aside / GOLDEN, allow_pickle=False, **golden.arrays)
        if stablehlo:
            (aside / STABLEHLO).write_bytes(serialize(weights, config))
        metadata["files"] = {
            name: file_entry(aside / name)
            for name in CHECKED
            if stablehlo or name != STABLEHLO
        }
        metadata |= calibration_metadata(calibration, answer_scale, calibration_graph)
        write_json(aside / CONFIG, metadata)
        card = model_card(
            metadata, argument_names(config), output_names(config), report
        )
        write_text(aside / CARD, card)
        exported = load_exported(aside)  # the golden logits, by each form
        _ = stablehlo and exported.stablehlo
    return out


def policy_metadata(
    trained: TrainedPolicy, shards: Path | None, *, small: bool
) -> dict[str, Any]:
    """``config.json`` without files and calibration.

    Args:
        trained: what ``load_policy`` gave.
        shards: as of ``export_policy``.
        small: whether the export has a smaller form, which older versions cannot read.

    Raises:
        UserError: the preparation is not known.
    """
    preparation, data = preparation_of(trained.metadata, shards)
    config = trained.policy.config
    training = {
        "source": trained.metadata["shards"]["source"],
        "fingerprint": trained.metadata["shards"]["fingerprint"],
        "step": trained.step,
        "settings": {
            name: value
            for name, value in trained.metadata["config"].items()
            if name not in PATHS
        },
        "data": data,
    }
    if "shard_sets" in trained.metadata:
        training["sets"] = trained.metadata["shard_sets"]
    return {
        "format": FORMAT,
        "version": SMALL_VERSION if small else VERSION,
        "policy": config_to_json(config),
        "encoder": trained.metadata["encoder"],
        "preparation": preparation,
        "training": training,
        "tolerance": TOLERANCE[config.compute_dtype],
        "written_by": {
            "kgscout-jax": __version__,
            "jax": importlib.metadata.version("jax"),
        },
    }


def calibration_metadata(
    calibration: Calibration | None,
    answer_scale: AnswerScale | None,
    graph: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The fields of ``config.json`` about probabilities; see ``export_policy``."""
    fields: dict[str, Any] = {}
    if calibration is not None:
        fields["calibration"] = calibration.to_dict()
        if graph is not None:
            counts = {name: graph.get(name) for name in GRAPH_COUNTS}
            fields["calibration_graphs"] = [counts]
    if answer_scale is not None:
        fields["answer_scale"] = answer_scale.to_dict()
    return fields


def parameters_of(
    weights: PolicyWeights, dtype: Literal["float32", "float16"] = "float32"
) -> dict[str, np.ndarray]:
    """Every parameter by its name in ``model.safetensors``.

    Raises:
        UserError: one is not finite, or too large for ``dtype``.
    """
    with np.errstate(over="ignore"):  # reported below, by name
        leaves = {
            # Contiguous: safetensors writes the buffer, whatever the strides say.
            name: np.ascontiguousarray(leaf, dtype).reshape(np.shape(leaf))
            for name, leaf in named_leaves(weights).items()
        }
    for name, leaf in leaves.items():
        if not np.isfinite(leaf).all():
            expected = "a trained policy"
            if dtype == "float16":
                expected += f" with values up to {np.finfo(np.float16).max:.0f}"
            raise UserError(f"parameter {name}: not finite, expected {expected}")
    return leaves
