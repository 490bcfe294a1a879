"""The commands behind an evaluation, as ``metrics.json`` records them."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.learn.resume_command import flag, resume_command
from kgscout_jax.utils.engine_settings import ENGINE_FIELDS


def commands_of(
    settings: Any, program: str, runs: Mapping[Path, Mapping[str, Any]]
) -> list[str]:
    """The commands that trained what is measured, then the one that measures it.

    An export does not say which folders it was trained on: it has no such command.

    Args:
        settings: of the evaluation, a dataclass.
        program: what takes them, such as ``kgscout eval retrieval``.
        runs: the folder of each run or export -> its metadata.
    """
    training = [
        resume_command(metadata["config"], path)
        for path, metadata in runs.items()
        if isinstance(metadata.get("config"), dict) and metadata["config"].get("shards")
    ]
    return [*training, command_of(settings, program)]


def command_of(settings: Any, program: str) -> str:
    """The shell command with the flags that differ from their defaults.

    Those of the engine are left out: they change no figure.
    """
    words = program.split()
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value != field.default and field.name not in ENGINE_FIELDS:
            value = [*value] if isinstance(value, tuple) else value
            words += flag(field.name, value)
    return shlex.join(words)
