"""``kgscout fit``: from a graph to a policy for it, in one command.

Stages: questions from the graph, shards, training from the base policy, measurement of
both on held-out questions, calibration and export. Where training brings no better dev
score, the base policy is exported with a calibration for this graph.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgscout_jax import __version__
from kgscout_jax.data.shards import Shards
from kgscout_jax.export.hub import atomic_folder, check_free
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.export.write import export_policy
from kgscout_jax.fit.measure import Contender, measure
from kgscout_jax.fit.report import page, summary
from kgscout_jax.fit.settings import FitSettings
from kgscout_jax.fit.stages import (
    TrainingOutcome,
    make_questions,
    measured_split,
    prepare_sets,
    train_policy,
)
from kgscout_jax.fit.work import REPORT, RESULT, Work, finished, identity_of, inputs_of
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.policy.registry import has_answers
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.retrieve.calibrate import calibrate
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.split_answers import calibrate_answers
from kgscout_jax.utils.io import write_json, write_text
from kgscout_jax.utils.jax_memory import keep_memory
from kgscout_jax.utils.jax_setup import setup_jax
from kgscout_jax.utils.lock import locked

logger = logging.getLogger("kgscout")

CALIBRATION = 50
"""Real dev questions at least: fewer make wrong answers certain."""
STAGES = ("questions", "preparation", "training", "calibration", "measurement")


def fit(settings: FitSettings) -> dict[str, Any]:
    """The content of ``fit.json``; the policy and its report are in ``settings.out``.

    Raises:
        UserError: the graph, the questions or the base policy cannot be read or do not
            suffice, or a folder holds something else.
    """
    inputs = inputs_of(settings)
    check_free(settings.out, overwrite=True)
    keep_memory()
    setup_jax()
    base = load_trained(Path(settings.base))
    identity = identity_of(inputs, base)
    if (result := finished(settings, identity.policy)) is not None:
        print(f"{settings.out}: complete already")
    else:
        with locked(settings.work_folder, "kgscout fit"):
            result = _fit(settings, Work(settings, identity), base)
        print(f"wrote {settings.out}")
    print(summary(result))
    print(f"{settings.out / REPORT} says more")
    return result


def _fit(settings: FitSettings, work: Work, base: TrainedPolicy) -> dict[str, Any]:
    with work.stage("questions", STAGES):
        made = make_questions(settings, work)
    with work.stage("preparation", STAGES):
        sets = prepare_sets(settings, work, base)
    with work.stage("training", STAGES):
        fitted = train_policy(settings, work, base, sets)
    policy = fitted.policy
    with work.stage("calibration", STAGES):
        # The base policy of the comparison has probabilities for this graph too.
        shards = sets[calibration_set(sets)]
        scales = [_answer_scale(one, shards) for one in (base, policy)]
        calibration = calibrate(KGScout(policy.policy), shards, "dev")
        export_policy(
            policy,
            work / "policy",
            shards=sets["synthetic"].path,
            calibration=calibration,
            answer_scale=scales[1],
            calibration_graph=shards.manifest.get("graph"),
            overwrite=True,
        )
    with work.stage("measurement", STAGES):
        contenders = [
            Contender(one, scale)
            for one, scale in zip((base, policy), scales, strict=True)
        ]
        measured = {
            name: measure(
                shards,
                split,
                contenders[0],
                contenders[1] if fitted.gains else None,
                work / "measured" / name,
            )
            for name, shards in sets.items()
            if (split := measured_split(shards)) is not None
        }
    result = result_of(settings, work, fitted, made, sets, measured)
    with atomic_folder(settings.out, overwrite=True) as aside:
        for file in (work / "policy").iterdir():
            shutil.copyfile(file, aside / file.name)
        write_text(aside / REPORT, page(result))
        write_json(aside / RESULT, result)
    return result


def calibration_set(sets: Mapping[str, Shards]) -> str:
    """The name of the set whose dev split calibrates.

    Real questions where they are enough and another split of them is reported. The
    test split is never touched.
    """
    count = calibration_questions(sets)
    return "real" if count is not None and count >= CALIBRATION else "synthetic"


def calibration_questions(sets: Mapping[str, Shards]) -> int | None:
    """The number of real dev questions; None where they are the ones reported."""
    real = sets.get("real")
    if real is None or not {"dev", "test"} <= set(real.splits):
        return None
    return real.manifest["splits"]["dev"]["questions"]


def _answer_scale(trained: TrainedPolicy, shards: Shards) -> AnswerScale | None:
    if not has_answers(trained.policy.config):
        return None
    return calibrate_answers(trained.policy, shards, "dev")


def result_of(
    settings: FitSettings,
    work: Work,
    fitted: TrainingOutcome,
    made: dict[str, Any],
    sets: Mapping[str, Shards],
    measured: dict[str, Any],
) -> dict[str, Any]:
    """The content of ``fit.json``."""
    graph = sets["synthetic"].manifest["graph"]
    calibrated = calibration_set(sets)
    return {
        "identity": work.identity.policy,
        "written_by": __version__,
        "graph": {
            "files": [path.name or str(path) for path in settings.graph],
            **{name: graph[name] for name in ("entities", "relations", "triplets")},
        },
        "base": settings.base,
        "settings": settings.to_json(),
        "gains": fitted.gains,
        "step": fitted.policy.step,
        "epochs": fitted.epochs,
        "trained_on": {
            name: shards.manifest["splits"]["train"]["questions"]
            for name, shards in sets.items()
            if "train" in shards.splits
        },
        "calibrated_on": sets[calibrated].manifest["splits"]["dev"]["questions"],
        "calibration": {
            "set": calibrated,
            "real_questions": calibration_questions(sets),
            "least_real_questions": CALIBRATION,
        },
        "measured": measured,
        "made": made,
        "seconds": work.seconds,
        "work": str(work.folder),
    }
