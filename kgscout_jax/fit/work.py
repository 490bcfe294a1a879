"""The folder of a fit's work, and the identity that it shares with its policy.

``work.json`` holds the identity and the seconds of the stages so far. Every stage
writes what it makes whole or not at all and recognises it: the same command goes on
from where it was stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from data_prep.sources.kg import read_questions
from data_prep.sources.splits import json_lines_files
from kgscout_jax.errors import UserError
from kgscout_jax.export.format import is_exported
from kgscout_jax.export.load import load_exported
from kgscout_jax.export.write import parameters_of
from kgscout_jax.fit.settings import FitSettings
from kgscout_jax.graph.read.folder_files import source_files
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.utils.io import read_json, sha256_file, write_json
from kgscout_jax.utils.manifest import fingerprint, read_record

logger = logging.getLogger("kgscout")

FORMAT = 2
"""Version of the stages; a change of what they make is a new one."""
RESULT, REPORT = "fit.json", "report.html"
"""What a fit adds to an exported policy."""
STATE = "work.json"
PARTS = (
    *("questions", "synthetic", "real_questions", "real"),
    *("run", "measured", "policy"),
)
"""Folders within the work."""
OF_QUESTIONS = ("real_questions", "real", "measured", "policy")
"""Those that depend on the real questions, which the training may or may not."""


def inputs_of(settings: FitSettings) -> dict[str, Any]:
    """The settings, and the hashes of the graph's and the questions' files.

    Raises:
        UserError: the graph or the questions are missing, or the questions malformed.
    """
    files = question_files(settings.questions)
    check_question_files(files)
    inputs: dict[str, Any] = {
        "format": FORMAT,
        "settings": settings.to_json(),
        "graph": [_file_hash(path) for path in source_files(settings.graph)],
        "questions": {split: sha256_file(file) for split, file in files.items()},
    }
    if settings.read_options != ReadOptions():
        inputs["read"] = dataclasses.asdict(settings.read_options)
    return inputs


@dataclasses.dataclass(frozen=True, kw_only=True)
class Identity:
    """Fingerprints of what determines the policy, and of what parts of it do."""

    policy: str
    """Of everything."""
    without_questions: str
    """Of everything but the real questions: synthetic questions and their shards."""
    trained_questions: str
    """Of the real questions that join the training."""


def identity_of(inputs: dict[str, Any], base: TrainedPolicy) -> Identity:
    """The fingerprints of the inputs and of the base policy."""
    digest = hashlib.sha256()
    for name, leaf in parameters_of(base.policy.weights).items():
        digest.update(name.encode() + leaf.tobytes())
    encoder = base.metadata["encoder"]
    every = {**inputs, "base": digest.hexdigest(), "encoder": encoder}
    questions = inputs["questions"]
    # All of their splits: a run records the shards, which hold them together.
    trained = questions if "train" in questions else {}
    return Identity(
        policy=fingerprint(every),
        without_questions=fingerprint({**every, "questions": None}),
        trained_questions=fingerprint(trained),
    )


def _file_hash(path: Path) -> str:
    """The hash of a triplet file; a GRAPH folder's manifest has those of its files."""
    file = path / "manifest.json" if path.is_dir() else path
    if not file.is_file():
        problem = "not a GRAPH folder" if path.is_dir() else "no such file or folder"
        raise UserError(f"{path}: {problem}")
    try:
        return sha256_file(file)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def question_files(path: Path | None) -> dict[str, Path]:
    """Split -> file of ``--questions``; a single file is the test split.

    Raises:
        UserError: there is nothing, or a folder has none of the files.
    """
    if path is None:
        return {}
    if path.is_file():
        return {"test": path}
    files = json_lines_files(path) if path.is_dir() else {}
    if not files:
        raise UserError(
            f"--questions: {path}: expected JSON lines, or a folder with train.jsonl, "
            "dev.jsonl or test.jsonl"
        )
    return files


