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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from data_prep.sources.splits import json_lines_files
from kgscout_jax.errors import UserError
from kgscout_jax.export.format import is_exported
from kgscout_jax.export.load import load_exported
from kgscout_jax.export.write import parameters_of
from kgscout_jax.fit.settings import FitSettings
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


def inputs_of(settings: FitSettings) -> dict[str, Any]:
    """The settings, and the hashes of the graph's and the questions' files.

    Raises:
        UserError: the graph or the questions are missing.
    """
    files = question_files(settings.questions)
    inputs: dict[str, Any] = {
        "format": FORMAT,
        "settings": settings.to_json(),
        "graph": [_file_hash(path) for path in settings.graph],
        "questions": {split: sha256_file(file) for split, file in files.items()},
    }
    if settings.read_options != ReadOptions():
        inputs["read"] = dataclasses.asdict(settings.read_options)
    return inputs


def identity_of(inputs: dict[str, Any], base: TrainedPolicy) -> str:
    """The fingerprint of everything that determines the policy."""
    digest = hashlib.sha256()
    for name, leaf in parameters_of(base.policy.weights).items():
        digest.update(name.encode() + leaf.tobytes())
    encoder = base.metadata["encoder"]
    return fingerprint({**inputs, "base": digest.hexdigest(), "encoder": encoder})


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
    seconds: NotRequired[dict[str, float]]


class Work:
    """The folder of the work; only for the process that has locked it."""

    def __init__(self, settings: FitSettings, identity: str) -> None:
        """Open the folder, or make it.

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
        state = WorkState(identity=identity)
        if names:
            state = read_record(self.file, WorkState)
        if state["identity"] == identity:
            self.seconds = state.get("seconds", {})
        elif not any(_visible(self.folder / part) for part in PARTS):
            pass  # of a graph that could not be read, or gave nothing
        elif not settings.overwrite:
            raise UserError(
                f"{self.folder}: holds the work of another graph or of other settings; "
                "choose another --work, or --overwrite"
            )
        else:
            write_json(self.file, {"identity": ""})  # stands while parts are deleted
            for part in PARTS:
                shutil.rmtree(self.folder / part, ignore_errors=True)
        self._save()

    def _save(self) -> None:
        write_json(self.file, {"identity": self.identity, "seconds": self.seconds})

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
