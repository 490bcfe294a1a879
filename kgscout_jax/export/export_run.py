"""The command that exports a training run, with its calibration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.export.write import export_policy
from kgscout_jax.learn.shard_sets import set_folders
from kgscout_jax.policy.registry import has_answers

if TYPE_CHECKING:
    from kgscout_jax.export.settings import ExportSettings
    from kgscout_jax.learn.trained_policy import TrainedPolicy
    from kgscout_jax.retrieve.answer_scale import AnswerScale
    from kgscout_jax.retrieve.budget import Calibration


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