def check_question_files(files: Mapping[str, Path]) -> None:
    """Raise UserError for lines that are no questions, or without any answer."""
    for split, file in files.items():
        questions = list(read_questions(file, split))
        if not any(question.answers for question in questions):
            raise UserError(
                f"--questions: {file}: no question of {split} has an answer, expected "
                "a list of names under answer"
            )


def finished(settings: FitSettings, identity: str) -> dict[str, Any] | None:
    """``fit.json`` of the policy, if that of these settings is there and whole.

    Raises:
        UserError: there is another policy.
    """
    out = settings.out
    if not is_exported(out):
        return None
    with contextlib.suppress(UserError):
        result = read_json(out / RESULT)
        if isinstance(result, dict) and result.get("identity") == identity:
            load_exported(out, verify=False)
            return result
    if not settings.overwrite:
        raise UserError(
            f"{out}: holds a policy of another graph or of other settings, or a "
            "damaged one; choose another --out, or --overwrite"
        )
    return None


def _visible(folder: Path) -> list[str]:
    """The names in a folder, without locks and other hidden ones."""
    if not folder.is_dir():
        return []
    return [path.name for path in folder.iterdir() if path.name[0] != "."]


class WorkState(TypedDict):
    """The content of ``work.json``."""

    identity: str
    """Of the policy; "" while parts are deleted."""
    without_questions: NotRequired[str]
    """Absent in earlier versions, and so the next."""
    trained_questions: NotRequired[str]
    seconds: NotRequired[dict[str, float]]


class Work:
    """The folder of the work; only for the process that has locked it."""

    def __init__(self, settings: FitSettings, identity: Identity) -> None:
        """Open the folder, or make it.

        With other real questions, the parts that depend on them are made again.

        Raises:
            UserError: it holds other work, or something else.
        """
        self.folder = settings.work_folder
        self.file = self.folder / STATE
        self.identity = identity
        self.seconds: dict[str, float] = {}
        names = _visible(self.folder)
        if names and STATE not in names:
            raise UserError(
                f"{self.folder}: is there and not of kgscout fit; choose another --work"
            )
        state = WorkState(identity=identity.policy)
        if names:
            state = read_record(self.file, WorkState)
        if state["identity"] == identity.policy:
            self.seconds = state.get("seconds", {})
        elif state.get("without_questions") == identity.without_questions:
            parts, stages = OF_QUESTIONS, ("questions", "preparation", "training")
            if state.get("trained_questions") != identity.trained_questions:
                parts, stages = (*parts, "run"), stages[:-1]
            self._discard(parts, {**state, "identity": ""})
            seconds = state.get("seconds", {})
            self.seconds = {name: seconds[name] for name in stages if name in seconds}
        elif not any(_visible(self.folder / part) for part in PARTS):
            pass  # of a graph that could not be read, or gave nothing
        elif not settings.overwrite:
            raise UserError(
                f"{self.folder}: holds the work of another graph or of other settings; "
                "choose another --work, or --overwrite"
            )
        else:
            self._discard(PARTS, {"identity": ""})
        self._save()

    def _discard(self, parts: Sequence[str], state: Mapping[str, Any]) -> None:
        """Delete parts; ``state`` stands meanwhile."""
        write_json(self.file, state)
        for part in parts:
            shutil.rmtree(self.folder / part, ignore_errors=True)

    def _save(self) -> None:
        state = {
            "identity": self.identity.policy,
            "without_questions": self.identity.without_questions,
            "trained_questions": self.identity.trained_questions,
            "seconds": self.seconds,
        }
        write_json(self.file, state)

    def __truediv__(self, part: str) -> Path:
        """The path of a part."""
        return self.folder / part

    @contextlib.contextmanager
    def stage(self, name: str, names: Sequence[str]) -> Iterator[None]:
        """Announce a stage and add up its seconds, over interrupted runs too."""
        logger.info("%d of %d: %s", names.index(name) + 1, len(names), name)
        started = time.monotonic()
        try:
            yield
        finally:
            spent = self.seconds.get(name, 0.0) + time.monotonic() - started
            self.seconds[name] = round(spent, 2)
            self._save()
