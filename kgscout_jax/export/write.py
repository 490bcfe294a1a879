"""Write a training run as the folder that inference loads; see ``format``."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from kgscout_jax import __version__
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.export.bundled import folder_of
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
    Preparation,
    is_exported,
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
from kgscout_jax.export.stablehlo import serialize
from kgscout_jax.learn.shard_sets import set_folders, set_records
from kgscout_jax.policy.registry import PolicyWeights, config_to_json, has_answers
from kgscout_jax.utils.io import read_json, write_json, write_text
from kgscout_jax.utils.manifest import as_record, file_entry

if TYPE_CHECKING:
    from kgscout_jax.export.settings import ExportSettings
    from kgscout_jax.learn.devices import Devices
    from kgscout_jax.learn.trained_policy import TrainedPolicy
    from kgscout_jax.retrieve.answer_scale import AnswerScale
    from kgscout_jax.retrieve.budget import Calibration

GRAPH_COUNTS = ("entities", "relations", "triplets")
"""Counts by which a graph is known again."""
PATHS = ("shards", "run", "init")
"""Settings of a run that are valid on the training machine only."""


def export_run(settings: ExportSettings) -> Path:
    """The folder written, from the command line's settings.

    Raises:
        UserError: as ``load_policy`` and ``export_policy``.
    """
    from kgscout_jax.learn.trained_policy import load_policy

    trained = load_policy(settings.run, step=settings.step)
    calibration, answer_scale, graph = None, None, None
    if settings.calibrate is not None:
        shards = calibration_shards(trained, settings)
        calibration, answer_scale = calibrations_of(trained, shards, settings.calibrate)
        graph = shards.manifest.get("graph")
    out = export_policy(
        trained,
        settings.out,
        shards=settings.shards,
        metrics=settings.metrics,
        calibration=calibration,
        answer_scale=answer_scale,
        calibration_graph=graph,
        overwrite=settings.overwrite,
        dtype=settings.dtype,
        stablehlo=settings.stablehlo,
    )
    print(f"wrote {settings.out}")
    return out


def calibration_shards(trained: TrainedPolicy, settings: ExportSettings) -> Shards:
    """The shards of ``--calibrate``.

    Raises:
        UserError: they are missing or of another encoder, or the split is train.
    """
    from kgscout_jax.learn.trained_policy import check_encoder

    if settings.calibrate == "train":
        raise UserError("--calibrate: train, expected a split it has not learned from")
    folders = set_folders(trained.metadata["config"])
    if settings.shards is None and len(folders) != 1:
        raise UserError(
            f"--calibrate: {settings.run} was trained on {len(folders)} folders of "
            "shards, expected --shards with the one to calibrate on"
        )
    shards = Shards.open(settings.shards or folders[0])
    check_encoder(trained.metadata, shards, settings.run)
    return shards


def calibrations_of(
    trained: TrainedPolicy, shards: Shards, split: str
) -> tuple[Calibration, AnswerScale | None]:
    """Probabilities of an answer among the K best, and of each answer.

    Both from a split not trained on; the second is None without an answer head.

    Raises:
        UserError: the shards lack the split.
    """
    from kgscout_jax.retrieve.calibrate import calibrate
    from kgscout_jax.retrieve.kgscout import KGScout
    from kgscout_jax.retrieve.split_answers import calibrate_answers

    policy = trained.policy
    calibration = calibrate(KGScout(policy), shards, split)
    if not has_answers(policy.config):
        return calibration, None
    return calibration, calibrate_answers(policy, shards, split)


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
    preparation, data = preparation_of(trained.metadata, shards)
    report = None if metrics is None else read_metrics(metrics, trained)
    with atomic_folder(out, overwrite=overwrite) as aside:
        # Not save_file: it hides the file from other users, such as a service's.
        (aside / MODEL).write_bytes(save(leaves, metadata={"format": FORMAT}))
        golden = make_golden(weights, config)
        np.savez_compressed(aside / GOLDEN, allow_pickle=False, **golden.arrays)
        if stablehlo:
            (aside / STABLEHLO).write_bytes(serialize(weights, config))
        small = dtype == "float16" or not stablehlo
        metadata: dict[str, Any] = {
            "format": FORMAT,
            "version": SMALL_VERSION if small else VERSION,
            "policy": config_to_json(config),
            "encoder": trained.metadata["encoder"],
            "preparation": preparation,
            "training": {
                "source": trained.metadata["shards"]["source"],
                "fingerprint": trained.metadata["shards"]["fingerprint"],
                "step": trained.step,
                "settings": {
                    name: value
                    for name, value in trained.metadata["config"].items()
                    if name not in PATHS
                },
                "data": data,
            },
            "tolerance": TOLERANCE[config.compute_dtype],
            "written_by": {
                "kgscout-jax": __version__,
                "jax": importlib.metadata.version("jax"),
            },
            "files": {
                name: file_entry(aside / name)
                for name in CHECKED
                if stablehlo or name != STABLEHLO
            },
        }
        if "shard_sets" in trained.metadata:
            metadata["training"]["sets"] = trained.metadata["shard_sets"]
        if calibration is not None:
            metadata["calibration"] = calibration.to_dict()
            if calibration_graph is not None:
                metadata["calibration_graphs"] = [
                    {name: calibration_graph.get(name) for name in GRAPH_COUNTS}
                ]
        if answer_scale is not None:
            metadata["answer_scale"] = answer_scale.to_dict()
        write_json(aside / CONFIG, metadata)
        card = model_card(
            metadata, argument_names(config), output_names(config), report
        )
        write_text(aside / CARD, card)
        exported = load_exported(aside)  # the golden logits, by each form
        _ = stablehlo and exported.stablehlo
    return out


def load_trained(
    path: Path, *, step: int | None = None, devices: Devices | None = None
) -> TrainedPolicy:
    """The policy of a run or of an exported folder, for evaluation and ``--init``.

    Args:
        path: the folder, or the name of the bundled policy.
        step: of a run; None for the best by dev reward.
        devices: as ``load_policy``.

    Raises:
        UserError: ``path`` is neither, or holds no such step.
    """
    from kgscout_jax.learn.trained_policy import TrainedPolicy, load_policy

    path = folder_of(path)
    if not is_exported(path):
        return load_policy(path, step=step, devices=devices)
    exported = load_exported(path)
    training = exported.metadata["training"]
    if step is not None and step != training["step"]:
        raise UserError(f"{path}: holds step {training['step']} only, not {step}")
    metadata: dict[str, Any] = {
        "config": training["settings"],
        "policy": exported.metadata["policy"],
        "encoder": exported.metadata["encoder"],
        "shards": {
            "source": training["source"],
            "fingerprint": training["fingerprint"],
            "settings": exported.metadata["preparation"],
        },
    }
    if "sets" in training:
        metadata["shard_sets"] = training["sets"]
    return TrainedPolicy(exported.policy, training["step"], metadata)


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


def preparation_of(
    metadata: dict[str, Any], shards: Path | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(``preparation``, ``training.data``) of config.json.

    The run's configuration has the first, else the manifest of its shards; counts and
    the sources' hashes come from the manifests, where all are at hand.
    """
    known = metadata["shards"].get("settings")
    expected = [record["fingerprint"] for record in set_records(metadata)]
    moved = {}
    if shards is not None:
        moved = {manifest_of(shards, expected)["fingerprint"]: shards}
    folders = set_folders(metadata["config"]) or [Path("")] * len(expected)
    manifests: list[dict[str, Any]] = []
    try:
        manifests = [
            manifest_of(moved.get(fingerprint, folder), [fingerprint])
            for folder, fingerprint in zip(folders, expected, strict=True)
        ]
    except UserError as error:
        # A run that records the preparation of its shards does not need them.
        if known is None:
            raise UserError(f"{error}; --shards tells where the run's are") from None
    settings = manifests[0]["settings"] if known is None else known
    names = [field.name for field in dataclasses.fields(Preparation)]
    fields = {name: settings[name] for name in names if name in settings}
    as_record(fields, Preparation, "the run's shards: preparation")
    data: dict[str, Any] = {}
    if manifests:
        counts: Counter[str] = Counter()
        for manifest in manifests:
            counts.update({k: v["questions"] for k, v in manifest["splits"].items()})
        sources = [each for m in manifests for each in m.get("sources", [])]
        data = {"questions": dict(counts), "sources": sources}
        graphs = [m["graph"] for m in manifests if isinstance(m.get("graph"), dict)]
        triplets = [graph.get("triplets") for graph in graphs]
        if len(graphs) == len(manifests):
            data["triplets"] = triplets[0] if len(triplets) == 1 else triplets
    return fields, data


def manifest_of(folder: Path, fingerprints: Sequence[str]) -> dict[str, Any]:
    """The manifest of the shards in ``folder``, which have one of the fingerprints."""
    manifest = Shards.open(folder).manifest
    if manifest["fingerprint"] not in fingerprints:
        expected = " or ".join(each[:12] for each in fingerprints)
        raise UserError(
            f"{folder}: fingerprint {manifest['fingerprint'][:12]}, expected "
            f"{expected}: not the shards that the run was trained on"
        )
    return manifest


def read_metrics(path: Path, trained: TrainedPolicy) -> dict[str, Any]:
    """``metrics.json`` of an evaluation of this policy."""
    report = read_json(path)
    context = report.get("context") if isinstance(report, dict) else None
    if not isinstance(context, dict) or "definitions" not in report:
        raise UserError(f"{path}: not the metrics.json of kgscout eval retrieval")
    for key, mine in (
        ("step", trained.step),
        ("trained_on", trained.metadata["shards"]["source"]),
    ):
        if context.get(key) != mine:
            raise UserError(
                f"{path}: {key} is {context.get(key)}, expected {mine} as in the run"
            )
    return report
